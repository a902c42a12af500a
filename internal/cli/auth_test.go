package cli

import (
	"testing"

	"github.com/openharness/oh/internal/auth"
)

func TestKeyState(t *testing.T) {
	for _, tt := range []struct {
		state, source, want string
	}{
		{auth.Ready, "GROQ_API_KEY", "GROQ_API_KEY"},
		{auth.Keyless, "", "needs none"},
		{auth.NoKeyYet, "", "missing"},
		{auth.NoKeyYet, "profiles.azure.base_url is missing: say where the service is", "not set up: profiles.azure.base_url is missing: say where the service is"},
		{auth.Unsupported, "a subscription", "not available"},
		{auth.Faulty, "what", "error: what"},
	} {
		if got := keyState(auth.Status{State: tt.state, Source: tt.source}); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.state, tt.source, got, tt.want)
		}
	}
}
