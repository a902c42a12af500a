package permit

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// The modes without rules: plan, dontAsk, default, acceptEdits, full_auto.
func TestModes(t *testing.T) {
	w := newWorld(t)
	p := w.policy()
	for _, c := range []struct {
		name string
		req  oh.GateRequest
		want string
	}{
		{"nothing declared", oh.GateRequest{Tool: "mcp__x__y"}, "ddaa+"},
		{"state only", oh.GateRequest{Tool: "todo_write", Access: oh.Access{ReadOnly: true}}, "+++++"},
		{"read inside", w.read("read_file", "ws/src/a.go"), "+++++"},
		{"read in an added folder", w.read("read_file", "added/x"), "+++++"},
		{"read of an artifact", w.read("read_file", "~/.openharness/data/artifacts/1.txt"), "+++++"},
		{"read outside", w.read("read_file", "outside/f"), "ada++"},
		{"search outside", w.tree("grep", "outside"), "ada++"},
		{"search of home", w.tree("grep", "~"), "ada++"},
		{"write inside", w.write("write_file", "ws/src/new.go"), "dda++"},
		{"write in an added folder", w.write("write_file", "added/x"), "dda++"},
		{"write outside", w.write("write_file", "outside/f"), "ddaa+"},
		{"write beside, same prefix", w.write("write_file", "ws-evil/x"), "ddaa+"},
		{"read beside, same prefix", w.read("read_file", "ws-evil/x"), "ada++"},
		{"two writes, one outside", w.write("multi_edit", "ws/a", "outside/f"), "ddaa+"},
		{"write that says read only", func() oh.GateRequest { r := w.write("x", "ws/a"); r.Access.ReadOnly = true; return r }(), "dda++"},
		{"command", w.bash("go test ./..."), "ddaa+"},
		{"read-only command", func() oh.GateRequest { r := w.bash("ls"); r.Access.ReadOnly = true; return r }(), "+++++"},
		{"command that a tool calls read-only", func() oh.GateRequest { r := w.bash("make"); r.Access.ReadOnly = true; return r }(), "ddaa+"},
		{"fetch", fetch("https://example.com/x"), "adaa+"},
		{"upload", oh.GateRequest{Tool: "image_to_text", Access: oh.Access{ReadOnly: true, Upload: true}}, "adaa+"},
		{"change beside reads", func() oh.GateRequest { r := w.read("x", "ws/a"); r.Access.ReadOnly = false; return r }(), "ddaa+"},

		{"private key", w.read("read_file", "~/.ssh/id_ed25519"), "ddddd"},
		{"key folder as a root", w.tree("grep", "~/.ssh"), "ddddd"},
		{"credentials of ours", w.read("read_file", "~/.openharness/credentials.json"), "ddddd"},
		{"credentials of Claude", w.read("read_file", "~/.claude/.credentials.json"), "ddddd"},
		{"image of a key", oh.GateRequest{Tool: "image_to_text", Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: w.path("ws/src/a.go")}, {Path: w.path("~/.aws/credentials")}}}}, "ddddd"},
		{"settings of ours", w.read("read_file", "~/.openharness/settings.json"), "adaaa"},
		{".env", w.read("read_file", "ws/.env"), "adaaa"},
		{".env.local", w.write("write_file", "ws/.env.local"), "ddaaa"},
		{".env.example", w.read("read_file", "ws/.env.example"), "+++++"},
		{"write to .git", w.write("write_file", "ws/.git/hooks/pre-commit"), "ddaaa"},
		{"read of .git", w.read("read_file", "ws/.git/HEAD"), "+++++"},
		{"write to project settings", w.write("write_file", "ws/.claude/settings.json"), "ddaaa"},
		{"write in a worktree", w.write("write_file", "ws/.openharness/worktrees/b/a.go"), "dda++"},
		{"write to .git of a worktree", w.write("write_file", "ws/.openharness/worktrees/b/.git"), "ddaaa"},
		{"write to our configuration", w.write("write_file", "~/.openharness/keys.json"), "ddaaa"},
		{"write to a session log", w.write("write_file", "~/.openharness/data/sessions/x"), "ddaaa"},
		{"write to memory", w.write("write_file", "~/.openharness/data/memory/x.md"), "ddaa+"},
		{"write to .bashrc", w.write("write_file", "~/.bashrc"), "ddaaa"},
	} {
		if got := five(p, c.req); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := check(p, "yolo", w.read("read_file", "ws/a")); got.Decision != oh.Deny || !strings.Contains(got.Reason, "yolo") {
		t.Errorf("unknown mode: %+v", got)
	}
}

