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

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/delta"
)

func ollamaVoice() voice {
	return voice{
		wire: "ollama",
		full: ollamaFull(),
		said: ollamaLines(`"content":"hello"`) + ollamaDone("stop"),
		open: ollamaLines(`"content":"hel"`),
	}
}

// ollamaLines are lines with what the message of each holds.
func ollamaLines(messages ...string) string {
	var s strings.Builder
	for i, m := range messages {
		fmt.Fprintf(&s, `{"model":"m","created_at":"2026-01-01T00:00:00.%dZ","message":{"role":"assistant",%s},"done":false}`+"\n", i, m)
	}
	return s.String()
}

func ollamaDone(reason string) string {
	return `{"model":"m","created_at":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":""},"done_reason":"` + reason + `","done":true,"total_duration":9}` + "\n"
}

func ollamaFull() string {
	all := grow(fullThinking, `"content":"","thinking":%`)
	all = append(all, grow(fullText, `"content":%`)...)
	all = append(all, `"content":"","tool_calls":[{"id":"c1","function":{"index":0,"name":"write","arguments":`+fullInput+`}},{"id":"c2","function":{"index":1,"name":"now","arguments":{}}}]`)
	return ollamaLines(all...) + ollamaDone("stop")
}

// ollamaPieces is a reply in pieces, each a raw JSON string. Arguments come
// whole on this wire.
func ollamaPieces(thinking, said []string, calls ...[]string) string {
	var all []string
	for _, s := range thinking {
		all = append(all, `"thinking":`+s)
	}
	for _, s := range said {
		all = append(all, `"content":`+s)
	}
	for i, raws := range calls {
		var seam delta.Seam
		args := ""
		for _, raw := range raws {
			piece, _ := delta.Piece([]byte(raw))
			args += seam.Join(piece)
		}
		if len(raws) > 0 {
			all = append(all, fmt.Sprintf(`"tool_calls":[{"id":"c%d","function":{"name":"f","arguments":%s}}]`, i, args))
		}
	}
	return ollamaLines(all...) + ollamaDone("stop")
}

func ollamaLong() string {
	var all []string
	for i := range deltas {
		all = append(all, fmt.Sprintf(`"content":" word%d\n"`, i))
	}
	return ollamaLines(all...) + ollamaDone("stop")
}

func TestOllamaForms(t *testing.T) {
	v := ollamaVoice()
	for name, form := range map[string]func(string) string{
		"crlf":        func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"blank lines": func(s string) string { return "\n\n" + strings.ReplaceAll(s, "\n", "\n \n") },
		"mark":        func(s string) string { return "\xef\xbb\xbf" + s },
		"no end":      func(s string) string { return strings.TrimRight(s, "\n") },
		"spread":      func(s string) string { return strings.ReplaceAll(s, `,"message":{`, ",\n  \"message\": {\n  ") },
		"events": func(s string) string {
			return "data: " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n\ndata: ") + "\n\n"
		},
	} {
		p := served(v, func(*http.Request) io.Reader { return strings.NewReader(form(v.full)) })
		t.Run(name, func(t *testing.T) { checkFull(t, v, listen(t, p.Stream(t.Context(), hello()))) })
	}
}

