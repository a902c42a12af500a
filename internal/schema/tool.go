package schema

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed tool.md
var doc string

//go:embed words.md
var words string

// Name is the tool's name.
const Name = "structured_output"

// Ask is what a prompt says beside what a person wrote.
func Ask() string { return word("ask") }

// Remind is what a model is told that ended without the answer.
func Remind() string { return word("remind") }

// word returns the text under a heading of words.md.
func word(heading string) string {
	_, rest, _ := strings.Cut(words, "## "+heading+"\n")
	body, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(body)
}

// Tool returns the tool whose input is the answer. Its result's metadata has
// the answer as the member structured_output.
func (s *Schema) Tool() oh.Tool { return tool{s} }

type tool struct{ s *Schema }

// Spec implements [oh.Tool].
func (t tool) Spec() oh.ToolSpec {
	return oh.ToolSpec{Name: Name, Description: strings.TrimSpace(doc), Schema: t.s.raw, SelfLimited: true}
}

// maxProblem bounds what a model is told of its mistake, in code points.
const maxProblem = 1500

// Prepare implements [oh.Tool].
func (t tool) Prepare(_ context.Context, call *oh.Call) (oh.Action, error) {
	if err := t.s.Validate(call.Input); err != nil {
		problem := text.Cut(text.Clean(err.Error()), maxProblem)
		return oh.Action{}, wrong(strings.NewReplacer("{problem}", problem).Replace(word("wrong")))
	}
	meta, err := oh.Marshal(map[string]json.RawMessage{"structured_output": t.s.Answer(call.Input)})
	if err != nil {
		return oh.Action{}, err
	}
	return oh.Action{Access: oh.Access{ReadOnly: true}, Run: func(context.Context, func(oh.Event)) (oh.Result, error) {
		res := oh.TextResult("The answer was delivered.")
		res.Meta = meta
		return res, nil
	}}, nil
}

// wrong is a mistake in words for the model.
type wrong string

func (w wrong) Error() string { return string(w) }
