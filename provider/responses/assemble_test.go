package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/wire"
)

// heard is what came of a stream.
type heard struct {
	said, thought string
	inputs        map[int]string
	message       oh.Message
}

// play feeds events to an assembler as a stream would. It checks that what was
// shown and what is kept are the same.
func play(t *testing.T, events ...string) (heard, error) {
	t.Helper()
	a := newAssembler("p/m", "m")
	out := heard{inputs: map[int]string{}}
	for _, e := range events {
		err := a.Feed(nil, []byte(e))
		out.take(a.Take())
		if err != nil {
			return out, err
		}
	}
	a.End()
	out.take(a.Take())
	if a.State() != wire.Over {
		return out, fmt.Errorf("state %d", a.State())
	}
	out.message = a.Message()
	if got := out.message.Content.Text(); got != out.said {
		t.Errorf("%q was shown, %q is kept", out.said, got)
	}
	thought := ""
	for _, b := range out.message.Content {
		if b, ok := b.(oh.Thinking); ok {
			thought += b.Text
		}
	}
	if thought != out.thought {
		t.Errorf("the thought %q was shown, %q is kept", out.thought, thought)
	}
	return out, nil
}

func (h *heard) take(chunks []oh.Chunk) {
	for _, c := range chunks {
		switch c := c.(type) {
		case oh.TextDelta:
			h.said += c.Text
		case oh.ThinkingDelta:
			h.thought += c.Text
		case oh.ToolInputDelta:
			h.inputs[c.Index] += c.JSON
		}
	}
}

const ended = `{"type":"response.completed","response":{"status":"completed"}}`

func completed(items ...string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + strings.Join(items, ",") + `]}}`
}

func added(index, item string) string {
	return `{"type":"response.output_item.added",` + index + `"item":` + item + `}`
}

func done(index, item string) string {
	return `{"type":"response.output_item.done",` + index + `"item":` + item + `}`
}

func said(where, piece string) string {
	return `{"type":"response.output_text.delta",` + where + `"delta":` + piece + `}`
}

func args(where, piece string) string {
	return `{"type":"response.function_call_arguments.delta",` + where + `"delta":` + piece + `}`
}

func message(id, text string) string {
	return `{"id":"` + id + `","type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`
}

const begun = `{"id":"msg_1","type":"message","content":[]}`

