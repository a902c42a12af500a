package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/internal/claude"
	"github.com/openharness/oh/internal/permit"
	"github.com/openharness/oh/internal/text"
)

// Judgement is what the gate says of a call that is not made.
type Judgement struct {
	Tool string // by our name
	permit.Explanation
}

// Judge asks the gate about a call, in the session's mode and directory, and
// runs nothing. The tool's name is one of either vocabulary, and the fields of
// the input go with it. The error says why the call would not come before the
// gate: there is no such tool, or its input does not fit.
func (r *Runtime) Judge(ctx context.Context, name string, input json.RawMessage) (Judgement, error) {
	if name == engine.CallTool {
		var in struct {
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(input, &in); err != nil || in.Name == "" || in.Name == engine.CallTool || len(in.Input) == 0 || in.Input[0] != '{' {
			return Judgement{Tool: name}, fmt.Errorf(`%s takes {"name": the tool, "input": {its input}}`, engine.CallTool)
		}
		name, input = in.Name, in.Input
	}
	name, input = claude.OurCall(name, input)
	st := r.conv.State()
	out := Judgement{Tool: name}
	req := oh.GateRequest{ID: "call_" + oh.NewID(), Tool: name, Input: oh.Compact(input), Mode: st.Mode, Dir: st.Dir}
	switch tool := r.toolNamed(name); {
	case tool != nil:
		// Without a record of reads nothing counts as unread: the gate is asked,
		// not the tool.
		env := &oh.Env{Dir: st.Dir, Mode: st.Mode, Before: st.Before, Limits: r.config.Limits, Session: st.Session}
		act, err := tool.Prepare(ctx, &oh.Call{ID: req.ID, Name: name, Input: req.Input, Env: env})
		if err != nil {
			return out, err
		}
		req.Access = act.Access
	case !byName(name):
		return out, r.noTool(name)
	}
	out.Explanation = r.policy.Explain(ctx, req)
	return out, nil
}

// byName reports whether the calls of a tool are judged by name, whether or not
// the tool is there: those of servers, agents and skills.
func byName(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") || tool == "agent" || tool == "skill"
}

// toolNamed finds a tool among all, those that are not offered included.
func (r *Runtime) toolNamed(name string) oh.Tool {
	for _, t := range slices.Concat(r.every, r.tools) {
		if oh.ToolName(t) == name {
			return t
		}
	}
	return nil
}

func (r *Runtime) noTool(name string) error {
	var names []string
	for _, t := range slices.Concat(r.every, r.tools) {
		names = append(names, oh.ToolName(t))
	}
	if near := text.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no tool %q: did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no tool %q (oh tool list shows all)", name)
}
