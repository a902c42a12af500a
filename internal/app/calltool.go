package app

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
)

// ToolResult is what one call of a tool gave, as the model would get it.
type ToolResult struct {
	Tool     string          `json:"tool"`
	Output   string          `json:"output"`
	Images   int             `json:"images,omitempty"`
	IsError  bool            `json:"is_error"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Millis   int64           `json:"duration_ms"`
}

// Tools returns the specs of the tools of this session, deferred ones included.
func (r *Runtime) Tools() []oh.ToolSpec {
	var out []oh.ToolSpec
	for _, t := range slices.Concat(r.tools, r.deferred) {
		out = append(out, t.Spec())
	}
	return out
}

// CallTool runs one tool the way the loop does: prepared, gated, long output
// moved to an artifact, state kept for the next call. The error is of the
// machinery; everything a tool can do wrong is in the result.
func (r *Runtime) CallTool(ctx context.Context, name string, input json.RawMessage) (ToolResult, error) {
	cfg := r.config
	cfg.Provider = oneCall(oh.ToolUse{ID: "call_" + oh.NewID(), Name: name, Input: input})
	cfg.Budget = nil
	eng, err := engine.New(cfg)
	if err != nil {
		return ToolResult{}, err
	}
	res := ToolResult{Tool: name, IsError: true}
	for ev, err := range eng.Run(ctx, r.conv, oh.Text{Text: "oh tool run", Context: true}) {
		if err != nil {
			return res, err
		}
		if done, ok := ev.(oh.ToolDone); ok {
			res = toolResult(done)
		}
	}
	return res, ctx.Err()
}

func toolResult(done oh.ToolDone) ToolResult {
	res := ToolResult{Tool: done.Tool, Output: done.Content.Text(), IsError: done.IsError, Metadata: done.Meta, Millis: done.Duration.Milliseconds()}
	for _, b := range done.Content {
		if _, ok := b.(oh.Image); ok {
			res.Images++
		}
	}
	if done.Cause != "" {
		meta := map[string]any{}
		if len(done.Meta) > 0 && json.Unmarshal(done.Meta, &meta) != nil {
			meta = map[string]any{}
		}
		meta["cause"] = done.Cause
		if done.Cause == oh.CauseDenied {
			meta["denied"] = true
		}
		if raw, err := oh.Marshal(meta); err == nil {
			res.Metadata = raw
		}
	}
	return res
}

// oneCall is a model that makes one call and is content with the result.
func oneCall(call oh.ToolUse) oh.Provider {
	asked := false
	return oh.ProviderFunc(func(context.Context, *oh.Request) iter.Seq2[oh.Chunk, error] {
		msg := oh.Message{Role: oh.Assistant, Model: "none", Content: oh.Blocks{call}, Stop: oh.StopToolUse}
		if asked {
			msg.Content, msg.Stop = oh.Blocks{oh.Text{Text: "done"}}, oh.StopEnd
		}
		asked = true
		return func(yield func(oh.Chunk, error) bool) { yield(oh.MessageDone{Message: msg}, nil) }
	})
}
