package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
)

func responsesVoice() voice {
	open := responsesOpen("msg_1", `"output_index":0,"content_index":0,"delta":"hel"`)
	return voice{
		wire: "responses",
		full: responsesFull(),
		said: responsesSaid("hello", "response.completed", `"status":"completed"`),
		open: open,
	}
}

// responsesEvents names events by their type and numbers them.
func responsesEvents(datas ...string) string {
	var s strings.Builder
	for i, d := range datas {
		var head struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal([]byte(d), &head)
		fmt.Fprintf(&s, "event: %s\ndata: {\"sequence_number\":%d,%s\n\n", head.Type, i, d[1:])
	}
	return s.String()
}

func responsesOpen(id, piece string) string {
	return responsesEvents(
		`{"type":"response.created","response":{"id":"resp_1","object":"response","model":"m","status":"in_progress","output":[],"error":null,"usage":null}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"`+id+`","type":"message","role":"assistant","status":"in_progress","content":[]}}`,
		`{"type":"response.output_text.delta","item_id":"`+id+`",`+piece+`,"logprobs":[]}`)
}

func responsesSaid(s, last, status string) string {
	item := `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"` + s + `","annotations":[]}]}`
	return responsesOpen("msg_1", `"output_index":0,"content_index":0,"delta":"`+s+`"`) + responsesEvents(
		`{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"`+s+`"}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
		`{"type":"`+last+`","response":{"id":"resp_1","object":"response","model":"m",`+status+`,"output":[`+item+`]}}`)
}

// responsesItems are the items of the full reply.
func responsesItems() []string {
	quote := func(s string) string {
		raw, _ := oh.Marshal(s)
		return string(raw)
	}
	return []string{
		`{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAA==","summary":[{"type":"summary_text","text":` + quote(fullThinking) + `}]}`,
		`{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":` + quote(fullText) + `}],"role":"assistant","phase":"commentary"}`,
		`{"id":"fc_1","type":"function_call","status":"completed","arguments":` + quote(fullInput) + `,"call_id":"c1","name":"write"}`,
		`{"id":"fc_2","type":"function_call","status":"completed","arguments":"","call_id":"c2","name":"now"}`,
	}
}

// responsesFull leaves out what says nothing: a test cuts it at each byte.
func responsesFull() string {
	items := responsesItems()
	done := func(i int) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, items[i])
	}
	all := []string{
		`{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAA","summary":[]}}`,
	}
	all = append(all, grow(fullThinking, `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":%}`)...)
	all = append(all, done(0), `{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","phase":"commentary"}}`)
	all = append(all, grow(fullText, `{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"delta":%,"logprobs":[]}`)...)
	all = append(all, done(1), `{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"c1","name":"write"}}`)
	all = append(all, grow(fullInput, `{"type":"response.function_call_arguments.delta","output_index":2,"delta":%}`)...)
	all = append(all, `{"type":"response.output_item.added","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"c2","name":"now"}}`,
		`{"type":"response.completed","response":{"status":"completed"}}`)
	return openaiEvents(all...)
}

// responsesMessage is the message of responsesFull.
func responsesMessage(m oh.Message) oh.Message {
	opaque := func(data string) *oh.Opaque { return &oh.Opaque{Origin: "p/m", Data: json.RawMessage(data)} }
	m.Content = oh.Blocks{
		oh.Thinking{Text: fullThinking, Opaque: opaque(responsesItems()[0])},
		oh.Text{Text: fullText, Opaque: opaque(`{"id":"msg_1","phase":"commentary"}`)},
		oh.ToolUse{ID: "c1", Name: "write", Input: json.RawMessage(fullInput), Opaque: opaque(`{"id":"fc_1"}`)},
		oh.ToolUse{ID: "c2", Name: "now", Input: json.RawMessage("{}"), Opaque: opaque(`{"id":"fc_2"}`)},
	}
	return m
}

