package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

const two = `{"questions":[
	{"question":"Which store?","header":"Store","options":[{"label":"SQLite","description":"one file"},{"label":"Postgres"}]},
	{"question":"Which targets?","multiSelect":true,"options":[{"label":"linux"},{"label":"darwin"}]}]}`

func run(t *testing.T, ctx context.Context, input string, asker oh.Asker) (oh.Result, error) {
	t.Helper()
	env := &oh.Env{Asker: asker, Agent: "a1"}
	act, err := New().Prepare(ctx, &oh.Call{ID: "c1", Name: name, Input: json.RawMessage(input), Env: env})
	if err != nil {
		return oh.Result{}, err
	}
	if diff := cmp.Diff(oh.Access{ReadOnly: true}, act.Access); diff != "" {
		t.Error(diff)
	}
	return act.Run(ctx, func(e oh.Event) { t.Errorf("emits %v", e) })
}

func answers(a oh.Answer) oh.Asker {
	return oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) { return a, nil })
}

func TestQuestionThatIsAsked(t *testing.T) {
	var got oh.Question
	_, err := run(t, t.Context(), two, oh.AskerFunc(func(_ context.Context, q oh.Question) (oh.Answer, error) {
		got = q
		return oh.Answer{Allow: true}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := oh.Question{
		ID: "c1", Kind: oh.AskChoices, Tool: name, Input: json.RawMessage(two), Agent: "a1",
		Items: []oh.Item{
			{Question: "Which store?", Header: "Store", Options: []oh.Option{{Label: "SQLite", Description: "one file"}, {Label: "Postgres"}}},
			{Question: "Which targets?", Multi: true, Options: []oh.Option{{Label: "linux"}, {Label: "darwin"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnswers(t *testing.T) {
	const one = `{"question":"Go on?"}`
	for _, c := range []struct {
		name, input string
		answer      oh.Answer
		want        string
	}{
		{"all", two, oh.Answer{Allow: true, Values: [][]string{{"SQLite"}, {"linux", "darwin"}}},
			"1. Which store?\n   Answer: SQLite\n2. Which targets?\n   Answer: linux, darwin"},
		{"some", two, oh.Answer{Allow: true, Values: [][]string{{" "}, {"my\x1b[31m own"}}},
			"1. Which store?\n   Answer: (not answered)\n2. Which targets?\n   Answer: my own"},
		{"too few lists, and a word", two, oh.Answer{Allow: true, Values: [][]string{{"SQLite"}}, Text: "be quick"},
			"1. Which store?\n   Answer: SQLite\n2. Which targets?\n   Answer: (not answered)\nThe user added: be quick"},
		{"one", one, oh.Answer{Allow: true, Values: [][]string{{"yes"}}}, "The user answered: yes"},
		{"one, as text", one, oh.Answer{Allow: true, Text: "yes"}, "The user answered: yes"},
		{"one, blank", one, oh.Answer{Allow: true}, "The user answered: (not answered)"},
		{"declined", one, oh.Answer{}, "The user chose not to answer. Go on without it, and say what you assume."},
		{"declined with words", two, oh.Answer{Text: "later"}, "The user did not answer, and said: later"},
		{"answered without allow", one, oh.Answer{Values: [][]string{{"no"}}}, "The user answered: no"},
	} {
		res, err := run(t, t.Context(), c.input, answers(c.answer))
		if err != nil || res.Content.Text() != c.want || res.IsError {
			t.Errorf("%s: %q, error %v, %v", c.name, res.Content.Text(), res.IsError, err)
		}
	}
}

func TestNobody(t *testing.T) {
	for name, asker := range map[string]oh.Asker{
		"none": nil,
		"says so": oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) {
			return oh.Answer{}, errors.Join(errors.New("print mode"), oh.ErrNobody)
		}),
	} {
		res, err := run(t, t.Context(), two, asker)
		if err != nil || !res.IsError || !strings.HasPrefix(res.Content.Text(), "Nobody is there to answer. Do not ask again") || string(res.Meta) != `{"nobody":true}` {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

func TestCancelAndFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := run(t, ctx, two, oh.AskerFunc(func(ctx context.Context, _ oh.Question) (oh.Answer, error) {
		cancel()
		<-ctx.Done()
		return oh.Answer{}, ctx.Err()
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	broken := errors.New("the dialog broke")
	_, err = run(t, t.Context(), two, oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) { return oh.Answer{}, broken }))
	if !errors.Is(err, broken) || err.Error() != "ask the user: the dialog broke" {
		t.Errorf("got %v", err)
	}
}

func TestBadQuestions(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{}`, "question 1 is empty: give questions, each with a question, or a question alone"},
		{`{"question":" "}`, "question 1 is empty"},
		{`{"questions":[{"question":"a"},{"question":""}]}`, "question 2 is empty"},
		{`{"questions":[{"question":"a","options":[{"label":""}]}]}`, "questions[0].options[0].label is empty: name the choice"},
		{`{"questions":[{"question":"a"},{"question":"a"},{"question":"a"},{"question":"a"},{"question":"a"}]}`, "at most 4"},
	} {
		if _, err := run(t, t.Context(), c.input, answers(oh.Answer{})); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.input, err)
		}
	}
}

func TestWordsAreFew(t *testing.T) {
	spec := New().Spec()
	if len(doc) > 500 || len(spec.Schema)+len(spec.Description) > 1300 {
		t.Errorf("%d bytes of text, %d in all", len(doc), len(spec.Schema)+len(spec.Description))
	}
}
