//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/ohtest"
)

// id is the session of the only frame of --output-format json.
func id(t *testing.T, r result) string {
	t.Helper()
	s, _ := last(t, r.out)["session_id"].(string)
	if len(s) != 36 {
		t.Fatalf("session id %q", s)
	}
	return s
}

func (b *box) json(args ...string) result {
	b.t.Helper()
	return b.oh(append([]string{"-p", "--output-format", "json"}, args...)...)
}

// TestResume: id, model, mode, directory and history come back.
func TestResume(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(named(bash(t, "mkdir sub && cd sub"), "a")), ohtest.Reply(ohtest.Text("one")))
		delete(b.env, "OPENHARNESS_MODEL")
		first := b.json("--model", "special-model", "--permission-mode", "full_auto", "--effort", "low", "first")
		first.wantCode(t, 0)
		b.srv.Add(ohtest.Reply(named(bash(t, "pwd; echo ran >> $M/pwd"), "p")), ohtest.Reply(ohtest.Text("two")))
		second := b.json("-c", "second")
		second.wantCode(t, 0)
		reqs := b.done(4)
		if id(t, first) != id(t, second) {
			t.Errorf("the session changed: %s, %s", id(t, first), id(t, second))
		}
		if m := reqs[3].Model(); m != "special-model" {
			t.Errorf("model %q", m)
		}
		if reqs[3].System() != reqs[0].System() {
			t.Error("the system prompt changed")
		}
		resultOf(t, reqs[3], "p").want(t, false, filepath.Join(b.work, "sub"))
		if b.marked("pwd") != 1 {
			t.Error("the mode did not come back")
		}
		if len(b.logs()) != 1 {
			t.Errorf("files %v", b.logs())
		}
		if info, err := os.Stat(b.log()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("log %v, %v", info, err)
		}
		// By the beginning of the id, from another folder of the project too.
		b.srv.Add(ohtest.Reply(ohtest.Text("three")))
		third := b.json("-r", id(t, first)[:30], "third")
		third.wantCode(t, 0)
		if id(t, third) != id(t, first) || !strings.Contains(string(b.done(5)[4].Body), "second") {
			t.Error("-r with a prefix found another session")
		}
		// The flag wins over what was.
		b.srv.Add(ohtest.Reply(named(bash(t, "echo ran >> $M/no"), "n")), ohtest.Reply(ohtest.Text("four")))
		b.json("-c", "--permission-mode", "plan", "--model", "other", "fourth").wantCode(t, 0)
		if m := b.done(7)[6].Model(); m != "other" || b.marked("no") > 0 {
			t.Errorf("flags on a resume: model %q, marks %d", m, b.marked("no"))
		}
	})
}

// TestFork: the copy has the history, the first session stays as it is.
func TestFork(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("one")), ohtest.Reply(ohtest.Text("two")))
	first := b.json("first")
	path := b.log()
	before := b.read(path)
	second := b.json("-c", "--fork-session", "second")
	second.wantCode(t, 0)
	if id(t, first) == id(t, second) || b.read(path) != before || len(b.logs()) != 2 {
		t.Errorf("fork: %s, %s, %v", id(t, first), id(t, second), b.logs())
	}
	if !strings.Contains(string(b.done(2)[1].Body), "first") {
		t.Error("the fork lacks the history")
	}
	const own = "0b6f3c52-1111-4222-8333-444455556666"
	b.srv.Add(ohtest.Reply(ohtest.Text("three")), ohtest.Reply(ohtest.Text("four")))
	if got := id(t, b.json("--session-id", own, "third")); got != own {
		t.Errorf("--session-id gives %s", got)
	}
	r := b.json("--session-id", own, "again")
	if r.code == 0 {
		t.Errorf("an id was used twice: %v", r)
	}
	b.oh("-p", "-r", own, "--name", "a title", "x")
}

