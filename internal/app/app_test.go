package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// options are a session in an empty home and project, with a scripted model.
func options(t *testing.T, turns ...ohtest.Turn) (Options, *ohtest.Server) {
	t.Helper()
	server := ohtest.NewServer(t, turns...)
	home := t.TempDir()
	project := filepath.Join(home, "src", "project")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.URL}
	return Options{Version: "0.0.0", Dir: project, Home: home, Interactive: true,
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}, server
}

func build(t *testing.T, o Options) *Runtime {
	t.Helper()
	r, err := Build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func handle(t *testing.T, r *Runtime, line string) []oh.Event {
	t.Helper()
	var events []oh.Event
	for env, err := range r.Handle(t.Context(), line) {
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, env.Event)
	}
	return events
}

func shown(events []oh.Event) string {
	var b strings.Builder
	for _, ev := range events {
		switch ev := ev.(type) {
		case oh.CommandOutput:
			b.WriteString(ev.Text)
		case oh.TextDelta:
			b.WriteString(ev.Text)
		case oh.ToolDone:
			b.WriteString(ev.Content.Text())
		case oh.Notice:
			b.WriteString(ev.Text)
		}
	}
	return b.String()
}

// What is allowed always in a project holds for the next session there, and
// leaves no file in the project.
func TestAlwaysInThisProject(t *testing.T) {
	edit := ohtest.Reply(ohtest.Call("c", "write_file", `{"path": "a.txt", "content": "x"}`))
	o, _ := options(t, edit, ohtest.Reply(ohtest.Text("done")), edit, ohtest.Reply(ohtest.Text("done")))
	asked := 0
	o.Asker = oh.AskerFunc(func(_ context.Context, q oh.Question) (oh.Answer, error) {
		asked++
		if q.Suggest == "" {
			t.Errorf("no rule is offered: %+v", q)
		}
		return oh.Answer{Allow: true, Scope: oh.Project}, nil
	})
	r := build(t, o)
	handle(t, r, "write it")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	handle(t, build(t, o), "again")
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, ".openharness")); err == nil {
		t.Error("the grant left a folder in the project")
	}
}

func TestDamagedGrantsCountForNothing(t *testing.T) {
	o, _ := options(t)
	r := build(t, o)
	path := r.grantsPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{oops"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := build(t, o)
	if got := shown(handle(t, again, "/status")); !strings.Contains(got, "does not count") {
		t.Errorf("nothing is said: %s", got)
	}
	if err := again.saveGrant("Edit(/a)"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("the damaged file was overwritten: %v", err)
	}
}

func TestLookingAroundLeavesNoFile(t *testing.T) {
	o, server := options(t)
	r := build(t, o)
	for _, line := range []string{"/help", "/status", "/context", "/context full", "/cost", "/model haiku", "/effort high", "/permissions plan", "/permissions", "/continue", "/clear"} {
		handle(t, r, line)
	}
	st := r.Conversation().State()
	if st.Model != "claude-haiku-4-5" || st.Effort != "high" || st.Mode != oh.ModePlan {
		t.Errorf("state: %+v", st)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Home, ".openharness")); err == nil {
		t.Error("something was written")
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestResumeKeepsStateAndPrompt(t *testing.T) {
	o, server := options(t, ohtest.Reply(ohtest.Text("one")), ohtest.Reply(ohtest.Text("two")))
	r := build(t, o)
	handle(t, r, "/model opus")
	handle(t, r, "/permissions acceptEdits")
	handle(t, r, "first")
	id := r.Session()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	// New instructions do not change the prompt of an old session.
	if err := os.WriteFile(filepath.Join(o.Dir, "AGENTS.md"), []byte("Use tabs."), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Continue = true
	back := build(t, o)
	handle(t, back, "second")
	st := back.Conversation().State()
	if back.Session() != id || st.Model != "claude-opus-4-6" || st.Mode != oh.ModeAcceptEdits {
		t.Errorf("session %s, want %s; state %+v", back.Session(), id, st)
	}
	reqs := server.Requests()
	if reqs[0].System() != reqs[1].System() || reqs[1].Model() != "claude-opus-4-6" || len(reqs[1].Messages()) != 3 {
		t.Errorf("the second request: %s with %d messages", reqs[1].Model(), len(reqs[1].Messages()))
	}
}

func TestMentions(t *testing.T) {
	o, server := options(t, ohtest.Reply(ohtest.Text("ok")))
	for path, content := range map[string]string{"main.go": "package main\n", ".env": "SECRET=1\n", "sub/x": "", "../../.ssh/id_rsa": "KEY"} {
		full := filepath.Join(o.Dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := build(t, o)
	events := handle(t, r, "look at @main.go, @sub and @~/.ssh/id_rsa and @nothing")
	sent := server.Requests()[0].LastUserText()
	if !strings.Contains(sent, "package main") || !strings.Contains(sent, "[The user mentions sub:]") || strings.Contains(sent, "KEY") {
		t.Errorf("sent: %s", sent)
	}
	if !strings.Contains(shown(events), "@~/.ssh/id_rsa is not attached: permission denied") {
		t.Errorf("told: %s", shown(events))
	}
	if _, ok := r.Conversation().ReadHash(filepath.Join(o.Dir, "main.go")); !ok {
		t.Error("a mentioned file does not count as read")
	}
}

func TestFullAutoCanBeDisabled(t *testing.T) {
	o, _ := options(t)
	o.Settings = `{"permissions": {"disableBypassPermissionsMode": "disable"}}`
	o.Mode = "full_auto"
	r := build(t, o)
	if m := r.Conversation().State().Mode; m == oh.ModeFullAuto {
		t.Errorf("mode %s", m)
	}
	var failed error
	for _, err := range r.Handle(t.Context(), "/permissions full_auto") {
		failed = err
	}
	if failed == nil || !strings.Contains(failed.Error(), "disabled") {
		t.Errorf("error %v", failed)
	}
}

// TestResumeWithOtherWords: what the command line gives for the system prompt
// has its effect in a session that began without it, once.
func TestResumeWithOtherWords(t *testing.T) {
	o, server := options(t, ohtest.Reply(ohtest.Text("one")), ohtest.Reply(ohtest.Text("two")), ohtest.Reply(ohtest.Text("three")), ohtest.Reply(ohtest.Text("four")))
	ask := func(prompt string) {
		t.Helper()
		r := build(t, o)
		handle(t, r, prompt)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ask("first")
	o.Continue, o.Append = true, "Answer in verse.\n"
	ask("second")
	ask("third")
	o.Append = ""
	ask("fourth")
	reqs := server.Requests()
	if strings.Contains(reqs[0].System(), "verse") || !strings.Contains(reqs[1].System(), "Answer in verse.") {
		t.Errorf("the second request: %s", reqs[1].System())
	}
	if reqs[1].System() != reqs[2].System() || reqs[1].System() != reqs[3].System() {
		t.Error("the prompt changes again")
	}
}
