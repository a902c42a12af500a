package claude

import "encoding/json"

// row is one tool in both vocabularies.
type row struct {
	ours   string
	claude string
	older  []string // names that Claude Code had earlier; rules and transcripts still hold them
	fields []field
}

// field is one input field in both vocabularies. Fields that are the same on
// both sides are listed only where an alias could collide with them.
type field struct {
	ours   string
	claude string

	// to and from convert a value to Claude's form and back; nil keeps it. A
	// value they cannot convert is kept.
	to, from func(json.RawMessage) json.RawMessage

	each     []field  // fields of the objects in the array that is the value
	oursToo  []string // other names that our tool accepts for the field
	olderToo []string // other names that Claude's older tools had for it
}

// table returns the rows. A function keeps them out of the start-up path.
func table() []row { return rows[:] }

var rows = [...]row{
	{ours: "bash", claude: "Bash", fields: []field{
		{ours: "timeout_seconds", claude: "timeout", to: toMillis, from: fromMillis},
	}},
	{ours: "read_file", claude: "Read", older: []string{"View", "NotebookRead"}, fields: []field{
		{ours: "path", claude: "file_path", olderToo: []string{"notebook_path"}},
		{ours: "offset", claude: "offset", to: toLine, from: fromLine},
	}},
	{ours: "write_file", claude: "Write", older: []string{"Replace"}, fields: []field{
		{ours: "path", claude: "file_path"},
	}},
	{ours: "edit_file", claude: "Edit", fields: []field{
		{ours: "path", claude: "file_path"},
		{ours: "old_str", claude: "old_string"},
		{ours: "new_str", claude: "new_string"},
	}},
	{ours: "multi_edit", claude: "MultiEdit", fields: []field{
		{ours: "path", claude: "file_path"},
		{ours: "edits", claude: "edits", each: []field{
			{ours: "path", claude: "file_path"},
			{ours: "old_str", claude: "old_string"},
			{ours: "new_str", claude: "new_string"},
		}},
	}},
	{ours: "notebook_edit", claude: "NotebookEdit", older: []string{"NotebookEditCell"}, fields: []field{
		{ours: "path", claude: "notebook_path"},
		{ours: "cell_index", claude: "cell_id", to: toCellID, from: fromCellID},
		{ours: "mode", claude: "edit_mode"},
	}},
	{ours: "glob", claude: "Glob", older: []string{"GlobTool"}, fields: []field{
		{ours: "pattern", claude: "pattern"},
		{ours: "root", claude: "path"},
	}},
	{ours: "grep", claude: "Grep", older: []string{"GrepTool"}, fields: []field{
		{ours: "root", claude: "path"},
		{ours: "file_glob", claude: "glob"},
		{ours: "case_sensitive", claude: "-i", to: invert, from: invert},
		{ours: "limit", claude: "head_limit"},
		{ours: "before", claude: "-B"},
		{ours: "after", claude: "-A"},
		{ours: "context", claude: "-C"},
	}},
	{ours: "ls", claude: "LS"},
	{ours: "web_fetch", claude: "WebFetch"},
	{ours: "web_search", claude: "WebSearch"},
	{ours: "todo_write", claude: "TodoWrite"},
	{ours: "ask_user_question", claude: "AskUserQuestion"},
	{ours: "agent", claude: "Agent", older: []string{"Task"}},
	{ours: "send_message", claude: "SendMessage", fields: []field{
		{ours: "to", claude: "to", oursToo: []string{"task_id"}},
	}},
	{ours: "task_output", claude: "TaskOutput", older: []string{"BashOutput", "BashOutputTool", "AgentOutputTool"}, fields: []field{
		{ours: "task_id", claude: "task_id", olderToo: []string{"bash_id", "agentId"}},
	}},
	{ours: "task_stop", claude: "TaskStop", older: []string{"KillShell", "KillBash"}, fields: []field{
		{ours: "task_id", claude: "task_id", olderToo: []string{"shell_id", "bash_id"}},
	}},
	// One tool of ours for four of Claude's: see teamAction.
	{ours: teamTool, claude: "TaskUpdate", older: []string{"TaskCreate", "TaskGet", "TaskList"}, fields: []field{
		{ours: "id", claude: "taskId"},
		{ours: "depends_on", claude: "addBlockedBy"},
	}},
	{ours: "enter_plan_mode", claude: "EnterPlanMode"},
	{ours: "exit_plan_mode", claude: "ExitPlanMode"},
	{ours: "skill", claude: "Skill", fields: []field{
		{ours: "name", claude: "skill"},
	}},
	{ours: "tool_search", claude: "ToolSearch"},
	{ours: "structured_output", claude: "StructuredOutput"},
	{ours: "list_mcp_resources", claude: "ListMcpResourcesTool", older: []string{"ListMcpResources"}},
	{ours: "read_mcp_resource", claude: "ReadMcpResourceTool", older: []string{"ReadMcpResource"}},
	{ours: "enter_worktree", claude: "EnterWorktree", fields: []field{
		{ours: "branch", claude: "name"},
	}},
	{ours: "exit_worktree", claude: "ExitWorktree"},
	{ours: "cron_create", claude: "CronCreate", fields: []field{
		{ours: "schedule", claude: "cron"},
		{ours: "message", claude: "prompt"},
	}},
	{ours: "cron_list", claude: "CronList"},
	{ours: "cron_delete", claude: "CronDelete", fields: []field{
		{ours: "name", claude: "id"},
	}},
	{ours: "lsp", claude: "LSP", fields: []field{
		{ours: "operation", claude: "operation", to: toCamel, from: fromCamel},
		{ours: "file_path", claude: "filePath"},
	}},
}
