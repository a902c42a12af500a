package shell

import (
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// Whatever comes, the analysis ends, names absolute paths, and calls nothing
// harmless that it could not read.
func FuzzAnalyse(f *testing.F) {
	for _, c := range tableCases(f) {
		f.Add(c.line)
	}
	for _, l := range traced {
		f.Add(l)
	}
	f.Add("a0&0\xc70") // the parser goes on after its error
	f.Fuzz(func(t *testing.T, line string) {
		a := Analyse(line, here)
		if _, err := syntax.NewParser().Parse(strings.NewReader(line), ""); err != nil && (a.ReadOnly() || a.Obscure == "") {
			t.Fatalf("%q does not parse (%v) and is not called obscure", line, err)
		}
		check := func(paths []string) {
			for _, p := range paths {
				if !filepath.IsAbs(p) {
					t.Fatalf("%q: the path %q is not absolute", line, p)
				}
			}
		}
		check(a.Mentions)
		check(a.Targets)
		check(a.Hints)
		for _, p := range a.Parts {
			check(p.Reads)
			check(p.Writes)
			if p.Class == ReadOnly && (len(p.Writes) > 0 || len(p.Lost) > 0) {
				t.Fatalf("%q: %q writes and is called read-only", line, p.Text)
			}
			if (p.Class == Unknown || p.Class == Guarded) && p.Reason == "" {
				t.Fatalf("%q: no reason for %q", line, p.Text)
			}
			if len(p.Forms) == 0 && len(p.Argv) > 0 {
				t.Fatalf("%q: no forms of %q", line, p.Text)
			}
		}
		if a.Guard != "" && (a.ReadOnly() || a.Suggest() != nil) {
			t.Fatalf("%q is guarded and harmless, or a rule is offered", line)
		}
		if b := Analyse("rm -rf /\n"+line, here); b.Guard == "" {
			t.Fatalf("what comes after hides a wide deletion: %q", line)
		}
	})
}

// The checks of programs in other languages never panic.
func FuzzScripts(f *testing.F) {
	for _, s := range []string{"s/a/b/w x", "1,$p", "/[/]/d", "y/a/b/", "s\\", "{", "$!N;s/a\\/b/c/;P", "print > \"x\"", "s/[/w x/]/b/", "s/a/b/\nw x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if sedHarmless(s) && sedHarmless(s+"\nw out") {
			t.Fatalf("%q hides a write", s)
		}
		_ = awkHarmless(s)
		_ = ansi(s)
	})
}
