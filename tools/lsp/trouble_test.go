package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

var ant = map[string]any{"file_path": "a.fk", "line": 3, "character": 10}

func TestTrouble(t *testing.T) {
	tests := []struct {
		name, mode string
		cfg        Config
		want       string // of the first answer
		next       string // of the second
	}{
		{"a crash", "crash", Config{}, "error: fake ended unexpectedly: exit status 3; its last words: panic: out of cheese", ""},
		{"a crash at the start", "crash-start", Config{}, "error: start fake: fake ended unexpectedly: exit status 7; its last words: cannot begin", ""},
		{"no JSON", "bad-json", Config{}, "error: fake: a message is not JSON-RPC: invalid character 'n' looking for beginning of object key string: \"{not json\"", ""},
		{"no header", "bad-frame", Config{}, "error: fake: 16398 bytes without the header of a message: \"no header at all\\r\\n\"", ""},
		{"a slow start", "slow-start", Config{Startup: 100 * time.Millisecond}, "error: fake was not ready within 100ms (", ""},
		{"no answer", "hang", Config{Request: 100 * time.Millisecond}, "error: fake did not answer textDocument/definition within 100ms", ""},
		{"positions of another kind", "utf8", Config{}, "error: start fake: fake: it insists on positions in utf-8, where only utf-16 was offered", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, log := fakeServer(t, tt.mode)
			cfg.Startup, cfg.Request = tt.cfg.Startup, tt.cfg.Request
			w := newWorld(t, cfg, project())
			for range 2 {
				if got := w.ask(opDefinition, ant); !strings.HasPrefix(got, tt.want) {
					t.Errorf("got %q", got)
				}
			}
			if tt.mode == "hang" {
				w.pool.Close()
				if n := count(logged(t, log), "$/cancelRequest"); n == 0 { // the second time the connection is given up at once
					t.Errorf("%d requests were cancelled", n)
				}
			}
		})
	}
}

func TestRestartsAreBounded(t *testing.T) {
	cfg, log := fakeServer(t, "crash")
	s := cfg.Servers["fake"]
	one := 1
	s.MaxRestarts = &one
	cfg.Servers["fake"] = s
	w := newWorld(t, cfg, project())
	for range 2 {
		if got := w.ask(opDefinition, ant); !strings.Contains(got, "ended unexpectedly") {
			t.Errorf("got %q", got)
		}
	}
	want := "(no results)\n[From a scan of the text, not a language server, so incomplete and inexact: fake has failed 2 times and is not started again in this session.]"
	if got := w.ask(opDefinition, ant); got != want {
		t.Errorf("got %q", got)
	}
	if n := count(logged(t, log), "initialize"); n != 2 {
		t.Errorf("it was started %d times", n)
	}
}

// A server that does not answer is given up after some time, and started anew.
func TestHangingServerIsReplaced(t *testing.T) {
	cfg, log := fakeServer(t, "hang")
	cfg.Request = 50 * time.Millisecond
	w := newWorld(t, cfg, project())
	for range lateLimit + 1 {
		w.ask(opDefinition, ant)
	}
	if n := count(logged(t, log), "initialize"); n != 2 {
		t.Errorf("it was started %d times", n)
	}
}

func TestCancel(t *testing.T) {
	for _, mode := range []string{"hang", "slow-start"} {
		cfg, log := fakeServer(t, mode)
		w := newWorld(t, cfg, project())
		ctx, cancel := context.WithCancel(t.Context())
		var got error
		var done sync.WaitGroup
		done.Go(func() {
			in := map[string]any{"operation": opDefinition}
			for k, v := range ant {
				in[k] = v
			}
			_, got = w.callIn(ctx, w.pool.Tool(), in)
		})
		awaitLog(t, log, map[string]string{"hang": "textDocument/definition", "slow-start": "initialize"}[mode])
		cancel()
		done.Wait()
		if !errors.Is(got, context.Canceled) {
			t.Errorf("%s: %v", mode, got)
		}
		w.pool.Close()
		if mode == "hang" && count(logged(t, log), "$/cancelRequest") != 1 {
			t.Error("the server was not told")
		}
	}
}

// awaitLog waits until the fake has got a message.
func awaitLog(t *testing.T, log, method string) {
	t.Helper()
	for count(logged(t, log), method) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the server never got", method)
		}
		runtime.Gosched()
	}
}

func TestCloseEndsAStart(t *testing.T) {
	cfg, log := fakeServer(t, "slow-start")
	w := newWorld(t, cfg, project())
	var got string
	var done sync.WaitGroup
	done.Go(func() { got = w.ask(opDefinition, ant) })
	awaitLog(t, log, "initialize")
	w.pool.Close()
	done.Wait()
	if want := "error: " + ErrClosed.Error(); got != want {
		t.Errorf("got %q", got)
	}
	if got, want := w.ask(opDefinition, ant), "error: "+ErrClosed.Error(); got != want {
		t.Errorf("after Close: %q", got)
	}
}

func TestCloseKillsTheTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds what has left the session")
	}
	cfg, log := fakeServer(t, "child,stubborn")
	w := newWorld(t, cfg, project())
	w.ask(opDefinition, ant)
	child := 0
	for child == 0 {
		data, _ := os.ReadFile(log + ".child")
		child, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		runtime.Gosched()
	}
	server := w.pool.living()[0].proc.cmd.Process.Pid
	w.pool.Close()
	awaitGone(t, server)
	awaitGone(t, child)
}

