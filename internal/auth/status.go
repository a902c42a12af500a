package auth

import (
	"context"
	"errors"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// Status is how things stand with a profile, for people.
type Status struct {
	Profile catalog.Profile
	Model   string // that would be asked for; "" asks the server
	State   string // one of the State constants
	Source  string // where the key comes from, or what is wrong
}

// The states of a profile.
const (
	Ready       = "ready"       // there is a key
	Keyless     = "keyless"     // it needs none
	NoKeyYet    = "missing"     // it has none; Source says what else is missing, if that is so
	Faulty      = "error"       // the settings or the store are wrong
	Unsupported = "unsupported" // it cannot be used at all
)

// StatusOf says how things stand with a profile that was chosen by a flag. It
// asks nobody but the keyring, and that only about keys it is known to hold.
func (r Request) StatusOf(ctx context.Context, name string) Status {
	r.Settings, r.Known = r.Settings.Choosing("--profile", name), true
	r.Local = func(context.Context) []catalog.Server { return nil }
	p, _, _ := profile(r.Settings, name)
	s := Status{Profile: p, State: Unsupported, Source: p.Missing}
	if p.Missing != "" {
		return s
	}
	a, err := Choose(ctx, r)
	if e, ok := errors.AsType[*config.Error](err); ok && e.Key == "profiles."+name+".base_url" && p.BaseURL == "" {
		s.State, s.Source = NoKeyYet, e.Key+" "+e.Problem
		return s
	}
	if err != nil {
		s.State, s.Source = Faulty, problem(err)
		return s
	}
	s.Profile, s.Model = a.Profile, a.Model(false)
	a, err = Resolve(ctx, r)
	_, none := errors.AsType[*NoKey](err)
	switch {
	case none:
		s.State, s.Source = NoKeyYet, ""
	case err != nil:
		s.State, s.Source = Faulty, problem(err)
	case a.Source == "":
		s.State = Keyless
	default:
		s.State, s.Source = Ready, a.Source
	}
	if source, found := chainSource(r.Settings, s.Profile.Chain); s.Source == source && !found {
		s.State = NoKeyYet
	}
	return s
}

func problem(err error) string {
	if e, ok := errors.AsType[*config.Error](err); ok {
		if e.Key != "" {
			return e.Key + " " + e.Problem
		}
		return e.Problem
	}
	return err.Error()
}
