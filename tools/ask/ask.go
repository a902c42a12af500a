// Package ask is the tool by which a model puts questions to the person. It
// waits as long as its context lives, and not at all when nobody is there: the
// model is then told to decide by itself.
package ask

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed ask.md
var doc string

//go:embed nobody.md
var nobody string

const (
	name       = "ask_user_question"
	mostAnswer = 16_000 // code points of one answer that the model sees
)

type input struct {
	Questions []question `json:"questions,omitempty" oh:"maxItems=4"`
	Question  string     `json:"question,omitempty"`
}

type question struct {
	Question string   `json:"question"`
	Header   string   `json:"header,omitempty"`
	Options  []option `json:"options,omitempty"`
	Multi    bool     `json:"multiSelect,omitempty"`
}

type option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// New makes the tool ask_user_question.
func New() oh.Tool {
	return oh.NewTool(oh.ToolDef[input]{Name: name, Doc: doc, SelfLimited: true, Prepare: prepare})
}

func prepare(_ context.Context, call *oh.Call, in input) (oh.Action, error) {
	items, err := in.items()
	if err != nil {
		return oh.Action{}, err
	}
	return oh.Action{
		Access: oh.Access{ReadOnly: true},
		Run: func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) {
			if call.Env.Asker == nil {
				return alone(), nil
			}
			answer, err := call.Env.Asker.Ask(ctx, oh.Question{
				ID: call.ID, Kind: oh.AskChoices, Tool: name, Input: call.Input,
				Agent: call.Env.Agent, Items: items,
			})
			switch {
			case errors.Is(err, oh.ErrNobody):
				return alone(), nil
			case err != nil:
				return oh.Result{}, fmt.Errorf("ask the user: %w", err)
			}
			return result(items, answer), nil
		},
	}, nil
}

// items checks the questions and cleans what a person will see.
func (in input) items() ([]oh.Item, error) {
	if len(in.Questions) == 0 {
		in.Questions = []question{{Question: in.Question}}
	}
	items := make([]oh.Item, len(in.Questions))
	for i, q := range in.Questions {
		item := oh.Item{Question: tidy(q.Question), Header: tidy(q.Header), Multi: q.Multi}
		if item.Question == "" {
			return nil, fmt.Errorf("question %d is empty: give questions, each with a question, or a question alone", i+1)
		}
		for j, o := range q.Options {
			label := tidy(o.Label)
			if label == "" {
				return nil, fmt.Errorf("questions[%d].options[%d].label is empty: name the choice", i, j)
			}
			item.Options = append(item.Options, oh.Option{Label: label, Description: tidy(o.Description)})
		}
		items[i] = item
	}
	return items, nil
}

func tidy(s string) string { return strings.TrimSpace(text.Clean(s)) }

func alone() oh.Result {
	res := oh.ErrorResult(strings.TrimSpace(nobody))
	res.Meta = []byte(`{"nobody":true}`)
	return res
}

// meta is what the log keeps beside the text.
type meta struct {
	Answers  [][]string `json:"answers,omitempty"`
	Declined bool       `json:"declined,omitempty"`
}

func result(items []oh.Item, a oh.Answer) oh.Result {
	note := text.Cut(tidy(a.Text), mostAnswer)
	values := valuesOf(items, a, note)
	answered := false
	for _, v := range values {
		answered = answered || len(v) > 0
	}
	m := meta{Answers: a.Values, Declined: !a.Allow && !answered}
	var res oh.Result
	switch {
	case m.Declined && note != "":
		res = oh.TextResult("The user did not answer, and said: " + note)
	case m.Declined:
		res = oh.TextResult("The user chose not to answer. Go on without it, and say what you assume.")
	default:
		res = oh.TextResult(format(items, values, note))
	}
	if raw, err := oh.Marshal(m); err == nil {
		res.Meta = raw
	}
	return res
}

// valuesOf returns the answers that say something, one list per item. Text
// alone answers a question that stands alone.
func valuesOf(items []oh.Item, a oh.Answer, note string) [][]string {
	out := make([][]string, len(items))
	for i := range items {
		if i >= len(a.Values) {
			break
		}
		for _, v := range a.Values[i] {
			if v = tidy(v); v != "" {
				out[i] = append(out[i], text.Cut(v, mostAnswer))
			}
		}
	}
	if a.Allow && len(items) == 1 && len(out[0]) == 0 && note != "" {
		out[0] = []string{note}
	}
	return out
}

func format(items []oh.Item, values [][]string, note string) string {
	var b strings.Builder
	for i, item := range items {
		answer := strings.Join(values[i], ", ")
		if answer == "" {
			answer = "(not answered)"
		}
		if len(items) == 1 {
			b.WriteString("The user answered: " + answer + "\n")
			note = without(note, answer)
			continue
		}
		fmt.Fprintf(&b, "%d. %s\n   Answer: %s\n", i+1, text.OneLine(item.Question, 200), answer)
	}
	if note != "" {
		b.WriteString("The user added: " + note + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// without drops a note that is the answer itself.
func without(note, answer string) string {
	if note == answer {
		return ""
	}
	return note
}
