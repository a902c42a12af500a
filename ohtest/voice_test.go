package ohtest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/anthropic"
	"github.com/openharness/oh/provider/bedrock"
	"github.com/openharness/oh/provider/gemini"
	"github.com/openharness/oh/provider/openai"
	"github.com/openharness/oh/provider/responses"
)

// The codecs talk to the server, which checks every request: a test of both.

// speaker is a codec with a model.
type speaker struct {
	wire  ohtest.Wire
	make  func(provider.Config) oh.Provider
	path  string // of the base URL
	model string
	like  provider.Traits
}

var speakers = []speaker{
	{ohtest.Anthropic, anthropic.New, "", "claude-sonnet-4-5", provider.Traits{Thinking: provider.ThinkBudget, MaxOutput: 64000}},
	{ohtest.OpenAI, openai.New, "/v1", "gpt-4.1", provider.Traits{}},
	{ohtest.Responses, responses.New, "/v1", "gpt-5", provider.Traits{Thinking: provider.ThinkEffort, CacheKey: true}},
	{ohtest.Gemini, gemini.New, "/v1beta", "gemini-2.5-pro", provider.Traits{Thinking: provider.ThinkBudget, Schema: provider.GeminiSchema}},
	{ohtest.Gemini, gemini.New, "/v1beta", "gemini-3-pro-preview", provider.Traits{Thinking: provider.ThinkEffort, Levels: true, ResponseImages: true, SignedCalls: true, Schema: provider.GeminiSchema}},
	{ohtest.Bedrock, bedrock.New, "", "anthropic.claude-sonnet-4-5", provider.Traits{Thinking: provider.ThinkBudget, MaxOutput: 64000}},
}

func (v speaker) String() string { return string(v.wire) + " " + v.model }

func (v speaker) on(s *ohtest.Server) oh.Provider {
	return v.make(provider.Config{Profile: v.String(), BaseURL: s.URL + v.path, Token: "k", Traits: func(string) provider.Traits { return v.like }})
}

