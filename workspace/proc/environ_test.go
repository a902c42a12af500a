package proc

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnviron(t *testing.T) {
	cfg := Config{
		Deny:     []string{"ANTHROPIC_API_KEY"},
		DenyFunc: func(name string) bool { return strings.HasPrefix(name, "SDK_") },
		Env:      []string{"MINE=1"},
	}
	got := cfg.Environ([]string{
		"PATH=/bin", "ANTHROPIC_API_KEY=k", "ANTHROPIC_API_KEY_2=kept", "SDK_X=1", "BASH_ENV=/x", "ENV=/y",
		"SHELLOPTS=xtrace", "PAGER=less", "EMPTY=", "=odd", "noequals",
	})
	want := slices.Concat(
		[]string{"PATH=/bin", "ANTHROPIC_API_KEY_2=kept", "PAGER=less", "EMPTY=", "=odd"}, quiet[:], []string{"MINE=1"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBelongs(t *testing.T) {
	for _, c := range []struct {
		value, id string
		want      bool
	}{
		{"a.1", "a", true}, {"a.1", "a.1", true}, {"x.3:a.1", "a", true}, {"x.3:a.1", "x", true}, {"x.3:a.1", "x.3", true},
		{"a.12", "a.1", false}, {"ab.1", "a", false}, {"", "a", false}, {"x.3:a.1", "b", false},
	} {
		if got := belongs(c.value, c.id); got != c.want {
			t.Errorf("belongs(%q, %q) = %v", c.value, c.id, got)
		}
	}
	if got := markerIn("A=1\x00" + Marker + "=a.1\x00B=2\x00"); got != "a.1" {
		t.Errorf("got %q", got)
	}
	if got := markerIn("A=" + Marker + "=a\x00"); got != "" {
		t.Errorf("got %q", got)
	}
}
