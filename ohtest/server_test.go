package ohtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

var paths = map[Wire]string{Anthropic: "/v1/messages", OpenAI: "/api/v1/chat/completions", Responses: "/v1/responses",
	Gemini: "/v1beta/models/m:streamGenerateContent?alt=sse", Bedrock: "/model/m/converse-stream", Ollama: "/api/chat"}

// body returns a legal body of a wire with the messages.
func body(w Wire, messages string) string {
	switch w {
	case Anthropic:
		return `{"model":"m","stream":true,"max_tokens":9,"messages":[` + messages + `]}`
	case Responses:
		return `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[` + messages + `]}`
	case Gemini:
		return `{"contents":[` + messages + `]}`
	case Bedrock:
		return `{"messages":[` + messages + `]}`
	case Ollama:
		return `{"model":"m","messages":[` + messages + `]}`
	}
	return `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[` + messages + `]}`
}

const hello = `{"role":"user","content":"Hello"}`

// helloOn is hello in the words of a wire.
func helloOn(w Wire) string { return saying(w, "Hello") }

// saying is a message of the user on a wire.
func saying(w Wire, text string) string {
	switch w {
	case Gemini:
		return `{"role":"user","parts":[{"text":` + quote(text) + `}]}`
	case Bedrock:
		return `{"role":"user","content":[{"text":` + quote(text) + `}]}`
	}
	return `{"role":"user","content":` + quote(text) + `}`
}

func newRequest(ctx context.Context, t testing.TB, s *Server, w Wire, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+paths[w], strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	switch w {
	case Anthropic:
		req.Header.Set("X-Api-Key", "s3cret")
	case Gemini:
		req.Header.Set("X-Goog-Api-Key", "s3cret")
	case Bedrock:
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=s3cret/20261201/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00")
	default:
		req.Header.Set("Authorization", "Bearer s3cret")
	}
	return req
}

