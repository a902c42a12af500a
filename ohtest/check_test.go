package ohtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// picture returns a PNG in base64.
func picture(t testing.TB, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

const tinyGIF = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="

// legalAnthropic is a body with everything in it.
func legalAnthropic(t testing.TB) string {
	return `{"model":"m","max_tokens":4096,"stream":true,"thinking":{"type":"enabled","budget_tokens":2048},` +
		`"system":[{"type":"text","text":"Be good.","cache_control":{"type":"ephemeral"}}],` +
		`"tools":[{"name":"read","description":"Reads.","input_schema":{"type":"object","properties":{"path":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["path"]},"cache_control":{"type":"ephemeral","ttl":"1h"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"Look 😀 \ud83d\ude00"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture(t, 2, 2) + `"}}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"sig"},{"type":"redacted_thinking","data":"red"},{"type":"text","text":"Yes."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"read","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"two","is_error":true},{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"one"}],"cache_control":{"type":"ephemeral"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}},{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}]}`
}

func legalOpenAI(t testing.TB) string {
	return `{"model":"m","max_tokens":100,"stream":true,"stream_options":{"include_usage":true},` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],` +
		`"messages":[{"role":"system","content":"Be good."},{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture(t, 2, 2) + `"}}]},` +
		`{"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"two"}]},` +
		`{"role":"assistant","content":"Done."},{"role":"user","content":"More."}]}`
}

// sentBoth is the memory of a server that sent the reasoning of both bodies.
func sentBoth() *issued {
	i := &issued{}
	i.learn(Anthropic, []byte(`data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`+"\n\n"+
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`+"\n\n"+
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}`+"\n\n"+
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"red"}}`+"\n\n"))
	i.learn(OpenAI, []byte(`data: {"choices":[{"delta":{"reasoning_content":"H"}}]}`+"\r\n\r\n"+
		`data: {"choices":[{"delta":{"reasoning_content":"m.","tool_calls":[{"id":"c1"}]}}]}`+"\r\n\r\n"+
		`data: {"choices":[{"delta":{"reasoning_details":[{"text":"Hm."}]}}]}`+"\n\n"))
	i.learn(Anthropic, []byte(`data: {"index":0,"content_block":{"type":"redacted_thinking","data":"a-secret-of-anthropic"}}`+"\n\n"))
	i.learn(Responses, []byte(`data: {"type":"response.output_item.done","item":`+thoughtItem+"}\n\n"+
		`data: {"type":"response.output_item.done","item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{}"}}`+"\n\n"))
	i.learn(Gemini, []byte(`data: {"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]}}]}`+"\r\n\r\n"+
		`data: {"candidates":[{"content":{"parts":[{"text":".","thought":true}]}}]}`+"\r\n\r\n"+
		`data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"c1","name":"read","args":{"n":1.50,"path":"a"}},"thoughtSignature":"c2ln"}]}}]}`+"\r\n\r\n"+
		`data: {"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"ZW5k"}]},"finishReason":"STOP"}]}`+"\r\n\r\n"))
	i.learn(Bedrock, bytes.Join([][]byte{
		bedrockEvent("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm."}}}`),
		bedrockEvent("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"sig"}}}`),
		bedrockEvent("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"cmVk"}}}`)}, nil))
	i.learn(Ollama, []byte(`{"message":{"thinking":"Hm"}}`+"\n"+`{"message":{"thinking":"."}}`+"\n"))
	return i
}

// fault is one edit of a legal body and the rule it breaks; an edit that
// breaks none has the rule "".
type fault struct{ rule, old, new string }

func testFaults(t *testing.T, w Wire, legal string, rules Rules, faults []fault) {
	t.Helper()
	for _, f := range faults {
		if !strings.Contains(legal, f.old) {
			t.Errorf("%s: the legal body has no %q", f.rule, f.old)
			continue
		}
		body := strings.Replace(legal, f.old, f.new, 1)
		found := check(w, "", []byte(body), rules, sentBoth())
		if f.rule == "" {
			if len(found) > 0 {
				t.Errorf("%q for %q: %s", f.new, f.old, describe(found))
			}
			continue
		}
		if !slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == f.rule }) {
			t.Errorf("%q for %q: rule %s not reported, but %v", f.new, f.old, f.rule, found)
		}
		if !strings.Contains(describe(found), f.rule) && len(found) < 4 {
			t.Errorf("%s: the text does not name the rule: %s", f.rule, describe(found))
		}
	}
}