// responsesPieces is a reply in pieces, each a raw JSON string, by a service
// that gives no ids and tells nothing twice.
func responsesPieces(thinking, said, first, second []string) string {
	var all []string
	piece := func(kind string, index int, s string) {
		all = append(all, fmt.Sprintf(`{"type":"response.%s.delta","output_index":%d,"delta":%s}`, kind, index, s))
	}
	for _, s := range thinking {
		piece("reasoning_text", 0, s)
	}
	for _, s := range said {
		piece("output_text", 1, s)
	}
	for i, raws := range [][]string{first, second} {
		if len(raws) > 0 {
			all = append(all, fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"function_call","call_id":"%c","name":"f"}}`, i+2, 'a'+i))
		}
	}
	for i := range max(len(first), len(second)) {
		if i < len(first) {
			piece("function_call_arguments", 2, first[i])
		}
		if i < len(second) {
			piece("function_call_arguments", 3, second[i])
		}
	}
	return responsesEvents(append(all, `{"type":"response.completed","response":{"model":"m","status":"completed"}}`)...)
}

func responsesLong() string {
	all := make([]string, 0, deltas)
	for i := range deltas {
		all = append(all, fmt.Sprintf(`{"type":"response.output_text.delta","item_id":"msg_68af4030baa48193b0b43b4c2a176a1a0e3a","output_index":0,"content_index":0,"delta":" word%d\n","logprobs":[],"obfuscation":"aBcD3f%d"}`, i, i))
	}
	return responsesOpen("msg_68af4030baa48193b0b43b4c2a176a1a0e3a", `"output_index":0,"content_index":0,"delta":""`) + responsesEvents(all...) +
		responsesEvents(`{"type":"response.completed","response":{"model":"m","status":"completed","output":[]}}`)
}

func TestResponsesAddress(t *testing.T) {
	for _, tt := range []struct {
		host       provider.Host
		base, want string
		header     string
	}{
		{"", "", "https://api.openai.com/v1/responses", "Authorization"},
		{"", "http://h", "http://h/v1/responses", "Authorization"},
		{"", " http://h/api/v1/ ", "http://h/api/v1/responses", "Authorization"},
		{"", "http://h/v1/responses?a=1", "http://h/v1/responses?a=1", "Authorization"},
		{"", "h/v1", "", ""},
		{provider.Azure, "https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/responses", "Api-Key"},
		{provider.Azure, "https://r.openai.azure.com/openai?api-version=2025-04-01-preview", "https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview", "Api-Key"},
		{provider.Azure, "", "", ""},
	} {
		got, secret := "", ""
		p := wires["responses"](provider.Config{BaseURL: tt.base, Host: tt.host, Key: "sk-secret", Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got, secret = r.URL.String(), r.Header.Get(tt.header)
			return nil, errors.New("enough")
		})}})
		res := listen(t, p.Stream(t.Context(), hello()))
		if got != tt.want || tt.want == "" && oh.KindOf(res.err) != oh.KindInvalid || tt.want != "" && !strings.HasSuffix(secret, "sk-secret") {
			t.Errorf("%s %q: asked %q, want %q (%v)", tt.host, tt.base, got, tt.want, res.err)
		}
	}
}

// Azure offers the Chat wire too.
func TestAzureChat(t *testing.T) {
	for base, want := range map[string]string{
		"https://r.openai.azure.com":                        "https://r.openai.azure.com/openai/v1/chat/completions",
		"https://r.openai.azure.com?api-version=2024-10-21": "https://r.openai.azure.com/openai/deployments/deployed/chat/completions?api-version=2024-10-21",
		"": "",
	} {
		got, header := "", http.Header{}
		p := wires["openai"](provider.Config{BaseURL: base, Host: provider.Azure, Key: "sk-secret", Traits: func(string) provider.Traits { return provider.Traits{Name: "deployed"} },
			Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				got, header = r.URL.String(), r.Header
				return nil, errors.New("enough")
			})}})
		res := listen(t, p.Stream(t.Context(), hello()))
		if got != want || want == "" && oh.KindOf(res.err) != oh.KindInvalid || want != "" && (header.Get("Api-Key") != "sk-secret" || header.Get("Authorization") != "") {
			t.Errorf("%q: asked %q, want %q (%v)", base, got, want, res.err)
		}
	}
}

func TestResponsesFaults(t *testing.T) {
	told := func(code, words string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":%q}}`, words, code)
	}
	bare := func(code string) string { return `{"error":{"code":"` + code + `","message":"No."}}` }
	for _, tt := range []struct {
		name, body string
		status     int
		kind       oh.Kind
		words      string // that the error holds
	}{
		{"window", told("context_length_exceeded", "Your input exceeds the context window of this model."), 400, oh.KindTooLong, ""},
		{"llama.cpp", `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`, 400, oh.KindTooLong, ""},
		{"quota", told("insufficient_quota", "You exceeded your current quota."), 429, oh.KindQuota, ""},
		{"rate", told("rate_limit_exceeded", "Rate limit reached for gpt-5 on tokens per min; the prompt is too long."), 429, oh.KindLimited, ""},
		{"busy", told("server_is_overloaded", "Please wait."), 503, oh.KindOverloaded, ""},
		{"slow down", told("slow_down", "Please wait."), 503, oh.KindOverloaded, ""},
		{"prompt", told("invalid_prompt", "Invalid prompt: we've limited access to this content for safety reasons."), 400, oh.KindInvalid, ""},
		{"policy", bare("bio_policy"), 400, oh.KindInvalid, ""},
		{"steering", bare("misalignment_policy_violation"), 400, oh.KindInvalid, ""},
		{"residency", bare("data_residency_mismatch"), 400, oh.KindInvalid, ""},
		{"image", bare("image_parse_error"), 400, oh.KindInvalid, ""},
		{"image of a kind", bare("unsupported_image_media_type"), 400, oh.KindInvalid, ""},
		{"server", told("server_error", "An error occurred."), 500, oh.KindUnavailable, ""},
		{"output limit", told("integer_above_max_value", "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 200000 instead."), 400, oh.KindInvalid, lowerLimit},
		{"reasoning of another account", told("invalid_encrypted_content", "The encrypted content for item rs_1 could not be verified."), 400, oh.KindInvalid, "start a new session"},
		{"not verified", told("unsupported_value", "Your organization must be verified to generate reasoning summaries."), 400, oh.KindInvalid, "return_reasoning"},
		{"no reasoning", told("unsupported_value", "Encrypted content is not supported with this model."), 400, oh.KindInvalid, "return_reasoning"},
		{"previous response", told("previous_response_not_found", "Previous response with id 'resp_1' not found."), 400, oh.KindInvalid, ""},
		{"model", told("model_not_found", "The model 'm' does not exist."), 404, oh.KindInvalid, ""},
	} {
		// Told with the status, by a failed response, and by an event.
		for _, form := range []string{"status", "failed", "event"} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				switch open := responsesOpen("msg_1", `"output_index":0,"content_index":0,"delta":"hel"`); form {
				case "status":
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.body)
				case "failed":
					_, _ = io.WriteString(w, open+responsesEvents(`{"type":"response.failed","response":{"status":"failed",`+tt.body[1:]+`}`))
				default:
					_, _ = io.WriteString(w, open+responsesEvents(`{"type":"error",`+tt.body[1:]))
				}
			}))
			got := listen(t, wires["responses"](provider.Config{BaseURL: srv.URL, Key: "sk-secret"}).Stream(t.Context(), hello()))
			srv.Close()
			if oh.KindOf(got.err) != tt.kind || got.err != nil && !strings.Contains(got.err.Error(), tt.words) {
				t.Errorf("%s (%s): %v (%s)", tt.name, form, got.err, oh.KindOf(got.err))
			}
		}
	}
}

