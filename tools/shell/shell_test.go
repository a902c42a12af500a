//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace/proc"
)

const patience = 20 * time.Second

// bench is a conversation in miniature: its directory follows the tool.
type bench struct {
	t      *testing.T
	tool   oh.Tool
	runner *proc.Runner
	env    *oh.Env
	root   string

	mu     sync.Mutex // guards events
	events []oh.Event
}

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, root: root, runner: proc.New(proc.Config{Grace: 200 * time.Millisecond})}
	t.Cleanup(b.runner.CloseAll)
	b.tool = New(Config{Runner: b.runner, Roots: func() []string { return []string{root} }})
	b.env = &oh.Env{Dir: root, Artifacts: artifacts(t.TempDir())}
	return b
}

type artifacts string

func (a artifacts) Create(tool string) (oh.Artifact, error) {
	f, err := os.OpenFile(filepath.Join(string(a), tool+".txt"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return artifact{f}, err
}

type artifact struct{ *os.File }

func (a artifact) Path() string { return a.Name() }

// input runs the tool on raw input.
func (b *bench) input(raw string) (oh.Result, error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	act, err := b.tool.Prepare(ctx, &oh.Call{ID: "c1", Name: "bash", Input: json.RawMessage(raw), Env: b.env})
	if err != nil {
		return oh.Result{}, err
	}
	res, err := act.Run(ctx, b.emit)
	if ctx.Err() != nil {
		b.t.Fatalf("%s: did not end within %v: %s", raw, patience, res.Content.Text())
	}
	return res, err
}

func (b *bench) emit(e oh.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	if s, ok := e.(oh.StateChanged); ok && s.Dir != "" {
		b.env.Dir = s.Dir
	}
}

func (b *bench) run(command string, more ...string) (string, oh.Result) {
	b.t.Helper()
	raw, err := oh.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := b.input(`{"command":` + string(raw) + strings.Join(more, "") + `}`)
	if err != nil {
		b.t.Fatalf("%s: %v", command, err)
	}
	return res.Content.Text(), res
}

func TestResults(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		command, want string
		isError       bool
	}{
		{"echo hi; echo err >&2", "hi\nerr", false},
		{"true", "(no output)", false},
		{"printf '  in\\n\\n\\n'", "  in", false},
		{"exit 3", "(no output)\n[exit code 3]", true},
		{"echo out; false", "out\n[exit code 1]", true},
		{"kill -9 $$", "(no output)\n[ended by a signal: killed]", true},
		{"printf 'a\\r\\nb\\033[31mred\\033[0m\\000x'", "a\nbredx", false},
		{"printf 'half \\360\\237\\231'", "half \uFFFD\uFFFD\uFFFD", false},
	} {
		text, res := b.run(c.command)
		if text != c.want || res.IsError != c.isError {
			t.Errorf("%s: %q, error %v", c.command, text, res.IsError)
		}
	}
}

func TestWholeResult(t *testing.T) {
	b := newBench(t)
	_, res := b.run("echo out; exit 2")
	var m meta
	if err := json.Unmarshal(res.Meta, &m); err != nil {
		t.Fatal(err)
	}
	m.MS = 0
	if diff := cmp.Diff(meta{Exit: 2, Dir: b.root, Chars: 4}, m); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(oh.Output{Command: "echo out; exit 2", Text: "out", Exit: 2}, res.Display); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]oh.Event{oh.ToolOutput{ID: "c1", Text: "out\n"}}, b.events); diff != "" {
		t.Error(diff)
	}
}

