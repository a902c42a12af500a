package lsp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

// world is a project on disk with a pool of servers.
type world struct {
	t    *testing.T
	dir  string // links resolved
	ws   *workspace.Workspace
	pool *Pool
	read map[string]string
	got  []oh.Event
}

func newWorld(t *testing.T, cfg Config, files map[string]string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, read: map[string]string{}}
	for name, content := range files {
		w.put(name, content)
	}
	if w.ws, err = workspace.New(workspace.Config{Root: dir, Secret: func(p string) bool { return strings.HasSuffix(p, ".secret.fk") }}); err != nil {
		t.Fatal(err)
	}
	w.pool = New(w.ws, cfg)
	t.Cleanup(w.pool.Close)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) put(name, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(content), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// ReadHash implements [oh.ReadLog].
func (w *world) ReadHash(path string) (string, bool) {
	h, ok := w.read[path]
	return h, ok
}

func (w *world) call(tool oh.Tool, input map[string]any) (oh.Result, error) {
	return w.callIn(context.Background(), tool, input)
}

func (w *world) callIn(ctx context.Context, tool oh.Tool, input map[string]any) (oh.Result, error) {
	w.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		w.t.Fatal(err)
	}
	act, err := tool.Prepare(ctx, &oh.Call{ID: "1", Name: tool.Spec().Name, Input: raw, Env: &oh.Env{Dir: w.dir, Reads: w}})
	if err != nil {
		return oh.Result{}, err
	}
	return act.Run(ctx, func(e oh.Event) { w.got = append(w.got, e) })
}

// ask calls the lsp tool and returns the text of its result, or its error.
func (w *world) ask(op string, more map[string]any) string {
	w.t.Helper()
	input := map[string]any{"operation": op}
	for k, v := range more {
		input[k] = v
	}
	res, err := w.call(w.pool.Tool(), input)
	if err != nil {
		return "error: " + err.Error()
	}
	return textOf(res)
}

func textOf(res oh.Result) string {
	var b strings.Builder
	if res.IsError {
		b.WriteString("error result: ")
	}
	for _, c := range res.Content {
		if t, ok := c.(oh.Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}