func TestOllamaOddities(t *testing.T) {
	call := func(id, name, input string) oh.ToolUse {
		return oh.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}
	}
	for name, tt := range map[string]struct {
		stream string
		want   oh.Message
		kind   oh.Kind
	}{
		"calls without ids": {ollamaLines(`"tool_calls":[{"function":{"name":"a","arguments":{"x":1}}},{"function":{"name":"a","arguments":{"x":1}}}]`) + ollamaDone("stop"),
			oh.Message{Stop: oh.StopToolUse, Content: oh.Blocks{call("call_1", "a", `{"x":1}`), call("call_2", "a", `{"x":1}`)}}, ""},
		"an id that others have": {ollamaLines(`"tool_calls":[{"id":"call_2","function":{"name":"a"}}]`, `"tool_calls":[{"id":"call_2","function":{"name":"b"}}]`) + ollamaDone("stop"),
			oh.Message{Stop: oh.StopToolUse, Content: oh.Blocks{call("call_2", "a", `{}`), call("call_3", "b", `{}`)}}, ""},
		"a call told twice": {ollamaLines(`"tool_calls":[{"id":"x","function":{"name":"a"}}]`, `"tool_calls":[{"id":"x","function":{"name":"a"}}]`) + ollamaDone("stop"),
			oh.Message{Stop: oh.StopToolUse, Content: oh.Blocks{call("x", "a", `{}`)}}, ""},
		"no call": {ollamaLines(`"content":"a","tool_calls":[{"function":{"name":"","arguments":{}}}]`) + ollamaDone("stop"),
			oh.Message{Stop: oh.StopEnd, Content: oh.Blocks{oh.Text{Text: "a"}}}, ""},
		"arguments as text": {ollamaLines(`"tool_calls":[{"function":{"name":"a","arguments":"{\"x\": 1}"}}]`) + ollamaDone("stop"),
			oh.Message{Stop: oh.StopToolUse, Content: oh.Blocks{call("call_1", "a", `{"x":1}`)}}, ""},
		"types that vary": {`{"model":null,"message":{"content":null,"thinking":7,"tool_calls":null},"done":"no"}` + "\n" + `{"message":{"content":"a"},"done":true,"done_reason":null,"prompt_eval_count":"12","eval_count":3.0}`,
			oh.Message{Stop: oh.StopEnd, Content: oh.Blocks{oh.Text{Text: "a"}}, Usage: oh.Usage{InputTokens: 12, OutputTokens: 3}}, ""},
		"usage at the end": {ollamaLines(`"content":"a"`) + `{"done":true,"done_reason":"stop","prompt_eval_count":120,"eval_count":30}`,
			oh.Message{Stop: oh.StopEnd, Content: oh.Blocks{oh.Text{Text: "a"}}, Usage: oh.Usage{InputTokens: 120, OutputTokens: 30}}, ""},
		"only loaded":     {ollamaDone("load"), oh.Message{Stop: oh.StopEnd, Content: oh.Blocks{}}, ""},
		"another reason":  {ollamaDone("tired"), oh.Message{Stop: "tired", Content: oh.Blocks{}}, ""},
		"an error alone":  {`{"error":"model \"m\" not found, try pulling it first"}`, oh.Message{}, oh.KindInvalid},
		"no tools":        {`{"error":"registry.ollama.ai/library/m does not support tools"}`, oh.Message{}, oh.KindInvalid},
		"garbage":         {ollamaLines(`"content":"a"`) + "oops\n" + ollamaDone("stop"), oh.Message{}, oh.KindUnavailable},
		"not ours":        {`{"choices":[]}` + "\n", oh.Message{}, oh.KindUnavailable},
		"a page":          {"<html><title>Proxy</title>", oh.Message{}, oh.KindInvalid},
		"done is no word": {`{"message":{"content":"a"},"done":"true"}`, oh.Message{}, oh.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			p := served(ollamaVoice(), func(*http.Request) io.Reader { return strings.NewReader(tt.stream) })
			got := listen(t, p.Stream(t.Context(), hello()))
			if oh.KindOf(got.err) != tt.kind {
				t.Fatalf("%v", got.err)
			}
			if tt.kind != "" {
				return
			}
			tt.want.Role, tt.want.Model = oh.Assistant, "m"
			if d := cmp.Diff(&tt.want, got.message); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOllamaAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                          "http://127.0.0.1:11434/api/chat",
		"http://h":                  "http://h/api/chat",
		"http://h/v1/":              "http://h/api/chat",
		"http://h/api":              "http://h/api/chat",
		"http://h/api/chat":         "http://h/api/chat",
		"https://gate/ollama?key=1": "https://gate/ollama/api/chat?key=1",
	} {
		got := ""
		p := wires["ollama"](provider.Config{BaseURL: base, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return nil, errors.New("enough")
		})}})
		listen(t, p.Stream(t.Context(), hello()))
		if got != want {
			t.Errorf("%q: asked %q, want %q", base, got, want)
		}
	}
}

