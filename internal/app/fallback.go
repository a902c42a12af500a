package app

import (
	"errors"
	"slices"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// setFallback chooses the models that stand in for an overloaded one. They are
// of the profile that the session begins with. One that cannot be used ends the
// program if the command line names it, and is passed over with a warning if
// the settings do.
func (r *Runtime) setFallback() error {
	names, key := r.opts.Fallback, ""
	if names == nil {
		names, key = r.loaded.Settings.Fallback, "fallback_model"
	}
	st := r.conv.State()
	list := []string{}
	for _, name := range names {
		name = catalog.Alias(r.service.profile, name, st.Mode == oh.ModePlan)
		err := errors.Join(r.service.permits(name), r.service.priced(name, r.opts.MaxCost))
		switch {
		case err != nil && key == "":
			return &config.Error{File: "--fallback-model", Problem: err.Error()}
		case err != nil:
			r.passOver(key, r.loaded.Origin(key), err)
		case name != "" && !slices.Contains(list, name):
			list = append(list, name)
		}
	}
	if key == "" && len(list) == 1 && list[0] == st.Model {
		return &config.Error{File: "--fallback-model", Problem: list[0] + " is the model itself; name another one"}
	}
	r.service.fallback, r.config.Fallback = list, list
	return nil
}