func TestAnthropicRules(t *testing.T) {
	legal := legalAnthropic(t)
	tool := legal[strings.Index(legal, `{"name":"read"`):strings.Index(legal, `],"messages"`)]
	result1 := `{"type":"tool_result","tool_use_id":"c2","content":"two","is_error":true},`
	img := `"media_type":"image/png","data":"` + picture(t, 2, 2) + `"`
	testFaults(t, Anthropic, legal, Rules{}, []fault{
		{"", `"m"`, `"m"`},
		{"", `"Be good."`, `"Gut."`},
		{"", img, `"media_type":"image/gif","data":"` + tinyGIF + `"`},
		{"", `{"type":"enabled","budget_tokens":2048}`, `{"type":"adaptive"}`},
		{"", `"stream":true`, `"stream":true,"temperature":1,"metadata":{"user_id":"u"}`},
		{"json", `"max_tokens":4096,`, `"max_tokens":4096`},
		{"json", legal, `[]`},
		{"json", legal, legal + `{}`},
		{"utf8", "Be good", "Be \xff"},
		{"surrogate", `\ud83d\ude00`, `\ud83d`},
		{"surrogate", `\ud83d\ude00`, `\ude00`},
		{"surrogate", `\ud83d\ude00`, `\ud83d\ud83d`},
		{"duplicate-key", `"model":"m"`, `"model":"m","model":"m"`},
		{"duplicate-key", `{"path":"a"}`, `{"path":"a","p\u0061th":"b"}`},
		{"unknown-field", `"stream":true`, `"stream":true,"colour":1`},
		{"unknown-field", `"role":"user"`, `"role":"user","id":"x"`},
		{"unknown-field", `"id":"c1"`, `"id":"c1","malformed":"x"`},
		{"unknown-field", `"is_error":true`, `"is_error":true,"meta":{}`},
		{"unknown-field", `"description":"Reads."`, `"description":"Reads.","x":1`},
		{"model", `"model":"m"`, `"model":""`},
		{"field-type", `"model":"m",`, ``},
		{"field-type", `"model":"m"`, `"model":7`},
		{"max-tokens", `"max_tokens":4096`, `"max_tokens":0`},
		{"max-tokens", `"max_tokens":4096`, `"max_tokens":1.5`},
		{"max-tokens", `"max_tokens":4096,`, ``},
		{"stream", `"stream":true,`, ``},
		{"thinking-budget", `"budget_tokens":2048`, `"budget_tokens":4096`},
		{"thinking-budget", `"budget_tokens":2048`, `"budget_tokens":1000`},
		{"thinking-type", `"type":"enabled"`, `"type":"on"`},
		{"cache-marks", `"is_error":true`, `"is_error":true,"cache_control":{"type":"ephemeral"}`},
		{"cache-type", `"ttl":"1h"`, `"ttl":"2h"`},
		{"cache-type", `{"type":"ephemeral"}`, `{"type":"permanent"}`},
		{"block-type", `{"type":"text","text":"Be good."`, `{"type":"image","text":"Be good."`},
		{"field-type", `"system":[`, `"system":7,"metadata":[`},
		{"messages-empty", legal[strings.Index(legal, `"messages"`):], `"messages":[]}`},
		{"role", `"role":"assistant"`, `"role":"system"`},
		{"role-order", `"role":"user"`, `"role":"assistant"`},
		{"role-order", `{"role":"assistant"`, `{"role":"user","content":"x"},{"role":"assistant"`},
		{"role-last", `"text":"Go on.","cache_control":{"type":"ephemeral"}}]}`, `"text":"Go on."}]},{"role":"assistant","content":"I "}`},
		{"content-empty", `"content":"two"`, `"content":[]`},
		{"content-empty", `"content":"two",`, ``},
		{"content-empty", `{"role":"assistant"`, `{"role":"assistant","content":[]},{"role":"user","content":"x"},{"role":"assistant"`},
		{"block-type", `{"type":"text","text":"Yes."}`, `{"type":"image","source":{"type":"url","url":"https://a/b"}}`},
		{"block-type", `{"type":"text","text":"Yes."}`, `{"type":"song"}`},
		{"block-type", `{"type":"text","text":"Go on."`, `{"type":"thinking","thinking":"x","signature":"sig"`},
		{"block-type", `{"type":"text","text":"one"}`, `{"type":"tool_use","id":"x","name":"y","input":{}}`},
		{"blank-text", `"Yes."`, `""`},
		{"blank-text", `"Yes."`, `" \n\t"`},
		{"blank-text", `"Be good."`, `" "`},
		{"blank-text", `"content":"two"`, `"content":""`},
		{"blank-text", `"text":"one"`, `"text":""`},
		{"call-id", `"id":"c1"`, `"id":"c.1"`},
		{"call-id", `"id":"c1"`, `"id":""`},
		{"call-duplicate", `"id":"c2"`, `"id":"c1"`},
		{"call-input", `"input":{}`, `"input":"{}"`},
		{"call-input", `"input":{}`, `"input":null`},
		{"call-unanswered", result1, ``},
		{"call-unanswered", `{"role":"user","content":[{"type":"tool_result"`, `{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":[{"type":"tool_result"`},
		{"result-orphan", `"tool_use_id":"c1"`, `"tool_use_id":"c3"`},
		{"result-duplicate", result1, result1 + result1},
		{"result-order", result1, `{"type":"text","text":"first"},` + result1},
		{"signature", `"signature":"sig"`, `"signature":"forged"`},
		{"signature", `"signature":"sig"`, `"signature":""`},
		{"signature", `"thinking":"Hm."`, `"thinking":"Ha."`},
		{"signature", `"data":"red"`, `"data":"blue"`},
		{"thinking-last", `{"type":"tool_use","id":"c2","name":"read","input":{}}]`, `{"type":"tool_use","id":"c2","name":"read","input":{}},{"type":"redacted_thinking","data":"red"}]`},
		{"image-type", `"media_type":"image/png"`, `"media_type":"image/tiff"`},
		{"image-type", `"media_type":"image/png"`, `"media_type":"image/jpeg"`},
		{"image-data", img, `"media_type":"image/png","data":"AAAA"`},
		{"image-data", img, `"media_type":"image/png","data":"A"`},
		{"image-data", `"type":"base64","media_type":"image/png"`, `"type":"path","media_type":"image/png"`},
		{"image-size", img, `"media_type":"image/png","data":"` + picture(t, 8001, 1) + `"`},
		{"document", `"application/pdf"`, `"application/zip"`},
		{"document", `"JVBERg=="`, `""`},
		{"tool-name", `"name":"read","description"`, `"name":"a.b/c","description"`},
		{"tool-name", `"name":"read","description"`, `"name":"` + strings.Repeat("a", 65) + `","description"`},
		{"tool-name", `"name":"read","input"`, `"name":"","input"`},
		{"tool-duplicate", tool, tool + "," + tool},
		{"schema", `"input_schema"`, `"strict"`},
		{"schema", `{"type":"object","properties":{"path"`, `{"type":"string","properties":{"path"`},
	})
	if found := Check(Anthropic, []byte(strings.Replace(legal, `"signature":"sig"`, `"signature":"other"`, 1)), Rules{}); len(found) > 0 {
		t.Errorf("without memory a foreign signature is wrong: %s", describe(found))
	}
	testFaults(t, Anthropic, legal, Rules{MergeRoles: true, Fields: []string{"colour"}}, []fault{
		{"", `{"role":"assistant"`, `{"role":"user","content":"x"},{"role":"assistant"`},
		{"", `"stream":true`, `"stream":true,"colour":1`},
	})
	// Neighbouring user messages do not relax the pairing of calls.
	testFaults(t, Anthropic, legal, Rules{MergeRoles: true}, []fault{
		{"call-unanswered", `{"role":"user","content":[{"type":"tool_result"`, `{"role":"user","content":"x"},{"role":"user","content":[{"type":"tool_result"`},
	})
}