// do sends a request on a connection of its own and reads the whole answer.
func do(t testing.TB, req *http.Request) (*http.Response, string, error) {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func post(t testing.TB, s *Server, w Wire, messages string) (int, string) {
	t.Helper()
	resp, b, err := do(t, newRequest(t.Context(), t, s, w, body(w, messages)))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b
}

// heard is what a client makes of a stream.
type heard struct {
	Text, Thinking, Signature, Stop string
	Calls                           []string
	Usage                           oh.Usage
	Done                            bool
}

func listen(t testing.TB, w Wire, stream string) heard {
	t.Helper()
	var h heard
	at := map[string]int{}
	for _, data := range eventData(w, []byte(stream)) {
		if string(data) == "[DONE]" {
			h.Done = true
			continue
		}
		var e struct {
			Type         string
			Index        int
			ContentBlock struct{ ID, Name string } `json:"content_block"`
			Delta        struct {
				Text, Thinking, Signature string
				PartialJSON               string `json:"partial_json"`
				StopReason                string `json:"stop_reason"`
			}
			Message struct{ Usage oh.Usage }
			Usage   struct {
				OutputTokens     int `json:"output_tokens"`
				PromptTokens     int `json:"prompt_tokens"`
				CompletionTokens int `json:"completion_tokens"`
				Prompt           struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
				Completion struct {
					Reasoning int `json:"reasoning_tokens"`
				} `json:"completion_tokens_details"`
			}
			Choices []struct {
				FinishReason string `json:"finish_reason"`
				Delta        struct {
					Content   string
					Reasoning string `json:"reasoning_content"`
					ToolCalls []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if w == Anthropic {
			switch e.Type {
			case "message_start":
				h.Usage = e.Message.Usage
			case "content_block_start":
				if e.ContentBlock.ID != "" {
					at[fmt.Sprint(e.Index)] = len(h.Calls)
					h.Calls = append(h.Calls, e.ContentBlock.ID+" "+e.ContentBlock.Name+" ")
				}
			case "message_delta":
				h.Stop, h.Usage.OutputTokens = e.Delta.StopReason, e.Usage.OutputTokens
			case "message_stop":
				h.Done = true
			}
			h.Text += e.Delta.Text
			h.Thinking += e.Delta.Thinking
			h.Signature += e.Delta.Signature
			if e.Delta.PartialJSON != "" {
				h.Calls[at[fmt.Sprint(e.Index)]] += e.Delta.PartialJSON
			}
			continue
		}
		for _, c := range e.Choices {
			h.Text += c.Delta.Content
			h.Thinking += c.Delta.Reasoning
			h.Stop += c.FinishReason
			for _, call := range c.Delta.ToolCalls {
				if call.ID != "" {
					h.Calls = append(h.Calls, call.ID+" "+call.Function.Name+" ")
				}
				h.Calls[call.Index] += call.Function.Arguments
			}
		}
		if e.Usage.PromptTokens > 0 {
			h.Usage = oh.Usage{InputTokens: e.Usage.PromptTokens - e.Usage.Prompt.Cached, CacheReadTokens: e.Usage.Prompt.Cached,
				OutputTokens: e.Usage.CompletionTokens, ReasoningTokens: e.Usage.Completion.Reasoning}
		}
	}
	return h
}

func TestServerReplies(t *testing.T) {
	parts := []Part{Thinking("Hm 思"), Text("你好 😀\n"), Call("c1", "read", `{"a":"\"\\n\u4f60😀"}`), Call("c2", "ls", ""),
		Usage{InputTokens: 3, OutputTokens: 4, CacheReadTokens: 5, ReasoningTokens: 2}}
	for _, cut := range []Cut{{}, {Delta: 1}, {Bytes: 1}, {Bytes: -1}, {Delta: 3, Bytes: 50, Seed: 7}} {
		s := NewServer(t, Turn{Parts: parts, Cut: cut}, Turn{Parts: parts, Cut: cut})
		for _, w := range []Wire{Anthropic, OpenAI} {
			status, stream := post(t, s, w, hello)
			want := heard{Text: "你好 😀\n", Thinking: "Hm 思", Done: true, Usage: oh.Usage{InputTokens: 3, OutputTokens: 4, CacheReadTokens: 5, ReasoningTokens: 2},
				Calls: []string{`c1 read {"a":"\"\\n\u4f60😀"}`, "c2 ls "}, Stop: "tool_calls"}
			if w == Anthropic {
				want.Usage.ReasoningTokens = 0
				want.Signature, want.Stop = seal("Hm 思"), "tool_use"
			}
			if diff := cmp.Diff(want, listen(t, w, stream)); diff != "" || status != 200 {
				t.Errorf("%s %+v: %d\n%s", w, cut, status, diff)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestServerStops(t *testing.T) {
	for stop, want := range map[Stop]string{"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter", "stop_sequence": "stop", "odd": "odd"} {
		events := Events(OpenAI, Cut{}, Text("x"), stop)
		if got := listen(t, OpenAI, string(bytes.Join(events, nil))); got.Stop != want {
			t.Errorf("%s: got %q", stop, got.Stop)
		}
	}
	if got := listen(t, Anthropic, string(bytes.Join(Events(Anthropic, Cut{}), nil))); got.Stop != "end_turn" || !got.Done {
		t.Errorf("got %+v", got)
	}
}

func TestServerRefuses(t *testing.T) {
	tb := &recordTB{}
	s := NewServer(tb, Reply(Text("fine")))
	for _, tt := range []struct {
		name, rule string
		status     int
		wire       Wire
		edit       func(*http.Request)
		messages   string
	}{
		{"blank", "blank-text", 400, Anthropic, nil, `{"role":"user","content":""}`},
		{"orphan", "result-orphan", 400, OpenAI, nil, hello + `,{"role":"tool","tool_call_id":"x","content":"y"}`},
		{"type", "content-type", 400, OpenAI, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, hello},
		{"version", "version", 400, Anthropic, func(r *http.Request) { r.Header.Del("Anthropic-Version") }, hello},
		{"method", "method", 400, Anthropic, func(r *http.Request) { r.Method = http.MethodPut }, hello},
		{"key", "auth", 401, Anthropic, func(r *http.Request) { r.Header.Del("X-Api-Key") }, hello},
	} {
		req := newRequest(t.Context(), t, s, tt.wire, body(tt.wire, tt.messages))
		if tt.edit != nil {
			tt.edit(req)
		}
		resp, b, err := do(t, req)
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Type  string
			Error struct{ Type, Message string }
		}
		if err := json.Unmarshal([]byte(b), &e); err != nil || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s: %v", tt.name, b, err)
		}
		if resp.StatusCode != tt.status || !strings.Contains(e.Error.Message, "(rule "+tt.rule+")") || (e.Type == "error") != (tt.wire == Anthropic) {
			t.Errorf("%s: %d %s", tt.name, resp.StatusCode, b)
		}
	}
	if status, b := post(t, s, Anthropic, hello); status != 200 || !strings.Contains(b, "fine") {
		t.Errorf("an illegal request used up the turn: %d %s", status, b)
	}
	if status, b := post(t, s, OpenAI, hello); status != 400 || !strings.Contains(b, "no turn left for request 8") {
		t.Errorf("after the script: %d %s", status, b)
	}
	s.Add(Raw(oh.TextDelta{Text: "x"}))
	if status, b := post(t, s, OpenAI, hello); status != 400 || !strings.Contains(b, "only a Provider can play") {
		t.Errorf("chunks: %d %s", status, b)
	}
	var rules []string
	for _, v := range s.Violations() {
		rules = append(rules, v.Rule)
	}
	if got, want := strings.Join(rules, " "), "blank-text result-orphan content-type version method auth script script"; got != want {
		t.Errorf("violations %q, want %q", got, want)
	}
	failures := tb.finish()
	if len(failures) != 8 || !strings.HasPrefix(failures[0], "scripted server: request 1: messages[0]") || !strings.HasPrefix(failures[5], "scripted server: request 6: the request carries no key") {
		t.Errorf("failures %q", failures)
	}
}

func TestServerRemembersReasoning(t *testing.T) {
	const again = `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}`
	thought := func(sig string) string {
		return hello + `,{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"` + sig + `"},{"type":"tool_use","id":"c1","name":"ls","input":{}}]}` + again
	}
	var rules []string
	s := StartServer(t, Config{OnViolation: func(v Violation) { rules = append(rules, v.Rule) }, Rules: Rules{RequireReasoning: true}, Turns: []Turn{
		{Cut: Cut{Bytes: 1}, Parts: []Part{Thinking("Hm."), Call("c1", "ls", "{}")}}, Reply(Text("ok")),
		Play(SendAll(Events(OpenAI, Cut{Delta: 1}, Thinking("Hm."), Call("c1", "ls", "{}"))...)...), Reply(Text("ok")),
	}})
	if status, b := post(t, s, Anthropic, thought(seal("Hm."))); status != 400 {
		t.Errorf("before it was issued: %d %s", status, b)
	}
	post(t, s, Anthropic, hello)
	if status, b := post(t, s, Anthropic, thought(seal("Hm."))); status != 200 {
		t.Errorf("as it was issued: %d %s", status, b)
	}
	reasoned := func(field string) string {
		return hello + `,{"role":"assistant","content":null` + field + `,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}`
	}
	post(t, s, OpenAI, hello)
	for field, want := range map[string]int{``: 400, `,"reasoning_content":""`: 400, `,"reasoning_content":"Ha"`: 400} {
		if status, b := post(t, s, OpenAI, reasoned(field)); status != want {
			t.Errorf("%s: %d %s", field, status, b)
		}
	}
	if status, b := post(t, s, OpenAI, reasoned(`,"reasoning_content":"Hm."`)); status != 200 {
		t.Errorf("as it was sent: %d %s", status, b)
	}
	slices.Sort(rules)
	want := []string{"reasoning-empty", "reasoning-foreign", "reasoning-missing", "reasoning-missing", "reasoning-missing", "signature"}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Error(diff)
	}
}

func TestServerFailures(t *testing.T) {
	kinds := []oh.Kind{oh.KindAuth, oh.KindQuota, oh.KindLimited, oh.KindOverloaded, oh.KindTooLong, oh.KindInvalid, oh.KindUnavailable}
	want := map[Wire][]int{Anthropic: {401, 400, 429, 529, 400, 400, 500}, OpenAI: {401, 429, 429, 503, 400, 400, 500}}
	for _, w := range []Wire{Anthropic, OpenAI} {
		for i, kind := range kinds {
			s := NewServer(t, Fail(&oh.Error{Kind: kind, After: 1500 * time.Millisecond, Err: errors.New("my words")}),
				Fail(&oh.Error{Kind: kind}, Text("partial")))
			resp, b, err := do(t, newRequest(t.Context(), t, s, w, body(w, hello)))
			if err != nil || resp.StatusCode != want[w][i] || resp.Header.Get("Retry-After") != "1.5" || !strings.Contains(b, "my words") {
				t.Errorf("%s %s: %v %s %v", w, kind, resp, b, err)
			}
			status, b := post(t, s, w, hello)
			last := eventData(w, []byte(b))
			if status != 200 || !strings.Contains(b, "partial") || !bytes.Contains(last[len(last)-1], []byte(`"error":{`)) {
				t.Errorf("%s %s in the stream: %d %s", w, kind, status, b)
			}
			if h := strings.Contains(b, "message_stop") || strings.Contains(b, "[DONE]"); h {
				t.Errorf("%s %s: the stream looks complete: %s", w, kind, b)
			}
		}
	}
	s := NewServer(t, Fail(&oh.Error{Kind: oh.KindLimited, Status: 420}))
	if status, _ := post(t, s, OpenAI, hello); status != 420 {
		t.Errorf("got %d", status)
	}
}

func TestServerSteps(t *testing.T) {
	gate := make(chan struct{})
	close(gate)
	edit := func(w Wire, events [][]byte) []Step { return append(SendAll(events[:2]...), Drop()) }
	s := NewServer(t,
		Play(Status(502, http.Header{"content-type": {"text/html"}, "x-a": {"b"}}, "<html>")),
		Play(Wait(time.Millisecond), WaitFor(gate), SendText("one"), Send(nil), SendText("two"), Status(500, nil, "late")),
		Turn{Parts: []Part{Text("x")}, Edit: edit},
		Play(Drop()),
		Fail(io.ErrUnexpectedEOF, Text("x")),
		Fail(io.ErrUnexpectedEOF),
		Play(),
	)
	next := func() (*http.Response, string, error) {
		return do(t, newRequest(t.Context(), t, s, OpenAI, body(OpenAI, hello)))
	}
	resp, b, err := next()
	if err != nil || resp.StatusCode != 502 || resp.Header.Get("Content-Type") != "text/html" || resp.Header.Get("X-A") != "b" || b != "<html>" {
		t.Errorf("status: %v %q %v", resp, b, err)
	}
	resp, b, err = next()
	if err != nil || resp.StatusCode != 200 || b != "onetwolate" || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("sends: %v %q %v", resp, b, err)
	}
	if _, b, err = next(); !errors.Is(err, io.ErrUnexpectedEOF) || len(eventData(OpenAI, []byte(b))) != 2 {
		t.Errorf("edit: %q %v", b, err)
	}
	if _, _, err = next(); err == nil {
		t.Error("drop: the answer came")
	}
	if _, b, err = next(); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(b, `"x"`) {
		t.Errorf("fail: %q %v", b, err)
	}
	if _, _, err = next(); err == nil {
		t.Error("fail at once: the answer came")
	}
	if resp, b, err = next(); err != nil || resp.StatusCode != 200 || b != "" {
		t.Errorf("no steps: %v %q %v", resp, b, err)
	}
}

func TestServerCloseEndsHeldAnswers(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := Start(Config{Turns: []Turn{Hang(Text("x")), Play(WaitFor(nil)), {Delay: time.Hour}, Play(Hold())}})
	if err != nil {
		t.Fatal(err)
	}
	ends := make(chan error)
	for range 4 {
		go func() {
			_, _, err := do(t, newRequest(t.Context(), t, s, Anthropic, body(Anthropic, hello)))
			ends <- err
		}()
	}
	if err := s.Wait(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for range 4 {
		if err := <-ends; err == nil {
			t.Error("a held answer looks complete")
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	// Those of the clients end on their own a little later.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestServerClientGoes(t *testing.T) {
	s := NewServer(t, Hang(Text("x")))
	ctx, cancel := context.WithCancel(t.Context())
	req := newRequest(ctx, t, s, OpenAI, body(OpenAI, hello))
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the answer ended well")
	}
}

func TestStartErrors(t *testing.T) {
	s := NewServer(t)
	addr := strings.TrimPrefix(s.URL, "http://")
	if _, err := Start(Config{Addr: addr}); err == nil || !strings.HasPrefix(err.Error(), "scripted server: listen") {
		t.Errorf("got %v", err)
	}
	tb := &recordTB{}
	dead := StartServer(tb, Config{Addr: addr})
	if len(tb.finish()) != 1 {
		t.Error("the test did not fail")
	}
	if _, _, err := do(t, newRequest(t.Context(), t, dead, OpenAI, "{}")); err == nil {
		t.Error("the dead server answers")
	}
}

func TestServerBodyTooLarge(t *testing.T) {
	s := StartServer(t, Config{MaxBody: 200, Turns: []Turn{Reply(Text("ok"))}})
	for w, prefix := range map[Wire]string{Anthropic: `{"type":"error"`, OpenAI: `{"error":`} {
		resp, b, err := do(t, newRequest(t.Context(), t, s, w, strings.Repeat(" ", 201)))
		if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.HasPrefix(b, prefix) || !strings.Contains(b, "more than 200 bytes") {
			t.Errorf("%s: %v %v %s", w, resp, err, b)
		}
	}
	if len(s.Requests()) != 0 {
		t.Error("the request was kept")
	}
	if status, _ := post(t, s, OpenAI, hello); status != 200 {
		t.Errorf("a small body: %d", status)
	}
}

func TestServerConcurrent(t *testing.T) {
	s := StartServer(t, Config{Rule: func(r *Request) (Turn, bool) { return Reply(Text("re " + r.LastUserText())), true }})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			w := []Wire{Anthropic, OpenAI}[i%2]
			prompt := fmt.Sprintf(`{"role":"user","content":"n%d"}`, i)
			_, b, err := do(t, newRequest(t.Context(), t, s, w, body(w, prompt)))
			if err != nil || !strings.Contains(b, fmt.Sprintf("re n%d", i)) {
				t.Errorf("%d: %v %s", i, err, b)
			}
		})
	}
	wg.Wait()
	for i, r := range s.Requests() {
		if r.N != i+1 {
			t.Errorf("request %d has the number %d", i+1, r.N)
		}
	}
}
