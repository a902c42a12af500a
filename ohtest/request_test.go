package ohtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openharness/oh"
)

func TestServerRuleAndLog(t *testing.T) {
	var watched []string
	s := StartServer(t, Config{
		Key:    "s3cret",
		Models: []string{"a", "b"},
		Watch:  func(r *Request) { watched = append(watched, fmt.Sprintf("%v %s", r, r.Path)) },
		Turns:  []Turn{Reply(Text("from the script"))},
		Rule: func(r *Request) (Turn, bool) {
			return Reply(Text("rule for " + r.LastUserText())), strings.Contains(r.LastUserText(), "rule")
		},
	})
	start := time.Now()
	if _, b := post(t, s, OpenAI, `{"role":"user","content":"a rule"}`); !strings.Contains(b, "rule for a rule") {
		t.Error(b)
	}
	if _, b := post(t, s, Anthropic, hello); !strings.Contains(b, "from the script") {
		t.Error(b)
	}
	req := newRequest(t.Context(), t, s, Anthropic, body(Anthropic, hello))
	req.Header.Set("X-Api-Key", "wrong")
	if resp, b, err := do(t, req); err != nil || resp.StatusCode != 401 {
		t.Errorf("%v %s", err, b)
	}
	get := newRequest(t.Context(), t, s, OpenAI, "")
	get.Method, get.URL.Path = http.MethodGet, "/v1/models"
	if resp, b, err := do(t, get); err != nil || resp.StatusCode != 200 || !strings.Contains(b, `{"id":"b"`) || !json.Valid([]byte(b)) {
		t.Errorf("%v %s", err, b)
	}
	get = newRequest(t.Context(), t, s, OpenAI, "")
	get.URL.Path = "/v1/embeddings"
	if resp, b, err := do(t, get); err != nil || resp.StatusCode != 404 || !strings.Contains(b, "nothing is served at POST /v1/embeddings") {
		t.Errorf("%v %s", err, b)
	}
	reqs := s.Requests()
	if len(reqs) != 3 || len(s.Stray()) != 2 || len(s.Violations()) != 0 || s.Remaining() != 0 {
		t.Fatalf("%v %v %v", reqs, s.Stray(), s.Violations())
	}
	for i, r := range reqs {
		if r.N != i+1 || r.Time.Before(start) || r.Model() != "m" {
			t.Errorf("%v", r)
		}
	}
	if len(watched) != 5 {
		t.Errorf("watched %q", watched)
	}
	r := reqs[0]
	shown := fmt.Sprintf("%v %+v %#v %s %q %v", r, r, r, r, r, r.SafeHeader())
	if strings.Contains(shown, "s3cret") || !strings.Contains(shown, "(hidden)") || r.Header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("keys: %s", shown)
	}
}

func TestRequestAccessors(t *testing.T) {
	raw := json.RawMessage(`{"path":"a"}`)
	for w, legal := range map[Wire]string{Anthropic: legalAnthropic(t), OpenAI: legalOpenAI(t)} {
		r := &Request{Wire: w, Body: []byte(legal)}
		if r.System() != "Be good." {
			t.Errorf("%s: system %q", w, r.System())
		}
		tools := r.Tools()
		if len(tools) != 1 || tools[0].Name != "read" || tools[0].Description != "Reads." || !json.Valid(tools[0].Schema) {
			t.Errorf("%s: tools %v", w, tools)
		}
		text, isError, ok := r.ToolResult("c2")
		if text != "two" || isError != (w == Anthropic) || !ok {
			t.Errorf("%s: result %q %v %v", w, text, isError, ok)
		}
		if _, _, ok := r.ToolResult("c9"); ok {
			t.Errorf("%s: found a result that is not there", w)
		}
		msgs := r.Messages()
		if uses := msgs[1].Content.ToolUses(); len(uses) != 2 || uses[0].ID != "c1" || !bytes.Equal(uses[0].Input, raw) {
			t.Errorf("%s: calls %v", w, uses)
		}
		if th, ok := msgs[1].Content[0].(oh.Thinking); !ok || th.Text != "Hm." {
			t.Errorf("%s: thinking %v", w, msgs[1].Content[0])
		}
		if img, ok := msgs[0].Content[1].(oh.Image); !ok || img.MediaType != "image/png" || len(img.Data) == 0 {
			t.Errorf("%s: image %v", w, msgs[0].Content[1])
		}
	}
	a := &Request{Wire: Anthropic, Body: []byte(legalAnthropic(t))}
	if got := a.LastUserText(); got != "Go on." {
		t.Errorf("got %q", got)
	}
	o := &Request{Wire: OpenAI, Body: []byte(body(OpenAI, hello+`,{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","tool_call_id":"1","content":"Error: no"},{"role":"user","content":"and"}`))}
	if _, isError, _ := o.ToolResult("1"); !isError || o.LastUserText() != "and" || len(o.Messages()) != 3 {
		t.Errorf("got %v", o.Messages())
	}
	broken := &Request{Wire: OpenAI, Body: []byte(`{`)}
	if broken.System() != "" || broken.Messages() != nil || broken.Model() != "" {
		t.Error("a broken body has content")
	}
}
