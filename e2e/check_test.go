//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/ohtest"
)

// checked is a line of `oh permissions check`.
type checked struct {
	Tool, Verdict, Reason, Rule, Error string
	Guarded                            bool
	Line                               int
	Parts                              []struct {
		Argv, Reads, Writes   []string
		Verdict, Reason, Rule string
	}
}

// check judges calls, one a line, and returns what was said of each.
func (b *box) check(code int, lines []string, args ...string) (out []checked) {
	b.t.Helper()
	r := b.run(call{args: append([]string{"permissions", "check", "-"}, args...), stdin: strings.NewReader(strings.Join(lines, "\n"))})
	r.wantCode(b.t, code)
	for line := range strings.Lines(r.out) {
		var c checked
		must(b.t, json.Unmarshal([]byte(line), &c))
		out = append(out, c)
	}
	return out
}

func line(t *testing.T, tool string, fields map[string]any) string {
	return fmt.Sprintf(`{"tool":%q,"input":%s}`, tool, input(t, fields))
}

// verdicts are the words of all answers, those on parts in brackets.
func verdicts(list []checked) string {
	var out []string
	for _, c := range list {
		s := c.Verdict
		if c.Error != "" {
			s = fmt.Sprintf("error %d", c.Line)
		}
		var parts []string
		for _, p := range c.Parts {
			parts = append(parts, p.Verdict)
		}
		if c.Parts != nil {
			s += "[" + strings.Join(parts, " ") + "]"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// TestCheck: the gate answers without a model, a key or a trace.
func TestCheck(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	file := b.settings("{\"permissions\":{\n\"deny\":[\"Bash(wget *)\"],\"ask\":[\"Bash(make *)\"]}}")
	before := tree(t, filepath.Dir(b.home))
	sh := func(command string) string { return line(t, "bash", map[string]any{"command": command}) }
	lines := []string{
		sh(`touch "$M/ran"; git status`), sh("ls; wget x"), "", sh("rm -rf ~"), line(t, "Bash", map[string]any{"command": "ls"}),
		line(t, "write_file", map[string]any{"path": "n", "content": "x"}), line(t, "Write", map[string]any{"file_path": "n", "content": "x"}),
		line(t, "call_tool", map[string]any{"name": "ls", "input": map[string]any{"path": "/"}}), `{"tool":"mcp__a__b"}`, sh("make all"), sh("go test ./..."),
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "ask[ask allow], deny[allow deny], ask[ask], allow[allow], ask, ask, ask, ask, ask[ask], ask[ask]"},
		{[]string{"--permission-mode", "plan"}, "deny[deny allow], deny[allow deny], deny[deny], allow[allow], deny, deny, ask, deny, deny[deny], deny[deny]"},
		{[]string{"--permission-mode", "acceptEdits", "--add-dir", b.marks}, "ask[ask allow], deny[allow deny], ask[ask], allow[allow], allow, allow, allow, ask, ask[ask], ask[ask]"},
		{[]string{"--permission-mode", "acceptEdits", "--sandbox=on"}, "allow[allow allow], deny[allow deny], ask[ask], allow[allow], allow, allow, allow, ask, ask[ask], allow[allow]"},
		{[]string{"--permission-mode", "full_auto", "--sandbox=off"}, "allow[allow allow], deny[allow deny], ask[ask], allow[allow], allow, allow, allow, allow, ask[ask], allow[allow]"},
		{[]string{"--allowed-tools", "Bash(touch:*),mcp__a", "--disallowedTools", "Edit"}, "ask[ask allow], deny[allow deny], ask[ask], allow[allow], deny, deny, ask, allow, ask[ask], ask[ask]"},
		{[]string{"--settings", `{"permissions":{"allow":["Bash(go test:*)"]}}`}, "ask[ask allow], deny[allow deny], ask[ask], allow[allow], ask, ask, ask, ask, ask[ask], allow[allow]"},
	} {
		got := b.check(0, lines, tt.args...)
		if d := cmp.Diff(tt.want, verdicts(got)); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.args, d)
			continue
		}
		if want := "Bash(wget *) (" + file + ":2)"; got[1].Rule != want || got[1].Parts[1].Rule != want || !strings.Contains(got[1].Reason, want) {
			t.Errorf("rule %q, want %q", got[1].Rule, want)
		}
		if !slices.Equal(got[0].Parts[1].Argv, []string{"git", "status"}) || !slices.Equal(got[0].Parts[1].Reads, []string{b.work}) || got[0].Parts[1].Writes == nil {
			t.Errorf("parts %+v", got[0].Parts)
		}
		for i, c := range got {
			if c.Reason == "" || c.Guarded != (i == 2 && c.Verdict == "ask") {
				t.Errorf("%q: %+v", tt.args, c)
			}
		}
	}
	if d := cmp.Diff(before, tree(t, filepath.Dir(b.home))); d != "" {
		t.Errorf("something was run or written:\n%s", d)
	}
}