// A conversation with calls and thinking, begun by another model, against the
// server that holds every request to the rules of the service.
func TestOllamaConversation(t *testing.T) {
	srv, err := ohtest.Start(ohtest.Config{Turns: []ohtest.Turn{
		ohtest.Reply(ohtest.Thinking("Look."), ohtest.Text("Let me see."), ohtest.Call("f1", "read", `{"path":"a"}`), ohtest.Call("f2", "read", `{"path":"b"}`)),
		ohtest.Reply(ohtest.Thinking("So."), ohtest.Text("Bye."), ohtest.Usage{InputTokens: 90, OutputTokens: 7}),
	}, OnViolation: func(v ohtest.Violation) { t.Errorf("%v", v) }})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	traits := provider.Traits{Window: 8192, Thinking: provider.ThinkEffort, Schema: provider.FlatSchema}
	p := wires["ollama"](provider.Config{Profile: "p", BaseURL: srv.URL, Traits: func(string) provider.Traits { return traits }})
	req := hello()
	req.System, req.Effort, req.Memo = "s", "high", &oh.Memo{}
	req.Tools = []oh.ToolSpec{{Name: "read", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	req.Messages = append(req.Messages,
		oh.Message{ID: "a0", Role: oh.Assistant, Content: oh.Blocks{oh.Thinking{Text: "foreign"}, oh.ToolUse{ID: "toolu_1", Name: "now", Input: json.RawMessage("{}")}}},
		oh.Message{ID: "u0", Role: oh.User, Content: oh.Blocks{oh.ToolResult{ToolUseID: "toolu_1", IsError: true, Content: oh.Blocks{oh.Text{Text: "no clock"}}}}})
	got := listen(t, p.Stream(t.Context(), req))
	if got.err != nil {
		t.Fatal(got.err)
	}
	got.message.ID = "a1"
	user := oh.Message{ID: "u2", Role: oh.User}
	for _, u := range got.message.Content.ToolUses() {
		user.Content = append(user.Content, oh.ToolResult{ToolUseID: u.ID, Content: oh.Blocks{oh.Text{Text: "result"}}})
	}
	req.Messages = append(req.Messages, *got.message, user)
	got = listen(t, p.Stream(t.Context(), req))
	if got.err != nil || got.message.Content.Text() != "Bye." || got.message.Usage.InputTokens != 90 || got.message.Usage.OutputTokens != 7 {
		t.Errorf("%+v, %v", got.message, got.err)
	}
}

func TestOllamaFailures(t *testing.T) {
	for _, kind := range []oh.Kind{oh.KindAuth, oh.KindLimited, oh.KindOverloaded, oh.KindTooLong, oh.KindInvalid, oh.KindUnavailable} {
		srv, err := ohtest.Start(ohtest.Config{Turns: []ohtest.Turn{ohtest.Fail(&oh.Error{Kind: kind})}})
		if err != nil {
			t.Fatal(err)
		}
		got := listen(t, wires["ollama"](provider.Config{BaseURL: srv.URL}).Stream(t.Context(), hello()))
		if oh.KindOf(got.err) != kind {
			t.Errorf("%s: %v", kind, got.err)
		}
		srv.Close()
	}
}

func TestOllamaRefusesRedirects(t *testing.T) {
	var asked bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	if got := listen(t, wires["ollama"](provider.Config{BaseURL: srv.URL}).Stream(t.Context(), hello())); got.err == nil || asked {
		t.Errorf("%v, asked %v", got.err, asked)
	}
}
