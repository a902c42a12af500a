package ohtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
)

func runTool(t *testing.T, tool oh.Tool, id, input string) (string, error) {
	t.Helper()
	act, err := tool.Prepare(t.Context(), &oh.Call{ID: id, Name: tool.Spec().Name, Input: json.RawMessage(input), Env: &oh.Env{}})
	if err != nil {
		return "", err
	}
	res, err := act.Run(t.Context(), func(oh.Event) {})
	return res.Content.Text(), err
}

func TestTool(t *testing.T) {
	echo := &Tool{Name: "echo", Marks: t.TempDir(), Access: oh.Access{ReadOnly: true}}
	got, err := runTool(t, echo, "c1", `{"b":1,"a":2}`)
	if err != nil || got != `{"b":1,"a":2}` {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(echo.Marks, "echo-c1")); err != nil {
		t.Error(err)
	}
	if _, err := runTool(t, echo, "../x", `{}`); !oh.IsFatal(err) {
		t.Errorf("bad id: %v", err)
	}
	echo.Marks = filepath.Join(echo.Marks, "missing")
	if _, err := runTool(t, echo, "c2", `{}`); !oh.IsFatal(err) || !strings.Contains(err.Error(), "tool echo: mark the call") {
		t.Errorf("no folder: %v", err)
	}
	if calls := echo.Calls(); len(calls) != 3 || calls[0].ID != "c1" {
		t.Errorf("calls %v", calls)
	}
	if act, err := echo.Prepare(t.Context(), &oh.Call{}); err != nil || !act.Access.ReadOnly {
		t.Errorf("access %v, %v", act, err)
	}

	strict := &Tool{Name: "strict", Doc: "d", Schema: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`}
	if _, err := runTool(t, strict, "c1", `{}`); err == nil || !strings.Contains(err.Error(), "path") || len(strict.Calls()) != 0 {
		t.Errorf("missing field: %v", err)
	}
	if got, err := runTool(t, strict, "c2", `{"path":"a"}`); err != nil || got != `{"path":"a"}` {
		t.Errorf("got %q, %v", got, err)
	}
	strict.Schema = "{"
	if _, err := runTool(t, strict, "c3", `{}`); !oh.IsFatal(err) {
		t.Errorf("bad schema: %v", err)
	}

	no := errors.New("no")
	tool := NewTool("t", oh.Access{}, func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) { return TextResult("x"), no })
	if got, err := runTool(t, tool, "c1", `{}`); got != "x" || !errors.Is(err, no) {
		t.Errorf("got %q, %v", got, err)
	}
	tool.Refuse = func(*oh.Call) error { return no }
	if _, err := runTool(t, tool, "c2", `{}`); !errors.Is(err, no) || len(tool.Calls()) != 1 {
		t.Errorf("refused: %v", err)
	}
	if found := CheckSpec(tool.Spec()); len(found) > 0 {
		t.Error(describe(found))
	}
}