func TestRules(t *testing.T) {
	w := newWorld(t)
	agent := func(kind string) oh.GateRequest {
		in, _ := json.Marshal(map[string]string{"subagent_type": kind})
		return oh.GateRequest{Tool: "agent", Input: in}
	}
	for _, c := range []struct {
		deny, ask, allow string // separated by |
		req              oh.GateRequest
		want             string
	}{
		// Bare names of both vocabularies.
		{"", "", "write_file", w.write("write_file", "ws/a"), "d++++"},
		{"", "", "Write", w.write("write_file", "ws/a"), "d++++"},
		{"", "", "Write", w.write("write_file", "outside/a"), "ddaa+"},
		{"", "", "Write", w.write("edit_file", "ws/a"), "dda++"},
		{"", "", "Edit", w.write("write_file", "ws/a"), "d++++"},
		{"", "", "edit_file", w.write("write_file", "ws/a"), "dda++"},
		{"", "", "Bash", w.bash("make"), "d++++"},
		{"", "", "Bash(*)", w.bash("make"), "d++++"},
		{"", "", "bash", oh.GateRequest{Tool: "task_create", Access: oh.Access{Command: "make"}}, "ddaa+"},
		{"bash", "", "bash", w.bash("make"), "ddddd"},
		{"BASH", "", "", w.bash("make"), "ddddd"},
		{"Bash", "", "", oh.GateRequest{Tool: "task_create", Access: oh.Access{Command: "make"}}, "ddddd"},
		{"Edit", "", "", w.write("write_file", "ws/a"), "ddddd"},
		{"edit_file", "", "", w.write("write_file", "ws/a"), "dda++"},
		{"Read", "", "", w.tree("grep", "ws"), "ddddd"},
		{"read_file", "", "", w.tree("grep", "ws"), "+++++"},
		{"Task", "", "", agent("x"), "ddddd"},
		{"*", "", "Read", w.read("read_file", "ws/a"), "ddddd"},
		{"", "write_file", "write_file", w.write("write_file", "ws/a"), "ddaaa"},

		// Paths.
		{"", "", "Edit(/src/**)", w.write("write_file", "ws/src/x/y.go"), "d++++"},
		{"", "", "Edit(/src/**)", w.write("write_file", "ws/b"), "dda++"},
		{"", "", "Edit(/src/*)", w.write("write_file", "ws/src/x/y.go"), "dda++"},
		{"", "", "Edit(/src)", w.write("write_file", "ws/src/x/y.go"), "d++++"},
		{"", "", "Edit(src/*.go)", w.write("edit_file", "ws/src/a.go"), "d++++"},
		{"", "", "Edit(./*.go)", w.write("edit_file", "ws/src/a.go"), "dda++"},
		{"", "", "Edit(*.go)", w.write("edit_file", "ws/src/a.go"), "d++++"},
		{"", "", "Edit(/src/**)", w.write("multi_edit", "ws/src/a", "ws/b"), "dda++"},
		{"", "", "Write(/src/**)", w.write("edit_file", "ws/src/a"), "dda++"},
		{"", "", "Read(/src/**)", w.write("edit_file", "ws/src/a"), "dda++"},
		{"", "", "Edit(/" + w.path("outside") + "/**)", w.write("write_file", "outside/sub/x"), "d++++"},
		{"", "", "Edit(/" + w.path("outside") + "/**)", w.read("read_file", "outside/sub/x"), "+++++"},
		{"", "", "Read(~/notes/**)", w.read("read_file", "~/notes/a"), "+++++"},
		{"", "", "Read", w.read("read_file", "outside/x"), "+++++"},
		{"Edit(/src/**)", "", "Write|Edit", w.write("write_file", "ws/b", "ws/src/a"), "ddddd"},
		{"Write(/src/**)", "", "", w.write("edit_file", "ws/src/a"), "ddddd"},
		{"Read(/src/**)", "", "Edit", w.write("edit_file", "ws/src/a"), "ddddd"},
		{"Edit(/src/**)", "", "", w.read("read_file", "ws/src/a"), "+++++"},
		{"Read(*.pem)", "", "", w.read("read_file", "ws/a/b/c.pem"), "ddddd"},
		{"Read(secret)", "", "", w.tree("ls", "ws/secret/deep"), "ddddd"},
		{"Read(" + w.path("outside") + "/**)", "", "", w.read("read_file", "outside/f"), "ddddd"},
		{"Read(/src/**)", "", "Bash", w.bash("cat src/a.go"), "ddddd"},
		{"Edit(/src/**)", "", "Bash", w.bash("cat src/a.go"), "+++++"},
		{"Edit(/src/**)", "", "Bash", w.bash("echo x > src/a.go"), "ddddd"},
		{"Edit(/src/**)", "", "Bash", w.bash("cd src && sed -i s/a/b/ a.go"), "ddddd"},
		{"", "Edit(/src/**)", "Edit", w.write("write_file", "ws/src/a"), "ddaaa"},
		{"Grep(/src/**)", "", "", w.tree("grep", "ws/src"), "ddddd"},
		{"Grep(/src/**)", "", "", w.read("read_file", "ws/src/a"), "+++++"},

		// Files that a rule may open by naming them, and what none may.
		{"", "", "Read(.env)", w.read("read_file", "ws/.env"), "+++++"},
		{"", "", "Read(**)", w.read("read_file", "ws/.env"), "adaaa"},
		{"", "", "Read", w.read("read_file", "ws/.env"), "adaaa"},
		{"", "", "Edit(.git/**)", w.write("write_file", "ws/.git/config"), "d++++"},
		{"", "", "Edit(/**)", w.write("write_file", "ws/.git/config"), "ddaaa"},
		{"", "", "Read(~/.ssh/**)|Read(~/.ssh/id_ed25519)|Read", w.read("read_file", "~/.ssh/id_ed25519"), "ddddd"},

		// Hosts.
		{"", "", "WebFetch(domain:example.com)", fetch("https://EXAMPLE.com:443/x"), "+++++"},
		{"", "", "WebFetch(domain:example.com)", fetch("https://a.example.com/x"), "adaa+"},
		{"", "", "WebFetch(domain:*.example.com)", fetch("https://a.example.com/x"), "+++++"},
		{"", "", "WebFetch(domain:example.com)", fetch("https://example.com@evil.org/x"), "adaa+"},
		{"", "", "WebFetch(domain:example.com)", fetch("https://evil.org/?x@example.com"), "adaa+"},
		{"", "", "WebFetch(domain:example.com)", fetch(`https://evil.org\@example.com`), "adaa+"},
		{"", "", "WebFetch", fetch("https://example.com"), "+++++"},
		{"WebFetch(domain:example.com)", "", "WebFetch", fetch("https://a.example.com./"), "ddddd"},
		{"WebFetch(domain:example.com)", "", "WebFetch", fetch("https://other.org"), "+++++"},

		// Names.
		{"", "", "mcp__git", oh.GateRequest{Tool: "mcp__git__log"}, "d++++"},
		{"", "", "mcp__git__*", oh.GateRequest{Tool: "mcp__git__log"}, "d++++"},
		{"", "", "mcp__git__log", oh.GateRequest{Tool: "mcp__git__log"}, "d++++"},
		{"", "", "mcp__git", oh.GateRequest{Tool: "mcp__github__log"}, "ddaa+"},
		{"mcp__git__log", "", "mcp__git", oh.GateRequest{Tool: "mcp__git__log"}, "ddddd"},
		{"mcp__git(status:*)", "", "", oh.GateRequest{Tool: "mcp__git__log"}, "ddddd"},
		{"", "", "Agent(explore)", agent("explore"), "d++++"},
		{"", "", "Agent(explore)", agent("other"), "ddaa+"},
		{"Agent(explore)", "", "Task", agent("Explore"), "ddddd"},
		{"Agent(explore)", "", "Task", agent("other"), "d++++"},
		{"Agent(general-purpose)", "", "", agent(""), "ddddd"},
		{"Agent(x)", "", "", oh.GateRequest{Tool: "agent", Input: json.RawMessage(`[`)}, "ddddd"},
		{"Skill(pdf)", "", "", oh.GateRequest{Tool: "skill", Input: json.RawMessage(`{"name":"PDF"}`), Access: oh.Access{ReadOnly: true}}, "ddddd"},

		// Parts of the shell.
		{"Bash(rm:*)", "", "Bash", w.bash("ls"), "+++++"},
		{"Bash(rm:*)", "", "Bash", w.bash("rm x"), "ddddd"},
		{"Bash(rm:*)", "", "Bash", w.bash("make && /bin/rm x"), "ddddd"},
		{"Bash(rm:*)", "", "Bash", w.bash("sudo -u root rm x"), "ddddd"},
		{"Bash(rm:*)", "", "Bash", w.bash("bash -c 'ls; rm x'"), "ddddd"},
		{"Bash(rm *)", "", "", w.bash("ls | xargs rm"), "ddddd"},
		{"Bash(rm)", "", "Bash", w.bash("rm x"), "d++++"},
		{"", "Bash(rm:*)", "Bash", w.bash("ls"), "+++++"},
		{"", "Bash(rm:*)", "Bash", w.bash("rm x"), "ddaaa"},
		{"", "Bash(git push:*)", "Bash(git:*)", w.bash("git add a && git push"), "ddaaa"},
		{"", "Bash(rm:*)", "Bash", w.bash("$x y"), "ddaaa"},
		{"", "", "Bash(rm:*)", w.bash("rm x"), "d++++"},
		{"", "", "Bash(rm:*)", w.bash("rm ../outside/f"), "ddaa+"},
		{"", "", "Bash(rm:*)|Edit(/" + w.path("outside") + "/**)", w.bash("rm ../outside/f"), "d++++"},
		{"", "", "Bash(rm:*)", w.bash("sudo rm x"), "ddaa+"},
		{"", "", "Bash(sudo rm:*)", w.bash("sudo rm x"), "d++++"},
		{"", "", "Bash(make)", w.bash("make"), "d++++"},
		{"", "", "Bash(make)", w.bash("make; touch m"), "ddaa+"},
		{"", "", "Bash(make)", w.bash("make -s"), "ddaa+"},
		{"", "", "Bash(make; touch m)", w.bash("make; touch m"), "d++++"},
		{"", "", "Bash(make:*)", w.bash("make"), "d++++"},
		{"", "", "Bash(make:*)", w.bash("make test"), "d++++"},
		{"", "", "Bash(make:*)", w.bash("makeit"), "ddaa+"},
		{"", "", "Bash(make*)", w.bash("makeit"), "d++++"},
		{"", "", "Bash(make *)", w.bash("make"), "d++++"},
		{"", "", "Bash(* --version)", w.bash("prog --version"), "d++++"},
		{"", "", "Bash(make:*)", w.bash("timeout 5 make test"), "d++++"},
		{"", "", "Bash(make:*)", w.bash("PATH=/x make test"), "ddaa+"},
		{"", "", "Bash(make:*)", w.bash("FOO=1 make test"), "d++++"},
		{"", "", "Bash(make:*)", w.bash("make > log"), "dda++"},
		{"", "", "Bash(make:*)|Edit(/log)", w.bash("make > log"), "d++++"},
		{"", "", "Bash(make:*)", w.bash("make > ../outside/log"), "ddaa+"},
		{"", "", "Bash(make:*)", w.bash(`make > "$LOG"`), "ddaa+"},
		{"", "", "Bash(make:*)", w.bash("make > /dev/null 2>&1"), "d++++"},
		{"", "", "Bash(git commit:*)", w.bash("cd src && git commit -m x"), "ddaa+"},
		{"", "", "Bash(git commit:*)", w.bash("cd " + w.ws + " && git commit -m x"), "d++++"},
		{"", "", "Bash(git commit:*)", w.bash("git -c core.pager=x commit -m x"), "ddaa+"},
		{"", "", "Bash(cat:*)", w.bash("cat ../outside/f"), "+++++"},
		{"", "", "", w.bash("cat ../outside/f"), "ada++"},
		{"", "", "", w.bash("cd src && cat ../../outside/f"), "ada++"},
		{"", "", "", w.bash("ls; git status | head -3"), "+++++"},
		{"", "", "", w.bash("echo a > x"), "dda++"},
		{"", "", "", w.bash("echo a > ../outside/x"), "ddaa+"},
		{"", "", "", w.bash("sort -o x y"), "ddaa+"},
		{"", "", "Bash(sort:*)", w.bash("sort -o x y"), "d++++"},
		{"", "", "Bash", w.bash("echo a > ../outside/x"), "d++++"},
		{"", "", "Bash", w.bash(`echo a > "$X"`), "d++++"},
		{"", "", "bash", w.bash("echo a > .git/x"), "ddaaa"},
		{"", "", "Bash(rm -rf /)", w.bash("rm -rf /"), "ddaaa"},
	} {
		var list []Rule
		add := func(effect oh.Decision, texts string) {
			for _, s := range strings.Split(texts, "|") {
				if s != "" {
					list = append(list, rules(effect, s)...)
				}
			}
		}
		add(oh.Allow, c.allow)
		add(oh.Ask, c.ask)
		add(oh.Deny, c.deny)
		if got := five(w.policy(list...), c.req); got != c.want {
			t.Errorf("deny %q ask %q allow %q, %s %+v: %s, want %s", c.deny, c.ask, c.allow, c.req.Tool, c.req.Access, got, c.want)
		}
	}
}

