package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/loose"
)

// callOpaque is what this wire keeps with a call: its extra_content, such as the
// thought signature without which Gemini refuses the call when it comes back.
type callOpaque struct {
	Extra json.RawMessage `json:"extra_content"`
}

// sealExtra keeps the extra content of a call for its origin.
func sealExtra(origin string, raw json.RawMessage) *oh.Opaque {
	if !loose.Present(raw) {
		return nil
	}
	data, err := oh.Marshal(callOpaque{Extra: oh.Compact(raw)})
	if err != nil {
		return nil
	}
	return &oh.Opaque{Origin: origin, Data: data}
}

// unsigned is what Google documents as the extra content of a call that no
// Gemini model signed.
const unsigned = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// extras returns the extra content of each call, empty where none is sent. A
// model that demands a signature wants it on the first of parallel calls only.
func (e *encoder) extras(calls []oh.ToolUse) []json.RawMessage {
	out := make([]json.RawMessage, len(calls))
	for i, u := range calls {
		out[i] = e.extra(u.Opaque)
	}
	own := slices.ContainsFunc(out, func(raw json.RawMessage) bool { return len(raw) > 0 })
	if e.signs && len(calls) > 0 && !own {
		out[0] = json.RawMessage(unsigned)
	}
	return out
}

// extra returns the extra content that came from this service.
func (e *encoder) extra(o *oh.Opaque) json.RawMessage {
	var own callOpaque
	if o == nil || o.Origin != e.origin || json.Unmarshal(o.Data, &own) != nil || !loose.Present(own.Extra) {
		return nil
	}
	return body.AppendRaw(nil, own.Extra, "{}")
}

// signs reports whether a model refuses calls without a thought signature.
func signs(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	return strings.HasPrefix(strings.ToLower(name), "gemini-3")
}