func TestAccessAndSpec(t *testing.T) {
	b := newBench(t)
	act, err := b.tool.Prepare(t.Context(), &oh.Call{ID: "c", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`), Env: b.env})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oh.Access{Command: "ls", Dir: b.root}, act.Access); diff != "" {
		t.Error(diff)
	}
	spec := b.tool.Spec()
	if size := len(spec.Description) + len(spec.Schema); size > 1500 || len(doc) > 900 || strings.Contains(spec.Description, "{") {
		t.Errorf("%d bytes, text %d bytes: %s", size, len(doc), spec.Description)
	}
	if !spec.SelfLimited || spec.Name != "bash" {
		t.Errorf("got %+v", spec)
	}
}

func TestBadInput(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(b.root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ input, want string }{
		{`{}`, "command is required"},
		{`{"command":" "}`, "command is empty: give a command line to run"},
		{`{"command":"ls","timeout_seconds":0}`, "timeout_seconds"},
		{`{"command":"ls","timeout_seconds":601}`, "timeout_seconds"},
		{`{"command":"ls","cwd":"nowhere"}`, "cwd " + filepath.Join(b.root, "nowhere") + " does not exist"},
		{`{"command":"ls","cwd":"file"}`, "cwd " + file + " is not a directory"},
		{`{"command":"a\u0000b"}`, "NUL byte"},
	} {
		if _, err := b.input(c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.input, err)
		}
	}
}

func TestTimeoutText(t *testing.T) {
	b := newBench(t)
	text, res := b.run("echo early; (sleep 300; echo x) | cat", `,"timeout_seconds":"1"`)
	if want := "early\n[timed out after 1 s; the command and its children were stopped]"; text != want || !res.IsError {
		t.Errorf("got %q", text)
	}
	if exit := res.Display.(oh.Output).Exit; exit != -1 {
		t.Errorf("exit %d", exit)
	}
}

func TestCancelKeepsTheOutput(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	act, err := b.tool.Prepare(ctx, &oh.Call{ID: "c", Input: json.RawMessage(`{"command":"echo early; sleep 300"}`), Env: b.env})
	if err != nil {
		t.Fatal(err)
	}
	res, err := act.Run(ctx, func(e oh.Event) {
		if _, ok := e.(oh.ToolOutput); ok {
			cancel()
		}
	})
	if want := "early\n[cancelled; the command and its children were stopped]"; err != nil || res.Content.Text() != want || !res.IsError {
		t.Errorf("got %q, %v", res.Content.Text(), err)
	}
}

func TestWorkingDirectory(t *testing.T) {
	b := newBench(t)
	sub, other := filepath.Join(b.root, "sub"), filepath.Join(b.root, "other")
	moved := func(dir string) string { return "\n[the working directory is now " + dir + "]" }
	for _, c := range []struct{ command, more, want, dir string }{
		{"mkdir sub other; cd sub", "", "(no output)" + moved(sub), sub},
		{"pwd", "", sub, sub},
		{"cd ../other && false", "", "(no output)\n[exit code 1]" + moved(other), other},
		{"pwd; exit 3", "", other + "\n[exit code 3]", other},
		{"cd ../sub; pwd", `,"cwd":"../sub"`, sub, other},
		{"cd /; pwd", "", "/\n[the command ended in /, which is outside the workspace; the working directory was reset to " + other + "]", other},
		{"cd ..; set -e; false", "", "(no output)\n[exit code 1]" + moved(b.root), b.root},
		{"cd sub; cat <<'E'\nit's \"q\"\nE", "", "it's \"q\"" + moved(sub), sub},
		{"mkdir d; cd d; rmdir ../d", "", "(no output)\n[the directory in which the command ended no longer exists; the working directory is now " + sub + "]", sub},
		{"rmdir ../sub", "", "(no output)\n[the directory in which the command ended no longer exists; the working directory is now " + b.root + "]", b.root},
		{"mkdir \"$(printf 'x\\377')\"; cd x*", "", "(no output)\n[the command ended in a directory whose name is not UTF-8; the working directory was reset to " + b.root + "]", b.root},
	} {
		text, _ := b.run(c.command, c.more)
		if text != c.want || b.env.Dir != c.dir {
			t.Errorf("%s: %q in %s, want %q in %s", c.command, text, b.env.Dir, c.want, c.dir)
		}
	}
}

func TestDeletedDirectory(t *testing.T) {
	b := newBench(t)
	b.env.Dir = filepath.Join(b.root, "gone")
	text, res := b.run("touch ran")
	want := fmt.Sprintf("The working directory %s no longer exists. The command was not run; the working directory is now %s. Repeat the command if it is still right there.", filepath.Join(b.root, "gone"), b.root)
	if text != want || !res.IsError || b.env.Dir != b.root {
		t.Errorf("got %q in %s", text, b.env.Dir)
	}
	if _, err := os.Stat(filepath.Join(b.root, "ran")); err == nil {
		t.Error("the command ran")
	}
	if text, _ := b.run("pwd"); text != b.root {
		t.Errorf("then %q", text)
	}
}

func TestAWorkspaceBehindALink(t *testing.T) {
	b := newBench(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(b.root, link); err != nil {
		t.Fatal(err)
	}
	b.env.Dir = link
	b.tool = New(Config{Runner: b.runner, Roots: func() []string { return []string{link} }})
	if text, _ := b.run("true"); text != "(no output)" || b.env.Dir != link {
		t.Errorf("got %q in %s", text, b.env.Dir)
	}
	b.run("mkdir sub; cd sub")
	if b.env.Dir != filepath.Join(b.root, "sub") {
		t.Errorf("in %s", b.env.Dir)
	}
}

func TestBackgroundChildIsNamed(t *testing.T) {
	b := newBench(t)
	text, res := b.run("sleep 300 & echo done $!")
	m := regexp.MustCompile(`^done (\d+)\n\[still running in the background, until the session ends: (\d+) `).FindStringSubmatch(text)
	if m == nil || m[1] != m[2] || res.IsError {
		t.Fatalf("got %q", text)
	}
	b.runner.CloseAll()
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil && runtime.GOOS != "linux" || err == nil && !strings.Contains(string(raw), ") Z ")
}

func TestLongOutputIsSpilledAtAnyOffset(t *testing.T) {
	for pad := range 4 {
		b := newBench(t)
		b.env.Limits = oh.Limits{Inline: 1000, Preview: 101}
		text, res := b.run(fmt.Sprintf("printf %%%ds ''; for i in $(seq 2000); do printf '🙂é'; done; printf '\\377'; exit 4", pad))
		var m meta
		if err := json.Unmarshal(res.Meta, &m); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(m.Path)
		if err != nil || m.Chars != pad+4001 || !m.Truncated {
			t.Fatalf("%+v, %v", m, err)
		}
		if want := strings.Repeat(" ", pad) + strings.Repeat("🙂é", 2000) + "\uFFFD"; string(raw) != want {
			t.Errorf("the file has %d bytes, want %d", len(raw), len(want))
		}
		if !utf8.ValidString(text) || len(text) > 2000 || !strings.HasSuffix(text, "\n[exit code 4]") || !strings.Contains(text, m.Path) {
			t.Errorf("got %q", text)
		}
	}
}

func TestNoArtifactStore(t *testing.T) {
	b := newBench(t)
	b.env.Artifacts = nil
	if text, _ := b.run("seq 100000"); !strings.Contains(text, "not saved") || len(text) > 5000 {
		t.Errorf("got %.300q", text)
	}
}

// TestRefuge: a conversation whose directories are all gone stays inside.
func TestRefuge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	if got := refuge([]string{gone, filepath.Join(dir, "too")}, filepath.Join(gone, "sub")); got != gone {
		t.Errorf("moved to %s", got)
	}
	if got := refuge([]string{gone, dir}, filepath.Join(gone, "sub")); got != dir {
		t.Errorf("moved to %s", got)
	}
	if got := refuge(nil, filepath.Join(gone, "sub")); got != dir {
		t.Errorf("moved to %s", got)
	}
}

// A line that is known to be read-only says so, but not in the background,
// where it outlives its call.
func TestReadOnlyAccess(t *testing.T) {
	b := newBench(t)
	b.tool = New(Config{Runner: b.runner, ReadOnly: func(command, dir string) bool { return command == "ls" && dir == b.root }})
	for input, want := range map[string]bool{
		`{"command":"ls"}`:                          true,
		`{"command":"touch x"}`:                     false,
		`{"command":"ls","cwd":"/"}`:                false,
		`{"command":"ls","run_in_background":true}`: false,
	} {
		act, err := b.tool.Prepare(t.Context(), &oh.Call{ID: "c1", Name: "bash", Input: json.RawMessage(input), Env: b.env})
		if err != nil || act.Access.ReadOnly != want {
			t.Errorf("%s: %+v, %v", input, act.Access, err)
		}
	}
}
