package ohtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// ids replaces what is different each time.
var ids = regexp.MustCompile(`(resp|rs|msg|fc)_[0-9a-f-]{8,}`)

func TestResponsesEvents(t *testing.T) {
	var got []string
	for _, data := range eventData(Responses, bytes.Join(Events(Responses, Cut{Delta: 3}, Thinking("Hm."), Text("Hello"), Call("c1", "ls", "{}")), nil)) {
		line := ids.ReplaceAllString(string(data), "${1}_N")
		if strings.Contains(line, `"type":"response.created"`) || strings.Contains(line, `"type":"response.in_progress"`) {
			line = line[:strings.Index(line, `"background"`)]
		}
		got = append(got, line)
	}
	enc := encryptedThought("Hm.")
	early := "gAAAAAearly" + seal(enc)
	thought := `{"id":"rs_N","type":"reasoning","encrypted_content":"` + enc + `","summary":[{"type":"summary_text","text":"Hm."}]}`
	message := `{"id":"msg_N","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello"}],"role":"assistant"}`
	call := `{"id":"fc_N","type":"function_call","status":"completed","arguments":"{}","call_id":"c1","name":"ls"}`
	want := []string{
		`{"type":"response.created","sequence_number":0,"response":{"id":"resp_N","object":"response","created_at":1767225600,"status":"in_progress",`,
		`{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_N","object":"response","created_at":1767225600,"status":"in_progress",`,
		`{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_N","type":"reasoning","encrypted_content":"` + early + `","summary":[]}}`,
		`{"type":"response.reasoning_summary_part.added","sequence_number":3,"item_id":"rs_N","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"rs_N","output_index":0,"summary_index":0,"delta":"Hm.","obfuscation":"0123"}`,
		`{"type":"response.reasoning_summary_text.done","sequence_number":5,"item_id":"rs_N","output_index":0,"summary_index":0,"text":"Hm."}`,
		`{"type":"response.reasoning_summary_part.done","sequence_number":6,"item_id":"rs_N","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"Hm."}}`,
		`{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":` + thought + `}`,
		`{"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"id":"msg_N","type":"message","status":"in_progress","content":[],"role":"assistant"}}`,
		`{"type":"response.content_part.added","sequence_number":9,"item_id":"msg_N","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}`,
		`{"type":"response.output_text.delta","sequence_number":10,"item_id":"msg_N","output_index":1,"content_index":0,"logprobs":[],"delta":"Hel","obfuscation":"0123456789"}`,
		`{"type":"response.output_text.delta","sequence_number":11,"item_id":"msg_N","output_index":1,"content_index":0,"logprobs":[],"delta":"lo","obfuscation":"0123456789a"}`,
		`{"type":"response.output_text.done","sequence_number":12,"item_id":"msg_N","output_index":1,"content_index":0,"text":"Hello","logprobs":[]}`,
		`{"type":"response.content_part.done","sequence_number":13,"item_id":"msg_N","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello"}}`,
		`{"type":"response.output_item.done","sequence_number":14,"output_index":1,"item":` + message + `}`,
		`{"type":"response.output_item.added","sequence_number":15,"output_index":2,"item":{"id":"fc_N","type":"function_call","status":"in_progress","arguments":"","call_id":"c1","name":"ls"}}`,
		`{"type":"response.function_call_arguments.delta","sequence_number":16,"item_id":"fc_N","output_index":2,"delta":"{}","obfuscation":""}`,
		`{"type":"response.function_call_arguments.done","sequence_number":17,"item_id":"fc_N","output_index":2,"arguments":"{}"}`,
		`{"type":"response.output_item.done","sequence_number":18,"output_index":2,"item":` + call + `}`,
		`{"type":"response.completed","sequence_number":19,"response":` + ids.ReplaceAllString(responseObject("resp_00000000", "scripted", "completed", "null", "null", thought+","+message+","+call,
			`{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}`), "${1}_N") + `}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGeminiEvents(t *testing.T) {
	const head, tail = `{"candidates":[{"content":{"parts":[`, `],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10}]},"modelVersion":"scripted","responseId":"N"}`
	chunk := func(part, end string, n int) string {
		return head + part + strings.Replace(fmt.Sprintf(tail, n, n+10), `,"index"`, end+`,"index"`, 1)
	}
	for _, tt := range []struct {
		name  string
		parts []Part
		want  []string
	}{
		{"calls", []Part{Thinking("Hm."), Text("A"), Call("c1", "ls", `{ "a": 1 }`), Call("", "now", "")}, []string{
			chunk(`{"text":"Hm.","thought":true}`, "", 1), chunk(`{"text":"A"}`, "", 2),
			chunk(`{"functionCall":{"name":"ls","args":{"a":1},"id":"c1"},"thoughtSignature":"`+geminiSeal("Hm.")+`"}`, "", 3),
			chunk(`{"functionCall":{"name":"now"}}`, "", 4), chunk(`{"text":""}`, `,"finishReason":"STOP"`, 5)}},
		{"text", []Part{Redacted("r"), Text("A")}, []string{
			chunk(`{"text":"A"}`, "", 1), chunk(`{"text":"","thoughtSignature":"cg=="}`, `,"finishReason":"STOP"`, 5)}},
		{"cut", []Part{Text("A"), Call("c1", "ls", `{"a`), Stop(oh.StopMaxTokens)}, []string{
			chunk(`{"text":"A"}`, "", 1), chunk(`{"text":""}`, `,"finishReason":"MAX_TOKENS"`, 5)}},
		{"malformed", []Part{Call("c1", "ls", `{"a`)}, []string{
			chunk(`{"text":""}`, `,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: ls"`, 5)}},
	} {
		events := Events(Gemini, Cut{}, tt.parts...)
		var got []string
		for _, data := range eventData(Gemini, bytes.Join(events, nil)) {
			got = append(got, regexp.MustCompile(`"responseId":"[^"]+"`).ReplaceAllString(string(data), `"responseId":"N"`))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !bytes.HasSuffix(events[0], []byte("}\r\n\r\n")) {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	e := encoding{wire: Gemini, model: "gemini-3-pro"}
	events, _ := e.encode([]Part{Call("c1", "ls", "{}"), Call("c2", "ls", "{}")})
	if n := strings.Count(string(bytes.Join(events, nil)), "thoughtSignature"); n != 1 {
		t.Errorf("%d signatures of a model that signs", n)
	}
}

func TestBedrockFrames(t *testing.T) {
	events := Events(Bedrock, Cut{}, Thinking("Hm."), Redacted("r"), Text("A"), Call("c1", "ls", "{}"), Stop("refusal"))
	names, payloads := unframe(bytes.Join(events, nil))
	want := "messageStart contentBlockDelta contentBlockDelta contentBlockStop contentBlockDelta contentBlockStop contentBlockDelta contentBlockStop " +
		"contentBlockStart contentBlockDelta contentBlockStop messageStop metadata"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s", got)
	}
	for i, p := range payloads {
		if !json.Valid(p) {
			t.Errorf("payload %d: %s", i, p)
		}
	}
	if !bytes.Contains(payloads[len(payloads)-2], []byte("content_filtered")) {
		t.Errorf("got %s", payloads[len(payloads)-2])
	}
	// A frame whose checksums are known: headers none, payload "{}".
	if got := fmt.Sprintf("%x", frame("{}")); !strings.HasPrefix(got, "0000001200000000") || len(got) != 36 {
		t.Errorf("got %s", got)
	}
}

// round is what a client sends after a reply: the reply itself and the results,
// made of the events that came.
func round(t *testing.T, w Wire, stream string) string {
	t.Helper()
	var items []json.RawMessage
	for _, data := range eventData(w, []byte(stream)) {
		var e struct {
			Type       string
			Item       json.RawMessage
			Candidates []struct {
				Content struct{ Parts []json.RawMessage }
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if e.Type == "response.output_item.done" {
			items = append(items, e.Item)
		}
		for _, c := range e.Candidates {
			items = append(items, c.Content.Parts...)
		}
	}
	list, err := oh.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	if w == Responses {
		return "," + strings.Trim(string(list), "[]") + `,{"type":"function_call_output","call_id":"c1","output":"r"}`
	}
	parts := strings.Replace(string(list), `,{"text":""}`, "", 1)
	return `,{"role":"model","parts":` + parts + `},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"r"}}}]}`
}

func TestReasoningRoundTrip(t *testing.T) {
	for _, w := range []Wire{Responses, Gemini} {
		var rules []string
		s := StartServer(t, Config{OnViolation: func(v Violation) { rules = append(rules, v.Rule) }, Rules: Rules{RequireReasoning: true, SignedCalls: true},
			Turns: []Turn{{Cut: Cut{Bytes: 7}, Parts: []Part{Thinking("Hm [a]."), Call("c1", "ls", `{"b":1,"a":"x"}`)}}, Reply(Text("ok")), Reply(Text("ok"))}})
		_, stream := post(t, s, w, helloOn(w))
		next := helloOn(w) + round(t, w, stream)
		if status, b := post(t, s, w, next); status != 200 {
			t.Fatalf("%s: as it was sent: %d %s", w, status, b)
		}
		secret := geminiSeal("Hm [a].")
		if w == Responses {
			secret = encryptedThought("Hm [a].")
		}
		for _, edit := range []struct{ name, old, new string }{
			{"another", secret, "Zm9yZ2Vk"}, {"none", secret, ""},
		} {
			if status, b := post(t, s, w, strings.Replace(next, edit.old, edit.new, 1)); status != 400 || !strings.Contains(b, "rule signature") {
				t.Errorf("%s: %s: %d %s", w, edit.name, status, b)
			}
		}
		// Nothing of it may be seen on another wire.
		for _, other := range Wires() {
			status, b := post(t, s, other, saying(other, "the secret is "+secret))
			if other == w && status != 200 || other != w && (status != 400 || !strings.Contains(b, "rule reasoning-foreign")) {
				t.Errorf("%s on %s: %d %s", w, other, status, b)
			}
		}
		if len(rules) < 7 {
			t.Errorf("%s: %v", w, rules)
		}
	}
}

func TestFailuresOfAllWires(t *testing.T) {
	kinds := []oh.Kind{oh.KindAuth, oh.KindQuota, oh.KindLimited, oh.KindOverloaded, oh.KindTooLong, oh.KindInvalid, oh.KindUnavailable}
	want := map[Wire][]int{Responses: {401, 429, 429, 503, 400, 400, 500}, Gemini: {400, 429, 429, 503, 400, 400, 500},
		Bedrock: {403, 400, 429, 503, 400, 400, 500}, Ollama: {401, 402, 429, 503, 400, 400, 500}}
	for w, codes := range want {
		for i, kind := range kinds {
			s := NewServer(t, Fail(&oh.Error{Kind: kind, After: 1500 * time.Millisecond, Err: errors.New("my words")}), Fail(&oh.Error{Kind: kind}, Text("partial")))
			resp, b, err := do(t, newRequest(t.Context(), t, s, w, body(w, helloOn(w))))
			if err != nil {
				t.Fatal(err)
			}
			after := resp.Header.Get("Retry-After") == "1.5"
			if w == Gemini {
				after = strings.Contains(b, `RetryInfo","retryDelay":"1.5s"`)
			}
			if resp.StatusCode != codes[i] || !after || !strings.Contains(b, "my words") || !json.Valid([]byte(b)) {
				t.Errorf("%s %s: %v %s", w, kind, resp, b)
			}
			status, b := post(t, s, w, helloOn(w))
			last := eventData(w, []byte(b))
			end := string(last[len(last)-1])
			if w == Bedrock {
				end = strings.ReplaceAll(end, "message", "error")
			}
			if status != 200 || !strings.Contains(b, "partial") || !strings.Contains(end, `error"`) || !json.Valid(last[len(last)-1]) {
				t.Errorf("%s %s in the stream: %d %q", w, kind, status, b)
			}
			for _, done := range []string{"response.completed", "finishReason", "messageStop", `"done":true`} {
				if strings.Contains(b, done) {
					t.Errorf("%s %s: the stream looks complete: %s", w, kind, b)
				}
			}
		}
	}
}

func TestAnswerHeader(t *testing.T) {
	h := http.Header{"retry-after-ms": {"1500"}, "Retry-After": {"0"}, "x-ratelimit-remaining-requests": {"3"}}
	s := NewServer(t, Turn{Header: h, Parts: []Part{Text("ok")}}, Turn{Header: h, Err: &oh.Error{Kind: oh.KindLimited, After: time.Minute}},
		Play(Header(http.Header{"a": {"1"}}), Header(h), SendText("x")))
	for i, want := range []int{200, 429, 200} {
		resp, _, err := do(t, newRequest(t.Context(), t, s, Responses, body(Responses, hello)))
		if err != nil || resp.StatusCode != want || resp.Header.Get("Retry-After-Ms") != "1500" || resp.Header.Get("Retry-After") != "0" || resp.Header.Get("X-Ratelimit-Remaining-Requests") != "3" {
			t.Errorf("answer %d: %v %v", i, resp, err)
		}
		if i == 2 && resp.Header.Get("A") != "1" {
			t.Errorf("the first header is lost: %v", resp.Header)
		}
	}
}

func TestDoor(t *testing.T) {
	for _, tt := range []struct {
		name   string
		wire   Wire
		edit   func(*http.Request)
		status int
		want   string
	}{
		{"key in the query", Gemini, func(r *http.Request) { r.Header.Del("X-Goog-Api-Key"); r.URL.RawQuery += "&key=s3cret" }, 200, ""},
		{"bearer", Gemini, func(r *http.Request) {
			r.Header.Del("X-Goog-Api-Key")
			r.Header.Set("Authorization", "Bearer s3cret")
		}, 200, ""},
		{"wrong key", Gemini, func(r *http.Request) { r.Header.Set("X-Goog-Api-Key", "x") }, 400, "API_KEY_INVALID"},
		{"no key", Gemini, func(r *http.Request) { r.Header.Del("X-Goog-Api-Key") }, 400, "the request carries no key"},
		{"not sse", Gemini, func(r *http.Request) { r.URL.RawQuery = "" }, 400, "(rule stream)"},
		{"whole", Gemini, func(r *http.Request) { r.URL.Path = "/v1beta/models/m:generateContent" }, 400, "(rule stream)"},
		{"azure", Responses, func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Api-Key", "s3cret") }, 200, ""},
		{"wrong key", Responses, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401, "invalid_api_key"},
		{"basic", Responses, func(r *http.Request) { r.Header.Set("Authorization", "Basic s3cret") }, 401, "no key"},
		{"wrong key", Bedrock, func(r *http.Request) { r.Header.Set("Authorization", "AWS4 Credential=x/y") }, 403, "security token"},
		{"bearer", Bedrock, func(r *http.Request) { r.Header.Set("Authorization", "Bearer s3cret") }, 200, ""},
		{"no key", Ollama, func(r *http.Request) { r.Header.Del("Authorization") }, 401, "no key"},
	} {
		s := StartServer(t, Config{Key: "s3cret", Turns: []Turn{Reply(Text("ok"))}, OnViolation: func(Violation) {}})
		req := newRequest(t.Context(), t, s, tt.wire, body(tt.wire, helloOn(tt.wire)))
		tt.edit(req)
		resp, b, err := do(t, req)
		if err != nil || resp.StatusCode != tt.status || !strings.Contains(b, tt.want) {
			t.Errorf("%s %s: %v %s", tt.wire, tt.name, err, b)
		}
	}
	s := NewServer(t, Reply(Text("ok")))
	req := newRequest(t.Context(), t, s, Ollama, body(Ollama, hello))
	req.Header.Del("Authorization")
	if resp, b, err := do(t, req); err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("ollama without a key: %v %s", err, b)
	}
}

func TestModelLists(t *testing.T) {
	s := StartServer(t, Config{Models: []string{"a", "b"}})
	for path, want := range map[string]string{"/v1beta/models": `{"models":[{"name":"models/a"`, "/v1/models?key=x": `{"models":[{"name":"models/a"`,
		"/v1/models": `{"object":"list","data":[{"id":"a"`, "/api/tags": `{"models":[{"name":"a","model":"a"`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, b, err := do(t, req); err != nil || resp.StatusCode != 200 || !strings.HasPrefix(b, want) || !json.Valid([]byte(b)) {
			t.Errorf("%s: %v %s", path, err, b)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1beta/other", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, b, err := do(t, req); err != nil || resp.StatusCode != 404 || !strings.Contains(b, `"status":"NOT_FOUND"`) {
		t.Errorf("%v %s", err, b)
	}
}

func TestAccessorsOfAllWires(t *testing.T) {
	ollama := `{"model":"m","messages":[{"role":"system","content":"Be good."},{"role":"user","content":"Look","images":["` + tinyGIF + `"]},` +
		`{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}}]},{"role":"tool","tool_name":"read","content":"one"}],` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{}}}]}`
	for w, tt := range map[Wire]struct{ body, path, call, result string }{
		Responses: {legalResponses(t), "/v1/responses", "c1", "one"},
		Gemini:    {legalGemini(t), "/v1beta/models/gpt-5:streamGenerateContent", "c1", "one"},
		Bedrock:   {strings.Replace(legalBedrock(t), `"input":{}`, `"input":{"path":"a"}`, 1), "/model/gpt-5/converse-stream", "c1", "one"},
		Ollama:    {strings.Replace(ollama, `"m"`, `"gpt-5"`, 1), "/api/chat", "call-1", "one"},
	} {
		r := &Request{Wire: w, Path: tt.path, Body: []byte(tt.body)}
		if m, err := decodeObject(r.Body); err == nil {
			r.JSON = m
		}
		if r.System() != "Be good." || r.Model() != "gpt-5" {
			t.Errorf("%s: system %q, model %q", w, r.System(), r.Model())
		}
		if tools := r.Tools(); len(tools) == 0 || tools[0].Name != "read" || tools[0].Description != "Reads." || !json.Valid(tools[0].Schema) {
			t.Errorf("%s: tools %v", w, r.Tools())
		}
		msgs := r.Messages()
		if text, _, ok := r.ToolResult(tt.call); !ok || text != tt.result {
			t.Fatalf("%s: result %q %v in %v", w, text, ok, msgs)
		}
		var kinds []string
		for _, b := range append(append(oh.Blocks{}, msgs[0].Content...), msgs[1].Content...) {
			kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", b), "oh."))
		}
		if got := strings.Join(kinds, " "); !strings.Contains(got, "Image") || !strings.Contains(got, "Thinking") || !strings.Contains(got, "ToolUse") {
			t.Errorf("%s: blocks %s", w, got)
		}
		use := msgs[1].Content.ToolUses()[0]
		if use.ID != tt.call || use.Name != "read" || !strings.Contains(string(use.Input), `"path":"a"`) {
			t.Errorf("%s: call %+v", w, use)
		}
		if w != Gemini && w != Responses && w != Bedrock {
			continue
		}
		broken := &Request{Wire: w, Body: []byte(`{`)}
		if broken.System() != "" || broken.Messages() != nil || broken.Tools() != nil {
			t.Errorf("%s: a broken body has content", w)
		}
	}
	if _, isError, _ := (&Request{Wire: Gemini, Body: []byte(legalGemini(t))}).ToolResult("c2"); !isError {
		t.Error("an error of Gemini is none")
	}
}

func TestServerConcurrentOnAllWires(t *testing.T) {
	s := StartServer(t, Config{Rule: func(r *Request) (Turn, bool) {
		return Reply(Thinking("t"+r.LastUserText()), Text("re "+r.LastUserText())), true
	}})
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			w := Wires()[i%len(Wires())]
			_, b, err := do(t, newRequest(t.Context(), t, s, w, body(w, saying(w, fmt.Sprintf("n%d", i)))))
			if err != nil || !strings.Contains(b, fmt.Sprintf("re n%d", i)) {
				t.Errorf("%d: %v %s", i, err, b)
			}
		})
	}
	wg.Wait()
}
