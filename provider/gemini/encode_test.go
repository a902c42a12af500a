package gemini

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

type roundTrip func(req *http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// sentBody is what is sent for a request.
type sentBody struct {
	Tools []struct {
		Functions []struct {
			Name       string
			Parameters json.RawMessage
		} `json:"functionDeclarations"`
	}
	Config json.RawMessage `json:"generationConfig"`
	Turns  []struct {
		Role  string
		Parts []map[string]json.RawMessage
	} `json:"contents"`
}

func sent(t *testing.T, traits provider.Traits, req *oh.Request) (b sentBody) {
	t.Helper()
	p := New(provider.Config{Profile: "p", Traits: func(string) provider.Traits { return traits }, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &b)
		}
		return nil, errors.Join(err, errors.New("enough"))
	})}})
	for range p.Stream(t.Context(), req) {
	}
	return b
}

func TestSigns(t *testing.T) {
	for model, want := range map[string]bool{
		"gemini-3-pro-preview": true, "models/Gemini-3.5-flash": true, "google/gemini-4-argon": true, "gemini-10-x": true,
		"gemini-flash-latest": true, "gemini-2.5-pro": false, "gemini-2.0-flash": false, "gemini-1.5-pro-latest": false,
		"gemini-embedding-001": false, "gemma-3-27b-it": false, "gemini": false, "gemini-": false, "": false,
	} {
		if got := signs(model); got != want {
			t.Errorf("%q: %v", model, got)
		}
	}
}

func TestThinking(t *testing.T) {
	levels := provider.Traits{Levels: true, Efforts: map[string]string{"minimal": "low", "medium": ""}}
	budget := provider.Traits{Thinking: provider.ThinkBudget, Budgets: map[string]int{"max": 32768}}
	for _, tt := range []struct {
		traits provider.Traits
		effort string
		limit  int
		want   string
	}{
		{provider.Traits{}, "high", 0, ``},
		{provider.Traits{}, "high", 100, `{"maxOutputTokens":100}`},
		{levels, "", 0, `{"thinkingConfig":{"includeThoughts":true}}`},
		{levels, "low", 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{levels, "minimal", 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{levels, "medium", 0, `{"thinkingConfig":{"includeThoughts":true}}`},
		{levels, "max", 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}`},
		{levels, "odd", 0, `{"thinkingConfig":{"includeThoughts":true}}`},
		{provider.Traits{Thinking: provider.ThinkEffort}, "high", 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}`},
		{budget, "", 0, `{"thinkingConfig":{"includeThoughts":true}}`},
		{budget, "low", 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":4096}}`},
		{budget, "xhigh", 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}`},
		{budget, "max", 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":32768}}`},
		{budget, "high", 5000, `{"maxOutputTokens":5000,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":3976}}`},
		{budget, "high", 2000, `{"maxOutputTokens":2000,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1000}}`},
		{budget, "high", 100, `{"maxOutputTokens":100,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":512}}`},
	} {
		got := sent(t, tt.traits, &oh.Request{Model: "m", Effort: tt.effort, MaxTokens: tt.limit})
		if string(got.Config) != tt.want {
			t.Errorf("%q %d: %s, want %s", tt.effort, tt.limit, got.Config, tt.want)
		}
	}
}

// A result is told apart by the name of its tool, also where the history is
// not what it should be.
func TestResults(t *testing.T) {
	use := func(id, name, data string) oh.ToolUse {
		u := oh.ToolUse{ID: id, Name: name}
		if data != "" {
			u.Opaque = &oh.Opaque{Origin: "p/m", Data: json.RawMessage(data)}
		}
		return u
	}
	user := func(results ...string) oh.Message {
		m := oh.Message{Role: oh.User}
		for _, id := range results {
			m.Content = append(m.Content, oh.ToolResult{ToolUseID: id, Content: oh.Blocks{oh.Text{Text: id}}})
		}
		return m
	}
	said := func(calls ...oh.ToolUse) oh.Message {
		m := oh.Message{Role: oh.Assistant}
		for _, u := range calls {
			m.Content = append(m.Content, u)
		}
		return m
	}
	hi := oh.Message{Role: oh.User, Content: oh.Blocks{oh.Text{Text: "hi"}}}
	got := sent(t, provider.Traits{}, &oh.Request{Model: "m", Messages: []oh.Message{
		hi, said(use("b", "f", ""), use("a", "g", ""), use("c", "a.b", "")), user("c", "a", "b"),
		said(use("x", "f", `{"id":"x"}`), use("x_2", "f", `{"id":"x"}`), use("odd_id", "f", `{"id":"odd.id"}`), use("odd_id_2", "f", `{"id":"odd.id"}`), use("n", "f", `"broken"`)), user("x", "x_2", "odd_id", "odd_id_2", "n"),
		said(), user("b", "nobody"),
	}})
	var have []string
	for _, turn := range got.Turns {
		var all []string
		for _, p := range turn.Parts {
			for _, key := range []string{"functionCall", "functionResponse"} {
				var x struct{ ID, Name string }
				if json.Unmarshal(p[key], &x) == nil {
					all = append(all, x.Name+"/"+x.ID)
				}
			}
		}
		have = append(have, turn.Role+": "+strings.Join(all, " "))
	}
	legal := oh.LegalName("a.b")
	want := []string{"user: ", "model: f/ g/ " + legal + "/", "user: f/ g/ " + legal + "/",
		"model: f/x f/x_2 f/odd.id f/odd_id_2 f/", "user: f/x f/x_2 f/odd.id f/odd_id_2 f/", "model: ", "user: f/ nobody/"}
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// A tool that nobody can declare does not spoil the request.
func TestHopelessTool(t *testing.T) {
	hopeless := oh.ToolSpec{Name: "bad", Schema: json.RawMessage(`{"type":"string"`)}
	got := sent(t, provider.Traits{}, &oh.Request{Model: "m", Tools: []oh.ToolSpec{hopeless, {Name: "good"}}})
	if len(got.Tools) != 1 || len(got.Tools[0].Functions) != 1 || got.Tools[0].Functions[0].Name != "good" {
		t.Errorf("%+v", got.Tools)
	}
	if got := sent(t, provider.Traits{}, &oh.Request{Model: "m", Tools: []oh.ToolSpec{hopeless}}); got.Tools != nil {
		t.Errorf("%+v", got.Tools)
	}
}

// Neighbours of one role are put together without a change to what was given.
func TestAlternating(t *testing.T) {
	text := func(s string) oh.Blocks { return oh.Blocks{oh.Text{Text: s}} }
	msgs := []oh.Message{{ID: "1", Role: oh.User, Content: text("a")}, {ID: "2", Role: oh.User, Content: text("b")}, {ID: "3", Role: oh.Assistant, Content: text("c")}, {Role: oh.Assistant, Content: text("d")}}
	got := alternating(msgs)
	want := []oh.Message{{ID: "1\x002", Role: oh.User, Content: append(text("a"), text("b")...)}, {Role: oh.Assistant, Content: append(text("c"), text("d")...)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(msgs[0].Content) != 1 || msgs[0].ID != "1" {
		t.Errorf("the request was changed: %+v", msgs[0])
	}
	if fits := msgs[1:3]; &alternating(fits)[0] != &fits[0] {
		t.Error("messages that alternate were copied")
	}
}
