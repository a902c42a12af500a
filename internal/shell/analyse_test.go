package shell

import (
	_ "embed"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/lines.txt
var linesText string

// here is where the lines of the tests run.
var here = Place{Dir: "/ws", Home: "/home/u", Roots: []string{"/ws"}}

// tableCase is one line of testdata/lines.txt.
type tableCase struct{ want, line string }

func tableCases(t testing.TB) (out []tableCase) {
	for l := range strings.Lines(linesText) {
		l = strings.TrimRight(l, "\n")
		if l == "" || l[0] == '#' {
			continue
		}
		want, line, ok := strings.Cut(l, "  ")
		if !ok {
			t.Fatalf("bad case %q", l)
		}
		if strings.HasPrefix(line, `"`) && strings.HasSuffix(line, `"`) && len(line) > 1 {
			if s, err := strconv.Unquote(line); err == nil {
				line = s
			}
		}
		out = append(out, tableCase{want, line})
	}
	return out
}

// code is an analysis in the letters of the table.
func code(a Analysis) string {
	var b strings.Builder
	for _, p := range a.Parts {
		c := "URWG"[p.Class : p.Class+1]
		if p.Within {
			c = strings.ToLower(c)
		}
		b.WriteString(c)
	}
	if a.Obscure != "" {
		b.WriteByte('?')
	}
	if a.Guard != "" {
		b.WriteByte('!')
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

func TestLines(t *testing.T) {
	cases := tableCases(t)
	if len(cases) < 400 {
		t.Errorf("%d lines", len(cases))
	}
	for _, c := range cases {
		a := Analyse(c.line, here)
		if got := code(a); got != c.want {
			t.Errorf("%q: %s, want %s", c.line, got, c.want)
			for _, p := range a.Parts {
				t.Logf("   %s %q: %s", p.Class, p.Text, p.Reason)
			}
			t.Logf("   %s / %s", a.Obscure, a.Guard)
		}
		for _, p := range a.Parts {
			if (p.Class == Unknown || p.Class == Guarded) && p.Reason == "" {
				t.Errorf("%q: %q is %s and no reason is given", c.line, p.Text, p.Class)
			}
		}
	}
}