func TestOpenAIRules(t *testing.T) {
	legal := legalOpenAI(t)
	tool := legal[strings.Index(legal, `{"type":"function"`):strings.Index(legal, `],"messages"`)]
	result1 := `{"role":"tool","tool_call_id":"c1","content":"one"},`
	calls := legal[strings.Index(legal, `,"tool_calls"`):strings.Index(legal, `},{"role":"tool"`)]
	testFaults(t, OpenAI, legal, Rules{}, []fault{
		{"", `"m"`, `"m"`},
		{"", `"max_tokens"`, `"max_completion_tokens"`},
		{"", `{"role":"assistant","content":"Done."},`, ``},
		{"", `"reasoning_content":"Hm.",`, ``},
		{"", `"reasoning_content":"Hm.",`, `"reasoning_details":[{"any":1}],`},
		{"", `"content":null,`, ``},
		{"json", `"model"`, `model`},
		{"utf8", "Be good", "Be \xff"},
		{"surrogate", `"one"`, `"\ud83d"`},
		{"duplicate-key", `"content":"one"`, `"content":"one","content":"one"`},
		{"unknown-field", `"stream":true`, `"stream":true,"top_k":1`},
		{"unknown-field", `"content":"one"`, `"content":"one","is_error":true`},
		{"unknown-field", `"id":"c1"`, `"id":"c1","index":0`},
		{"unknown-field", `"content":"Done."`, `"content":"Done.","usage":{}`},
		{"model", `"model":"m"`, `"model":""`},
		{"max-tokens", `"max_tokens":100`, `"max_tokens":100,"max_completion_tokens":100`},
		{"max-tokens", `"max_tokens":100`, `"max_tokens":-1`},
		{"stream", `"stream":true`, `"stream":false`},
		{"messages-empty", legal[strings.Index(legal, `"messages"`):], `"messages":[]}`},
		{"role", `"role":"system"`, `"role":"boss"`},
		{"role-order", `{"role":"assistant","content":"Done."}`, `{"role":"system","content":"x"}`},
		{"role-order", `{"role":"assistant","content":"Done."}`, `{"role":"assistant","content":"Done."},{"role":"assistant","content":"Twice."}`},
		{"role-order", `{"role":"user","content":[`, `{"role":"assistant","content":"x"},{"role":"user","content":[`},
		{"role-last", `,{"role":"user","content":"More."}`, ``},
		{"content-empty", `"content":"Done."`, `"content":null`},
		{"content-empty", calls, ``},
		{"content-empty", `[{"type":"text","text":"two"}]`, `[]`},
		{"block-type", `{"type":"text","text":"two"}`, `{"type":"image_url","image_url":{"url":"https://a/b"}}`},
		{"block-type", `{"type":"text","text":"two"}`, `{"type":"song"}`},
		{"blank-text", `"content":"one"`, `"content":""`},
		{"blank-text", `"content":null`, `"content":""`},
		{"blank-text", `"content":"More."`, `"content":"\n"`},
		{"blank-text", `"text":"two"`, `"text":""`},
		{"call-id", `"id":"c1"`, `"id":""`},
		{"call-id", `"id":"c1"`, `"id":"a b"`},
		{"call-duplicate", `"id":"c2"`, `"id":"c1"`},
		{"call-input", `"arguments":"{}"`, `"arguments":""`},
		{"call-input", `"arguments":"{}"`, `"arguments":"[]"`},
		{"call-input", `"arguments":"{}"`, `"arguments":"{} {}"`},
		{"field-type", `"arguments":"{}"`, `"arguments":{}`},
		{"duplicate-key", `"arguments":"{}"`, `"arguments":"{\"a\":1,\"a\":1}"`},
		{"surrogate", `"arguments":"{}"`, `"arguments":"{\"a\":\"\\ud83d\"}"`},
		{"field-type", calls, `,"tool_calls":[]`},
		{"field-type", `"id":"c2","type":"function"`, `"id":"c2","type":"tool"`},
		{"call-unanswered", result1, ``},
		{"call-unanswered", result1, `{"role":"user","content":"x"},` + result1},
		{"result-orphan", `"tool_call_id":"c1"`, `"tool_call_id":"c3"`},
		{"result-orphan", `{"role":"assistant","content":null`, result1 + `{"role":"assistant","content":null`},
		{"result-duplicate", result1, result1 + result1},
		{"reasoning-empty", `"reasoning_content":"Hm."`, `"reasoning_content":""`},
		{"reasoning-empty", `"reasoning_content":"Hm."`, `"reasoning_content":null`},
		{"reasoning-empty", `"reasoning_content":"Hm."`, `"reasoning_details":[]`},
		{"reasoning-foreign", `"reasoning_content":"Hm."`, `"reasoning_content":"Ha."`},
		{"reasoning-foreign", `"reasoning_content":"Hm."`, `"reasoning":"Hm."`},
		{"field-type", `"reasoning_content":"Hm."`, `"reasoning_content":7`},
		{"image-data", `data:image/png;base64,`, `file:///a;base64,`},
		{"image-data", `data:image/png;base64,`, `data:image/png,`},
		{"image-type", `data:image/png;`, `data:image/bmp;`},
		{"tool-name", `"name":"read","description"`, `"name":"` + strings.Repeat("a", 65) + `","description"`},
		{"tool-name", `"name":"read","arguments"`, `"name":"a.b","arguments"`},
		{"tool-duplicate", tool, tool + "," + tool},
		{"field-type", tool, ``},
		{"schema", `"parameters"`, `"strict"`},
		{"schema", `"properties":{"path":{"type":"string"}},"required":["path"]`, `"additionalProperties":false`},
	})
	testFaults(t, OpenAI, legal, Rules{RequireReasoning: true, EmptyReasoning: true}, []fault{
		{"", `"m"`, `"m"`},
		{"", `"content":"Done."`, `"content":"Done.","reasoning_content":""`},
		{"reasoning-missing", `"reasoning_content":"Hm.",`, ``},
		{"reasoning-missing", `"reasoning_content":"Hm."`, `"reasoning_content":""`},
		{"", `"id":"c1","type"`, `"id":"c1","type"`},
	})
}

