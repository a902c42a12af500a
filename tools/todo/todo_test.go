package todo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func call(t *testing.T, input string) (oh.Result, []oh.Event, error) {
	t.Helper()
	act, err := New().Prepare(t.Context(), &oh.Call{ID: "c", Name: "todo_write", Input: json.RawMessage(input), Env: &oh.Env{}})
	if err != nil {
		return oh.Result{}, nil, err
	}
	if diff := cmp.Diff(oh.Access{ReadOnly: true}, act.Access); diff != "" {
		t.Error(diff)
	}
	var events []oh.Event
	res, err := act.Run(t.Context(), func(e oh.Event) { events = append(events, e) })
	return res, events, err
}

func TestWholeList(t *testing.T) {
	res, events, err := call(t, `{"todos":[
		{"content":" write it ","status":"completed"},
		{"content":"test it","status":"in_progress","activeForm":"Testing it"},
		{"content":"ship\u001b[31m it","status":"pending"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	list := []oh.Todo{
		{Content: "write it", Status: oh.TodoCompleted},
		{Content: "test it", Status: oh.TodoInProgress, ActiveForm: "Testing it"},
		{Content: "ship it", Status: oh.TodoPending},
	}
	if diff := cmp.Diff([]oh.Event{oh.StateChanged{Todos: &list}}, events); diff != "" {
		t.Error(diff)
	}
	want := oh.TextResult("The to-do list now has 3 items: 1 completed, 1 in progress, 1 pending.")
	want.Display = oh.Todos{Items: list}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyListClears(t *testing.T) {
	res, events, err := call(t, `{"todos":[]}`)
	if err != nil || res.Content.Text() != "The to-do list is now empty." {
		t.Errorf("%+v, %v", res, err)
	}
	if s, ok := events[0].(oh.StateChanged); !ok || s.Todos == nil || len(*s.Todos) != 0 {
		t.Errorf("got %+v", events)
	}
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{}`, "todos is required"},
		{`{"todos":[{"content":" ","status":"pending"}]}`, "todos[0].content is empty"},
		{`{"todos":[{"content":"x","status":"done"}]}`, "pending, in_progress"},
		{`{"todos":[{"status":"pending"}]}`, "content is required"},
		{`{"todos":[{"content":"` + strings.Repeat("x", 1001) + `","status":"pending"}]}`, "todos[0].content has 1,001 characters, and at most 1,000 are allowed"},
	} {
		if _, _, err := call(t, c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v", c.input, err)
		}
	}
}

func TestWordsAreFew(t *testing.T) {
	if spec := New().Spec(); len(doc) > 500 || len(spec.Schema)+len(spec.Description) > 1000 {
		t.Errorf("%d bytes of text, %d in all", len(doc), len(spec.Schema)+len(spec.Description))
	}
}
