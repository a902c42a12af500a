package config

import (
	"net/url"
	"strings"
)

// HideUser hides what in an address may be a secret: name and password, the
// values of a query but for the version of an API, and a fragment. What is no
// address, or one that cannot be read, loses all that stands before its last @.
func HideUser(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if ok {
		scheme += "://"
	} else {
		scheme, rest = "", s
	}
	u, err := url.Parse(s)
	readable := ok && err == nil && u.Host != ""
	end := len(rest)
	if readable {
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			end = i // an @ behind it is no user's
		}
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = hidden + rest[at:]
	}
	return scheme + hideQuery(rest)
}

func hideQuery(s string) string {
	s, _, fragment := strings.Cut(s, "#")
	if way, query, ok := strings.Cut(s, "?"); ok {
		parts := strings.Split(query, "&")
		for i, part := range parts {
			name, value, ok := strings.Cut(part, "=")
			switch {
			case name == "api-version":
			case ok && value != "":
				parts[i] = name + "=" + hidden
			case !ok && part != "":
				parts[i] = hidden
			}
		}
		s = way + "?" + strings.Join(parts, "&")
	}
	if fragment {
		s += "#" + hidden
	}
	return s
}

// hideText hides the secrets of a setting's text that is an address: by what it
// is, or by what the setting or variable is called.
func hideText(name, s string) string {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, "url") || strings.HasSuffix(name, "proxy") || strings.Contains(s, "://") && !strings.ContainsAny(s, " \t\r\n") {
		return HideUser(s)
	}
	return s
}

// secretVariable reports whether a variable of the setting env is a key: by its
// name, or because a profile takes its key from it.
func (l *Loaded) secretVariable(name string) bool {
	for _, p := range l.Settings.Profiles {
		if p.KeyEnv == name {
			return true
		}
	}
	return SecretName(name)
}
