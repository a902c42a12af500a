package permit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
)

// world is a small file system: a workspace ws, a home, a folder outside.
type world struct {
	t    testing.TB
	top  string
	ws   string
	home string
	out  string
}

func newWorld(t testing.TB) *world {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, top: top, ws: filepath.Join(top, "ws"), home: filepath.Join(top, "home", "u"), out: filepath.Join(top, "outside")}
	for _, d := range []string{"ws/src", "ws/.git/hooks", "ws-evil", "home/u/.ssh", "home/u/.openharness/data/memory", "outside/sub", "added"} {
		w.mkdir(d)
	}
	for _, f := range []string{"ws/src/a.go", "ws/.env", "home/u/.ssh/id_ed25519", "outside/f", "ws-evil/x"} {
		if err := os.WriteFile(filepath.Join(top, f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) mkdir(d string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.top, d), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(target, name string) {
	w.t.Helper()
	if err := os.Symlink(target, filepath.Join(w.top, name)); err != nil {
		w.t.Skip("no symbolic links here:", err)
	}
}

func (w *world) config(rules ...Rule) Config {
	return Config{
		Root: w.ws, Dirs: []string{filepath.Join(w.top, "added")}, Home: w.home,
		ConfigDir: filepath.Join(w.home, ".openharness"), DataDir: filepath.Join(w.home, ".openharness", "data"),
		Readable: []string{filepath.Join(w.home, ".openharness", "data", "artifacts")},
		Rules:    rules,
	}
}

func (w *world) policy(rules ...Rule) *Policy {
	w.t.Helper()
	p, err := New(w.config(rules...))
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// path makes an absolute path: ws/… and so on, ~/… in home.
func (w *world) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~"); ok {
		return filepath.Clean(w.home + rest)
	}
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(w.top, filepath.FromSlash(p))
}

func (w *world) read(tool, path string) oh.GateRequest {
	return oh.GateRequest{Tool: tool, Dir: w.ws, Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: w.path(path)}}}}
}

func (w *world) tree(tool, path string) oh.GateRequest {
	return oh.GateRequest{Tool: tool, Dir: w.ws, Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: w.path(path), Tree: true}}}}
}

func (w *world) write(tool string, paths ...string) oh.GateRequest {
	r := oh.GateRequest{Tool: tool, Dir: w.ws}
	for _, p := range paths {
		r.Access.Paths = append(r.Access.Paths, oh.PathUse{Path: w.path(p), Write: true})
	}
	return r
}

func (w *world) bash(command string) oh.GateRequest {
	return oh.GateRequest{Tool: "bash", Dir: w.ws, Access: oh.Access{Command: command, Dir: w.ws}}
}

func fetch(url string) oh.GateRequest {
	return oh.GateRequest{Tool: "web_fetch", Access: oh.Access{ReadOnly: true, URLs: []string{url}}}
}

func check(p *Policy, mode oh.Mode, r oh.GateRequest) oh.Verdict {
	r.Mode = mode
	return p.Check(context.Background(), r)
}

func rules(effect oh.Decision, texts ...string) (out []Rule) {
	for _, t := range texts {
		out = append(out, Rule{Text: t, Effect: effect, Scope: User, File: "settings.json", Line: 3})
	}
	return out
}

// five is the decisions of one call in the five modes, narrow to wide: d, a or
// + for deny, ask, allow.
func five(p *Policy, r oh.GateRequest) string {
	var b strings.Builder
	for _, m := range oh.Modes {
		b.WriteByte("da+"[check(p, m, r).Decision])
	}
	return b.String()
}
