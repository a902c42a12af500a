package claude

import "encoding/json"

const teamTool = "team_tasks"

// ToolName returns Claude's name of one of our tools. Names of MCP tools, and
// names without a twin, are returned unchanged. Of the four names that stand
// for team_tasks it is TaskUpdate; [Call] tells them apart.
func ToolName(ours string) string {
	for _, r := range table() {
		if r.ours == ours {
			return r.claude
		}
	}
	return ours
}

// OurTool returns our name of a tool under Claude's name or one it had in an
// older version. Names of MCP tools, our own names and unknown names are
// returned unchanged.
func OurTool(claude string) string {
	for _, r := range table() {
		if r.named(claude) {
			return r.ours
		}
	}
	return claude
}

// Input translates the input of one of our tools to Claude's fields: names,
// units and bases.
func Input(ours string, input json.RawMessage) json.RawMessage {
	for _, r := range table() {
		if r.ours == ours {
			return r.outward(input)
		}
	}
	return input
}

// OurInput translates the input of a tool under Claude's name, or an older
// one, to our fields. For the names that stand for team_tasks it adds the
// action.
func OurInput(claude string, input json.RawMessage) json.RawMessage {
	for _, r := range table() {
		if r.named(claude) {
			return r.inward(claude, input)
		}
	}
	return input
}

// Call translates a call of one of our tools to Claude's name and fields. It
// differs from [ToolName] with [Input] in that the name may depend on the
// input.
func Call(ours string, input json.RawMessage) (string, json.RawMessage) {
	name := ToolName(ours)
	if ours == teamTool {
		if n := teamName(input); n != "" {
			name = n
		}
	}
	return name, Input(ours, input)
}

// OurCall translates a call under Claude's name to our name and fields.
func OurCall(claude string, input json.RawMessage) (string, json.RawMessage) {
	return OurTool(claude), OurInput(claude, input)
}

func (r row) named(claude string) bool {
	if r.claude == claude {
		return true
	}
	for _, o := range r.older {
		if o == claude {
			return true
		}
	}
	return false
}

func (r row) outward(input json.RawMessage) json.RawMessage {
	if len(r.fields) == 0 {
		return input
	}
	o, ok := parse(input)
	if !ok {
		return input
	}
	switch r.ours {
	case "glob":
		o = globPattern(o)
	case teamTool:
		o = o.without("action")
	}
	return translate(o, r.fields, true).bytes()
}

func (r row) inward(claude string, input json.RawMessage) json.RawMessage {
	if len(r.fields) == 0 {
		return input
	}
	o, ok := parse(input)
	if !ok {
		return input
	}
	o = translate(o, r.fields, false)
	switch r.ours {
	case "notebook_edit":
		o = cellID(o)
	case teamTool:
		o = o.without("action")
		o = append(object{{"action", quote(teamAction(claude))}}, o...)
	}
	return o.bytes()
}

// cellID keeps a cell's id that is no number under the name of the id.
func cellID(o object) object {
	if i := o.index("cell_index"); i >= 0 && o.index("cell_id") < 0 {
		if _, ok := number(o[i].value); !ok {
			o[i].key = "cell_id"
		}
	}
	return o
}

// globPattern renames a path that stands alone: our glob takes it for the
// pattern then, and for the root beside one.
func globPattern(o object) object {
	if o.index("pattern") >= 0 {
		if i := o.index("path"); i >= 0 && o.index("root") < 0 {
			o[i].key = "root"
		}
		return o
	}
	if i := o.index("path"); i >= 0 {
		o[i].key = "pattern"
	}
	return o
}

func teamAction(claude string) string {
	switch claude {
	case "TaskCreate":
		return "create"
	case "TaskGet":
		return "get"
	case "TaskList":
		return "list"
	}
	return "update"
}

func teamName(input json.RawMessage) string {
	var in struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	switch in.Action {
	case "create":
		return "TaskCreate"
	case "get":
		return "TaskGet"
	case "list":
		return "TaskList"
	}
	return ""
}
