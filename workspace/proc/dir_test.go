//go:build unix

package proc

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestDirectory(t *testing.T) {
	r := newRunner(t, Config{})
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	odd := "o'd d\n\"x\""
	for _, d := range []string{"sub", odd} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sub := filepath.Join(base, "sub")
	if err := os.Symlink(sub, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, want string
		gone          bool
	}{
		{"true", base, false},
		{"cd sub", sub, false},
		{"cd sub && false", sub, false},
		{"cd sub; exit 3", sub, false},
		{"set -e; cd sub; false", sub, false},
		{"set -eu; cd sub; echo $nope", sub, false},
		{"cd link", sub, false},
		{"cd sub; pwd() { echo /; }", sub, false},
		{"(cd sub)", base, false},
		{"(cd sub; exit 3); true", base, false},
		{"x=$(cd sub; pwd)", base, false},
		{"cd sub & wait", base, false},
		{"cd sub | cat", base, false},
		{"cd nowhere", base, false},
		{"cd sub; trap 'echo bye' EXIT", sub, false},
		{"trap - EXIT; cd sub", sub, false},
		{"cd sub; exec true", "", false},
		{"cd sub; kill -9 $$", "", false},
		{"exec 19>&-; cd sub", "", false},
		{"cd sub\ncat <<'E'\nit's \"q\"\nE\n", sub, false},
		{"cd sub; echo 'open", base, false},
		{"cd sub; sleep 300 >/dev/null 2>&1 &", sub, false},
		{"cd sub; sleep 300 >/dev/null 2>&1 & cd sub", sub, false},
		{"cd \"$(printf 'o\\047d d\\n\"x\"')\"", filepath.Join(base, odd), false},
		{"mkdir d; cd d; rmdir ../d", "", true},
		{"cd /", "/", false},
		{"ls -d .", base, false},
		{"ls nowhere", base, false},
		{"exec ls", base, false},
	} {
		_, exit := sh(t, r, Job{Command: c.command, Dir: base, Track: true})
		if c.gone {
			exit.Dir = "" // what a shell says of a lost directory differs
		}
		if exit.Dir != c.want || exit.DirGone != c.gone {
			t.Errorf("%q: in %q (gone %v), want %q (gone %v)", c.command, exit.Dir, exit.DirGone, c.want, c.gone)
		}
	}
}

func TestDirectoryOfAShellThatStays(t *testing.T) {
	r := newRunner(t, Config{})
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub, link := filepath.Join(base, "sub"), filepath.Join(base, "link")
	if err := errors.Join(os.Mkdir(sub, 0o755), os.Symlink(sub, link)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, dir, want string
		gone               bool
	}{
		{"true", link, sub, false},
		{"false", sub, sub, false},
		{"rmdir ../sub", link, "", true},
	} {
		if !stays(c.command, nil) {
			t.Errorf("%s: is told apart", c.command)
		}
		_, exit := sh(t, r, Job{Command: c.command, Dir: c.dir, Track: true})
		if exit.Dir != c.want || exit.DirGone != c.gone {
			t.Errorf("%s in %s: %+v", c.command, c.dir, exit)
		}
	}
	with := newRunner(t, Config{Env: []string{"BASH_FUNC_ls%%=() { cd " + base + "; }"}})
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, exit := sh(t, with, Job{Command: "ls", Dir: sub, Track: true}); exit.Dir != base {
		t.Errorf("a function of the environment: %+v", exit)
	}
}
