package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMentioned(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"explain @main.go please", []string{"main.go"}},
		{"@a.go, @b.go and @a.go.", []string{"a.go", "b.go"}},
		{`look at @"my notes.txt"!`, []string{"my notes.txt"}},
		{"mail me@example.com", nil},
		{"(see @docs/x.md)", []string{"docs/x.md"}},
		{"@", nil},
		{"a\n@next", []string{"next"}},
		{`@"open`, nil},
	} {
		if d := cmp.Diff(c.want, mentioned(c.line)); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.line, d)
		}
	}
}