// However a text is told, it is told once.
func TestText(t *testing.T) {
	for name, events := range map[string][]string{
		"as it should be": {added(`"output_index":0,`, begun), said(`"item_id":"msg_1","output_index":0,"content_index":0,`, `"hel"`), said(`"item_id":"msg_1","output_index":0,"content_index":0,`, `"lo"`),
			`{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"hello"}`,
			`{"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hello"}}`,
			done(`"output_index":0,`, message("msg_1", "hello")), completed(message("msg_1", "hello"))},
		"index from 1":                {added(`"output_index":1,`, begun), said(`"output_index":1,`, `"hello"`), done(`"output_index":1,`, message("msg_1", "hello")), completed(message("msg_1", "hello"))},
		"only deltas":                 {said("", `"hel"`), said("", `"lo"`), ended},
		"only the end of the text":    {`{"type":"response.output_text.done","text":"hello"}`, ended},
		"only the part":               {`{"type":"response.content_part.done","part":{"type":"output_text","text":"hello"}}`, completed()},
		"only the item":               {done("", message("msg_1", "hello")), ended},
		"only the response":           {completed(message("msg_1", "hello"))},
		"content that is a string":    {completed(`{"type":"message","content":"hello"}`)},
		"an item without a type":      {completed(`{"role":"assistant","content":[{"text":"hello"}]}`)},
		"ids that change":             {added(`"output_index":0,`, begun), said(`"item_id":"a","output_index":0,`, `"hel"`), said(`"item_id":"b","output_index":0,`, `"lo"`), done(`"output_index":0,`, message("c", "hello")), completed(message("d", "hello"))},
		"ids that change, no index":   {said(`"item_id":"a",`, `"hel"`), said(`"item_id":"b",`, `"lo"`), done("", message("c", "hello")), completed(message("d", "hello"))},
		"begun twice":                 {added(`"output_index":0,`, begun), added(`"output_index":0,`, begun), said(`"output_index":0,`, `"hello"`), ended},
		"ended twice":                 {said(`"output_index":0,`, `"hello"`), done(`"output_index":0,`, message("msg_1", "hello")), done(`"output_index":0,`, message("msg_1", "hello")), ended},
		"the rest in the item":        {said(`"output_index":0,`, `"hel"`), done(`"output_index":0,`, message("msg_1", "hello")), ended},
		"the rest in the response":    {said("", `"hel"`), completed(message("msg_1", "hello"))},
		"two items, told as one":      {said("", `"hel"`), said("", `"lo"`), completed(message("msg_1", "hel"), message("msg_2", "lo"))},
		"another text at the end":     {said("", `"hello"`), completed(message("msg_1", "hallo"))},
		"an id alone":                 {added("", begun), said(`"item_id":"msg_1",`, `"hello"`), done("", message("msg_1", "hello")), completed(message("msg_1", "hello"))},
		"index as a string":           {said(`"output_index":"0",`, `"hel"`), said(`"output_index":"0",`, `"lo"`), ended},
		"index of another kind":       {said(`"output_index":null,"content_index":{},`, `"hel"`), said(`"output_index":null,`, `"lo"`), ended},
		"announced without an index":  {added("", begun), said(`"output_index":0,`, `"hello"`), ended},
		"delta as an object":          {said("", `{"text":"hello"}`), ended},
		"delta of null":               {said("", `null`), said("", `"hello"`), said("", `7`), ended},
		"unknown events":              {`{"type":"keepalive"}`, `{"type":"response.new.thing","error":null}`, said("", `"hello"`), `{}`, ended},
		"annotations":                 {said("", `"hello"`), `{"type":"response.output_text.annotation.added","annotation":{"type":"url_citation"}}`, ended},
		"response.done":               {said("", `"hello"`), `{"type":"response.done","response":{"status":"completed"}}`},
		"no response in the end":      {said("", `"hello"`), `{"type":"response.completed"}`},
		"a status nobody knows":       {said("", `"hello"`), `{"type":"response.completed","response":{"status":"success"}}`},
		"created twice":               {`{"type":"response.created","response":{"id":"r"}}`, said("", `"hello"`), `{"type":"response.created","response":{"id":"r"}}`, ended},
		"an empty piece at the start": {said(`"output_index":0,`, `""`), said(`"output_index":0,`, `"hello"`), ended},
	} {
		got, err := play(t, events...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.said != "hello" || got.message.Stop != oh.StopEnd {
			t.Errorf("%s: %q, %+v", name, got.said, got.message)
		}
	}
}

func call(id, callID, name, arguments string) string {
	return `{"id":"` + id + `","type":"function_call","call_id":"` + callID + `","name":"` + name + `","arguments":` + arguments + `}`
}

type gotCall struct{ ID, Name, Input, Malformed string }

// However calls are told, each is one call with its own arguments.
func TestCalls(t *testing.T) {
	const x = `"{\"x\":1}"`
	one := []gotCall{{"c1", "f", `{"x":1}`, ""}}
	two := []gotCall{{"c1", "f", `{"x":1}`, ""}, {"c2", "g", `{"y":2}`, ""}}
	for name, tt := range map[string]struct {
		events []string
		want   []gotCall
	}{
		"as it should be": {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), args(`"item_id":"fc_1","output_index":0,`, `"{\"x\""`), args(`"item_id":"fc_1","output_index":0,`, `":1}"`),
			`{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":` + x + `}`, done(`"output_index":0,`, call("fc_1", "c1", "f", x)), completed(call("fc_1", "c1", "f", x))}, one},
		"index from 1":                 {[]string{added(`"output_index":1,`, call("fc_1", "c1", "f", `""`)), args(`"output_index":1,`, x), done(`"output_index":1,`, call("fc_1", "c1", "f", x)), completed(call("fc_1", "c1", "f", x))}, one},
		"arguments at the end only":    {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":` + x + `}`, ended}, one},
		"arguments in the item only":   {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), done(`"output_index":0,`, call("fc_1", "c1", "f", x)), ended}, one},
		"arguments at the start only":  {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", x)), done(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), ended}, one},
		"arguments at the start, open": {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", x)), ended}, one},
		"arguments everywhere":         {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", x)), args(`"output_index":0,`, x), done(`"output_index":0,`, call("fc_1", "c1", "f", x)), completed(call("fc_1", "c1", "f", x))}, one},
		"arguments as an object":       {[]string{completed(call("fc_1", "c1", "f", `{"x": 1}`))}, one},
		"only the item":                {[]string{done("", call("fc_1", "c1", "f", x)), ended}, one},
		"only the response":            {[]string{completed(call("fc_1", "c1", "f", x))}, one},
		"text, then only the response": {[]string{said("", `"hi"`), completed(message("msg_1", "hi"), call("fc_1", "c1", "f", x))}, one},
		"name at the end only":         {[]string{args(`"output_index":0,`, x), done(`"output_index":0,`, call("fc_1", "c1", "f", x)), ended}, one},
		"no call id":                   {[]string{completed(`{"id":"c1","type":"function_call","name":"f","arguments":` + x + `}`)}, one},
		"no item id":                   {[]string{added("", `{"type":"function_call","call_id":"c1","name":"f"}`), args("", x), done("", `{"type":"function_call","call_id":"c1","name":"f","arguments":`+x+`}`), ended}, one},
		"no type":                      {[]string{completed(`{"call_id":"c1","name":"f","arguments":` + x + `}`)}, one},
		"ids that change":              {[]string{added(`"output_index":0,`, call("a", "c1", "f", `""`)), args(`"item_id":"b","output_index":0,`, x), done(`"output_index":0,`, call("c", "c1", "f", x)), completed(call("d", "c1", "f", x))}, one},
		"told twice":                   {[]string{done(`"output_index":0,`, call("fc_1", "c1", "f", x)), done(`"output_index":0,`, call("fc_1", "c1", "f", x)), completed(call("fc_1", "c1", "f", x))}, one},
		"pieces that do not fit":       {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), args(`"output_index":0,`, `"x\":1}"`), done(`"output_index":0,`, call("fc_1", "c1", "f", x)), ended}, one},
		"an empty object at the end":   {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), args(`"output_index":0,`, x), done(`"output_index":0,`, call("fc_1", "c1", "f", `"{}"`)), ended}, one},
		"ghost":                        {[]string{added(`"output_index":0,`, `{"type":"function_call"}`), done(`"output_index":1,`, call("fc_1", "c1", "f", x)), ended}, one},
		"interleaved": {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), added(`"output_index":1,`, call("fc_2", "c2", "g", `""`)), args(`"output_index":0,`, `"{\"x\""`), args(`"output_index":1,`, `"{\"y\""`),
			args(`"output_index":0,`, `":1}"`), args(`"output_index":1,`, `":2}"`), ended}, two},
		"done in another order": {[]string{done(`"output_index":1,`, call("fc_2", "c2", "g", `"{\"y\":2}"`)), done(`"output_index":0,`, call("fc_1", "c1", "f", x)), ended}, two},
		"by id alone": {[]string{added("", call("fc_1", "c1", "f", `""`)), added("", call("fc_2", "c2", "g", `""`)), args(`"item_id":"fc_2",`, `"{\"y\""`), args(`"item_id":"fc_1",`, x), args(`"item_id":"fc_2",`, `":2}"`),
			done("", call("fc_1", "c1", "f", x)), done("", call("fc_2", "c2", "g", `"{\"y\":2}"`)), ended}, two},
		"one index": {[]string{added(`"output_index":0,`, call("fc_1", "c1", "f", `""`)), args(`"output_index":0,"item_id":"fc_1",`, x), done(`"output_index":0,`, call("fc_1", "c1", "f", x)),
			added(`"output_index":0,`, call("fc_2", "c2", "g", `""`)), args(`"output_index":0,"item_id":"fc_2",`, `"{\"y\":2}"`), done(`"output_index":0,`, call("fc_2", "c2", "g", `"{\"y\":2}"`)), ended}, two},
		"one id": {[]string{added(`"output_index":0,`, call("fc", "c1", "f", `""`)), added(`"output_index":1,`, call("fc", "c2", "g", `""`)), args(`"item_id":"fc","output_index":1,`, `"{\"y\":2}"`), args(`"item_id":"fc","output_index":0,`, x),
			completed(call("fc", "c1", "f", x), call("fc", "c2", "g", `"{\"y\":2}"`))}, two},
		"one call id":           {[]string{completed(call("fc_1", "c1", "f", x), call("fc_2", "c1", "f", x))}, []gotCall{one[0], one[0]}},
		"the second only later": {[]string{done(`"output_index":0,`, call("fc_1", "c1", "f", x)), completed(call("fc_1", "c1", "f", x), call("fc_2", "c2", "g", `"{\"y\":2}"`))}, two},
		"no arguments":          {[]string{completed(call("fc_1", "c1", "f", `null`), call("fc_2", "c2", "g", `""`))}, []gotCall{{"c1", "f", "{}", ""}, {"c2", "g", "{}", ""}}},
		"broken": {[]string{completed(call("fc_1", "c1", "f", `"{\"x\":"`))},
			[]gotCall{{"c1", "f", `{"malformed":"{\"x\":"}`, `the arguments are no JSON object (unexpected end of JSON input): {"x":`}}},
		"no name": {[]string{completed(call("fc_1", "c1", "", x))}, []gotCall{{"c1", "", `{"x":1}`, `the call names no tool: {"x":1}`}}},
	} {
		got, err := play(t, tt.events...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var calls []gotCall
		for _, u := range got.message.Content.ToolUses() {
			calls = append(calls, gotCall{u.ID, u.Name, string(u.Input), u.Malformed})
		}
		if d := cmp.Diff(tt.want, calls); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
		if got.message.Stop != oh.StopToolUse {
			t.Errorf("%s: stop %q", name, got.message.Stop)
		}
	}
}