func TestCheckWire(t *testing.T) {
	found := Check("gopher", []byte(`{}`), Rules{})
	if len(found) != 1 || found[0].Rule != "wire" {
		t.Errorf("got %v", found)
	}
}

func TestSchemaRules(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 70) + `{"type":"string"}` + strings.Repeat("}", 70)
	for _, tt := range []struct {
		legal  bool
		schema string
	}{
		{true, `{"type":"object","properties":{}}`},
		{true, `{"type":"object","properties":{"a":{}},"additionalProperties":false}`},
		{true, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`},
		{true, `{"type":"object","properties":{"a":{"type":["string","null"],"default":null}}}`},
		{true, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y"}},"$defs":{"x/y":{"type":"object","properties":{"next":{"$ref":"#/$defs/x~1y"}}}}}`},
		{true, `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}`},
		{false, `true`},
		{false, `{}`},
		{false, `{"type":"object"}`},
		{false, `{"type":"object","properties":[]}`},
		{false, `{"type":"object","properties":{"a":true}}`},
		{false, `{"type":"object","properties":{"a":{"type":"array"}}}`},
		{false, `{"type":"object","properties":{"a":{"type":["array","null"]}}}`},
		{false, `{"type":"object","properties":{"a":{"type":"array","items":true}}}`},
		{false, `{"type":"object","properties":{"a":{"type":"text"}}}`},
		{false, `{"type":"object","properties":{"a":{"type":[]}}}`},
		{false, `{"type":"object","properties":{"a":{"type":"string","default":null}}}`},
		{false, `{"type":"object","properties":{"a b":{"type":"string"}}}`},
		{false, `{"type":"object","properties":{"a":{"enum":[]}}}`},
		{false, `{"type":"object","properties":{"a":{"description":7}}}`},
		{false, `{"type":"object","properties":{"a":{"anyOf":[]}}}`},
		{false, `{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}`},
		{false, `{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}`},
		{false, `{"type":"object","properties":{},"required":["a"]}`},
		{false, `{"type":"object","properties":{},"required":"a"}`},
		{false, `{"type":"object","properties":{},"oneOf":[{"type":"object"}]}`},
		{false, `{"type":"object","properties":{},"additionalProperties":7}`},
		{false, `{"type":"object","properties":{"a":` + deep + `}}`},
	} {
		var v any
		if err := json.Unmarshal([]byte(tt.schema), &v); err != nil {
			t.Fatalf("%s: %v", tt.schema, err)
		}
		var r report
		checkSchema(&r, "s", v, true)
		if (len(r.found) == 0) != tt.legal {
			t.Errorf("%.200s: got %v", tt.schema, r.found)
		}
	}
}

