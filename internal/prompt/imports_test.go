package prompt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImports(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"@a.md", []string{"a.md"}},
		{"see @./docs/b.md and @~/c.md, then\n\t@/abs/d", []string{"./docs/b.md", "~/c.md,", "/abs/d"}},
		{`@with\ space.md x`, []string{"with space.md"}},
		{"mail me@host.org or (@no) x@y", nil},
		{"`@code` ``@a ` @b`` @c", []string{"c"}},
		{"`unclosed @d", []string{"d"}},
		{"```\n@no\n```\n@yes", []string{"yes"}},
		{"````md\n```\n@no\n```\n@no\n````\n@yes", []string{"yes"}},
		{"~~~\n@no\n```\n@no\n~~~~\n@yes", []string{"yes"}},
		{"- item\n  ```sh\n  @no\n  ```\n  @yes", []string{"yes"}},
		{"``` inline ``` @yes\n@too", []string{"yes", "too"}},
		{"```\n@no to the end", nil},
		{"@@x @ @", nil},
		{"@a`b`", []string{"a"}},
	} {
		if diff := cmp.Diff(tt.want, imports(tt.in)); diff != "" {
			t.Errorf("%q: %s", tt.in, diff)
		}
	}
}

func TestPathsOf(t *testing.T) {
	for _, tt := range []struct {
		in    string
		globs []string
		body  string
	}{
		{"plain", nil, "plain"},
		{"---\npaths: src/**/*.ts\n---\nbody", []string{"src/**/*.ts"}, "body"},
		{"---\nname: x\npaths:\n  - \"a/{b,c}/*.go\" # why\n  - 'd'\n\n  # note\n  - e\nother:\n  - f\n---\nbody\n", []string{"a/{b,c}/*.go", "d", "e"}, "body\n"},
		{"---\npaths: [\"*.{ts,tsx}\", 'b']\n---\n", []string{"*.{ts,tsx}", "b"}, ""},
		{"---\npaths: a, b\n---", []string{"a", "b"}, ""},
		{"---\npaths:\n---\nbody", nil, "body"},
		{"---\nname: only\n---\nbody", nil, "body"},
		{"---\npaths: a\nno end", nil, "---\npaths: a\nno end"},
	} {
		globs, body := pathsOf(tt.in)
		if !cmp.Equal(globs, tt.globs) || body != tt.body {
			t.Errorf("%q: %q, %q", tt.in, globs, body)
		}
	}
}

func TestRuleMatch(t *testing.T) {
	r := Rule{Dir: "/p", Globs: []string{"./src/**/*.{ts,tsx}", "[", "*.md"}}
	for path, want := range map[string]bool{
		"/p/src/a/b.ts": true, "/p/src/b.tsx": true, "/p/src/b.js": false, "/p/x.md": true, "/p/d/x.md": false, "/q/src/b.ts": false,
	} {
		if r.Match(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

func FuzzImports(f *testing.F) {
	f.Add("see @a.md, `@b` and\n```\n@c\n```\n@~/d\\ e")
	f.Add("``@`\n~~~@@ @\x00\\ ")
	f.Add("---\npaths: [a, {b,c}]\n---\nx")
	f.Fuzz(func(t *testing.T, s string) {
		for _, ref := range imports(s) {
			if ref == "" || ref[0] == '@' || strings.ContainsAny(ref, "\n\t`") {
				t.Errorf("reference %q", ref)
			}
		}
		if refs := imports("```\n" + strings.ReplaceAll(s, "```", "") + "\n```"); len(refs) > 0 {
			t.Errorf("%q in a fence", refs)
		}
		globs, body := pathsOf(s)
		if !strings.HasSuffix(s, body) {
			t.Errorf("body %q", body)
		}
		for _, g := range globs {
			Rule{Dir: "/", Globs: globs}.Match("/" + g)
		}
	})
}