func TestReasoning(t *testing.T) {
	summary := func(where, piece string) string {
		return `{"type":"response.reasoning_summary_text.delta",` + where + `"delta":` + piece + `}`
	}
	thought := func(where, piece string) string {
		return `{"type":"response.reasoning_text.delta",` + where + `"delta":` + piece + `}`
	}
	const (
		sealed = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"xyz"}`
		open   = `{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"why"}]}`
		bare   = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":""}`
		hidden = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"xyz"}`
	)
	block := func(text, raw string) oh.Thinking {
		out := oh.Thinking{Text: text}
		if raw != "" {
			out.Opaque = &oh.Opaque{Origin: "p/m", Data: json.RawMessage(raw)}
		}
		return out
	}
	for name, tt := range map[string]struct {
		events []string
		want   oh.Blocks
	}{
		"summary": {[]string{added(`"output_index":0,`, `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"x"}`), summary(`"output_index":0,"summary_index":0,`, `"a"`), summary(`"output_index":0,"summary_index":1,`, `"b"`),
			`{"type":"response.reasoning_summary_part.done","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":"b"}}`, done(`"output_index":0,`, sealed), completed(sealed)}, oh.Blocks{block("a\n\nb", sealed)}},
		"summary without its places":    {[]string{summary("", `"a"`), summary("", `"b"`), completed(sealed)}, oh.Blocks{block("ab", sealed)}},
		"only the response":             {[]string{completed(sealed)}, oh.Blocks{block("a\n\nb", sealed)}},
		"nothing to show":               {[]string{completed(hidden)}, oh.Blocks{block("", hidden)}},
		"open model":                    {[]string{thought(`"output_index":0,`, `"wh"`), thought(`"output_index":0,`, `"y"`), done(`"output_index":0,`, open), completed(open)}, oh.Blocks{block("why", open)}},
		"open model, only the response": {[]string{completed(open)}, oh.Blocks{block("why", open)}},
		"thoughts and a summary":        {[]string{thought("", `"why"`), summary("", `"w"`), completed(`{"type":"reasoning","id":"r","summary":[{"text":"w"}],"content":[{"text":"why"}]}`)}, oh.Blocks{block("why", `{"type":"reasoning","id":"r","summary":[{"text":"w"}],"content":[{"text":"why"}]}`)}},
		"nothing to give back":          {[]string{completed(bare)}, oh.Blocks{block("a", "")}},
		"not ended":                     {[]string{added("", sealed), summary("", `"a"`), ended}, oh.Blocks{block("a", "")}},
		"sealed only in the response":   {[]string{done(`"output_index":0,`, bare), completed(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"xyz"}`)}, oh.Blocks{block("a", `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"xyz"}`)}},
		"members that say nothing":      {[]string{completed(`{"type":"reasoning", "encrypted_content":"x<","status":null,"summary":[]}`)}, oh.Blocks{block("", `{"encrypted_content":"x<","summary":[],"type":"reasoning"}`)}},
		"before the text that came first": {[]string{said("", `"hi"`), completed(sealed, message("msg_1", "hi"))},
			oh.Blocks{block("a\n\nb", sealed), oh.Text{Text: "hi", Opaque: &oh.Opaque{Origin: "p/m", Data: json.RawMessage(`{"id":"msg_1"}`)}}}},
		"ids go with their reasoning": {[]string{completed(bare, message("msg_1", "hi"), call("fc_1", "c1", "f", `"{}"`))},
			oh.Blocks{block("a", ""), oh.Text{Text: "hi"}, oh.ToolUse{ID: "c1", Name: "f", Input: json.RawMessage("{}")}}},
		"phases stay": {[]string{completed(bare, `{"id":"msg_1","type":"message","phase":"final_answer","content":[{"type":"output_text","text":"hi"}]}`)},
			oh.Blocks{block("a", ""), oh.Text{Text: "hi", Opaque: &oh.Opaque{Origin: "p/m", Data: json.RawMessage(`{"phase":"final_answer"}`)}}}},
		"reasoning deltas of old": {[]string{`{"type":"response.reasoning.delta","delta":{"text":"why"}}`, ended}, oh.Blocks{block("why", "")}},
	} {
		got, err := play(t, tt.events...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(tt.want, got.message.Content); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

// What the wire has and we do not is kept and never in the way.
func TestForeignItems(t *testing.T) {
	const search = `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"query":"<a>"}}`
	const custom = `{"id":"ct_1","type":"custom_tool_call","call_id":"c9","name":"f","input":"raw"}`
	got, err := play(t, added(`"output_index":0,`, `{"id":"ws_1","type":"web_search_call","status":"in_progress"}`), `{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws_1"}`,
		done(`"output_index":0,`, search), `{"type":"response.custom_tool_call_input.delta","output_index":1,"item_id":"ct_1","delta":"raw"}`, done(`"output_index":1,`, custom),
		said(`"output_index":2,`, `"hi"`), done(`"output_index":3,`, `{"type":"tool_use","id":"x","name":"f","input":{}}`), completed(search, custom, message("msg_1", "hi")))
	if err != nil {
		t.Fatal(err)
	}
	want := oh.Blocks{oh.Unknown{Type: "web_search_call", Raw: json.RawMessage(search)}, oh.Unknown{Type: "custom_tool_call", Raw: json.RawMessage(custom)}, oh.Text{Text: "hi"}}
	if d := cmp.Diff(want, got.message.Content); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got.message.Stop != oh.StopEnd {
		t.Errorf("stop %q", got.message.Stop)
	}
}

func TestStop(t *testing.T) {
	const cut = `{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","status":"incomplete","arguments":"{\"x\""}`
	incomplete := func(reason string, items ...string) string {
		return `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":` + reason + `,"output":[` + strings.Join(items, ",") + `]}}`
	}
	for name, tt := range map[string]struct {
		last      string
		want      oh.StopReason
		malformed bool
	}{
		"end":                    {completed(message("m", "x")), oh.StopEnd, false},
		"calls":                  {completed(call("fc_1", "c1", "f", `"{}"`)), oh.StopToolUse, false},
		"limit":                  {incomplete(`{"reason":"max_output_tokens"}`, message("m", "x")), oh.StopMaxTokens, false},
		"limit by status":        {`{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, oh.StopMaxTokens, false},
		"limit, no reason":       {incomplete(`null`, message("m", "x")), oh.StopMaxTokens, false},
		"filter":                 {incomplete(`{"reason":"content_filter"}`), oh.StopRefusal, false},
		"another reason":         {incomplete(`{"reason":"strange"}`), "strange", false},
		"refusal":                {completed(`{"type":"message","content":[{"type":"refusal","refusal":"no"}]}`), oh.StopRefusal, false},
		"call cut at the limit":  {incomplete(`{"reason":"max_output_tokens"}`, cut), oh.StopMaxTokens, true},
		"call cut before it":     {incomplete(`{"reason":"max_output_tokens"}`, `{"type":"function_call","call_id":"c1","name":"f","arguments":""}`), oh.StopMaxTokens, true},
		"whole call at the end":  {incomplete(`{"reason":"max_output_tokens"}`, `{"type":"function_call","call_id":"c1","name":"f","status":"completed","arguments":""}`), oh.StopMaxTokens, false},
		"call cut by the filter": {incomplete(`{"reason":"content_filter"}`, `{"type":"function_call","call_id":"c1","name":"f","status":"incomplete","arguments":""}`), oh.StopRefusal, true},
	} {
		got, err := play(t, tt.last)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		malformed := false
		for _, u := range got.message.Content.ToolUses() {
			malformed = malformed || u.Malformed != ""
		}
		if got.message.Stop != tt.want || malformed != tt.malformed {
			t.Errorf("%s: %+v", name, got.message)
		}
	}
}

func TestRefusalAfterText(t *testing.T) {
	got, err := play(t, said(`"output_index":0,"content_index":0,`, `"Well"`), `{"type":"response.refusal.delta","output_index":0,"content_index":1,"delta":"I can"}`,
		`{"type":"response.refusal.delta","output_index":0,"content_index":1,"delta":"not."}`, `{"type":"response.refusal.done","output_index":0,"content_index":1,"refusal":"I cannot."}`,
		completed(`{"type":"message","content":[{"type":"output_text","text":"Well"},{"type":"refusal","refusal":"I cannot."}]}`))
	if err != nil || got.said != "Well\n\nI cannot." || got.message.Stop != oh.StopRefusal {
		t.Errorf("%q, %+v, %v", got.said, got.message, err)
	}
}

func TestUsage(t *testing.T) {
	for in, want := range map[string]oh.Usage{
		`{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":12},"total_tokens":120}`: {InputTokens: 40, OutputTokens: 20, CacheReadTokens: 60, ReasoningTokens: 12},
		`{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"output_tokens":20}`:                                            {InputTokens: 10, OutputTokens: 20, CacheReadTokens: 60, CacheWriteTokens: 30},
		`{"input_tokens":100,"output_tokens":20,"output_tokens_details":{"reasoning_tokens":12},"total_tokens":132}`:                                             {InputTokens: 100, OutputTokens: 32, ReasoningTokens: 12},
		`{"prompt_tokens":7,"completion_tokens":3}`:                                            {InputTokens: 7, OutputTokens: 3},
		`{"input_tokens":"7","output_tokens":3.0,"input_tokens_details":null}`:                 {InputTokens: 7, OutputTokens: 3},
		`{"input_tokens":1,"input_tokens_details":{"cached_tokens":9},"output_tokens":-1}`:     {CacheReadTokens: 1},
		`{"input_tokens":{},"output_tokens":[],"input_tokens_details":7,"output_tokens_x":{}}`: {},
		`null`: {},
	} {
		got, err := play(t, `{"type":"response.completed","response":{"status":"completed","usage":`+in+`}}`)
		if err != nil || got.message.Usage != want {
			t.Errorf("%s: %+v, %v", in, got.message.Usage, err)
		}
	}
}

// An error that the service told is one, wherever it stands.
func TestTold(t *testing.T) {
	for _, e := range []string{
		`{"type":"error","code":"x","message":"y"}`, `{"type":"error","error":{"message":"x"}}`, `{"error":{"message":"x"}}`, `{"error":"x"}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}`,
		`{"type":"response.failed"}`, `{"type":"response.cancelled","response":{}}`,
		`{"type":"response.completed","response":{"status":"failed","error":null}}`,
	} {
		_, err := play(t, said("", `"half"`), e)
		if _, ok := errors.AsType[*wire.Told](err); !ok {
			t.Errorf("%s: %v", e, err)
		}
	}
}

// Breaches of the protocol are errors, and nothing but the end is an end.
func TestBroken(t *testing.T) {
	for _, events := range [][]string{
		{"half"}, {"[1]"}, {said("", `"half"`), "[DONE]"}, {said("", `"half"`), done("", message("m", "half"))},
		{`{"type":"response.created","response":{"id":"a"}}`, said("", `"half"`), `{"type":"response.created","response":{"id":"b"}}`, ended},
	} {
		if got, err := play(t, events...); err == nil {
			t.Errorf("%q: %+v", events, got.message)
		}
	}
}

func TestWhole(t *testing.T) {
	const good = `{"id":"r","object":"response","status":"completed","model":"mm","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`
	for in, want := range map[string]string{
		good: "", " " + good + "\n": "",
		`{"output":[{"type":"message","content":"hi"}]}`: "",
		`{"error":{"message":"x"}}`:                      "told",
		`[{"error":{"message":"x"}}]`:                    "told",
		`{"object":"error","message":"x"}`:               "told",
		`{"detail":"x"}`:                                 "told",
		`{"status":"failed","error":{"message":"x"}}`:    "told",
		`{"status":"in_progress","output":[]}`:           "broken",
		`{"status":"queued"}`:                            "broken",
		`{"choices":[]}`:                                 "broken",
		`{`:                                              "broken",
		`[]`:                                             "broken",
		``:                                               "broken",
	} {
		a := newAssembler("p/m", "m")
		err := a.Whole([]byte(in))
		_, isTold := errors.AsType[*wire.Told](err)
		switch {
		case want == "told" && !isTold, want == "broken" && (err == nil || isTold):
			t.Errorf("%s: %v", in, err)
		case want == "" && (err != nil || a.State() != wire.Over || a.Message().Content.Text() != "hi"):
			t.Errorf("%s: %v, %+v", in, err, a.Message())
		}
	}
}

func TestWait(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"Please try again in 1.898s. Visit x":       1898 * time.Millisecond,
		"Please try again in 20ms.":                 20 * time.Millisecond,
		"Please try again in 6m0s.":                 6 * time.Minute,
		"try again in 35 seconds.":                  35 * time.Second,
		"Please retry after 1 second.":              time.Second,
		"Please retry in 2 minutes":                 2 * time.Minute,
		"Please retry after 10 milliseconds of":     10 * time.Millisecond,
		"Please try again in a while":               0,
		"Please try again in ":                      0,
		"Please try again later, or retry after 3s": 3 * time.Second,
		"": 0,
	} {
		if got := wait(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

// All that is kept of a reply counts.
func TestBound(t *testing.T) {
	grown := strings.Repeat("x", 1000)
	for _, e := range []string{
		said("", `"`+grown+`"`), `{"type":"response.output_text.done","text":"` + grown + `"}`, `{"type":"response.refusal.delta","delta":"` + grown + `"}`,
		`{"type":"response.reasoning_text.delta","delta":"` + grown + `"}`, args("", `"`+grown+`"`), `{"type":"response.function_call_arguments.done","arguments":"` + grown + `"}`,
		added("", call("a", "b", "f", `"`+grown+`"`)), done("", message("m", grown)), done("", `{"type":"reasoning","encrypted_content":"`+grown+`"}`), done("", `{"type":"web_search_call","x":"`+grown+`"}`),
		completed(message("m", grown)),
	} {
		for _, tt := range []struct {
			room int
			want error
		}{{4000, nil}, {900, wire.ErrTooMuch}} {
			a := newAssembler("p/m", "m")
			a.size.Add(wire.MaxReply - tt.room)
			if err := a.Feed(nil, []byte(e)); !errors.Is(err, tt.want) {
				t.Errorf("%.60s with room for %d: %v", e, tt.room, err)
			}
		}
	}
}

// A delta that is read without decoding it means what decoding gives.
func TestRun(t *testing.T) {
	const first = `{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a"}`
	var ev event
	if err := json.Unmarshal([]byte(first), &ev); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		first: "a",
		`{"type":"response.output_text.delta","sequence_number":12,"item_id":"m","output_index":1,"content_index":0,"delta":"\u00e9\"\\","logprobs":[],"obfuscation":"Ab"}`: "é\"\\",
		" { \"delta\" : \"b\" ,\n\"content_index\":0, \"output_index\":1,\"item_id\":\"m\",\"type\":\"response.output_text.delta\" } ":                                      "b",
		`{"type":"response.output_text.delta","item_id":"m","output_index":2,"content_index":0,"delta":"a"}`:                                                                "-",
		`{"type":"response.output_text.delta","item_id":"n","output_index":1,"content_index":0,"delta":"a"}`:                                                                "-",
		`{"type":"response.refusal.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a"}`:                                                                    "-",
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a","delta":"b"}`:                                                    "-",
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a","error":{}}`:                                                     "-",
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a"`:                                                                 "-",
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a\"}`:                                                               "-",
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0}`:                                                                            "-",
		`{"type":"response.output_text.delta","item_id":"m","output_index":01,"content_index":0,"delta":"a"}`:                                                               "-",
		`{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"a"}`:                                                                              "-",
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a"}x`:                                                               "-",
		`{}`: "-", ``: "-",
	} {
		r := newRun(&slot{}, source{}, &ev)
		got, ok := r.next([]byte(in))
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// A reply that used just the tokens it was given was cut, whatever the service
// calls it; one that used more was not limited.
func TestCutAtTheLimit(t *testing.T) {
	for used, want := range map[int]oh.StopReason{39: oh.StopEnd, 40: oh.StopMaxTokens, 41: oh.StopEnd} {
		a := newAssembler("p/m", "m")
		a.limit = 40
		end := fmt.Sprintf(`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}],"usage":{"input_tokens":1,"output_tokens":%d}}}`, used)
		if err := a.Feed(nil, []byte(end)); err != nil {
			t.Fatal(err)
		}
		if m := a.Message(); m.Stop != want {
			t.Errorf("%d tokens: %s, want %s", used, m.Stop, want)
		}
	}
}
