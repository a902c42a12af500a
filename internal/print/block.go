package print

import (
	"encoding/json"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/claude"
)

// The blocks of a message as Anthropic's wire has them.
type (
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingBlock struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	toolUseBlock struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	mediaBlock struct {
		Type   string      `json:"type"`
		Source mediaSource `json:"source"`
		Title  string      `json:"title,omitempty"`
	}
	mediaSource struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	}
	resultBlock struct {
		Type    string `json:"type"`
		ID      string `json:"tool_use_id"`
		Content any    `json:"content"`
		IsError bool   `json:"is_error,omitempty"`
	}
)

// blocks converts content for a frame. Thinking without text (encrypted or
// redacted) is left out: only its service can read it.
func blocks(content oh.Blocks) []any {
	out := make([]any, 0, len(content))
	for _, b := range content {
		switch b := b.(type) {
		case oh.Text:
			out = append(out, textBlock{"text", b.Text})
		case oh.Thinking:
			if b.Text != "" {
				out = append(out, thinkingBlock{Type: "thinking", Thinking: b.Text})
			}
		case oh.ToolUse:
			out = append(out, toolUse(b))
		case oh.Image:
			out = append(out, mediaBlock{Type: "image", Source: mediaSource{"base64", b.MediaType, b.Data}})
		case oh.Document:
			out = append(out, mediaBlock{Type: "document", Source: mediaSource{"base64", b.MediaType, b.Data}, Title: b.Name})
		case oh.ToolResult:
			out = append(out, resultBlock{"tool_result", b.ToolUseID, resultContent(b.Content), b.IsError})
		case oh.Unknown:
			if json.Valid(b.Raw) {
				out = append(out, b.Raw)
			}
		}
	}
	return out
}

func toolUse(u oh.ToolUse) toolUseBlock {
	name, input := claude.Call(innerCall(u.Name, object(u.Input)))
	return toolUseBlock{"tool_use", u.ID, name, input}
}

// resultContent is a string for text alone, else a list of blocks.
func resultContent(content oh.Blocks) any {
	if len(content) == 0 {
		return ""
	}
	if t, ok := content[0].(oh.Text); ok && len(content) == 1 {
		return t.Text
	}
	return blocks(content)
}

// innerCall unwraps the call of a deferred tool: call_tool{name, input} is
// shown as the tool it runs.
func innerCall(name string, input json.RawMessage) (string, json.RawMessage) {
	if name != "call_tool" {
		return name, input
	}
	var inner struct {
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if json.Unmarshal(input, &inner) != nil || inner.Name == "" {
		return name, input
	}
	return inner.Name, object(inner.Input)
}

// shown is the tool_use_result of a frame: what a person would see, in Claude's
// fields where it has them.
func shown(e oh.ToolDone) any {
	switch d := e.Display.Display.(type) {
	case oh.Output:
		return map[string]any{"stdout": d.Text, "stderr": "", "interrupted": d.Exit < 0, "isImage": false, "exitCode": d.Exit}
	case oh.Diff:
		return map[string]any{"filePath": d.Path, "diff": d.Unified, "added": d.Added, "removed": d.Removed}
	case oh.Todos:
		return map[string]any{"newTodos": d.Items}
	}
	if e.IsError {
		return "Error: " + e.Content.Text()
	}
	return e.Content.Text()
}
