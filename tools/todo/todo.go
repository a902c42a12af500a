// Package todo is the tool by which a model keeps its to-do list. The list is
// part of the conversation's state; no file is written, so the call counts as
// read-only and needs no permission.
package todo

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed todo.md
var doc string

const mostChars = 1_000 // code points of one item's text

type input struct {
	Todos []item `json:"todos" oh:"maxItems=100"`
}

type item struct {
	Content    string `json:"content"`
	Status     string `json:"status" oh:"enum=pending|in_progress|completed"`
	ActiveForm string `json:"activeForm,omitempty"`
}

// New makes the tool todo_write.
func New() oh.Tool {
	return oh.NewTool(oh.ToolDef[input]{Name: "todo_write", Doc: doc, SelfLimited: true, Prepare: prepare})
}

func prepare(_ context.Context, _ *oh.Call, in input) (oh.Action, error) {
	list := make([]oh.Todo, 0, len(in.Todos))
	for i, it := range in.Todos {
		todo := oh.Todo{
			Content:    text.Clean(strings.TrimSpace(it.Content)),
			Status:     oh.TodoStatus(it.Status),
			ActiveForm: text.Clean(strings.TrimSpace(it.ActiveForm)),
		}
		if todo.Content == "" {
			return oh.Action{}, fmt.Errorf("todos[%d].content is empty: say what is to be done", i)
		}
		for _, f := range []struct{ name, text string }{{"content", todo.Content}, {"activeForm", todo.ActiveForm}} {
			if n := utf8.RuneCountInString(f.text); n > mostChars {
				return oh.Action{}, fmt.Errorf("todos[%d].%s has %s characters, and at most %s are allowed: shorten it",
					i, f.name, text.Number(n), text.Number(mostChars))
			}
		}
		list = append(list, todo)
	}
	return oh.Action{
		Access:  oh.Access{ReadOnly: true},
		Preview: oh.Todos{Items: list},
		Run: func(_ context.Context, emit func(oh.Event)) (oh.Result, error) {
			emit(oh.StateChanged{Todos: &list})
			res := oh.TextResult(summary(list))
			res.Display = oh.Todos{Items: list}
			return res, nil
		},
	}, nil
}

func summary(list []oh.Todo) string {
	if len(list) == 0 {
		return "The to-do list is now empty."
	}
	count := map[oh.TodoStatus]int{}
	for _, t := range list {
		count[t.Status]++
	}
	return fmt.Sprintf("The to-do list now has %s: %d completed, %d in progress, %d pending.",
		text.Plural(len(list), "item"), count[oh.TodoCompleted], count[oh.TodoInProgress], count[oh.TodoPending])
}
