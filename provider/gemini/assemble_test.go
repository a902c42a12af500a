package gemini

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
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/wire"
)

// play feeds chunks to an assembler as a stream would.
func play(a *assembler, chunks ...string) (oh.Message, error) {
	for _, c := range chunks {
		if err := a.Feed(nil, []byte(c)); err != nil {
			return oh.Message{}, err
		}
	}
	a.End()
	return a.Message(), nil
}

// parts is a chunk with parts, separated by commas.
func chunkOf(parts string) string { return `{"candidates":[{"content":{"parts":[` + parts + `]}}]}` }

const stopped = `{"candidates":[{"finishReason":"STOP"}]}`

func seal(data string) *oh.Opaque { return &oh.Opaque{Origin: "p/m", Data: json.RawMessage(data)} }

func TestParts(t *testing.T) {
	plain := func(s string) *oh.Opaque { return seal(`{"thoughtSignature":"` + s + `","plain":true}`) }
	signed := func(s string) *oh.Opaque { return seal(`{"thoughtSignature":"` + s + `"}`) }
	for name, tt := range map[string]struct {
		chunks []string
		want   oh.Blocks
	}{
		"text in pieces":        {[]string{chunkOf(`{"text":"a"}`), chunkOf(`{"text":"b"},{"text":"c"}`)}, oh.Blocks{oh.Text{Text: "abc"}}},
		"thought and text":      {[]string{chunkOf(`{"text":"a","thought":true},{"text":"b"},{"text":"c","thought":true}`)}, oh.Blocks{oh.Thinking{Text: "a", Opaque: seal("{}")}, oh.Text{Text: "b"}, oh.Thinking{Text: "c", Opaque: seal("{}")}}},
		"signature first":       {[]string{chunkOf(`{"text":"a","thoughtSignature":"s"}`), chunkOf(`{"text":"b"}`)}, oh.Blocks{oh.Text{Text: "ab", Opaque: signed("s")}}},
		"signature last":        {[]string{chunkOf(`{"text":"a"}`), chunkOf(`{"text":"b","thoughtSignature":"s"}`)}, oh.Blocks{oh.Text{Text: "ab", Opaque: signed("s")}}},
		"signature alone":       {[]string{chunkOf(`{"text":"a"}`), chunkOf(`{"thoughtSignature":"s"}`)}, oh.Blocks{oh.Text{Text: "a", Opaque: signed("s")}}},
		"one in each":           {[]string{chunkOf(`{"text":"a","thoughtSignature":"s"}`), chunkOf(`{"text":"b","thoughtSignature":"s"}`)}, oh.Blocks{oh.Text{Text: "ab", Opaque: signed("s")}}},
		"two signatures":        {[]string{chunkOf(`{"text":"a","thoughtSignature":"s"}`), chunkOf(`{"text":"b","thoughtSignature":"t"}`)}, oh.Blocks{oh.Text{Text: "a", Opaque: signed("s")}, oh.Text{Text: "b", Opaque: signed("t")}}},
		"of a thought":          {[]string{chunkOf(`{"text":"a","thought":true}`), chunkOf(`{"text":"","thoughtSignature":"s"}`)}, oh.Blocks{oh.Thinking{Text: "a", Opaque: signed("s")}}},
		"two of a thought":      {[]string{chunkOf(`{"text":"a","thought":true,"thoughtSignature":"s"}`), chunkOf(`{"thoughtSignature":"t"}`)}, oh.Blocks{oh.Thinking{Text: "a", Opaque: signed("s")}, oh.Thinking{Opaque: plain("t")}}},
		"alone, then a thought": {[]string{chunkOf(`{"text":"","thoughtSignature":"s"}`), chunkOf(`{"text":"a","thought":true}`)}, oh.Blocks{oh.Thinking{Opaque: plain("s")}, oh.Thinking{Text: "a", Opaque: seal("{}")}}},
		"nothing else":          {[]string{chunkOf(`{"text":"","thoughtSignature":"s"}`)}, oh.Blocks{oh.Thinking{Opaque: plain("s")}}},
		"an empty thought":      {[]string{chunkOf(`{"text":"","thought":true,"thoughtSignature":"s"}`)}, oh.Blocks{oh.Thinking{Opaque: signed("s")}}},
		"nothing":               {[]string{chunkOf(`{"text":""},{},{"thought":true},null`), `{"candidates":[{"content":{}}]}`, `{"candidates":[]}`, `{}`, `null`, ` `}, oh.Blocks{}},
		"halves":                {[]string{chunkOf(`{"text":"a\ud83d"}`), chunkOf(`{"text":"\ude00b"}`), chunkOf(`{"text":"c\ud83d","thought":true}`), chunkOf(`{"text":"d"}`)}, oh.Blocks{oh.Text{Text: "a😀b"}, oh.Thinking{Text: "c\ufffd", Opaque: seal("{}")}, oh.Text{Text: "d"}}},
		"text and call":         {[]string{chunkOf(`{"text":"a","functionCall":{"name":"f"},"thoughtSignature":"s"}`)}, oh.Blocks{oh.Text{Text: "a"}, oh.ToolUse{ID: "call_1", Name: "f", Input: json.RawMessage("{}"), Opaque: signed("s")}}},
		"an index counts":       {[]string{`{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]}}]}`, `{"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]}}]}`}, oh.Blocks{oh.Text{Text: "ab"}}},
		"candidates":            {[]string{`{"candidates":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`, `{"candidates":[{"index":1,"content":{"parts":[{"text":"c"}]}},{"index":0,"content":{"parts":[{"text":"d"}]}}]}`}, oh.Blocks{oh.Text{Text: "ad"}}},
		"a list":                {[]string{`[` + chunkOf(`{"text":"a"}`) + `,` + chunkOf(`{"text":"b"}`) + `]`}, oh.Blocks{oh.Text{Text: "ab"}}},
	} {
		m, err := play(newAssembler("p/m", "m"), append(tt.chunks, stopped)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(tt.want, m.Content); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

type gotCall struct{ ID, Name, Input, Told, Malformed string }

func TestCalls(t *testing.T) {
	call := func(s string) string { return chunkOf(`{"functionCall":{` + s + `}}`) }
	for name, tt := range map[string]struct {
		chunks []string
		want   []gotCall
	}{
		"whole":               {[]string{call(`"id":"a","name":"f","args":{"x": 1}`)}, []gotCall{{"a", "f", `{"x":1}`, "a", ""}}},
		"no ids":              {[]string{call(`"name":"f"`), call(`"name":"f"`)}, []gotCall{{"call_1", "f", `{}`, "", ""}, {"call_2", "f", `{}`, "", ""}}},
		"one id twice":        {[]string{call(`"id":"a","name":"f","args":{"x":1}`), call(`"id":"a","name":"f","args":{"x":2}`)}, []gotCall{{"a", "f", `{"x":1}`, "a", ""}, {"call_2", "f", `{"x":2}`, "", ""}}},
		"told again":          {[]string{call(`"id":"a","name":"f","args":{"x":1}`), call(`"id":"a","name":"f","args":{"x":1}`)}, []gotCall{{"a", "f", `{"x":1}`, "a", ""}}},
		"an id of ours":       {[]string{call(`"id":"call_2","name":"f"`), call(`"name":"g"`)}, []gotCall{{"call_2", "f", `{}`, "call_2", ""}, {"call_3", "g", `{}`, "", ""}}},
		"arguments as string": {[]string{call(`"name":"f","args":"{\"x\":1}"`)}, []gotCall{{"call_1", "f", `{"x":1}`, "", ""}}},
		"no arguments":        {[]string{call(`"name":"f","args":null`), call(`"name":"f","args":""`)}, []gotCall{{"call_1", "f", `{}`, "", ""}, {"call_2", "f", `{}`, "", ""}}},
		"no object":           {[]string{call(`"name":"f","args":[1]`)}, []gotCall{{"call_1", "f", `{"malformed":"[1]"}`, "", `the arguments are no JSON object (it is another kind of value): [1]`}}},
		"no name":             {[]string{call(`"id":"a","args":{"x":1}`)}, []gotCall{{"a", "", `{"x":1}`, "a", `the call names no tool: {"x":1}`}}},
		"ghosts":              {[]string{call(``), call(`"id":"a"`), call(`"name":"","args":{}`)}, nil},
		"half a character":    {[]string{call(`"name":"f","args":{"x":"\ud83d"}`)}, []gotCall{{"call_1", "f", `{"x":"\ufffd"}`, "", ""}}},
		"in pieces": {[]string{call(`"id":"a","name":"f","willContinue":true`), call(`"partialArgs":[{"jsonPath":"$.x","stringValue":"1"}],"willContinue":true`), call(``)},
			[]gotCall{{"a", "f", `{"x":"1"}`, "a", ""}}},
		"pieces under its name": {[]string{call(`"name":"f","partialArgs":[{"jsonPath":"$.x","numberValue":1}],"willContinue":true`), call(`"name":"f","partialArgs":[{"jsonPath":"$.y","boolValue":true}]`)},
			[]gotCall{{"call_1", "f", `{"x":1,"y":true}`, "", ""}}},
		"pieces, then the whole": {[]string{call(`"name":"f","willContinue":true`), call(`"args":{"x":1}`)}, []gotCall{{"call_1", "f", `{"x":1}`, "", ""}}},
		"pieces without end":     {[]string{call(`"name":"f","willContinue":true`)}, []gotCall{{"call_1", "f", `{"malformed":"{"}`, "", `the arguments are no JSON object (unexpected end of JSON input): {`}}},
	} {
		m, err := play(newAssembler("p/m", "m"), append(tt.chunks, stopped)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []gotCall
		for _, u := range m.Content.ToolUses() {
			var o opaque
			o.open(u.Opaque, "p/m")
			got = append(got, gotCall{u.ID, u.Name, string(u.Input), o.ID, u.Malformed})
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
		want := oh.StopToolUse
		if tt.want == nil {
			want = oh.StopEnd
		}
		if m.Stop != want {
			t.Errorf("%s: stop %q", name, m.Stop)
		}
	}
}

func TestStop(t *testing.T) {
	for reason, want := range map[string]oh.StopReason{
		"STOP": oh.StopEnd, "MAX_TOKENS": oh.StopMaxTokens, "SAFETY": oh.StopRefusal, "RECITATION": oh.StopRefusal, "LANGUAGE": oh.StopRefusal,
		"BLOCKLIST": oh.StopRefusal, "PROHIBITED_CONTENT": oh.StopRefusal, "SPII": oh.StopRefusal, "IMAGE_SAFETY": oh.StopRefusal,
		"ESCALATION": oh.StopRefusal, "PUP_LIMITED_DISABLED": oh.StopRefusal, "CONTINUATION": oh.StopMaxTokens,
		"OTHER": "OTHER", "NO_IMAGE": "NO_IMAGE", "NEW_REASON": "NEW_REASON",
	} {
		m, err := play(newAssembler("p/m", "m"), `{"candidates":[{"finishReason":"`+reason+`"}]}`)
		if err != nil || m.Stop != want {
			t.Errorf("%s: %q, %v", reason, m.Stop, err)
		}
	}
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"} {
		a := newAssembler("p/m", "m")
		_, err := play(a, `{"candidates":[{"finishReason":"`+reason+`","finishMessage":"the words"}]}`)
		told, ok := errors.AsType[*wire.Told](err)
		if !ok || !strings.Contains(string(told.Raw), reason) || !strings.Contains(string(told.Raw), "the words") {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// The state is what tells a cut stream from a reply.
func TestState(t *testing.T) {
	for _, tt := range []struct {
		chunks []string
		want   wire.State
	}{
		{nil, wire.Open},
		{[]string{chunkOf(`{"text":"a"}`)}, wire.Open},
		{[]string{`{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`}, wire.Open},
		{[]string{`{"promptFeedback":{"blockReason":"BLOCK_REASON_UNSPECIFIED"}}`}, wire.Open},
		{[]string{`{"promptFeedback":{"blockReason":"BLOCKED_REASON_UNSPECIFIED"}}`}, wire.Open},
		{[]string{`{"promptFeedback":{"safetyRatings":[]},"usageMetadata":{}}`}, wire.Open},
		{[]string{`{"promptFeedback":{"blockReason":"SAFETY"}}`}, wire.Complete},
		{[]string{stopped}, wire.Complete},
		{[]string{stopped, `[DONE]`}, wire.Over},
		{[]string{chunkOf(`{"text":"a"}`), ` [DONE] `}, wire.Broken},
	} {
		a := newAssembler("p/m", "m")
		if _, err := play(a, tt.chunks...); err != nil || a.State() != tt.want {
			t.Errorf("%q: %v, %v", tt.chunks, a.State(), err)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		reports []string
		want    oh.Usage
	}{
		{[]string{`{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}`}, oh.Usage{InputTokens: 10, OutputTokens: 5}},
		{[]string{`{"promptTokenCount":10,"cachedContentTokenCount":8,"toolUsePromptTokenCount":3,"candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":25}`},
			oh.Usage{InputTokens: 5, CacheReadTokens: 8, OutputTokens: 12, ReasoningTokens: 7}},
		{[]string{`{"promptTokenCount":10,"thoughtsTokenCount":4}`, `{"promptTokenCount":10,"candidatesTokenCount":2,"thoughtsTokenCount":7}`, `{"candidatesTokenCount":5}`}, oh.Usage{InputTokens: 10, OutputTokens: 12, ReasoningTokens: 7}},
		{[]string{`{"promptTokenCount":10,"candidatesTokenCount":12,"thoughtsTokenCount":7,"totalTokenCount":22}`}, oh.Usage{InputTokens: 10, OutputTokens: 12, ReasoningTokens: 7}},
		{[]string{`{"promptTokenCount":3,"cachedContentTokenCount":8}`}, oh.Usage{CacheReadTokens: 3}},
		{[]string{`{"promptTokenCount":"10","candidatesTokenCount":5.0,"thoughtsTokenCount":-1,"totalTokenCount":[]}`, `null`, `7`}, oh.Usage{InputTokens: 10, OutputTokens: 5}},
	} {
		a := newAssembler("p/m", "m")
		for _, r := range tt.reports {
			if err := a.Feed(nil, []byte(`{"usageMetadata":`+r+`}`)); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(tt.want, a.Message().Usage); d != "" {
			t.Errorf("%s (-want +got)\n%s", tt.reports, d)
		}
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		`$.a`: `{"a":1}`, `$['a b'][0]`: `{"a b":[1]}`, `$["a\"]."].c`: `{"a\"].":{"c":1}}`, `$.a[0][0].b`: `{"a":[[{"b":1}]]}`,
		``: ``, `a`: ``, `$`: ``, `$[0]`: ``, `$.`: ``, `$.*`: ``, `$..a`: ``, `$.a[1]`: ``, `$.a[-1]`: ``, `$.a[x]`: ``, `$.a[`: ``, `$['a`: ``, `$['a'`: ``, `$.a[0`: ``, `$x`: ``,
		`$` + strings.Repeat(".a", maxDepth+1): ``,
	} {
		var tr tree
		err := tr.add(&partial{Path: "x", Number: json.RawMessage("1")})
		if err == nil {
			t.Fatal("a path that begins nowhere")
		}
		quoted, _ := json.Marshal(path)
		var p partial
		if err := json.Unmarshal([]byte(`{"jsonPath":`+string(quoted)+`,"numberValue":1}`), &p); err != nil {
			t.Fatal(err)
		}
		err = tr.add(&p)
		if (err == nil) != (want != "") || tr.JSON() != want && want != "" {
			t.Errorf("%s: %s, %v", path, tr.JSON(), err)
		}
	}
}

// All that is kept of a reply counts, also after it said why it ended.
func TestBound(t *testing.T) {
	grown := strings.Repeat("x", 1000)
	for _, c := range []string{
		chunkOf(`{"text":"` + grown + `"}`),
		chunkOf(`{"text":"` + grown + `","thought":true}`),
		chunkOf(`{"text":"","thoughtSignature":"` + grown + `"}`),
		chunkOf(`{"functionCall":{"name":"f","args":{"x":"` + grown + `"}}}`),
		chunkOf(`{"functionCall":{"name":"f"},"thoughtSignature":"` + grown + `"}`),
		chunkOf(`{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.x","stringValue":"` + grown + `"}]}}`),
		chunkOf(`{"inlineData":{"data":"` + grown + `"}}`),
	} {
		for room, want := range map[int]error{3000: nil, 1000: wire.ErrTooMuch} {
			a := newAssembler("p/m", "m")
			if err := a.Feed(nil, []byte(stopped)); err != nil {
				t.Fatal(err)
			}
			a.size.Add(wire.MaxReply - room)
			if want != nil {
				a.size.AddBlock()
			}
			if err := a.Feed(nil, []byte(c)); !errors.Is(err, want) {
				t.Errorf("%.60s with room for %d: %v", c, room, err)
			}
		}
	}
}

// Nothing is kept of a reply that is too long, whatever came before.
func TestBoundIsAnError(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: "+stopped+"\n\ndata: "+chunkOf(`{"text":"too much"}`))
	}))
	defer srv.Close()
	c := New(provider.Config{BaseURL: srv.URL}).(*codec)
	s, err := c.open(t.Context(), &oh.Request{Model: "m"})
	a := newAssembler("p/m", "m")
	a.size.Add(wire.MaxReply - 4)
	var last oh.Chunk
	wire.Talk(s, err, a, func(c oh.Chunk, e error) bool {
		last, err = c, e
		return true
	})
	if last != nil || oh.KindOf(err) != oh.KindInvalid || !strings.Contains(err.Error(), "64 MB") {
		t.Errorf("%v, %v", last, err)
	}
}

// Whatever comes, there is a message or an error, and calls hold objects.
func FuzzAssembler(f *testing.F) {
	for _, s := range []string{
		chunkOf(`{"text":"a\ud83d","thought":true},{"functionCall":{"id":"a","name":"f","args":{"x":1}},"thoughtSignature":"s"}`) + "\n" + stopped,
		chunkOf(`{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.a[0]['b']","stringValue":"x","willContinue":true}],"willContinue":true}}`) + "\n" + chunkOf(`{"functionCall":{}}`) + "\n" + stopped,
		`{"candidates":[{"content":null,"finishReason":"MAX_TOKENS","index":"0"}],"usageMetadata":{"promptTokenCount":"1"}}`,
		`[{"candidates":[{"content":{"parts":[{"inlineData":{"data":""}},1]}}]},{"error":{"code":5}}]`,
		`{"promptFeedback":{"blockReason":"SAFETY"}}` + "\n[DONE]", `{"error":[]}`, `[]`, `{`, `7`,
		chunkOf(`{"text":"a"}`) + "\n" + chunkOf(`{"text":"b"}`) + "\n" + `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		a := newAssembler("p/m", "m")
		var err error
		if whole {
			err = a.Whole(data)
		} else {
			for line := range strings.Lines(string(data)) {
				if err = a.Feed(nil, []byte(line)); err != nil {
					break
				}
			}
		}
		a.End()
		a.End()
		a.Take()
		if err != nil {
			return
		}
		if whole && a.State() != wire.Over {
			t.Fatalf("a whole reply in state %v", a.State())
		}
		m := a.Message()
		raw, err := oh.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back oh.Message
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		ids := map[string]bool{}
		for _, u := range m.Content.ToolUses() {
			var object map[string]any
			if json.Unmarshal(u.Input, &object) != nil || object == nil {
				t.Errorf("input %s", u.Input)
			}
			if u.ID == "" || ids[u.ID] || u.Name == "" && u.Malformed == "" {
				t.Errorf("call %+v", u)
			}
			ids[u.ID] = true
		}
	})
}

// FuzzShape checks that the short way means what the long way would.
func FuzzShape(f *testing.F) {
	chunk := func(text string, n int, more string) string {
		return fmt.Sprintf(`{"candidates": [{"content": {"parts": [{"text": "%s"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": %d,"totalTokenCount": 19}%s}`, text, n, more)
	}
	f.Add(chunk("a", 1, `,"modelVersion":"x"`), chunk("b\\n", 20, `,"modelVersion":"x"`), chunk("", 0, ""))
	f.Add(chunk("a", 1, ""), chunk("\\ud83d", 2, ""), chunk("\\ude00", 3, ""))
	f.Add(chunk("a", 1, ""), chunk(`b"}],"x":[{"y":"`, 2, ""), chunk("c", 7, `,"error":{"code":1}`))
	f.Add(chunk("a", 1, ""), strings.Replace(chunk("b", 1, ""), ": 1,", ": 01,", 1), strings.Replace(chunk("c", 1, ""), ": 1,", ": 1.5,", 1))
	f.Add(chunkOf(`{"text":"a","thought":true}`), chunkOf(`{"text":"b","thought":true}`), chunkOf(`{"text":"c","thought":false}`))
	f.Add(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"tokenCount":1}]}`, `{"candidates":[{"content":{"parts":[{"text":"b"}]},"tokenCount":12}]}`, stopped)
	f.Fuzz(func(t *testing.T, first, second, third string) {
		fast, slow := newAssembler("p/m", "m"), newAssembler("p/m", "m")
		slow.shape.learned = maxLearned
		for _, c := range []string{first, second, third} {
			errFast, errSlow := fast.Feed(nil, []byte(c)), slow.Feed(nil, []byte(c))
			if (errFast == nil) != (errSlow == nil) {
				t.Fatalf("%q: fast %v, slow %v", c, errFast, errSlow)
			}
			if d := cmp.Diff(slow.Take(), fast.Take()); d != "" {
				t.Errorf("%q: (-slow +fast)\n%s", c, d)
			}
			if errSlow != nil {
				return
			}
		}
		fast.End()
		slow.End()
		if d := cmp.Diff(slow.Message(), fast.Message()); d != "" || fast.State() != slow.State() {
			t.Errorf("%q, %q, %q: (-slow +fast)\n%s", first, second, third, d)
		}
	})
}

// The short way is taken on streams as the service writes them.
func TestShapeIsLearned(t *testing.T) {
	const chunk = `{"candidates": [{"content": {"parts": [{"text": "one"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 12,"candidatesTokenCount": 1,"totalTokenCount": 13,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 12}]},"modelVersion": "gemini-2.5-flash","responseId": "r1"}`
	a := newAssembler("p/m", "m")
	if _, err := play(a, chunk); err != nil {
		t.Fatal(err)
	}
	next := strings.NewReplacer(`"one"`, `"tw\"o\n"`, `Count": 1,`, `Count": 25,`, `Count": 13`, `Count": 37`).Replace(chunk)
	p, u, ok := a.shape.match([]byte(next))
	want := counts{Prompt: 12, Candidates: 25, Total: 37}
	if !ok || p.Text != "tw\"o\n" || u != want {
		t.Errorf("%v: %+v %+v", ok, p, u)
	}
	for _, other := range []string{
		strings.Replace(next, `"r1"`, `"r2"`, 1), strings.Replace(next, `]},"modelVersion"`, `]},"x":1,"modelVersion"`, 1),
		strings.Replace(next, "25", "2e1", 1), strings.Replace(next, "25", "", 1), strings.Replace(next, "25", "99999999999999999", 1),
		strings.Replace(next, `"role"`, `"finishReason":"STOP","role"`, 1), next[:60], "",
	} {
		if _, _, ok := a.shape.match([]byte(other)); ok {
			t.Errorf("%s matches", other)
		}
	}
}
