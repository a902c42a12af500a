package claude

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestToolNames(t *testing.T) {
	names := map[string]string{}
	for _, r := range table() {
		if got := ToolName(r.ours); got != r.claude {
			t.Errorf("ToolName(%q) = %q, want %q", r.ours, got, r.claude)
		}
		for _, n := range append([]string{r.claude, r.ours}, r.older...) {
			if got := OurTool(n); got != r.ours {
				t.Errorf("OurTool(%q) = %q, want %q", n, got, r.ours)
			}
			if other := names[n]; other != "" {
				t.Errorf("%q is listed for %q and %q", n, other, r.ours)
			}
			names[n] = r.ours
		}
	}
	for _, n := range []string{"mcp__git__status", "task_create", "Nope", "", "apply_patch"} {
		if ToolName(n) != n || OurTool(n) != n {
			t.Errorf("%q does not pass through", n)
		}
	}
	for older, ours := range map[string]string{
		"Task": "agent", "KillShell": "task_stop", "KillBash": "task_stop", "BashOutput": "task_output",
		"AgentOutputTool": "task_output", "MultiEdit": "multi_edit", "TaskCreate": "team_tasks", "TaskList": "team_tasks",
	} {
		if got := OurTool(older); got != ours {
			t.Errorf("OurTool(%q) = %q, want %q", older, got, ours)
		}
	}
}