// TestTwoWriters: the second writer goes on in a copy and says so.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("one")))
	b.oh("-p", "first").wantCode(t, 0)
	release := make(chan struct{})
	b.srv.Add(ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("two")}, After: release}, ohtest.Reply(ohtest.Text("three")))
	slow := b.start(call{args: []string{"-p", "-c", "second"}})
	b.requests(2)
	r := b.oh("-p", "-c", "third")
	r.wantCode(t, 0)
	r.wantErr(t, "in use", "copy")
	if r.out != "three\n" {
		t.Errorf("the second writer: %v", r)
	}
	close(release)
	if res := slow.wait(); res.code != 0 || res.out != "two\n" {
		t.Errorf("the first writer: %v", res)
	}
	if n := len(b.logs()); n != 2 {
		t.Errorf("%d files", n)
	}
	b.done(3)
}

// TestNothingKept: without persistence nothing is written; a dry run neither
// writes nor calls.
func TestNothingKept(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(named(bash(t, "echo hi"), "a")), ohtest.Reply(ohtest.Text("ok")))
		b.file("CLAUDE.md", "Project words.")
		b.oh("-p", "--no-session-persistence", "--permission-mode", "full_auto", "hi").wantCode(t, 0)
		if len(b.logs()) > 0 {
			t.Errorf("files %v", b.logs())
		}
		b.done(2)
		b.srv.Add(ohtest.Reply(ohtest.Text("kept")))
		b.oh("-p", "hi").wantCode(t, 0)
		before := tree(t, b.home, b.work)
		for _, args := range [][]string{{"--dry-run", "hi"}, {"-p", "--dry-run", "--output-format", "json", "hi"}, {"--dry-run", "-c"}, {"--dry-run", "/help"},
			{"--dry-run", "--output-format", "stream-json"}} {
			r := b.oh(args...)
			r.wantCode(t, 0)
			if !strings.Contains(r.out, "Project words.") || hasKey(r.out+r.err) {
				t.Errorf("%v: %v", args, r)
			}
			if strings.Contains(strings.Join(args, " "), "json") && !json.Valid([]byte(r.out)) {
				t.Errorf("%v: no JSON: %s", args, r.out)
			}
		}
		if diff := cmp.Diff(before, tree(t, b.home, b.work)); diff != "" {
			t.Errorf("a dry run wrote (-before +after):\n%s", diff)
		}
		b.done(3)
	})
	t.Run("without a key", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, "")
		r := b.oh("--dry-run", "hi")
		r.wantCode(t, 0)
		if !strings.Contains(r.out, "ANTHROPIC_API_KEY") || len(tree(t, b.home)) != 1 {
			t.Errorf("%v; %v", r, tree(t, b.home))
		}
	})
}

// TestSessionCommands: list, show, export.
func TestSessionCommands(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, "echo shown-output"), "a")), ohtest.Reply(ohtest.Text("the answer")))
	if r := b.oh("session", "list"); r.code != 0 || r.out != "" {
		t.Errorf("an empty list: %v", r)
	}
	sid := id(t, b.json("--permission-mode", "full_auto", "--name", "A title", "my question"))
	before := tree(t, b.home, b.work)
	if r := b.oh("session", "list"); r.code != 0 || !strings.Contains(r.out, sid) || !strings.Contains(r.out, "A title") {
		t.Errorf("list: %v", r)
	}
	r := b.oh("session", "list", "--json")
	if f := frames(t, r.out); len(f) != 1 || f[0]["id"] != sid || f[0]["dir"] != b.work {
		t.Errorf("list: %v", r)
	}
	for _, args := range [][]string{{"session", "show", sid[:30]}, {"session", "export", sid}, {"session", "export", "--format", "json", sid}} {
		r := b.oh(args...)
		r.wantCode(t, 0)
		for _, want := range []string{"my question", "shown-output", "the answer"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%v lacks %q: %v", args, want, r)
			}
		}
	}
	r = b.oh("session", "export", "--format", "docx", sid)
	if r.code == 0 || !strings.Contains(r.err, "docx") {
		t.Errorf("format: %v", r)
	}
	if r := b.oh("-p", "-r"); r.code != 0 || !strings.Contains(r.out, sid) {
		t.Errorf("-r without an id: %v", r)
	}
	if r := b.run(call{args: []string{"-r"}, stdin: strings.NewReader("a prompt")}); r.code != 0 || !strings.Contains(r.out, sid) {
		t.Errorf("-r without an id: %v", r)
	}
	if diff := cmp.Diff(before, tree(t, b.home, b.work)); diff != "" {
		t.Errorf("looking wrote (-before +after):\n%s", diff)
	}
	// A session of another project is found, and said.
	b.srv.Add(ohtest.Reply(ohtest.Text("elsewhere")))
	other := filepath.Join(filepath.Dir(b.work), "other")
	must(t, os.Mkdir(other, 0o755))
	if r := b.run(call{args: []string{"session", "list"}, dir: other}); r.out != "" {
		t.Errorf("the list of another project: %v", r)
	}
	b.run(call{args: []string{"-p", "-r", sid, "hi"}, dir: other}).wantCode(t, 0)
}

