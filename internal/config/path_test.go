package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mkfile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFindPaths(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	mkfile(t, at("home", ".git", "HEAD"), "x")
	mkfile(t, at("home", "plain", "sub", "f"), "")
	mkfile(t, at("home", "repo", ".git", "HEAD"), "x")
	mkfile(t, at("home", "repo", "a", "b", "f"), "")
	mkfile(t, at("home", "repo", "empty", ".git", "f"), "") // no repository: git passes it over too
	mkfile(t, at("home", "repo", ".git", "worktrees", "wt", "commondir"), "../..\n")
	mkfile(t, at("home", "repo", ".git", "worktrees", "wt", "gitdir"), at("home", "wt", ".git")+"\n")
	mkfile(t, at("home", "wt", ".git"), "gitdir: "+at("home", "repo", ".git", "worktrees", "wt")+"\n")
	mkfile(t, at("home", "wt", "sub", "f"), "")
	mkfile(t, at("home", "liar", ".git"), "gitdir: "+at("home", "repo", ".git", "worktrees", "wt")+"\n")
	mkfile(t, at("home", "repo", ".git", "modules", "m", "HEAD"), "x")
	mkfile(t, at("home", "repo", "m", ".git"), "gitdir: ../.git/modules/m\n")
	mkfile(t, at("home", "odd", ".git"), "nonsense")
	if err := os.Symlink(at("home", "repo", "a"), at("home", "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, root, main string
		git             bool
	}{
		{"home/repo", "home/repo", "home/repo", true},
		{"home/repo/a/b", "home/repo", "home/repo", true},
		{"home/repo/empty", "home/repo", "home/repo", true},
		{"home/link/b", "home/repo", "home/repo", true},
		{"home/plain/sub", "home/plain/sub", "home/plain/sub", false}, // home's own repository does not reach down
		{"home", "home", "home", true},
		{"home/wt/sub", "home/wt", "home/repo", true},
		{"home/liar", "home/liar", "home/liar", true},
		{"home/repo/m", "home/repo/m", "home/repo/m", true},
		{"home/odd", "home/odd", "home/odd", false},
	} {
		env := map[string]string{}
		p, err := FindPaths(Options{Dir: at(c.dir), Home: at("home"), Managed: "-", LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
		if err != nil {
			t.Fatal(err)
		}
		real, err := filepath.EvalSymlinks(at(c.dir))
		if err != nil {
			t.Fatal(err)
		}
		want := Paths{Home: at("home"), Config: at("home", ".openharness"), Data: at("home", ".openharness", "data"), Logs: at("home", ".openharness", "logs"),
			Claude: at("home", ".claude"), Dir: real, Root: at(c.root), Main: at(c.main), Git: c.git}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("%s: %s", c.dir, diff)
		}
	}
}

func TestFindPathsByVariables(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"OPENHARNESS_CONFIG_DIR": "rel/cfg", "OPENHARNESS_DATA_DIR": filepath.Join(dir, "d"), "OPENHARNESS_LOGS_DIR": filepath.Join(dir, "l"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, "c")}
	look := func(n string) (string, bool) { v, ok := env[n]; return v, ok }
	p, err := FindPaths(Options{Dir: dir, LookupEnv: look, Managed: "-"})
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{p.Config, p.Data, p.Logs, p.Claude, p.Home}; !cmp.Equal(got, []string{filepath.Join(p.Dir, "rel", "cfg"), env["OPENHARNESS_DATA_DIR"], env["OPENHARNESS_LOGS_DIR"], env["CLAUDE_CONFIG_DIR"], ""}) {
		t.Error(got)
	}
	delete(env, "OPENHARNESS_CONFIG_DIR")
	if _, err := FindPaths(Options{Dir: dir, LookupEnv: look}); err == nil || err.Error() != "the home folder is not known: set HOME or OPENHARNESS_CONFIG_DIR" {
		t.Error(err)
	}
	env["HOME"] = dir
	if p, err := FindPaths(Options{Dir: dir, LookupEnv: look}); err != nil || p.Config != filepath.Join(dir, ".openharness") || p.Managed == "" {
		t.Errorf("%+v %v", p, err)
	}
}

func TestKey(t *testing.T) {
	if got, want := Key("/nowhere/that/is"), "is-b3c7cca11520"; got != want && filepath.Separator == '/' {
		t.Errorf("Key = %s, want %s", got, want)
	}
	if got := Key("/"); got != "root-42099b4af021" && filepath.Separator == '/' {
		t.Errorf("Key of the root = %s", got)
	}
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if Key(dir) != Key(link) || Key(dir) == Key(filepath.Dir(dir)) {
		t.Error("a key must be that of the resolved folder")
	}
}
