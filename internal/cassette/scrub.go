package cassette

import (
	"net/url"
	"slices"
	"strings"
)

// Scrubber takes out of texts what must not get into a cassette. The zero
// value knows only how keys look.
type Scrubber struct {
	// Secrets are replaced wherever they stand. Short ones (less than 6 bytes)
	// are not: they may be words.
	Secrets []string

	// Home is the user's folder, which becomes ~, since it often names a person.
	Home string
}

const hidden = "[key]"

// Text returns s without secrets.
func (c *Scrubber) Text(s string) string {
	for _, secret := range c.Secrets {
		if len(secret) >= 6 {
			s = strings.ReplaceAll(s, secret, hidden)
		}
	}
	s = hideKeys(s)
	home := strings.TrimRight(c.Home, `/\`)
	if len(home) < 3 {
		return s
	}
	if escaped := strings.ReplaceAll(home, `\`, `\\`); escaped != home { // as JSON has it
		s = replaceHome(s, escaped)
	}
	return replaceHome(s, home)
}

// replaceHome replaces a folder where it is a whole path or the start of one.
func replaceHome(s, home string) string {
	var out strings.Builder
	for {
		i := strings.Index(s, home)
		if i < 0 {
			break
		}
		after := s[i+len(home):]
		out.WriteString(s[:i])
		if after == "" || !isName(after[0]) {
			out.WriteByte('~')
		} else {
			out.WriteString(home)
		}
		s = after
	}
	return out.String() + s
}

func isName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.' || b >= 0x80
}

// starts are how keys of well-known services begin.
var starts = [...]string{"sk-", "sk_live_", "AIza", "gsk_", "xai-", "nvapi-", "fw_", "csk-", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "glpat-", "AKIA", "ASIA", "xoxb-", "xoxp-", "ya29."}

// leastKey is how many bytes follow the beginning of a key at least.
const leastKey = 16

// hideKeys replaces what looks like a key.
func hideKeys(s string) string {
	for _, start := range starts {
		for from := 0; ; {
			i := strings.Index(s[from:], start)
			if i < 0 {
				break
			}
			i += from
			end := i + len(start)
			for end < len(s) && keyByte(s[end]) {
				end++
			}
			if end-i-len(start) < leastKey || i > 0 && keyByte(s[i-1]) {
				from = i + len(start)
				continue
			}
			s = s[:i] + hidden + s[end:]
			from = i + len(hidden)
		}
	}
	return s
}

func keyByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// URL returns an address without user, and without the values of parameters
// that by their name may hold a secret.
func (c *Scrubber) URL(u *url.URL) string {
	clean := *u
	clean.User = nil
	query := clean.Query()
	for name, values := range query {
		if secretParameter(name) {
			query[name] = slices.Repeat([]string{hidden}, len(values))
		}
	}
	if clean.RawQuery != "" {
		clean.RawQuery = query.Encode()
	}
	return c.Text(clean.String())
}

func secretParameter(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"key", "token", "secret", "sig", "auth", "credential", "password", "code"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