func TestPathRules(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		pattern string
		effect  oh.Decision
		req     oh.GateRequest
		want    string
	}{
		{"*/src/*", oh.Deny, w.read("read_file", "ws/src/deep/a.go"), "ddddd"},
		{"*/src/*", oh.Deny, w.tree("glob", "ws/src"), "ddddd"},
		{"src/*", oh.Deny, w.read("read_file", "ws/src/a.go"), "ddddd"},
		{"~/notes/*", oh.Deny, w.read("read_file", "~/notes/a"), "ddddd"},
		{" " + w.path("outside") + "/* ", oh.Allow, w.write("write_file", "outside/x"), "d++++"},
		{"*/src/*", oh.Allow, w.write("write_file", "ws/b"), "dda++"},
	} {
		p := w.policy(Rule{Text: c.pattern, Effect: c.effect, Kind: Path, Scope: User})
		if got := five(p, c.req); got != c.want {
			t.Errorf("%s %q on %+v: %s, want %s", c.effect, c.pattern, c.req.Access, got, c.want)
		}
	}
}

func TestBorderAndLinks(t *testing.T) {
	w := newWorld(t)
	w.link(w.out, "ws/out")
	w.link(filepath.Join(w.out, "f"), "ws/leaf")
	w.link(filepath.Join(w.out, "missing"), "ws/dangling")
	w.link("../outside/sub/../f", "ws/dotted")
	w.link("src", "ws/in")
	w.link("loop2", "ws/loop1")
	w.link("loop1", "ws/loop2")
	w.link(w.ws, "alias")
	w.link(filepath.Join(w.home, ".ssh"), "ws/keys")
	w.link(filepath.Join(w.ws, ".git"), "ws/gitlink")
	p := w.policy()
	for _, c := range []struct {
		name string
		req  oh.GateRequest
		want string
	}{
		{"new file behind a link", w.write("write_file", "ws/out/new.txt"), "ddaa+"},
		{"new folders behind a link", w.write("write_file", "ws/out/a/b/new.txt"), "ddaa+"},
		{"read behind a link", w.read("read_file", "ws/out/f"), "ada++"},
		{"search behind a link", w.tree("grep", "ws/out"), "ada++"},
		{"edit through a leaf link", w.write("edit_file", "ws/leaf"), "ddaa+"},
		{"write through a dangling link", w.write("write_file", "ws/dangling"), "ddaa+"},
		{"relative link with dots", w.write("edit_file", "ws/dotted"), "ddaa+"},
		{"link that stays inside", w.write("edit_file", "ws/in/a.go"), "dda++"},
		{"loop", w.read("read_file", "ws/loop1"), "ada++"},
		{"write to a loop", w.write("write_file", "ws/loop1/x"), "ddaa+"},
		{"the workspace by another name", w.write("edit_file", "alias/src/a.go"), "dda++"},
		{"keys behind a link", w.read("read_file", "ws/keys/id_ed25519"), "ddddd"},
		{"command on keys behind a link", w.bash("cat keys/config"), "ddddd"},
		{".git behind a link", w.write("write_file", "ws/gitlink/config"), "ddaaa"},
		{"below a file", w.write("write_file", "ws/src/a.go/x"), "dda++"},
	} {
		if got := five(p, c.req); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}

	c := w.config(rules(oh.Allow, "Edit(/src/**)")...)
	c.Root = w.path("alias")
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"alias/src/b": "d++++", "ws/src/b": "d++++", "alias/c": "dda++", "ws-evil/x": "ddaa+", "alias/out/x": "ddaa+"} {
		if got := five(p, w.write("write_file", path)); got != want {
			t.Errorf("workspace reached by a link, %s: %s, want %s", path, got, want)
		}
	}

	p = w.policy(append(rules(oh.Allow, "Edit(/**)"), rules(oh.Deny, "Edit(/"+w.path("outside")+"/sub/**)")...)...)
	for path, want := range map[string]string{"ws/out/new": "ddaa+", "ws/out/sub/new": "ddddd", "ws/new": "d++++"} {
		if got := five(p, w.write("write_file", path)); got != want {
			t.Errorf("allow needs both, deny either, %s: %s, want %s", path, got, want)
		}
	}
}

