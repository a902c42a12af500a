package lsp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/tools/file"
	"github.com/openharness/oh/workspace"
)

func TestAttach(t *testing.T) {
	cfg, log := fakeServer(t, "")
	w := newWorld(t, cfg, project())
	w.pool.waits = waits{time.Minute, time.Minute, time.Minute / 2} // a loaded machine is no failure
	edit := w.pool.Attach(file.Tools(w.ws)[2])
	change := func(old, next string) string {
		t.Helper()
		res, err := w.call(edit, map[string]any{"path": "sub/b.fk", "old_str": old, "new_str": next})
		if err != nil {
			return "error: " + err.Error()
		}
		_, more, _ := strings.Cut(textOf(res), "\n")
		return more
	}
	if got := change("WARN hm", "ERROR one"); got != "" {
		t.Errorf("without a server that runs: %q", got)
	}
	if got := logged(t, log); len(got) > 0 {
		t.Fatalf("an edit started a server: %q", got)
	}
	w.ask(opDocument, map[string]any{"file_path": "a.fk"})
	tests := []struct{ name, old, next, want string }{
		{"the first edit knows what was wrong before", "def bee", "def bee\n\nERROR two", "New errors after this edit:\nsub/b.fk:3:1: two [fk 42]"},
		{"moved errors are not new", "def bee", "\n\ndef bee", ""},
		{"a warning is none", "ERROR two", "WARN two", ""},
		{"the same again", "ERROR one", "ERROR one\nERROR one", "New errors after this edit:\nsub/b.fk:8:1: one [fk 42]"},
		{"many", "WARN two", strings.Repeat("ERROR x\n", 12), "New errors after this edit:\n" +
			"sub/b.fk:5:1: x [fk 42]\nsub/b.fk:6:1: x [fk 42]\nsub/b.fk:7:1: x [fk 42]\nsub/b.fk:8:1: x [fk 42]\nsub/b.fk:9:1: x [fk 42]\n" +
			"sub/b.fk:10:1: x [fk 42]\nsub/b.fk:11:1: x [fk 42]\nsub/b.fk:12:1: x [fk 42]\nsub/b.fk:13:1: x [fk 42]\nsub/b.fk:14:1: x [fk 42]\nand 2 more"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, change(tt.old, tt.next)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if got := change("nothing like it", "x"); !strings.HasPrefix(got, "error: ") {
		t.Errorf("an edit that fails: %q", got)
	}
	if diff := cmp.Diff(file.Tools(w.ws)[2].Spec(), edit.Spec()); diff != "" {
		t.Error(diff)
	}
}

func TestAttachLeavesOtherToolsAlone(t *testing.T) {
	cfg, _ := fakeServer(t, "silent")
	w := newWorld(t, cfg, project())
	w.ask(opDocument, map[string]any{"file_path": "a.fk"})
	read, err := w.call(w.pool.Attach(file.Tools(w.ws)[0]), map[string]any{"path": "sub/b.fk"})
	if err != nil || strings.Contains(textOf(read), "New errors") {
		t.Errorf("%q, %v", textOf(read), err)
	}
	broken := w.pool.Attach(oh.NewTool(oh.ToolDef[struct{}]{Name: "broken", Doc: "x", Prepare: func(context.Context, *oh.Call, struct{}) (oh.Action, error) {
		return oh.Action{}, errors.New("no")
	}}))
	if _, err := w.call(broken, map[string]any{}); err == nil || err.Error() != "no" {
		t.Errorf("got %v", err)
	}
}

// A server that says nothing costs an edit no more than the time allowed.
func TestAttachGivesUp(t *testing.T) {
	cfg, _ := fakeServer(t, "silent")
	w := newWorld(t, cfg, project())
	w.ask(opDocument, map[string]any{"file_path": "a.fk"})
	c := w.pool.living()[0]
	p, err := w.ws.Locate(w.dir, "sub/b.fk")
	if err != nil {
		t.Fatal(err)
	}
	e := edits{c: &watched{places: []workspace.Place{p}, before: map[string]report{}}}
	if got := e.after(t.Context(), 20*time.Millisecond); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

func TestDiagnostics(t *testing.T) {
	cfg, _ := fakeServer(t, "")
	w := newWorld(t, cfg, project())
	got, err := w.pool.Diagnostics(t.Context(), w.path("sub/b.fk"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := []Diagnostic{
		{Path: w.path("sub/b.fk"), Line: 2, Column: 7, Severity: Error, Code: "42", Source: "fk", Message: "no good"},
		{Path: w.path("sub/b.fk"), Line: 3, Column: 1, Severity: Warning, Message: "hm"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := w.pool.Diagnostics(t.Context(), w.path("fake.root"), time.Second); err == nil ||
		err.Error() != "no language server is known for .root files; settings can add one under lspServers" {
		t.Errorf("a file without a server: %v", err)
	}
	cfg, _ = fakeServer(t, "silent")
	w = newWorld(t, cfg, project())
	if _, err := w.pool.Diagnostics(t.Context(), w.path("a.fk"), 20*time.Millisecond); !errors.Is(err, ErrLate) {
		t.Errorf("a silent server: %v", err)
	}
}