const lowerLimit = "lower the setting max_tokens"

// What a failed response says of the wait is the wait.
func TestResponsesWait(t *testing.T) {
	p := served(responsesVoice(), func(*http.Request) io.Reader {
		return strings.NewReader(responsesEvents(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-5 in organization o on tokens per min (TPM): Limit 30000, Used 27000, Requested 12000. Please try again in 1.898s. Visit https://platform.openai.com/account/rate-limits to learn more."}}}`))
	})
	got := listen(t, p.Stream(t.Context(), hello()))
	e, _ := errors.AsType[*oh.Error](got.err)
	if e == nil || e.Kind != oh.KindLimited || e.After != 1898*time.Millisecond {
		t.Errorf("%v %+v", got.err, e)
	}
}

// A strict service takes back what it sent, turn after turn: reasoning before
// what it led to, with the ids of both, from the log as well.
func TestResponsesRoundTrip(t *testing.T) {
	srv, err := ohtest.Start(ohtest.Config{Rules: ohtest.Rules{RequireReasoning: true}, Turns: []ohtest.Turn{
		ohtest.Reply(ohtest.Thinking("first"), ohtest.Text("I look."), ohtest.Call("call_1", "read", `{"path":"a"}`), ohtest.Call("call_2", "read", `{"path":"b"}`)),
		ohtest.Reply(ohtest.Redacted("c2VhbGVk"), ohtest.Call("call_3", "read", `{"path":"c"}`)),
		ohtest.Reply(ohtest.Thinking("cut"), ohtest.Stop(oh.StopMaxTokens)),
		ohtest.Reply(ohtest.Thinking("last"), ohtest.Text("Done.")),
		ohtest.Reply(ohtest.Text("Thanks.")),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	p := wires["responses"](provider.Config{Profile: "p", BaseURL: srv.URL + "/v1", Key: "sk-secret", Traits: func(string) provider.Traits {
		return provider.Traits{Thinking: provider.ThinkEffort}
	}})
	req := hello()
	req.Tools = []oh.ToolSpec{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	var texts []string
	for turn := range 5 {
		got := listen(t, p.Stream(t.Context(), req))
		if got.err != nil {
			t.Fatalf("turn %d: %v", turn, got.err)
		}
		raw, err := oh.Marshal(got.message)
		if err != nil {
			t.Fatal(err)
		}
		var m oh.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, m.Content.Text())
		m.ID = fmt.Sprint("a", turn)
		answer := oh.Message{ID: fmt.Sprint("u", turn+2), Role: oh.User}
		for _, u := range m.Content.ToolUses() {
			answer.Content = append(answer.Content, oh.ToolResult{ToolUseID: u.ID, Content: oh.Blocks{oh.Text{Text: "x"}}})
		}
		if len(answer.Content) == 0 {
			answer.Content = oh.Blocks{oh.Text{Text: "go on"}}
		}
		req.Messages = append(req.Messages, m, answer)
	}
	for _, bad := range srv.Violations() {
		t.Errorf("the service would refuse it: %v", bad)
	}
	if d := cmp.Diff([]string{"I look.", "", "", "Done.", "Thanks."}, texts); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	last := string(srv.Requests()[4].Body)
	if n := strings.Count(last, `"type":"reasoning"`); n != 3 {
		t.Errorf("%d reasoning items in %s", n, last)
	}
}