func TestFoldedCase(t *testing.T) {
	w := newWorld(t)
	p := w.policy(append(rules(oh.Deny, "Read(/Private/**)"), rules(oh.Allow, "Edit(/Src/**)")...)...)
	p.fold = true
	if got := five(p, w.read("read_file", "ws/pRIVATE/x")); got != "ddddd" {
		t.Errorf("deny with other case: %s", got)
	}
	if got := five(p, w.write("write_file", "ws/src/x")); got != "dda++" {
		t.Errorf("allow with other case: %s", got)
	}
	// WS and ws are the same folder only if the file system says so.
	want := "ddaa+"
	if foldsCase() {
		want = "dda++"
	}
	if got := five(p, w.write("write_file", filepath.Join(w.top, "WS", "x"))); got != want {
		t.Errorf("border with other case: %s, want %s", got, want)
	}
	if got := five(p, w.read("read_file", "~/.SSH/x")); got != "ddddd" {
		t.Errorf("protected place with other case: %s", got)
	}
}

func TestHook(t *testing.T) {
	w := newWorld(t)
	p := w.policy(append(rules(oh.Deny, "Edit(/a)"), rules(oh.Ask, "Edit(/b)")...)...)
	with := func(r oh.GateRequest, d oh.Decision) oh.GateRequest { r.Hook = &d; return r }
	for _, c := range []struct {
		req  oh.GateRequest
		want string
	}{
		{with(w.write("write_file", "ws/a"), oh.Allow), "ddddd"},
		{with(w.write("write_file", "ws/b"), oh.Allow), "ddaaa"},
		{with(w.write("write_file", "ws/c"), oh.Allow), "d++++"},
		{with(w.write("write_file", "ws/.git/c"), oh.Allow), "ddaaa"},
		{with(w.bash("rm -rf /"), oh.Allow), "ddaaa"},
		{with(w.read("read_file", "ws/c"), oh.Ask), "adaaa"},
		{with(w.read("read_file", "ws/c"), oh.Deny), "ddddd"},
	} {
		if got := five(p, c.req); got != c.want {
			t.Errorf("hook %v on %+v: %s, want %s", *c.req.Hook, c.req.Access, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	w := newWorld(t)
	w.mkdir("ws/src/deep")
	p := w.policy(append(rules(oh.Deny, "Bash(rm:*)"), rules(oh.Allow, "Edit(/src/**)")...)...)
	ws := p.roots[0].given
	for _, c := range []struct {
		mode oh.Mode
		req  oh.GateRequest
		want oh.Verdict
	}{
		{oh.ModeDefault, w.bash("ls; sudo rm x"), oh.Verdict{
			Rule:   "Bash(rm:*) (settings.json:3)",
			Reason: "denied by the rule Bash(rm:*) (settings.json:3)",
		}},
		{oh.ModeDefault, w.bash("git diff && go vet ./..."), oh.Verdict{
			Decision: oh.Ask, Suggest: "Bash(go vet:*)",
			Reason: "bash runs a command: go vet is not known to be harmless, which the mode default asks about",
		}},
		{oh.ModeDefault, w.write("write_file", "ws/src/x"), oh.Verdict{
			Decision: oh.Allow, Rule: "Edit(/src/**) (settings.json:3)", Reason: "allowed by the rule Edit(/src/**) (settings.json:3)",
		}},
		{oh.ModeDefault, w.write("write_file", "ws/doc/x"), oh.Verdict{
			Decision: oh.Ask, Suggest: "Edit(/doc/**)",
			Reason: "write_file writes " + filepath.Join(ws, "doc", "x") + ", which the mode default asks about",
		}},
		{oh.ModeAcceptEdits, w.write("write_file", "outside/sub/x"), oh.Verdict{
			Decision: oh.Ask, Suggest: "Edit(/" + filepath.ToSlash(w.path("outside/sub")) + "/**)",
			Reason: "write_file writes " + w.path("outside/sub/x") + ", outside the workspace " + ws + ", which the mode acceptEdits asks about",
		}},
		{oh.ModePlan, w.write("write_file", "ws/src/x"), oh.Verdict{
			Reason: "in plan mode only reads are allowed, and write_file may change something; finish the plan and ask the user to approve it",
		}},
		{oh.ModeDontAsk, fetch("https://Example.com/"), oh.Verdict{
			Reason: "web_fetch connects to example.com, which the mode default asks about; in the mode dontAsk nobody is asked, so it is refused",
		}},
		{oh.ModeFullAuto, w.write("write_file", "ws/.git/config"), oh.Verdict{
			Decision: oh.Ask, Guarded: true,
			Reason: filepath.Join(ws, ".git", "config") + " belongs to the inside of a git repository, so a write to it needs a person each time, unless an allow rule of your own names it",
		}},
	} {
		if runtime.GOOS == "windows" && c.mode == oh.ModeAcceptEdits {
			continue
		}
		if diff := cmp.Diff(c.want, check(p, c.mode, c.req)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.mode, c.req.Tool, diff)
		}
	}
}

func TestToolDeniedAndSecret(t *testing.T) {
	w := newWorld(t)
	p := w.policy(rules(oh.Deny, "Edit", "mcp__git", "Bash(rm:*)", "WebSearch", "Read(/private/**)")...)
	for tool, want := range map[string]bool{
		"edit_file": true, "write_file": true, "mcp__git__log": true, "mcp__gitx__log": false, "bash": false, "web_search": true, "read_file": false,
	} {
		if got := p.ToolDenied(tool); got != want {
			t.Errorf("ToolDenied(%s) = %v", tool, got)
		}
	}
	for path, want := range map[string]bool{
		"~/.ssh/id_rsa": true, "~/.ssh": true, "ws/.env": true, "ws/a/.env.production": true, "ws/.env.sample": false, "ws/src/a.go": false,
		"ws/private/x": true, "~/.netrc": true, "~/.npmrc": true, "ws/id_rsa": true, "ws/id_rsa.pub": false, "ws/id_rsa.bak": true, "~/.aws": false,
		"~/.aws/config": true, "~/.config/gcloud/x/y": true, "~/.git-credentials": true, "ws/sub/.netrc": true, "~/.codex/auth.json": true,
		"~/.openharness/copilot_auth.json": true, "~/.openharness/settings.json": true, "/proc/self/environ": true, "/etc/shadow": true, "/etc/passwd": false,
	} {
		if got := p.Secret(w.path(path)); got != want {
			t.Errorf("Secret(%s) = %v", path, got)
		}
	}
	c := w.config()
	c.ConfigDir = w.path("elsewhere")
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Secret(w.path("elsewhere/credentials.json")) {
		t.Error("a configuration folder that was moved is not protected")
	}
}

// A rule that comes with the repository opens no protected place.
func TestProjectRulesOpenNothing(t *testing.T) {
	w := newWorld(t)
	r := rules(oh.Allow, "Read(.env)", "Edit(.git/**)")
	r[0].Scope, r[1].Scope = Project, Project
	p := w.policy(r...)
	if got := five(p, w.read("read_file", "ws/.env")); got != "adaaa" {
		t.Errorf(".env: %s", got)
	}
	if got := five(p, w.write("write_file", "ws/.git/config")); got != "ddaaa" {
		t.Errorf(".git: %s", got)
	}
}

func TestBadRules(t *testing.T) {
	w := newWorld(t)
	bad := []Rule{
		{Text: "Nope("}, {Text: ""}, {Text: "Bash()"}, {Text: "Edit(!x)"}, {Text: "Edit(../x)"}, {Text: "WebFetch(domain:)"},
		{Text: "WebFetch(domain:a*b)"}, {Text: " ", Kind: Path}, {Text: "", Kind: Command}, {Text: "a\x00b"}, {Text: "x", Kind: 9}, {Text: "mcp__git__"},
	}
	for _, r := range bad {
		r.File, r.Line = "/etc/s.json", 7
		if _, err := New(w.config(r)); err == nil || !strings.Contains(err.Error(), "/etc/s.json:7") {
			t.Errorf("deny %q: %v", r.Text, err)
		}
		r.Effect = oh.Ask
		if _, err := New(w.config(r)); err == nil {
			t.Errorf("ask %q is taken", r.Text)
		}
		r.Effect = oh.Allow
		p, err := New(w.config(r))
		if err != nil || len(p.Warnings()) != 1 || len(p.Rules()) != 0 {
			t.Errorf("allow %q: %v", r.Text, err)
		}
	}
	for _, r := range []string{"Bash(:*)", "mcp__*", "*", "WebFetch(https://x)", "mcp__git(x)", "TodoWrite(x)"} {
		p := w.policy(rules(oh.Allow, r)...)
		if len(p.Warnings()) != 1 || len(p.Rules()) != 0 {
			t.Errorf("allow %q: %q", r, p.Warnings())
		}
	}
	if _, err := New(Config{Root: "rel"}); err == nil {
		t.Error("a relative root is taken")
	}
	if _, err := New(Config{}); err == nil {
		t.Error("no root is taken")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := newWorld(t)
	r := w.read("read_file", "ws/a")
	r.Mode = oh.ModeFullAuto
	if got := w.policy().Check(ctx, r); got.Decision != oh.Deny {
		t.Errorf("%+v", got)
	}
}