func TestImageHeaders(t *testing.T) {
	webp := func(chunk string, rest ...byte) string {
		head := "RIFF\x00\x00\x00\x00WEBP" + chunk + "\x00\x00\x00\x00"
		return head + string(rest)
	}
	var anim bytes.Buffer
	if err := gif.Encode(&anim, image.NewGray(image.Rect(0, 0, 3, 4)), nil); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		data string
		want string
	}{
		"gif":       {anim.String(), "gif 3x4 <nil>"},
		"vp8x":      {webp("VP8X", 0, 0, 0, 0, 0xff, 1, 0, 9, 0, 0), "webp 512x10 <nil>"},
		"vp8l":      {webp("VP8L", 0x2f, 0xff, 0xc0, 0x01, 0x00), "webp 256x8 <nil>"},
		"vp8":       {webp("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 64, 0, 32, 0), "webp 64x32 <nil>"},
		"cut":       {webp("VP8X", 0, 0), "webp 0x0 webp: the header is damaged"},
		"no image":  {"hello", " 0x0 image: unknown format"},
		"no chunks": {"RIFF\x00\x00\x00\x00WEBP", " 0x0 image: unknown format"},
	} {
		w, h, kind, err := imageHeader([]byte(tt.data))
		if got := fmt.Sprintf("%s %dx%d %v", kind, w, h, err); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestImageTooLarge(t *testing.T) {
	small, err := base64.StdEncoding.DecodeString(tinyGIF)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]int{5 << 20: 0, 5<<20 + 1: 1} {
		var r report
		checkImage(&r, "", "image/gif", append(slices.Clone(small), make([]byte, size-len(small))...))
		if len(r.found) != want {
			t.Errorf("%d bytes: got %v", size, r.found)
		}
	}
}

func TestViolationText(t *testing.T) {
	v := Violation{"blank-text", "messages[0]", "the text is blank"}
	if got, want := v.Error(), "messages[0]: the text is blank (rule blank-text)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := describe([]Violation{v, v, v, v, v}); !strings.HasSuffix(got, "; and 2 more") {
		t.Errorf("got %q", got)
	}
	var r report
	for range 100 {
		r.add("x", "", "y")
	}
	if len(r.found) != maxViolations {
		t.Errorf("%d violations are kept", len(r.found))
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(legalAnthropic(f)))
	f.Add([]byte(legalOpenAI(f)))
	f.Add([]byte(legalResponses(f)))
	f.Add([]byte(legalGemini(f)))
	f.Add([]byte(legalBedrock(f)))
	f.Add([]byte(`{"contents":[null,{"role":"model","parts":[null,{"functionCall":1}]},{"parts":[{"functionResponse":{"parts":[1]}}]}],"tools":[{"functionDeclarations":[1]}],"input":[null,{"type":"reasoning"},{"content":[1]}]}`))
	f.Add([]byte(`{"messages":[null,1,{"role":"assistant","content":[null]},{"role":"tool"}],"tools":[null,{"type":"function"}],"system":[1],"thinking":1}`))
	f.Add([]byte(`{"model":"\ud83d\u00e4\\ud83d"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, w := range Wires() {
			for _, v := range Check(w, body, Rules{}) {
				if v.Rule == "" || v.Text == "" {
					t.Errorf("an empty violation: %+v", v)
				}
			}
			r := &Request{Wire: w, Body: body}
			_, _, _ = r.ToolResult("c1")
			_, _, _ = r.System(), r.Tools(), r.LastUserText()
			check(w, "", body, Rules{RequireReasoning: true, SignedCalls: true}, sentBoth())
		}
	})
}

func FuzzLearn(f *testing.F) {
	for _, w := range Wires() {
		f.Add(bytes.Join(Events(w, Cut{Delta: 1}, Thinking("Hm."), Text("x"), Call("c1", "a", "{}")), nil))
	}
	f.Add([]byte("data: {\"index\":[1],\"delta\":7}\n\ndata:{\"index\":{},\"choices\":[1,{\"delta\":[]}]}"))
	f.Fuzz(func(_ *testing.T, stream []byte) {
		var i issued
		for _, w := range Wires() {
			i.learn(w, stream)
		}
	})
}

func FuzzImage(f *testing.F) {
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X"))
	raw, _ := base64.StdEncoding.DecodeString(tinyGIF)
	f.Add(raw)
	f.Fuzz(func(_ *testing.T, data []byte) {
		var r report
		checkImage(&r, "", "image/png", data)
	})
}
