package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// snapshot is what OpenHarness (Python) keeps of a session.
type snapshot struct {
	SessionID    string            `json:"session_id"` // 12 hex digits
	Cwd          string            `json:"cwd"`
	Model        string            `json:"model"`
	SystemPrompt string            `json:"system_prompt"`
	Messages     []snapshotMessage `json:"messages"`
	Usage        snapshotUsage     `json:"usage"`
	Metadata     map[string]string `json:"tool_metadata"`
	CreatedAt    float64           `json:"created_at"` // seconds since 1970, of the last change
	Summary      string            `json:"summary"`
	Count        int               `json:"message_count"`
}

type snapshotUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

type snapshotMessage struct {
	Role    oh.Role          `json:"role"`
	Content []map[string]any `json:"content"`
}

func exportSnapshot(w *bufio.Writer, r *log, from Ref, skipped *Skipped) error {
	st, err := r.f.Stat()
	if err != nil {
		return err
	}
	c, err := replay(r, skipped)
	if err != nil {
		return err
	}
	state := c.State()
	snap := snapshot{
		SessionID:    shortID(from.ID),
		Cwd:          state.Dir,
		Model:        state.Model,
		SystemPrompt: state.System,
		Messages:     []snapshotMessage{},
		Metadata:     map[string]string{},
		CreatedAt:    float64(st.ModTime().UnixMilli()) / 1000,
	}
	if state.Mode != "" {
		snap.Metadata["permission_mode"] = snapshotMode(state.Mode)
	}
	for _, s := range state.Spend {
		snap.Usage.Input += s.Usage.Prompt()
		snap.Usage.Output += s.Usage.OutputTokens
	}
	for _, m := range c.Messages() {
		if m.Role == oh.User && snap.Summary == "" {
			snap.Summary = text.Head(said(m), Title)
		}
		if sm := toSnapshot(m); len(sm.Content) > 0 {
			snap.Messages = append(snap.Messages, sm)
		}
	}
	snap.Count = len(snap.Messages)
	return writeJSON(w, snap)
}

// shortID is the random end of a UUID, 12 hex digits.
func shortID(id string) string {
	id = strings.ReplaceAll(id, "-", "")
	return id[max(0, len(id)-12):]
}

func snapshotMode(m oh.Mode) string {
	switch m {
	case oh.ModePlan, oh.ModeFullAuto:
		return string(m)
	}
	return string(oh.ModeDefault)
}

func toSnapshot(m oh.Message) snapshotMessage {
	out := snapshotMessage{Role: m.Role}
	for _, b := range m.Content {
		switch b := b.(type) {
		case oh.Text:
			out.Content = append(out.Content, map[string]any{"type": "text", "text": b.Text})
		case oh.Image:
			out.Content = append(out.Content, map[string]any{"type": "image", "media_type": b.MediaType, "data": b.Data, "source_path": b.Path})
		case oh.Document:
			out.Content = append(out.Content, map[string]any{"type": "text", "text": fmt.Sprintf("[document %s, %s, not kept]", b.Name, b.MediaType)})
		case oh.ToolUse:
			out.Content = append(out.Content, map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Input})
		case oh.ToolResult:
			meta := b.Meta
			if len(meta) == 0 {
				meta = json.RawMessage("{}")
			}
			out.Content = append(out.Content, map[string]any{"type": "tool_result", "tool_use_id": b.ToolUseID,
				"content": resultText(b.Content), "is_error": b.IsError, "result_metadata": meta})
		}
	}
	return out
}

// resultText is the text of a result, with a word for what is none.
func resultText(bs oh.Blocks) string {
	var parts []string
	for _, b := range bs {
		switch b := b.(type) {
		case oh.Text:
			parts = append(parts, b.Text)
		case oh.Image:
			parts = append(parts, fmt.Sprintf("[image, %s, %s]", b.MediaType, text.Plural(len(b.Data), "byte")))
		case oh.Document:
			parts = append(parts, fmt.Sprintf("[document %s, %s, %s]", b.Name, b.MediaType, text.Plural(len(b.Data), "byte")))
		}
	}
	return strings.Join(parts, "\n")
}
