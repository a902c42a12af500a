package print

import (
	"encoding/json"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/claude"
	"github.com/openharness/oh/internal/gist"
)

// resultFrame is the last frame of a run in the json and stream-json formats.
type resultFrame struct {
	Type       string                `json:"type"`
	Subtype    string                `json:"subtype"`
	IsError    bool                  `json:"is_error"`
	DurationMS int64                 `json:"duration_ms"`
	APIMS      int64                 `json:"duration_api_ms"`
	Turns      int                   `json:"num_turns"`
	Result     string                `json:"result"`
	Output     json.RawMessage       `json:"structured_output,omitempty"`
	StopReason *oh.StopReason        `json:"stop_reason"`
	Terminal   string                `json:"terminal_reason,omitempty"`
	Status     int                   `json:"api_error_status,omitempty"`
	Errors     []string              `json:"errors,omitempty"`
	Cost       float64               `json:"total_cost_usd"`
	CostKnown  bool                  `json:"cost_known"`
	Usage      usageFrame            `json:"usage"`
	Models     map[string]modelFrame `json:"modelUsage"`
	Denials    []permissionDenial    `json:"permission_denials"`
	Session    string                `json:"session_id"`
	UUID       string                `json:"uuid"`
}

// usageFrame writes all four counts, zeros too.
type usageFrame struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

type modelFrame struct {
	Input      int     `json:"inputTokens"`
	Output     int     `json:"outputTokens"`
	CacheRead  int     `json:"cacheReadInputTokens"`
	CacheWrite int     `json:"cacheCreationInputTokens"`
	Cost       float64 `json:"costUSD"`
	Window     int     `json:"contextWindow"`
}

type permissionDenial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

func usageOf(u oh.Usage) usageFrame {
	return usageFrame{Input: u.InputTokens, CacheWrite: u.CacheWriteTokens, CacheRead: u.CacheReadTokens, Output: u.OutputTokens}
}

// result builds the frame of a run's end.
func (p *Printer) result(o Outcome, session string) resultFrame {
	t := p.tally
	f := resultFrame{
		Type: "result", Subtype: o.Subtype, IsError: o.IsError, Result: o.Result, Output: o.Output,
		Terminal: terminal(o), Status: o.Status, Errors: errorsOf(o, t),
		Cost: t.cost(), CostKnown: !t.unpriced, Usage: usageOf(t.usage),
		Models: map[string]modelFrame{}, Denials: []permissionDenial{},
		Session: session, UUID: p.o.NewID(),
	}
	if t.stop != "" {
		f.StopReason = &t.stop
	}
	f.DurationMS = max(0, t.last.Sub(t.first).Milliseconds())
	if d := t.done; d != nil {
		f.DurationMS, f.APIMS, f.Turns = millis(d.Duration), millis(d.API), d.Turns
		if d.Usage != (oh.Usage{}) {
			f.Usage = usageOf(d.Usage)
		}
	}
	for name, s := range t.models {
		f.Models[name] = modelFrame{
			Input: s.usage.InputTokens, Output: s.usage.OutputTokens, CacheRead: s.usage.CacheReadTokens,
			CacheWrite: s.usage.CacheWriteTokens, Cost: s.cost, Window: p.o.Window(name),
		}
	}
	for _, d := range o.Denials {
		tool, input := claude.Call(d.Tool, object(d.Input))
		f.Denials = append(f.Denials, permissionDenial{Tool: tool, ID: d.ID, Input: input})
	}
	return f
}

func millis(d time.Duration) int64 { return d.Milliseconds() }

// terminal says what ended the run when nothing good did.
func terminal(o Outcome) string {
	switch {
	case o.Reason == oh.ReasonEnd:
		return ""
	case o.Reason == oh.ReasonFailed && o.Subtype == subSuccess:
		return "api_error"
	}
	return string(o.Reason)
}

func errorsOf(o Outcome, t *tally) []string {
	switch {
	case !o.IsError:
		return nil
	case o.Err != nil && o.Class != Cancelled:
		return []string{o.Err.Error()}
	case t.done != nil && t.done.Text != "":
		return []string{t.done.Text}
	}
	return []string{gist.Reason(o.Reason)}
}

// object is raw, or an empty object when there is none.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

// jsonFace writes the result frame and nothing else.
type jsonFace struct{ p *Printer }

func (f *jsonFace) event(oh.Envelope, *Denial) error { return nil }

func (f *jsonFace) finish(o Outcome) error {
	value, err := oh.Marshal(f.p.result(o, f.p.o.Info.Session))
	if err != nil {
		return err
	}
	return f.p.out.line(value)
}