// awaitGone waits for the end of a process that was killed; who inherits it
// may take a moment to reap it.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for !gone(pid) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if t.Context().Err() != nil {
			t.Fatalf("process %d lives on", pid)
		}
		runtime.Gosched()
	}
}

func TestManyAskAtOnce(t *testing.T) {
	cfg, log := fakeServer(t, "")
	w := newWorld(t, cfg, project())
	var all sync.WaitGroup
	got := make([]string, 20)
	for i := range got {
		all.Go(func() {
			in := map[string]any{"symbol": "ant"}
			if i%2 == 0 {
				in = ant
			}
			got[i] = w.ask(opDefinition, in)
		})
	}
	all.Wait()
	for _, s := range got {
		if s != "definition ant - a.fk:2:7\n    😀 def ant" {
			t.Errorf("got %q", s)
		}
	}
	if n := count(logged(t, log), "initialize"); n != 1 {
		t.Errorf("%d servers were started", n)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SOME_API_KEY", "hidden")
	cfg, _ := fakeServer(t, "")
	cfg.Environ.Deny = []string{"SOME_API_KEY"}
	w := newWorld(t, cfg, project())
	w.ask(opDefinition, ant)
	env := strings.Join(w.pool.living()[0].proc.cmd.Env, "\n")
	if strings.Contains(env, "hidden") || !strings.Contains(env, "PAGER=cat") || !strings.Contains(env, fakeLog+"=") {
		t.Errorf("the server's environment is not right")
	}
}

func TestRename(t *testing.T) {
	in := map[string]any{"symbol": "ant", "new_name": "wasp"}
	before := project()
	after := map[string]string{"a.fk": "# 😀\n😀 def wasp\r\nuse bee, wasp\n", "sub/b.fk": "def bee\n  wasp ERROR no good\nWARN hm\n"}
	const done = "Renamed ant to wasp: 3 places in 2 files.\na.fk: lines 2, 3\nsub/b.fk: line 2"
	const not = "error: nothing was renamed: "
	tests := []struct{ mode, want string }{
		{"", done}, {"documentChanges", done},
		{"moves", not + "the server wants to rename a file, which rename does not do"},
		{"outside", not + "PARENT/outside.fk would change too, and it lies outside the workspace"},
		{"secret", not + "DIR/x.secret.fk would change too, and it is protected"},
		{"overlap", not + "DIR/a.fk: the server's changes of line 2 overlap"},
		{"beyond", not + "DIR/a.fk: the server wants to change line 4001, which is not there"},
		{"racing", not + "DIR/a.fk changed while the server was asked; try again"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			cfg, _ := fakeServer(t, tt.mode)
			w := newWorld(t, cfg, before)
			got := w.ask(opRename, in)
			got = strings.ReplaceAll(strings.ReplaceAll(got, w.dir, "DIR"), filepath.Dir(w.dir), "PARENT")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			want := before
			if tt.want == done {
				want = after
			}
			for name := range after {
				if tt.mode == "racing" {
					break
				}
				if diff := cmp.Diff(want[name], w.get(name)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			if tt.want == done {
				if got := w.ask(opDefinition, map[string]any{"symbol": "wasp"}); got != "definition wasp - a.fk:2:7\n    😀 def wasp" {
					t.Errorf("afterwards: %q", got)
				}
			}
		})
	}
}

// What the model has read stays known after a rename; what it has not, or not
// lately, does not become known.
func TestRenameKeepsReads(t *testing.T) {
	cfg, _ := fakeServer(t, "")
	w := newWorld(t, cfg, project())
	w.read[w.path("a.fk")] = workspace.Hash([]byte(w.get("a.fk")))
	w.read[w.path("sub/b.fk")] = workspace.Hash([]byte("an older content"))
	w.ask(opRename, map[string]any{"symbol": "ant", "new_name": "wasp"})
	want := []oh.Event{oh.StateChanged{Read: map[string]string{w.path("a.fk"): workspace.Hash([]byte(w.get("a.fk")))}}}
	if diff := cmp.Diff(want, w.got); diff != "" {
		t.Error(diff)
	}
}

// When one file cannot be written, those before it are put back.
func TestRenameIsAllOrNothing(t *testing.T) {
	w := newWorld(t, Config{}, project())
	a, err := w.ws.Locate(w.dir, "a.fk")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := w.ws.Locate(w.dir, "sub") // a folder cannot be overwritten
	if err != nil {
		t.Fatal(err)
	}
	q := &query{pool: w.pool}
	err = q.write([]change{{place: a, old: []byte(w.get("a.fk")), new: []byte("new")}, {place: folder, new: []byte("x")}})
	if err == nil || !strings.HasPrefix(err.Error(), "nothing was renamed: ") {
		t.Errorf("got %v", err)
	}
	if got := w.get("a.fk"); got != project()["a.fk"] {
		t.Errorf("a.fk is now %q", got)
	}
}

// Lines of protected files, and of those outside the workspace, are not shown.
func TestProtectedLines(t *testing.T) {
	cfg, _ := fakeServer(t, "")
	files := project()
	files["x.secret.fk"] = "def ant\n"
	w := newWorld(t, cfg, files)
	want := "definition ant - a.fk:2:7\n    😀 def ant\ndefinition ? - x.secret.fk:1:5"
	if got := w.ask(opDefinition, map[string]any{"file_path": "a.fk", "line": 3, "character": 10}); got != want {
		t.Errorf("got %q", got)
	}
}