// TestConfig: shows, sets and unsets, in place.
func TestConfig(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	path := b.settings("{\n  \"effort\": \"low\",\n  // mine\n  \"no_such_key\": [1, 2], // kept\n}\n")
	b.env["OPENHARNESS_MAX_TURNS"] = "7"
	r := b.oh("config", "list")
	r.wantCode(t, 0)
	for _, want := range []string{"effort", "settings.json", "OPENHARNESS_MAX_TURNS", "max_turns"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("list lacks %q: %v", want, r)
		}
	}
	if r := b.oh("config", "--json"); r.code != 0 || !json.Valid([]byte(r.out)) || hasKey(r.out) {
		t.Errorf("json: %v", r)
	}
	for _, step := range []struct {
		args string
		code int
		out  string
	}{
		{"get effort", 0, "low\n"}, {"get max_turns", 0, "7\n"}, {"set effort high", 0, ""}, {"get effort", 0, "high\n"},
		{"set permission.mode plan", 0, ""}, {"get permission.mode", 0, "plan\n"}, {"set effort huge", 2, ""}, {"set permission.mode wild", 2, ""},
		{"set no.such x", 2, ""}, {"get effort", 0, "high\n"}, {"unset effort", 0, ""}, {"set --scope project model m1", 0, ""}, {"get model", 0, "m1\n"},
	} {
		r := b.oh(append([]string{"config"}, strings.Fields(step.args)...)...)
		if r.code != step.code || strings.HasPrefix(step.args, "get") && r.out != step.out {
			t.Errorf("config %s: want %d %q: %v", step.args, step.code, step.out, r)
		}
	}
	if s := b.read(path); !strings.Contains(s, "// mine") || !strings.Contains(s, "\"no_such_key\": [1, 2], // kept") || strings.Contains(s, "effort") {
		t.Errorf("file: %s", s)
	}
	if s := b.read(".openharness/settings.json"); !strings.Contains(s, "m1") {
		t.Errorf("project file: %s", s)
	}
}

// TestDemo: it works without a key and leaves nothing.
func TestDemo(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	tmp := b.env["TMPDIR"]
	before := tree(t, b.home, b.work)
	r := b.oh("demo")
	r.wantCode(t, 0)
	if !strings.Contains(strings.ToLower(r.out+r.err), "scripted") {
		t.Errorf("it is not said that the model is scripted: %v", r)
	}
	if diff := cmp.Diff(before, tree(t, b.home, b.work)); diff != "" {
		t.Errorf("left behind (-before +after):\n%s", diff)
	}
	if list, err := os.ReadDir(tmp); err != nil || len(list) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", list, err)
	}
}

// TestWords: help, version, completion, manual.
func TestWords(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	for _, tt := range []struct{ args, want string }{
		{"--version", "0."}, {"-v", "0."}, {"--help", "--permission-mode"}, {"help", "Usage"}, {"help session", "export"}, {"config --help", "unset"},
		{"completion bash", "oh"}, {"completion zsh", "oh"}, {"completion fish", "oh"}, {"man", ".TH"},
	} {
		r := b.oh(strings.Fields(tt.args)...)
		r.wantCode(t, 0)
		if !strings.Contains(r.out, tt.want) || r.err != "" {
			t.Errorf("%s: %v", tt.args, r)
		}
	}
	if v := b.oh("--version").out; strings.Count(v, ".") != 2 || strings.ContainsAny(v, " v") {
		t.Errorf("version %q is not bare", v)
	}
	r := b.oh("__complete", "session", "")
	if !strings.Contains(r.out, "export") {
		t.Errorf("completion: %v", r)
	}
	if len(tree(t, b.home)) != 1 {
		t.Errorf("files were left: %v", tree(t, b.home))
	}
}
