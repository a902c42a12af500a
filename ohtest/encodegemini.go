package ohtest

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/openharness/oh"
)

// geminiStream collects the chunks of one reply of the Gemini API.
type geminiStream struct {
	encoding
	usage   oh.Usage
	events  [][]byte
	pending string // signature that goes on the next call or on the last part
	signed  bool   // some part of the reply carries a signature
}

// gemini encodes a reply. Calls come whole. A signature is on the first call
// after the reasoning, else on an empty text at the end. What is not a JSON
// object cannot be sent as arguments: such a call ends the reply as malformed,
// or is left out when the reply is cut at its limit.
func (e encoding) gemini(parts []Part) (events [][]byte, open int) {
	s := &geminiStream{encoding: e, usage: usageOf(parts)}
	finish, why := geminiFinish(stopOf(parts)), ""
	for _, p := range parts {
		switch p := p.(type) {
		case Text:
			s.deltas(string(p), "")
		case Thinking:
			s.deltas(string(p), `,"thought":true`)
			s.pending = geminiSeal(string(p))
		case Redacted:
			s.pending = base64.StdEncoding.EncodeToString([]byte(p))
		case ToolCall:
			if !blank(p.Input) && p.Input != "null" && !isObject([]byte(p.Input)) {
				if finish != "MAX_TOKENS" {
					finish, why = "MALFORMED_FUNCTION_CALL", "Malformed function call: "+p.Name
				}
				continue
			}
			s.call(p)
		}
	}
	open = len(s.events)
	tail := `{"text":""}`
	if s.pending != "" {
		tail = fmt.Sprintf(`{"text":"","thoughtSignature":%s}`, quote(s.pending))
	}
	end := fmt.Sprintf(`,"finishReason":%s`, quote(finish))
	if why != "" {
		end += fmt.Sprintf(`,"finishMessage":%s`, quote(why))
	}
	u := s.usage
	s.chunk(tail, end, u.OutputTokens-u.ReasoningTokens)
	return s.events, open
}

// geminiSeal returns the signature of a piece of reasoning.
func geminiSeal(thought string) string {
	return base64.StdEncoding.EncodeToString([]byte("gemini " + seal(thought)))
}

// geminiFinish returns the wire's word for a stop reason.
func geminiFinish(stop oh.StopReason) string {
	switch stop {
	case oh.StopEnd, oh.StopSequence, oh.StopToolUse:
		return "STOP"
	case oh.StopMaxTokens, oh.StopTooLong:
		return "MAX_TOKENS"
	case oh.StopRefusal:
		return "SAFETY"
	}
	return string(stop)
}

func (s *geminiStream) chunk(part, end string, candidate int) {
	u := s.usage
	cached, thoughts := "", ""
	if u.CacheReadTokens > 0 {
		cached = fmt.Sprintf(`,"cachedContentTokenCount":%d`, u.CacheReadTokens)
	}
	if u.ReasoningTokens > 0 {
		thoughts = fmt.Sprintf(`,"thoughtsTokenCount":%d`, u.ReasoningTokens)
	}
	s.events = append(s.events, fmt.Appendf(nil, `data: {"candidates":[{"content":{"parts":[%s],"role":"model"}%s,"index":0}],`+
		`"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d%s,"promptTokensDetails":[{"modality":"TEXT","tokenCount":%d}]%s},`+
		`"modelVersion":%s,"responseId":%s}`+"\r\n\r\n",
		part, end, u.Prompt(), candidate, u.Prompt()+candidate+u.ReasoningTokens, cached, u.Prompt(), thoughts, quote(s.model), quote(s.id)))
}

// partial is a running count of tokens: it grows to what the last chunk says.
func (s *geminiStream) partial() int {
	return min(len(s.events)+1, s.usage.OutputTokens-s.usage.ReasoningTokens)
}

func (s *geminiStream) deltas(text, more string) {
	for _, piece := range s.cut.runes(text) {
		s.chunk(fmt.Sprintf(`{"text":%s%s}`, quote(piece), more), "", s.partial())
	}
}

func (s *geminiStream) call(c ToolCall) {
	if s.pending == "" && !s.signed && signsCalls(s.model) {
		s.pending = geminiSeal("call " + c.Name + c.Input) // these models always sign
	}
	id, args, sign := "", "", ""
	if c.ID != "" {
		id = fmt.Sprintf(`,"id":%s`, quote(c.ID))
	}
	if isObject([]byte(c.Input)) {
		args = `,"args":` + string(oh.Compact([]byte(c.Input)))
	}
	if s.pending != "" {
		sign = fmt.Sprintf(`,"thoughtSignature":%s`, quote(s.pending))
		s.pending, s.signed = "", true
	}
	s.chunk(fmt.Sprintf(`{"functionCall":{"name":%s%s%s}%s}`, quote(c.Name), args, id, sign), "", s.partial())
}

// signsCalls reports whether a model signs its calls and demands the signature
// back: Gemini from version 3 on.
func signsCalls(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	version, ok := strings.CutPrefix(name, "gemini-")
	return ok && version != "" && version[0] >= '3' && version[0] <= '9'
}
