package config

import (
	"fmt"
	"strings"
)

// Secret is a key or token. It prints as [hidden] in every form; only Reveal
// gives the text.
type Secret struct{ text string }

// hidden stands for a secret wherever one is shown.
const hidden = "[hidden]"

// NewSecret wraps text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text, for the request that needs it.
func (s Secret) Reveal() string { return s.text }

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.text == "" }

// String returns [hidden], or nothing when there is no text.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return hidden
}

// GoString implements [fmt.GoStringer].
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format implements [fmt.Formatter], so that no verb shows the text.
func (s Secret) Format(f fmt.State, verb rune) {
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		_, _ = fmt.Fprintf(f, "%q", s.String())
		return
	}
	_, _ = f.Write([]byte(s.String()))
}

// MarshalJSON implements [json.Marshaler].
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// MarshalText implements [encoding.TextMarshaler].
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// SecretName reports whether a setting, member or variable of this name is to
// be taken for a secret.
func SecretName(name string) bool {
	s := strings.ToLower(name)
	s = strings.ReplaceAll(s, "-", "_")
	for _, stem := range []string{"api_key", "apikey", "secret", "password", "passwd", "authorization", "credential", "private_key", "access_key"} {
		if strings.Contains(s, stem) {
			return true
		}
	}
	return s == "token" || s == "key" || s == "cookie" || strings.HasSuffix(s, "_token") || strings.HasSuffix(s, "_key") || strings.HasSuffix(s, "_pat")
}

// Equal reports whether both hold the same text.
func (s Secret) Equal(o Secret) bool { return s.text == o.text }
