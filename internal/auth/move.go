package auth

import (
	"fmt"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// Activate returns the changes of the user's settings that make a profile the
// one in use. before is the profile in use now; it may be "".
//
// An address, key, helper or model that stands in that file without a profile
// belongs to the profile that the file meant so far. It moves there: else it
// would from now on belong to the new one, and a key would reach another
// vendor. from is that profile, "" when nothing moves.
func Activate(l *config.Loaded, name, before string) (changes []config.Change, from string, err error) {
	active, err := oh.Marshal(name)
	if err != nil {
		return nil, "", fmt.Errorf("choose a profile: %w", err)
	}
	file, err := l.Paths.File(config.User)
	if err != nil {
		return nil, "", err
	}
	for _, c := range l.Choices {
		if c.File != file || c.Claude {
			continue
		}
		if owner := ownerOf(c, before); owner != name {
			if changes, err = moves(l, c, owner); err != nil {
				return nil, "", err
			}
			if len(changes) > 0 {
				from = owner
			}
		}
	}
	return append(changes, config.Change{Key: "active_profile", Value: active}), from, nil
}

// ownerOf is the profile that a file means.
func ownerOf(c config.Choice, before string) string {
	switch {
	case c.Profile != "":
		return c.Profile
	case implies(c) != "":
		return implies(c)
	case c.BaseURL == "" && (!c.Key.IsZero() || c.Helper != "") || before == "":
		return "claude-api"
	}
	return before
}

// moves puts what a file says without a profile under the profile it means.
func moves(l *config.Loaded, c config.Choice, owner string) ([]config.Change, error) {
	var out []config.Change
	add := func(flat, member, value string) error {
		if value == "" {
			return nil
		}
		out = append(out, config.Change{Key: flat})
		if member == "" {
			return nil
		}
		raw, err := oh.Marshal(value)
		if err != nil {
			return fmt.Errorf("move %s: %w", flat, err)
		}
		out = append(out, config.Change{Key: "profiles." + owner + "." + member, Value: raw, Moved: true})
		return nil
	}
	vendor := "provider"
	if _, builtIn := catalog.Find(owner); builtIn || l.Settings.Profiles[owner].Provider != "" {
		vendor = ""
	}
	for _, m := range [][3]string{
		{"base_url", "base_url", c.BaseURL}, {"api_format", "api_format", c.Format}, {"provider", vendor, c.Provider},
		{"api_key", "api_key", c.Key.Reveal()}, {"api_key_helper", "api_key_helper", c.Helper}, {"model", "last_model", c.Model},
	} {
		if err := add(m[0], m[1], m[2]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
