package auth

import (
	"fmt"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// Unknown says that there is no profile of a name.
type Unknown struct {
	Name, Near string // Near is the nearest there is; may be ""
}

// Error implements error.
func (e *Unknown) Error() string {
	s := fmt.Sprintf("%q is no profile", e.Name)
	if e.Near != "" {
		s += fmt.Sprintf("; did you mean %s?", e.Near)
	}
	return s + " (oh provider list shows all)"
}

// Usage reports that the command line is to blame.
func (e *Unknown) Usage() bool { return true }

func unknown(l *config.Loaded, name string) error {
	known := Names(l)
	for _, p := range catalog.Profiles() {
		known = append(known, p.Provider)
	}
	return &Unknown{name, text.Nearest(name, known)}
}

// Unavailable says that a profile exists and cannot be used.
type Unavailable struct{ Profile, Why string }

// Error implements error.
func (e *Unavailable) Error() string { return e.Profile + ": " + e.Why }

// Usage reports that the command line is to blame.
func (e *Unavailable) Usage() bool { return true }

// Names returns the names of all profiles: the built-in ones in table order,
// then the user's own, sorted.
func Names(l *config.Loaded) []string { return names(l) }

// Profile returns a profile with the user's changes laid over it.
func Profile(l *config.Loaded, name string) (catalog.Profile, error) {
	p, _, ok := profile(l, name)
	if !ok {
		return catalog.Profile{}, unknown(l, name)
	}
	return p, nil
}