// TestCheckOne: a single call, in another folder, whose own settings may
// tighten, and loosen only when it is trusted.
func TestCheckOne(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	other := filepath.Join(filepath.Dir(b.work), "other")
	b.file(filepath.Join(other, ".openharness", "settings.json"), `{"permissions":{"deny":["Bash(ls:*)"],"allow":["Bash(make:*)"]}}`)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"bash", `{"command":"ls"}`}, 0, `"verdict":"allow"`},
		{[]string{"bash", `{"command":"ls"}`, "--cwd", other}, 0, `"verdict":"deny"`},
		{[]string{"bash", `{"command":"make"}`, "--cwd", other}, 0, `"verdict":"ask"`},
		{[]string{"bash", `{"command":"make"}`, "--cwd", other, "--trust"}, 0, `"verdict":"allow"`},
		{[]string{"bash", `{"command":"ls"}`, "--disallowed-tools", "bash"}, 0, `"rule":"bash (command line)"`},
		{[]string{"bash", `{"command":""}`}, 2, `"error":"command is empty`},
		{[]string{"bsh", `{}`}, 2, `did you mean bash?"`},
		{[]string{"bash", `[]`}, 2, `"error":"the input is not a JSON object"`},
	} {
		r := b.oh(append([]string{"permissions", "check"}, tt.args...)...)
		r.wantCode(t, tt.code)
		if !strings.Contains(r.out, tt.want) || strings.Count(r.out, "\n") != 1 || !json.Valid([]byte(r.out)) {
			t.Errorf("%q: want %s: %v", tt.args, tt.want, r)
		}
	}
	for _, args := range [][]string{{}, {"bash"}, {"-", "{}"}, {"bash", "{}", "x"}, {"bash", "{}", "--sandbox=maybe"}, {"bash", "{}", "--cwd", "/nowhere"}} {
		r := b.oh(append([]string{"permissions", "check"}, args...)...)
		r.wantCode(t, 2)
		if r.out != "" || !strings.Contains(r.err, "oh: ") {
			t.Errorf("%q: %v", args, r)
		}
	}
	got := b.check(2, []string{"nonsense", line(t, "bash", map[string]any{"command": "ls"}), `{"input":{}}`, `{"tool":"nope"}`, `{"tool":"bash","input":7}`})
	if want := "error 1, allow[allow], error 3, error 4, error 5"; verdicts(got) != want {
		t.Errorf("%s, want %s", verdicts(got), want)
	}
}

// TestDecisionsShown: every decision of a session can be read afterwards.
func TestDecisionsShown(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	file := b.settings(`{"permissions":{"deny":["Bash(wget *)"]}}`)
	b.srv.Add(ohtest.Reply(named(bash(t, "ls"), "a"), named(bash(t, "wget x"), "b"), named(bash(t, "touch m"), "c"),
		ohtest.Call("d", "write_file", `{"path":"n.txt","content":"x"}`)), ohtest.Reply(ohtest.Text("done")))
	b.oh("-p", "--allowed-tools", "Write", "go").wantCode(t, 6)
	r := b.oh("session", "show", "--decisions", "--json", "latest")
	r.wantCode(t, 0)
	var got []map[string]any
	for line := range strings.Lines(r.out) {
		var m map[string]any
		must(t, json.Unmarshal([]byte(line), &m))
		if m["time"] == "" || m["reason"] == "" {
			t.Errorf("%v", m)
		}
		delete(m, "time")
		delete(m, "reason")
		got = append(got, m)
	}
	want := []map[string]any{
		{"call": "a", "tool": "bash", "what": "ls", "decision": "allow", "by": "gate", "rule": ""},
		{"call": "b", "tool": "bash", "what": "wget x", "decision": "deny", "by": "gate", "rule": "Bash(wget *) (" + file + ":1)"},
		{"call": "c", "tool": "bash", "what": "touch m", "decision": "deny", "by": "nobody", "rule": ""},
		{"call": "d", "tool": "write_file", "what": "n.txt", "decision": "allow", "by": "gate", "rule": "Write (command line)"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	r = b.oh("session", "show", "--decisions", "latest")
	r.wantCode(t, 0)
	if n := strings.Count(r.out, "\n"); n != 4 || !strings.Contains(r.out, "denied by the rule Bash(wget *)") {
		t.Errorf("%v", r)
	}
	b.oh("session", "show", "--json", "latest").wantCode(t, 2)
	b.oh("session", "show", "--decisions", "ffff").wantCode(t, 1)
}
