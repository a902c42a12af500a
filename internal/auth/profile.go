package auth

import (
	"fmt"
	"strings"

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

func unknown(l *config.Loaded, name string) error { return &Unknown{name, near(l, name)} }

// near returns the profile that a wrong name may mean: that of the vendor, the
// one that is spelled nearly so, or the first whose name or label has the word.
func near(l *config.Loaded, name string) string {
	var usable []catalog.Profile
	for _, p := range catalog.Profiles() {
		if p.Missing == "" {
			usable = append(usable, p)
		}
	}
	word := strings.ToLower(strings.TrimSpace(name))
	for _, p := range usable {
		if p.Provider == word {
			return p.Name
		}
	}
	if best := text.Nearest(word, Names(l)); best != "" {
		return best
	}
	for _, p := range usable {
		if len(word) >= 3 && (strings.Contains(p.Name, word) || strings.Contains(strings.ToLower(p.Label), word)) {
			return p.Name
		}
	}
	return ""
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