// Each line is a call in both vocabularies, translated both ways.
func TestInputBothWays(t *testing.T) {
	for _, c := range []struct{ ours, in, claude, out string }{
		{"bash", `{"command":"ls <a>","timeout_seconds":30,"run_in_background":true}`, "Bash", `{"command":"ls <a>","timeout":30000,"run_in_background":true}`},
		{"read_file", `{"path":"/a","offset":0,"limit":20}`, "Read", `{"file_path":"/a","offset":1,"limit":20}`},
		{"write_file", `{"path":"a","content":"\u003c"}`, "Write", `{"file_path":"a","content":"\u003c"}`},
		{"edit_file", `{"path":"a","old_str":"x","new_str":"y","replace_all":true}`, "Edit", `{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}`},
		{"multi_edit", `{"path":"a","edits":[{"old_str":"x","new_str":"y"},{"path":"b","old_str":"1","new_str":"2","replace_all":false}]}`,
			"MultiEdit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"file_path":"b","old_string":"1","new_string":"2","replace_all":false}]}`},
		{"notebook_edit", `{"path":"n.ipynb","cell_index":3,"new_source":"s","cell_type":"code","mode":"insert"}`,
			"NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"cell-3","new_source":"s","cell_type":"code","edit_mode":"insert"}`},
		{"notebook_edit", `{"path":"n.ipynb","cell_id":"a1b2"}`, "NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"a1b2"}`},
		{"glob", `{"pattern":"*.go","root":"/src"}`, "Glob", `{"pattern":"*.go","path":"/src"}`},
		{"grep", `{"pattern":"x","root":"/s","file_glob":"*.go","case_sensitive":false,"limit":5,"before":1,"after":2,"context":3,"output_mode":"count","type":"go","offset":4,"multiline":true}`,
			"Grep", `{"pattern":"x","path":"/s","glob":"*.go","-i":true,"head_limit":5,"-B":1,"-A":2,"-C":3,"output_mode":"count","type":"go","offset":4,"multiline":true}`},
		{"web_fetch", `{"url":"https://a/?b&c","prompt":"p"}`, "WebFetch", `{"url":"https://a/?b&c","prompt":"p"}`},
		{"web_search", `{"query":"q","allowed_domains":["a"]}`, "WebSearch", `{"query":"q","allowed_domains":["a"]}`},
		{"todo_write", `{"todos":[{"content":"c","status":"pending","activeForm":"f"}]}`, "TodoWrite", `{"todos":[{"content":"c","status":"pending","activeForm":"f"}]}`},
		{"ask_user_question", `{"questions":[{"question":"q","multiSelect":true}]}`, "AskUserQuestion", `{"questions":[{"question":"q","multiSelect":true}]}`},
		{"agent", `{"description":"d","prompt":"p","subagent_type":"t"}`, "Agent", `{"description":"d","prompt":"p","subagent_type":"t"}`},
		{"send_message", `{"to":"x","message":"m"}`, "SendMessage", `{"to":"x","message":"m"}`},
		{"task_output", `{"task_id":"b1"}`, "TaskOutput", `{"task_id":"b1"}`},
		{"task_stop", `{"task_id":"b1"}`, "TaskStop", `{"task_id":"b1"}`},
		{"team_tasks", `{"action":"create","subject":"s","description":"d","owner":"o"}`, "TaskCreate", `{"subject":"s","description":"d","owner":"o"}`},
		{"team_tasks", `{"action":"update","id":"1","status":"completed","depends_on":["2"]}`, "TaskUpdate", `{"taskId":"1","status":"completed","addBlockedBy":["2"]}`},
		{"team_tasks", `{"action":"get","id":"1"}`, "TaskGet", `{"taskId":"1"}`},
		{"team_tasks", `{"action":"list"}`, "TaskList", `{}`},
		{"enter_plan_mode", `{}`, "EnterPlanMode", `{}`},
		{"exit_plan_mode", `{"plan":"p"}`, "ExitPlanMode", `{"plan":"p"}`},
		{"skill", `{"name":"pdf","args":"a"}`, "Skill", `{"skill":"pdf","args":"a"}`},
		{"tool_search", `{"query":"q"}`, "ToolSearch", `{"query":"q"}`},
		{"list_mcp_resources", `{"server":"s"}`, "ListMcpResourcesTool", `{"server":"s"}`},
		{"read_mcp_resource", `{"server":"s","uri":"u"}`, "ReadMcpResourceTool", `{"server":"s","uri":"u"}`},
		{"enter_worktree", `{"branch":"b","path":"p"}`, "EnterWorktree", `{"name":"b","path":"p"}`},
		{"exit_worktree", `{"action":"keep"}`, "ExitWorktree", `{"action":"keep"}`},
		{"cron_create", `{"schedule":"* * * * *","message":"m"}`, "CronCreate", `{"cron":"* * * * *","prompt":"m"}`},
		{"cron_list", `{}`, "CronList", `{}`},
		{"cron_delete", `{"name":"n"}`, "CronDelete", `{"id":"n"}`},
		{"lsp", `{"operation":"go_to_definition","file_path":"a.go","line":1,"character":2}`, "LSP", `{"operation":"goToDefinition","filePath":"a.go","line":1,"character":2}`},
		{"ls", `{"path":"/a"}`, "LS", `{"path":"/a"}`},
		{"mcp__git__log", `{"path":"p","file_path":"q"}`, "mcp__git__log", `{"path":"p","file_path":"q"}`},
		{"read_file", `{"path":"a","zeta":{"b":1,"a":2},"alpha":1.50}`, "Read", `{"file_path":"a","zeta":{"b":1,"a":2},"alpha":1.50}`},
	} {
		name, out := Call(c.ours, json.RawMessage(c.in))
		if diff := cmp.Diff([]string{c.claude, c.out}, []string{name, string(out)}); diff != "" {
			t.Errorf("Call(%s, %s) (-want +got):\n%s", c.ours, c.in, diff)
		}
		name, in := OurCall(c.claude, json.RawMessage(c.out))
		if diff := cmp.Diff([]string{c.ours, c.in}, []string{name, string(in)}); diff != "" {
			t.Errorf("OurCall(%s, %s) (-want +got):\n%s", c.claude, c.out, diff)
		}
	}
}

func TestEveryRowIsTried(t *testing.T) {
	for _, r := range table() {
		in := object{}
		for _, f := range r.fields {
			v := json.RawMessage(`"x"`)
			switch {
			case f.to != nil && f.ours == "case_sensitive":
				v = json.RawMessage(`true`)
			case f.to != nil && f.ours == "operation":
				v = json.RawMessage(`"find_references"`)
			case f.to != nil:
				v = json.RawMessage(`7`)
			}
			in = append(in, member{f.ours, v})
		}
		if r.ours == teamTool {
			in = append(object{{"action", quote("update")}}, in...)
		}
		out := Input(r.ours, in.bytes())
		for _, f := range r.fields {
			if o, _ := parse(out); o.index(f.claude) < 0 {
				t.Errorf("%s: %s is missing in %s", r.ours, f.claude, out)
			}
		}
		if back := OurInput(r.claude, out); string(back) != string(in.bytes()) {
			t.Errorf("%s: %s came back as %s", r.ours, in.bytes(), back)
		}
	}
}

// What only one direction can mean.
func TestInputOneWay(t *testing.T) {
	for _, c := range []struct{ claude, in, want string }{
		{"KillShell", `{"shell_id":"b1"}`, `{"task_id":"b1"}`},
		{"BashOutput", `{"bash_id":"b1","filter":"x"}`, `{"task_id":"b1","filter":"x"}`},
		{"Bash", `{"command":"x","timeout":1500}`, `{"command":"x","timeout_seconds":2}`},
		{"Bash", `{"timeout":"2000"}`, `{"timeout_seconds":2}`},
		{"Bash", `{"timeout":"soon"}`, `{"timeout_seconds":"soon"}`},
		{"Read", `{"file_path":"a","offset":0}`, `{"path":"a","offset":0}`},
		{"Read", `{"file_path":"a","path":"b"}`, `{"path":"a"}`},
		{"Read", `{"path":"b","file_path":"a"}`, `{"path":"a"}`},
		{"Read", `{"file_path":"a","file_path":"b"}`, `{"path":"b"}`},
		{"Grep", `{"-i":null}`, `{"case_sensitive":null}`},
		{"Read", `not json`, `not json`},
		{"Read", `[1]`, `[1]`},
		{"Read", `{"file_path":"a"} x`, `{"file_path":"a"} x`},
		{"Read", ``, ``},
	} {
		if got := OurInput(c.claude, json.RawMessage(c.in)); string(got) != c.want {
			t.Errorf("OurInput(%s, %s) = %s, want %s", c.claude, c.in, got, c.want)
		}
	}
	for _, c := range []struct{ ours, in, want string }{
		{"glob", `{"path":"*.go"}`, `{"pattern":"*.go"}`},
		{"glob", `{"path":"src","pattern":"*.go"}`, `{"path":"src","pattern":"*.go"}`},
		{"send_message", `{"task_id":"a","message":"m"}`, `{"to":"a","message":"m"}`},
		{"send_message", `{"task_id":"a","to":"b"}`, `{"to":"b"}`},
		{"notebook_edit", `{"cell_index":-1}`, `{"cell_id":-1}`},
	} {
		if got := Input(c.ours, json.RawMessage(c.in)); string(got) != c.want {
			t.Errorf("Input(%s, %s) = %s, want %s", c.ours, c.in, got, c.want)
		}
	}
}

func TestModes(t *testing.T) {
	for _, m := range oh.Modes {
		if got, note, err := OurMode(ModeName(m)); got != m || note != "" || err != nil {
			t.Errorf("%s came back as %s, %q, %v", m, got, note, err)
		}
	}
	if got, note, err := OurMode("delegate"); got != oh.ModeDefault || note == "" || err != nil {
		t.Errorf("delegate: %s, %q, %v", got, note, err)
	}
	if got, note, err := OurMode("auto"); got != oh.ModeAcceptEdits || note == "" || err != nil {
		t.Errorf("auto: %s, %q, %v", got, note, err)
	}
	if _, _, err := OurMode("yolo"); err == nil {
		t.Error("yolo is a mode")
	}
}

func TestSplitRule(t *testing.T) {
	for _, c := range []struct {
		in, tool, spec string
		ok             bool
	}{
		{"Bash", "Bash", "", true},
		{" Bash(*) ", "Bash", "", true},
		{"Bash(git log (x))", "Bash", "git log (x)", true},
		{"mcp__git__*", "mcp__git__*", "", true},
		{"Skill(a:b)", "Skill", "a:b", true},
		{"Bash()", "", "", false}, {"Nope(", "", "", false}, {"(x)", "", "", false}, {"", "", "", false},
		{"Bash(x) y", "", "", false}, {"Ba sh", "", "", false},
	} {
		tool, spec, ok := SplitRule(c.in)
		if tool != c.tool || spec != c.spec || ok != c.ok {
			t.Errorf("SplitRule(%q) = %q, %q, %v", c.in, tool, spec, ok)
		}
	}
}

func FuzzInput(f *testing.F) {
	f.Add("Edit", `{"file_path":"a","old_string":"x"}`)
	f.Add("MultiEdit", `{"edits":[{"old_string":1},2,null]}`)
	f.Add("TaskCreate", `{"action":"x"}`)
	f.Add("Grep", `{"-i":"true","-i":false}`)
	f.Fuzz(func(t *testing.T, tool, in string) {
		for _, got := range []json.RawMessage{OurInput(tool, json.RawMessage(in)), Input(OurTool(tool), json.RawMessage(in))} {
			if json.Valid([]byte(in)) != json.Valid(got) {
				t.Fatalf("%s: %q became %q", tool, in, got)
			}
		}
	})
}
