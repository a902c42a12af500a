package print

import (
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/claude"
)

// streamFace writes Claude Code's frames.
type streamFace struct {
	p       *Printer
	began   bool // the init frame of this run is out
	session string
	changed oh.StateChanged // what differs from Info by now
	partial partial
	limited string // status of the limits as it was told last
}

// origin is what every frame carries. Parent is null in the main conversation.
type origin struct {
	Parent  *string `json:"parent_tool_use_id"`
	Session string  `json:"session_id"`
	UUID    string  `json:"uuid"`
}

type messageFrame struct {
	Type    string `json:"type"`
	Message any    `json:"message"`
	origin
	Result any `json:"tool_use_result,omitempty"`
}

type apiMessage struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         oh.Role        `json:"role"`
	Model        string         `json:"model"`
	Content      []any          `json:"content"`
	StopReason   *oh.StopReason `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	Usage        usageFrame     `json:"usage"`
}

type userMessage struct {
	Role    oh.Role `json:"role"`
	Content []any   `json:"content"`
}

func (f *streamFace) event(env oh.Envelope, denied *Denial) error {
	if s, ok := env.Event.(oh.StateChanged); ok {
		f.state(s)
	}
	if !f.began {
		if err := f.begin(env.Session); err != nil {
			return err
		}
	}
	if denied != nil {
		if err := f.denied(denied); err != nil {
			return err
		}
	}
	return f.write("", env.Event, env.Time)
}

func (f *streamFace) write(parent string, e oh.Event, at time.Time) error {
	switch e := e.(type) {
	case oh.TextDelta:
		return f.delta(parent, textKind, e.Text, at)
	case oh.ThinkingDelta:
		return f.delta(parent, thinkingKind, e.Text, at)
	case oh.ToolInputDelta:
		if parent == "" && f.p.o.Partial {
			return f.closeBlock()
		}
	case oh.MessageDone:
		return f.message(parent, e.Message)
	case oh.ToolDone:
		return f.toolDone(parent, e)
	case oh.Sub:
		return f.write(e.Call, e.Event, at)
	}
	if parent != "" {
		return nil
	}
	return f.system(e)
}

func (f *streamFace) system(e oh.Event) error {
	switch e := e.(type) {
	case oh.Retrying:
		f.partial = partial{}
		return f.frame(retryFrame(e, f.origin("")))
	case oh.Status:
		return f.frame(statusFrame{systemHead{"system", "status"}, nil, e.Text, "", f.systemOrigin()})
	case oh.StateChanged:
		if e.Mode != "" {
			return f.frame(statusFrame{systemHead{"system", "status"}, nil, "", claude.ModeName(e.Mode), f.systemOrigin()})
		}
	case oh.RateLimit:
		return f.rateLimit(e)
	case oh.Compaction:
		return f.compaction(e)
	case oh.CommandOutput:
		return f.frame(commandFrame{systemHead{"system", "local_command_output"}, e.Text, f.systemOrigin()})
	}
	return nil
}

func (f *streamFace) state(s oh.StateChanged) {
	if s.Mode != "" {
		f.changed.Mode = s.Mode
	}
	if s.Model != "" {
		f.changed.Model = s.Model
	}
	if s.Dir != "" {
		f.changed.Dir = s.Dir
	}
}

func (f *streamFace) begin(session string) error {
	f.began = true
	if f.session = session; session == "" {
		f.session = f.p.o.Info.Session
	}
	return f.frame(f.init())
}

func (f *streamFace) origin(parent string) origin {
	o := origin{Session: f.session, UUID: f.p.o.NewID()}
	if parent != "" {
		o.Parent = &parent
	}
	return o
}

func (f *streamFace) frame(v any) error {
	value, err := oh.Marshal(v)
	if err != nil {
		f.p.note.warn("one frame could not be written: " + err.Error())
		return nil
	}
	return f.p.out.line(value)
}

func (f *streamFace) message(parent string, m oh.Message) error {
	id := m.ID
	if parent == "" && f.p.o.Partial {
		if err := f.finishPartial(m); err != nil {
			return err
		}
		id = f.partial.id
		f.partial = partial{}
	}
	msg := apiMessage{
		ID: id, Type: "message", Role: oh.Assistant, Model: f.model(m), Content: blocks(m.Content), Usage: usageOf(m.Usage),
	}
	if m.Stop != "" {
		msg.StopReason = &m.Stop
	}
	o := f.origin(parent)
	if isUUID(m.ID) {
		o.UUID = m.ID
	}
	return f.frame(messageFrame{Type: "assistant", Message: msg, origin: o})
}

func (f *streamFace) model(m oh.Message) string {
	switch {
	case m.Model != "":
		return m.Model
	case f.changed.Model != "":
		return f.changed.Model
	}
	return f.p.o.Info.Model
}

func (f *streamFace) toolDone(parent string, e oh.ToolDone) error {
	block := resultBlock{"tool_result", e.ID, resultContent(e.Content), e.IsError}
	return f.frame(messageFrame{
		Type: "user", Message: userMessage{oh.User, []any{block}}, origin: f.origin(parent), Result: shown(e),
	})
}

func (f *streamFace) finish(o Outcome) error {
	if !f.began {
		if err := f.begin(""); err != nil {
			return err
		}
	}
	f.began, f.partial = false, partial{}
	return f.frame(f.p.result(o, f.session))
}

// isUUID reports whether s has the form of a UUID.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
