package oh

import (
	"regexp"
	"strings"
	"testing"
)

func TestLegalName(t *testing.T) {
	long := strings.Repeat("x", 80)
	for in, want := range map[string]string{
		"bash": "bash", "mcp__a-b__c": "mcp__a-b__c", "_x": "_x", strings.Repeat("y", 64): strings.Repeat("y", 64),
		"a.b/c": "a_b_c_fc7cd9c4", "a_b_c": "a_b_c", "a b.c": "a_b_c_7509d20a", "": "unnamed_e3b0c442", "é": "__4a99557e",
		"1x": "_1x_a048e640", "-x": "_-x_a4209624", long: strings.Repeat("x", 55) + "_d929cdee",
	} {
		got := LegalName(in)
		if got != want {
			t.Errorf("LegalName(%q) = %q, want %q", in, got, want)
		}
		if LegalName(got) != got {
			t.Errorf("%q is changed again", got)
		}
	}
	if a, b := LegalName(long+"a"), LegalName(long+"b"); a == b {
		t.Errorf("two long names became one: %q", a)
	}
}

func FuzzLegalName(f *testing.F) {
	for _, s := range []string{"", "bash", "a.b/c", "a_b/c", strings.Repeat("é", 70), "\xff", "9", "unnamed"} {
		f.Add(s, s+"x")
	}
	legal := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := LegalName(a), LegalName(b)
		if !legal.MatchString(x) || LegalName(x) != x {
			t.Errorf("LegalName(%q) = %q", a, x)
		}
		if legal.MatchString(a) && x != a {
			t.Errorf("the legal name %q became %q", a, x)
		}
		if a != b && x == y && !legal.MatchString(a) && !legal.MatchString(b) {
			t.Errorf("%q and %q both became %q", a, b, x)
		}
	})
}
