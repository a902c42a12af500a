package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/slash"
)

// cmdProvider shows or changes the model service. The history goes on there:
// what only the old one may get back stays behind.
func (r *Runtime) cmdProvider(ctx context.Context, args string) (slash.Effect, error) {
	words := strings.Fields(args)
	switch len(words) {
	case 0:
		return slash.Effect{Text: r.describeService()}, nil
	case 1:
		words = append(words, "")
	case 2:
	default:
		return slash.Effect{}, slash.Misuse("/provider takes a profile and perhaps a model, not %q", args)
	}
	next, err := r.serviceOf(ctx, words[0], words[1])
	if err != nil {
		if fault, ok := errors.AsType[*config.Error](err); ok {
			return slash.Effect{}, slash.Misuse("%s", fault.Problem)
		}
		return slash.Effect{}, err
	}
	if err := r.switchTo(ctx, next); err != nil {
		return slash.Effect{}, err
	}
	text := fmt.Sprintf("The provider is now %s, with the model %s.", next.profile.Name, next.model)
	if next.keySource != "" {
		text += " Its key comes from " + next.keySource + "."
	}
	return slash.Effect{Text: text}, nil
}

func (r *Runtime) describeService() string {
	p := r.service.profile
	rows := [][2]string{
		{"profile", p.Name + " (" + p.Label + ")"},
		{"model", r.conv.State().Model},
		{"address", config.HideUser(p.BaseURL)},
		{"key", r.service.keySource},
	}
	var names []string
	for _, name := range auth.Names(r.loaded) {
		if p, err := auth.Profile(r.loaded, name); err == nil && p.Missing == "" {
			names = append(names, name)
		}
	}
	return table(append(rows, [2]string{"there are", strings.Join(names, ", ")}))
}

// serviceOf finds the service of a profile, and chooses its model. One that was
// used in this session is taken as it was, with the key it had.
func (r *Runtime) serviceOf(ctx context.Context, profile, model string) (*service, error) {
	st := r.conv.State()
	s := r.used[profile]
	if r.service.profile.Name == profile {
		s = r.service
		s.model = st.Model
	}
	if s == nil {
		o := r.opts
		o.Profile, o.Model, o.BaseURL, o.APIFormat, o.Dir = profile, model, "", "", r.paths.Dir
		loaded, err := config.Load(o.Config())
		if err != nil {
			return nil, err
		}
		if s, err = r.findService(ctx, loaded, ""); err != nil {
			return nil, err
		}
	}
	next := *s
	if model != "" {
		next.model = catalog.Alias(s.profile, model, st.Mode == oh.ModePlan)
	}
	if next.model == "" {
		return nil, slash.Misuse("%s has no model of its own: name one", profile)
	}
	if err := errors.Join(next.permits(next.model), next.priced(next.model, r.opts.MaxCost)); err != nil {
		return nil, &slash.MisuseError{Err: err}
	}
	return &next, nil
}

// switchTo makes a service that of the session, unless a hook objects.
func (r *Runtime) switchTo(ctx context.Context, next *service) error {
	st := r.conv.State()
	ch := oh.StateChanged{Profile: changed(st.Profile, next.profile.Name), Model: changed(st.Model, next.model)}
	if !ch.IsZero() {
		from, to := st.Profile+"/"+st.Model, next.profile.Name+"/"+next.model
		if ch.Profile == "" {
			from, to = st.Model, next.model
		}
		if err := r.changeModel(ctx, ch, from, to); err != nil {
			return err
		}
	}
	if r.used == nil {
		r.used = map[string]*service{}
	}
	r.service.model = st.Model
	r.used[r.service.profile.Name], r.used[next.profile.Name] = r.service, next
	if r.service.profile.Name != next.profile.Name {
		r.limits = oh.RateLimit{} // they were the other service's
	}
	r.service, r.config.Provider, r.config.Fallback = next, next, next.fallback
	r.conv.Memo().Reset()
	return nil
}

// changeModel changes profile and model of the session, with the hooks that are
// about it.
func (r *Runtime) changeModel(ctx context.Context, ch oh.StateChanged, from, to string) error {
	if r.hook != nil {
		in := r.hookInput(oh.HookPreModelSwitch)
		in.From, in.To = from, to
		res, err := r.hook.Fire(ctx, in)
		switch {
		case err != nil:
			return fmt.Errorf("a hook stopped the switch: %w", err)
		case res.Block:
			return fmt.Errorf("a hook stopped the switch: %s", res.Reason)
		}
	}
	if err := r.change(ch); err != nil {
		return err
	}
	if r.hook != nil {
		in := r.hookInput(oh.HookPostModelSwitch)
		in.From, in.To = from, to
		if _, err := r.hook.Fire(ctx, in); err != nil {
			r.note(oh.Warning, err.Error())
		}
	}
	return nil
}

// keepVariables remembers the variables that hold keys, for other services that
// a person turns to later: the program takes them out of its environment.
func (r *Runtime) keepVariables() {
	if !r.opts.Interactive {
		return
	}
	lookup := r.opts.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	kept := map[string]string{}
	for _, name := range r.scrubbed {
		if v, ok := lookup(name); ok {
			kept[name] = v
		}
	}
	r.opts.LookupEnv = func(name string) (string, bool) {
		if v, ok := kept[name]; ok {
			return v, true
		}
		return lookup(name)
	}
}