// say sends a conversation and returns the reply.
func (v speaker) say(t *testing.T, p oh.Provider, msgs []oh.Message) (oh.Message, error) {
	t.Helper()
	req := &oh.Request{Profile: v.String(), Model: v.model, System: "Be good.", Messages: msgs, Effort: "high", Session: "0198d2f0-59d2-7b85-ad53-6156d5a8ba0e", Tools: []oh.ToolSpec{
		{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":["integer","null"],"default":null},"odd":{"$ref":"#/$defs/odd"}},"required":["path"],"additionalProperties":false,"$defs":{"odd":{"enum":["a","b"]}}}`)},
		{Name: "now", Description: "Tells the time.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	}}
	for c, err := range p.Stream(t.Context(), req) {
		if err != nil {
			return oh.Message{}, err
		}
		if done, ok := c.(oh.MessageDone); ok {
			return done.Message, nil
		}
	}
	return oh.Message{}, nil
}

func userSays(blocks ...oh.Block) oh.Message { return oh.Message{Role: oh.User, Content: blocks} }

func pixels(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// answers are results for all calls of a message, of each kind.
func answers(t *testing.T, m oh.Message) []oh.Block {
	t.Helper()
	kinds := []oh.ToolResult{
		{Content: oh.Blocks{oh.Text{Text: "one"}, oh.Image{MediaType: "image/png", Data: pixels(t)}}},
		{Content: oh.Blocks{oh.Text{Text: "it failed"}}, IsError: true},
		{Content: oh.Blocks{oh.Image{MediaType: "image/png", Data: pixels(t)}}},
		{},
	}
	var out []oh.Block
	for i, u := range m.Content.ToolUses() {
		r := kinds[i%len(kinds)]
		r.ToolUseID = u.ID
		out = append(out, r)
	}
	return out
}

// talk has a conversation of several turns with everything in it.
func talk(t *testing.T, v speaker, s *ohtest.Server) []oh.Message {
	t.Helper()
	p := v.on(s)
	msgs := []oh.Message{userSays(oh.Text{Text: "Look 😀"}, oh.Image{MediaType: "image/png", Data: pixels(t)}, oh.Document{MediaType: "application/pdf", Name: "a b.pdf", Data: []byte("%PDF-1.4")})}
	next := func(turn ohtest.Turn, then func(m oh.Message) []oh.Block) {
		t.Helper()
		s.Add(turn)
		m, err := v.say(t, p, msgs)
		if err != nil {
			t.Fatalf("%s: turn %d: %v", v, len(msgs), err)
		}
		msgs = append(msgs, m, userSays(then(m)...))
	}
	results := func(m oh.Message) []oh.Block { return answers(t, m) }
	n := 0
	id := func() string { n++; return fmt.Sprintf("c%s%d", v.wire[:2], n) }
	next(ohtest.Turn{Cut: ohtest.Cut{Delta: 2, Bytes: 5}, Parts: []ohtest.Part{ohtest.Thinking("Hm, \"a\" 思."), ohtest.Text("I look."),
		ohtest.Call(id(), "read", `{"path":"a\\b 😀"}`), ohtest.Call(id(), "now", ""), ohtest.Call(id(), "read", `{"n":1.50,"path":"x"}`), ohtest.Call(id(), "now", `{}`)}}, results)
	next(ohtest.Reply(ohtest.Call(id(), "now", `{}`)), results)
	next(ohtest.Reply(ohtest.Thinking("And more."), ohtest.Call(id(), "now", `{}`)), func(m oh.Message) []oh.Block {
		return append(answers(t, m), oh.Text{Text: "A person steers."})
	})
	next(ohtest.Reply(ohtest.Redacted("cmVkYWN0ZWQgcmVhc29uaW5n"), ohtest.Text("Done.")), func(oh.Message) []oh.Block { return []oh.Block{oh.Text{Text: "More."}} })
	next(ohtest.Reply(ohtest.Text("Half a sen"), ohtest.Stop(oh.StopMaxTokens)), func(m oh.Message) []oh.Block {
		if m.Stop != oh.StopMaxTokens {
			t.Errorf("%s: a cut reply ended with %q", v, m.Stop)
		}
		return []oh.Block{oh.Text{Text: "Go on."}}
	})
	next(ohtest.Reply(ohtest.Thinking("Last."), ohtest.Call(id(), "read", `{"path":"z"}`)), results)
	return msgs
}

// Gemini takes no GIF, all others do.
func TestVoicesShowGIF(t *testing.T) {
	gif, err := base64.StdEncoding.DecodeString("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range speakers {
		s := ohtest.NewServer(t, ohtest.Reply(ohtest.Text("ok")))
		if _, err := v.say(t, v.on(s), []oh.Message{userSays(oh.Text{Text: "Look"}, oh.Image{MediaType: "image/gif", Data: gif})}); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
}

func TestVoices(t *testing.T) {
	for _, v := range speakers {
		t.Run(v.String(), func(t *testing.T) {
			s := ohtest.StartServer(t, ohtest.Config{Rules: ohtest.Rules{RequireReasoning: v.wire != ohtest.OpenAI}})
			msgs := talk(t, v, s)
			first := msgs[1]
			if first.Content.Text() != "I look." || first.Stop != oh.StopToolUse {
				t.Errorf("the first reply: %+v", first)
			}
			var inputs []string
			for _, u := range first.Content.ToolUses() {
				inputs = append(inputs, u.Name+" "+string(u.Input))
			}
			if diff := cmp.Diff([]string{`read {"path":"a\\b 😀"}`, `now {}`, `read {"n":1.50,"path":"x"}`, `now {}`}, inputs); diff != "" {
				t.Error(diff)
			}
			// The prefix of each request is that of the one before.
			reqs := s.Requests()
			for i, r := range reqs[1:] {
				if !cmp.Equal(r.Tools(), reqs[i].Tools()) || r.System() != reqs[i].System() || !cmp.Equal(r.Messages()[0], reqs[i].Messages()[0]) {
					t.Errorf("request %d has another prefix", r.N)
				}
			}
		})
	}
}

// Each wire takes over the conversation of each other; nothing that was sealed
// for one is sent to another.
func TestHandOver(t *testing.T) {
	for _, from := range speakers {
		for _, to := range speakers {
			t.Run(from.String()+" to "+to.String(), func(t *testing.T) {
				s := ohtest.StartServer(t, ohtest.Config{})
				msgs := talk(t, from, s)
				s.Add(ohtest.Reply(ohtest.Text("I go on.")))
				if m, err := to.say(t, to.on(s), msgs); err != nil || m.Content.Text() != "I go on." {
					t.Fatalf("%+v: %v", m, err)
				}
				reqs := s.Requests()
				last := reqs[len(reqs)-1]
				for _, want := range []string{"Look 😀", "I look.", "it failed", "A person steers.", "Half a sen"} {
					if !strings.Contains(string(last.Body), want) {
						t.Errorf("%q is lost", want)
					}
				}
				if n := len(last.Messages()); n != len(msgs) {
					t.Errorf("%d messages are %d", len(msgs), n)
				}
			})
		}
	}
}

// What goes wrong is told alike on all wires.
func TestVoicesFail(t *testing.T) {
	kinds := []oh.Kind{oh.KindAuth, oh.KindQuota, oh.KindLimited, oh.KindOverloaded, oh.KindTooLong, oh.KindInvalid, oh.KindUnavailable}
	for _, v := range speakers {
		for _, kind := range kinds {
			t.Run(v.String()+" "+string(kind), func(t *testing.T) {
				wait := &oh.Error{Kind: kind, After: 1500 * time.Millisecond}
				s := ohtest.NewServer(t, ohtest.Fail(&oh.Error{Kind: kind}), ohtest.Fail(wait), ohtest.Fail(&oh.Error{Kind: kind}, ohtest.Text("Par")))
				for _, where := range []string{"at once", "with a time", "in the stream"} {
					_, err := v.say(t, v.on(s), []oh.Message{userSays(oh.Text{Text: "hi"})})
					if oh.KindOf(err) != kind && !(kind == oh.KindQuota && where == "with a time") { // a quota that comes back is a limit
						t.Errorf("%s: %s: %v", where, oh.KindOf(err), err)
					}
					if e, ok := errors.AsType[*oh.Error](err); ok && kind == oh.KindLimited && where == "with a time" && e.After != wait.After {
						t.Errorf("%s: after %v", where, e.After)
					}
				}
			})
		}
	}
}

// Schemas as foreign servers write them (B65) pass the checks of each wire, with
// the names of all fields.
func TestVoicesCarrySchemas(t *testing.T) {
	schemas := []string{
		``, `true`, `{"type":"object"}`,
		`{"type":"object","properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"label":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/N"}}}}}}`,
		`{"type":"object","properties":{"limit":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},"name":{"type":["string","null"]},"list":{"type":"array"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"kind":{"const":"page"},"n":{"enum":[1,2]},"when":{"type":"string","format":"uri"},"any":true}}`,
		`{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`,
	}
	fields := []string{"root", "label", "children", "limit", "list", "kind", "when", "any", `"a"`, `"b"`}
	var tools []oh.ToolSpec
	for i, s := range schemas {
		tools = append(tools, oh.ToolSpec{Name: fmt.Sprintf("tool%d", i), Description: "Does it.", Schema: json.RawMessage(s)})
	}
	for _, v := range speakers {
		s := ohtest.NewServer(t, ohtest.Reply(ohtest.Text("ok")))
		req := &oh.Request{Profile: "p", Model: v.model, Messages: []oh.Message{userSays(oh.Text{Text: "hi"})}, Tools: tools}
		for _, err := range v.on(s).Stream(t.Context(), req) {
			if err != nil {
				t.Errorf("%s: %v", v, err)
			}
		}
		got := s.Requests()[0]
		if n := len(got.Tools()); n != len(schemas) {
			t.Errorf("%s: %d of %d tools", v, n, len(schemas))
		}
		for _, f := range fields {
			if !strings.Contains(string(got.Body), f) {
				t.Errorf("%s: the field %s is lost", v, f)
			}
		}
	}
}
