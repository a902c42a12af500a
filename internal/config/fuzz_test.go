package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzLoad holds that no file breaks the loader, that a deny rule survives
// whatever else a file holds, and that an untrusted folder never widens.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"model": "x", // c` + "\n" + `"permissions": {"deny": ["A"]},}`))
	f.Add([]byte(everything))
	f.Add([]byte(`{"permissions": {"deny": ["A"]}, "permissions": {"deny": null}}`))
	f.Add([]byte(`{"hooks": {"a": [{"hooks": [{"type": "command"}]}]}, "profiles": {"": {"x": [[]]}}}`))
	f.Add([]byte("\xef\xbb\xbf[[[[\"\\ud800\"/*"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, trusted := range []bool{true, false} {
			b := newBuilder(Options{}, Paths{Dir: "/x"})
			b.text(&layer{scope: Project, file: "f", trusted: trusted, text: true}, data)
			s := b.out.Settings
			if !trusted && (s.Permission.Mode.Width() > 2 || s.BaseURL != "" || s.Env != nil || len(b.out.Hooks) > 0 || len(s.Permissions.Allow) > 0) {
				t.Errorf("an untrusted folder widens: %+v", s)
			}
			if len(b.errs) > 0 {
				continue
			}
			_ = b.out.List()
		}
		// The same file with a deny rule before all else: it fails, or the rule counts.
		rest, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "{")
		if !ok {
			return
		}
		sep := ","
		if strings.HasPrefix(strings.TrimSpace(rest), "}") {
			sep = ""
		}
		b := newBuilder(Options{}, Paths{Dir: "/x"})
		b.text(&layer{scope: Project, file: "f", text: true}, []byte(`{"permissions": {"deny": ["Keep"]}`+sep+rest))
		kept := slices.ContainsFunc(b.out.Rules, func(r Rule) bool { return r.Text == "Keep" && r.Effect == 0 })
		if len(b.errs) == 0 && !kept {
			t.Errorf("the deny rule is lost; warnings %v", b.out.Warnings)
		}
	})
}

// FuzzEdit holds that an edit leaves a file that loads and holds the value.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("{\n  // c\n  \"a\": [1, 2,], // d\n}\n"), "memory.enabled", "true")
	f.Add([]byte(`{"permissions": {"deny": ["A" /* x */,]}}`), "permissions.deny", `["B"]`)
	f.Add([]byte(""), "profiles.a.b.label", `"x"`)
	f.Add([]byte(`{"env":{"A":"1"},}`), "env.B", `"2"`)
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		path, err := keyPath(key)
		if err != nil || !json.Valid([]byte(value)) {
			return
		}
		n, err := fromJSON([]byte(value), "")
		if err != nil {
			return
		}
		want := string(n.json())
		tr, err := newTree("f", data)
		if err != nil || tr.set(path, json.RawMessage(value)) != nil {
			return
		}
		doc, fault := parse(tr.pack())
		if fault != nil {
			t.Fatalf("the outcome does not load: %v\n%q", fault, tr.pack())
		}
		at := doc.root
		for _, name := range path {
			if at = at.kids[name]; at == nil {
				t.Fatalf("%v is not in %q", path, tr.pack())
			}
		}
		if got := string(at.json()); got != want && !strings.HasPrefix(key, "permission") {
			t.Errorf("%v is %s, want %s", path, got, want)
		}
	})
}

// BenchmarkLoad reads three small files, as a start does.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	for _, name := range []string{"home/.openharness/settings.json", "home/p/.openharness/settings.json", "home/p/.claude/settings.local.json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		text := `{ // mine
			"model": "opus", "permissions": {"allow": ["Bash(git status)", "Read"], "deny": ["Read(.env)"]},
			"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}, "memory": {"max_files": 3},
		}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	o := Options{Dir: filepath.Join(dir, "home", "p"), Home: filepath.Join(dir, "home"), Trusted: true, Managed: "-"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(o); err != nil {
			b.Fatal(err)
		}
	}
}
