package print

import (
	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/claude"
)

// systemHead tells system frames apart.
type systemHead struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
}

type systemOrigin struct {
	Session string `json:"session_id"`
	UUID    string `json:"uuid"`
}

func (f *streamFace) systemOrigin() systemOrigin {
	return systemOrigin{f.session, f.p.o.NewID()}
}

type initFrame struct {
	systemHead
	Dir       string   `json:"cwd"`
	Tools     []string `json:"tools"`
	Servers   []Server `json:"mcp_servers"`
	Model     string   `json:"model"`
	Mode      string   `json:"permissionMode"`
	Commands  []string `json:"slash_commands"`
	KeySource string   `json:"apiKeySource"`
	Version   string   `json:"claude_code_version"`
	Style     string   `json:"output_style"`
	Agents    []string `json:"agents"`
	Skills    []string `json:"skills"`
	Plugins   []Plugin `json:"plugins"`
	systemOrigin
}

func (f *streamFace) init() initFrame {
	in := f.p.o.Info
	mode := in.Mode
	if f.changed.Mode != "" {
		mode = f.changed.Mode
	}
	if mode == "" {
		mode = oh.ModeDefault
	}
	return initFrame{
		systemHead: systemHead{"system", "init"},
		Dir:        or(f.changed.Dir, in.Dir), Tools: claudeNames(in.Tools), Servers: list(in.Servers),
		Model: f.model(oh.Message{}), Mode: claude.ModeName(mode), Commands: list(in.Commands),
		KeySource: or(in.KeySource, "none"), Version: in.Version, Style: or(in.Style, "default"),
		Agents: list(in.Agents), Skills: list(in.Skills), Plugins: list(in.Plugins),
		systemOrigin: f.systemOrigin(),
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// list is s, never nil, so that JSON has an array.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func claudeNames(tools []string) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = claude.ToolName(t)
	}
	return out
}

type apiRetry struct {
	systemHead
	Attempt int    `json:"attempt"`
	Max     int    `json:"max_retries"`
	Delay   int64  `json:"retry_delay_ms"`
	Status  *int   `json:"error_status"`
	Error   string `json:"error"`
	Message string `json:"message"`
	systemOrigin
}

// retryFrame counts retries, not attempts: the first retry is 1.
func retryFrame(e oh.Retrying, o origin) apiRetry {
	r := apiRetry{
		systemHead: systemHead{"system", "api_retry"},
		Attempt:    e.Attempt - 1, Max: e.Of - 1, Delay: e.After.Milliseconds(),
		Error: errorName(e.Kind), Message: e.Reason, systemOrigin: systemOrigin{o.Session, o.UUID},
	}
	if e.Status != 0 {
		r.Status = &e.Status
	}
	return r
}

// errorName is the SDK's name of a kind of failure.
func errorName(k oh.Kind) string {
	switch k {
	case oh.KindAuth:
		return "authentication_failed"
	case oh.KindQuota:
		return "billing_error"
	case oh.KindLimited:
		return "rate_limit"
	case oh.KindInvalid, oh.KindTooLong:
		return "invalid_request"
	case oh.KindOverloaded, oh.KindUnavailable:
		return "server_error"
	default:
		return "unknown"
	}
}

type statusFrame struct {
	systemHead
	Status  *string `json:"status"`
	Message string  `json:"message,omitempty"`
	Mode    string  `json:"permissionMode,omitempty"`
	systemOrigin
}

type commandFrame struct {
	systemHead
	Content string `json:"content"`
	systemOrigin
}

type deniedFrame struct {
	systemHead
	Tool    string  `json:"tool_name"`
	ID      string  `json:"tool_use_id"`
	By      string  `json:"decision_reason_type"`
	Message string  `json:"message"`
	Parent  *string `json:"parent_tool_use_id"`
	systemOrigin
}

func (f *streamFace) denied(d *Denial) error {
	tool, _ := claude.Call(d.Tool, object(d.Input))
	frame := deniedFrame{
		systemHead: systemHead{"system", "permission_denied"}, Tool: tool, ID: d.ID,
		By: string(d.By), Message: d.Reason, systemOrigin: f.systemOrigin(),
	}
	if d.Parent != "" {
		frame.Parent = &d.Parent
	}
	return f.frame(frame)
}

type boundaryFrame struct {
	systemHead
	Meta boundaryMeta `json:"compact_metadata"`
	systemOrigin
}

type boundaryMeta struct {
	Trigger string `json:"trigger"`    // manual or auto
	Tokens  int    `json:"pre_tokens"` // of the history before
}

func (f *streamFace) compaction(e oh.Compaction) error {
	if e.Phase != oh.CompactionDone {
		compacting := "compacting"
		return f.frame(statusFrame{systemHead{"system", "status"}, &compacting, e.Text, "", f.systemOrigin()})
	}
	trigger := "auto"
	if e.Trigger == "manual" {
		trigger = e.Trigger
	}
	return f.frame(boundaryFrame{
		systemHead{"system", "compact_boundary"}, boundaryMeta{trigger, f.p.tally.prompt}, f.systemOrigin(),
	})
}
