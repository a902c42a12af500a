package ohtest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// learn reads the bytes of an answer for the reasoning in it. Bytes that are
// no events are passed over.
func (i *issued) learn(w Wire, sent []byte) {
	var events []map[string]any
	for _, data := range eventData(w, sent) {
		if m, err := decodeObject(data); err == nil {
			events = append(events, m)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.signatures == nil {
		i.signatures, i.texts, i.calls = map[signature]string{}, map[reasoning]bool{}, map[sentCall][]reasoning{}
		i.items, i.parts, i.led, i.secrets = map[string]sentItem{}, map[string]sentPart{}, map[string]string{}, map[string]Wire{}
	}
	switch w {
	case Anthropic:
		i.learnAnthropic(events)
	case OpenAI:
		i.learnOpenAI(events)
	case Responses:
		i.learnResponses(events)
	case Gemini:
		i.learnGemini(events)
	case Bedrock:
		i.learnBedrock(events)
	case Ollama:
		i.learnOllama(events)
	}
}

// sign keeps a signature.
func (i *issued) sign(w Wire, sig, text string) {
	i.signatures[signature{w, sig}] = text
	i.secret(w, sig)
}

// secret keeps what may be seen on one wire only.
func (i *issued) secret(w Wire, s string) {
	if len(s) >= minSecret {
		i.secrets[s] = w
	}
}

func (i *issued) learnAnthropic(events []map[string]any) {
	type block struct{ text, sig string }
	open := map[string]*block{}
	for _, e := range events {
		at := fmt.Sprint(e["index"])
		if open[at] == nil || e["type"] == "content_block_start" {
			open[at] = &block{}
		}
		b := open[at]
		for _, key := range []string{"content_block", "delta"} {
			m, _ := e[key].(map[string]any)
			text, _ := m["thinking"].(string)
			sig, _ := m["signature"].(string)
			b.text += text
			b.sig += sig
			if data, ok := m["data"].(string); ok && m["type"] == "redacted_thinking" {
				i.sign(Anthropic, data, "")
			}
		}
		if e["type"] == "content_block_stop" && b.sig != "" {
			i.sign(Anthropic, b.sig, b.text)
		}
	}
	for _, b := range open { // those that were cut
		if b.sig != "" {
			i.sign(Anthropic, b.sig, b.text)
		}
	}
}

func (i *issued) learnOpenAI(events []map[string]any) {
	var text, other strings.Builder // of reasoning_content and of reasoning
	details := 0
	var calls []string
	for _, e := range events {
		for _, choice := range objects(e["choices"]) {
			delta, _ := choice["delta"].(map[string]any)
			s, _ := delta["reasoning_content"].(string)
			text.WriteString(s)
			s, _ = delta["reasoning"].(string)
			other.WriteString(s)
			list, _ := delta["reasoning_details"].([]any)
			details += len(list)
			for _, call := range objects(delta["tool_calls"]) {
				if id, _ := call["id"].(string); id != "" {
					calls = append(calls, id)
				}
			}
		}
	}
	all := []reasoning{{"reasoning_content", text.String()}, {"reasoning", other.String()}}
	if details > 0 {
		all = append(all, reasoning{"reasoning_details", anyDetails})
	}
	all = slices.DeleteFunc(all, func(r reasoning) bool { return r.text == "" })
	for _, r := range all {
		i.texts[r] = true
	}
	for _, id := range calls {
		i.calls[sentCall{OpenAI, id}] = all
	}
}

// learnResponses reads the finished items, or where a script has no events for
// them those of the finished response.
func (i *issued) learnResponses(events []map[string]any) {
	var items []map[string]any
	for _, e := range events {
		if it, ok := e["item"].(map[string]any); ok && e["type"] == "response.output_item.done" {
			items = append(items, it)
		}
		if r, ok := e["response"].(map[string]any); ok && len(items) == 0 && e["type"] != "response.created" {
			items = objects(r["output"])
		}
	}
	leader := ""
	var all []reasoning
	for n, it := range items {
		id, _ := it["id"].(string)
		if it["type"] != "reasoning" {
			if leader != "" {
				i.led[id] = leader
			}
			leader = ""
			if call, _ := it["call_id"].(string); call != "" && all != nil {
				i.calls[sentCall{Responses, call}] = all
			}
			continue
		}
		encrypted, _ := it["encrypted_content"].(string)
		sent := sentItem{encrypted: encrypted, summary: canonical(it["summary"])}
		if n+1 < len(items) {
			sent.next = itemKind(items[n+1])
		}
		i.items[id] = sent
		i.secret(Responses, encrypted)
		leader = id
		all = append(all, reasoning{"encrypted_content", encrypted})
	}
}

// itemKind tells what an item is, and for a call of which tool.
func itemKind(it map[string]any) string {
	kind, _ := it["type"].(string)
	if kind == "" {
		kind = "message"
	}
	if name, ok := it["name"].(string); ok && kind == "function_call" {
		kind += " of " + name
	}
	return kind
}

func (i *issued) learnGemini(events []map[string]any) {
	thought := ""
	end := func() {
		if thought != "" {
			i.texts[reasoning{"thought", thought}] = true
		}
		thought = ""
	}
	defer end()
	for _, e := range events {
		for _, candidate := range objects(e["candidates"]) {
			content, _ := candidate["content"].(map[string]any)
			for _, p := range objects(content["parts"]) {
				text, _ := p["text"].(string)
				if p["thought"] == true {
					thought += text
				} else {
					end()
				}
				i.learnPart(p)
			}
		}
	}
}

func (i *issued) learnPart(p map[string]any) {
	sig, _ := p["thoughtSignature"].(string)
	if sig == "" {
		return
	}
	call, isCall := p["functionCall"].(map[string]any)
	name, _ := call["name"].(string)
	i.parts[sig] = sentPart{call: isCall, name: name, args: canonicalArgs(call)}
	i.secret(Gemini, sig)
	if id, _ := call["id"].(string); id != "" {
		i.calls[sentCall{Gemini, id}] = []reasoning{{"thoughtSignature", sig}}
	}
}

// canonicalArgs returns the arguments of a function call in a form that can be
// compared; none are an empty object.
func canonicalArgs(call map[string]any) string {
	if call["args"] == nil {
		return "{}"
	}
	return canonical(call["args"])
}

func (i *issued) learnBedrock(events []map[string]any) {
	type block struct{ text, sig string }
	open := map[string]*block{}
	for _, e := range events {
		delta, _ := e["delta"].(map[string]any)
		r, ok := delta["reasoningContent"].(map[string]any)
		if !ok {
			continue
		}
		at := fmt.Sprint(e["contentBlockIndex"])
		if open[at] == nil {
			open[at] = &block{}
		}
		text, _ := r["text"].(string)
		sig, _ := r["signature"].(string)
		open[at].text += text
		open[at].sig += sig
		if data, _ := r["redactedContent"].(string); data != "" {
			i.sign(Bedrock, data, "")
		}
	}
	for _, b := range open {
		if b.sig != "" {
			i.sign(Bedrock, b.sig, b.text)
		}
	}
}

func (i *issued) learnOllama(events []map[string]any) {
	var text strings.Builder
	for _, e := range events {
		m, _ := e["message"].(map[string]any)
		s, _ := m["thinking"].(string)
		text.WriteString(s)
	}
	if text.Len() > 0 {
		i.texts[reasoning{"thinking", text.String()}] = true
	}
}

// objects returns the objects of a list.
func objects(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, x := range list {
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// eventData returns the data of the events in a stream of a wire.
func eventData(w Wire, stream []byte) [][]byte {
	switch w {
	case Bedrock:
		_, payloads := unframe(stream)
		return payloads
	case Ollama:
		return slices.DeleteFunc(bytes.Split(stream, []byte("\n")), func(line []byte) bool { return len(line) == 0 })
	}
	stream = bytes.ReplaceAll(stream, []byte("\r\n"), []byte("\n"))
	var out [][]byte
	for event := range bytes.SplitSeq(stream, []byte("\n\n")) {
		var data []byte
		for line := range bytes.SplitSeq(event, []byte("\n")) {
			if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				if data != nil {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
			}
		}
		if data != nil {
			out = append(out, data)
		}
	}
	return out
}
