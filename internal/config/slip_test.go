package config

import (
	"strings"
	"testing"
)

func TestSlipsInGuardsAreErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"permissions": {"denied_tools": ["bash"]}}`, `:1: "permissions.denied_tools": is no setting; did you mean "permission.denied_tools"?`},
		{`{"permissions": {"Deny": ["Bash"]}}`, `"permissions.Deny": is no setting; did you mean "permissions.deny"?`},
		{`{"Permissions": {"deny": ["Bash"]}}`, `"Permissions": is no setting; did you mean "permissions"?`},
		{`{"permission": {"deny": ["Bash"]}}`, `"permission.deny": is no setting; did you mean "permissions.deny"?`},
		{"{\n\"permission\": {\"mod\": 1}}", ""},
		{"{\n\"permission\": {\"modee\": \"plan\"}}", `:2: "permission.modee": is no setting; did you mean "permission.mode"?`},
		{`{"sandbox": {"enabeld": true}}`, `did you mean "sandbox.enabled"?`},
		{`{"permissions": {"somethingNew": 1, "deny": ["Bash"]}, "sandbox": {"excludedCommands": []}}`, ""},
	} {
		_, err := Load(Options{Dir: t.TempDir(), Home: t.TempDir(), Managed: "-", Settings: c.in, LookupEnv: func(string) (string, bool) { return "", false }})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.in, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(c.want, ":1")) {
			t.Errorf("%s: %v, want %s", c.in, err, c.want)
		}
	}
}
