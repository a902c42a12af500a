package plain

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func commandQuestion() oh.Question {
	return oh.Question{
		ID: "c1", Kind: oh.AskPermission, Tool: "bash", Input: []byte(`{"command":"npm i x"}`),
		Access: oh.Access{Command: "npm i x\x1b[2K\rls", Dir: "/w/web"}, Reason: "it writes outside", Rule: "ask: Bash(npm *)",
		Suggest: "Bash(npm i:*)",
	}
}

// asking runs a question inside a run and reports the answer.
func asking(t *testing.T, c Config, q oh.Question) (*session, chan oh.Answer, chan error) {
	t.Helper()
	answers, errs := make(chan oh.Answer, 1), make(chan error, 1)
	s := start(t, c, nil)
	s.rt.script = func(ctx context.Context, line string, say func(oh.Event)) error {
		prompted(say, line)
		a, err := s.face.Ask(ctx, q)
		answers <- a
		errs <- err
		finished(say)
		return err
	}
	s.expect("› ")
	s.typed("go")
	return s, answers, errs
}

func TestPermission(t *testing.T) {
	guarded := commandQuestion()
	guarded.Guarded = true
	tests := []struct {
		name  string
		q     oh.Question
		lines []string
		want  oh.Answer
	}{
		{"once", commandQuestion(), []string{"y"}, oh.Answer{Allow: true, Scope: oh.Once}},
		{"in full", commandQuestion(), []string{"Yes"}, oh.Answer{Allow: true, Scope: oh.Once}},
		{"session", commandQuestion(), []string{"s"}, oh.Answer{Allow: true, Scope: oh.Session}},
		{"project", commandQuestion(), []string{" p "}, oh.Answer{Allow: true, Scope: oh.Project}},
		{"in words", commandQuestion(), []string{"Session"}, oh.Answer{Allow: true, Scope: oh.Session}},
		{"no", commandQuestion(), []string{"n"}, oh.Answer{}},
		{"reason", commandQuestion(), []string{"use pnpm"}, oh.Answer{Text: "use pnpm"}},
		{"mistyped", commandQuestion(), []string{"", "x", "no"}, oh.Answer{}},
		{"guarded offers no rule", guarded, []string{"s", "project", "y"}, oh.Answer{Allow: true, Scope: oh.Once}},
		{"a command is an answer too", commandQuestion(), []string{"/exit"}, oh.Answer{Text: "/exit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, answers, errs := asking(t, Config{}, tt.q)
			for _, line := range tt.lines {
				s.expect("instead\n")
				s.expect("? ")
				s.typed(line)
			}
			if diff := cmp.Diff(tt.want, <-answers); diff != "" {
				t.Error(diff)
			}
			if err := <-errs; err != nil {
				t.Error(err)
			}
			s.expect("› ")
		})
	}
}

// TestPermissionScreen: everything that matters is shown, and nothing invisible
// hides.
func TestPermissionScreen(t *testing.T) {
	diff := oh.Diff{Path: "/w/a.go", Unified: "@@ -1 +1,3 @@\n-x\n+y\u202e\n+z\n+w\n", Added: 3, Removed: 1}
	guarded := commandQuestion()
	guarded.Guarded, guarded.Agent = true, "explore"
	server := oh.Question{Kind: oh.AskPermission, Tool: "bash", Input: []byte(`{"command":"make serve","run_in_background":true}`), Access: oh.Access{Command: "make serve"}}
	edit := oh.Question{Kind: oh.AskPermission, Tool: "edit_file", Input: []byte(`{"path":"a.go"}`), Preview: oh.DisplayBox{Display: diff}}
	routine, outside, ruled, odd := edit, edit, edit, edit
	routine.Reason, routine.Suggest = "edit_file writes /w/a.go, which the mode default asks about", "Edit(/src/**)"
	outside.Reason = "edit_file writes /w/a.go, outside the workspace /v, which the mode acceptEdits asks about"
	ruled.Rule, ruled.Reason = "Edit(a.go) of /w/settings.json", "the rule Edit(a.go) of /w/settings.json asks first"
	odd.Preview.Display = oh.Diff{Path: "/w/a\u202e.go", Unified: "+x\n"}
	tests := []struct {
		name string
		q    oh.Question
		n    int
		want string
	}{
		{"command", commandQuestion(), 5, `
Run this command?
  npm i x\x1b[2K\rls
  in: /w/web
  why: it writes outside
  rule: ask: Bash(npm *)
[y]es once  [s]ession  [p]roject  [n]o  [d]etails, or say what to do instead
s, p: Bash(npm i:*)
`},
		{"background", server, 5, `
Run this command in the background?
  make serve
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"guarded", guarded, 5, `
Run this command? (asked by agent explore)
  npm i x\x1b[2K\rls
  in: /w/web
  why: it writes outside
  rule: ask: Bash(npm *)
  ⚠ asked in every mode, since it can destroy much
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"diff", routine, 3, `
Make this change?
  a.go
  @@ -1 +1,3 @@
  -x
  +y\u202e
  … 2 lines more
[y]es once  [s]ession  [p]roject  [n]o  [d]etails, or say what to do instead
s, p: Edit(/src/**)
`},
		{"whole diff", outside, 0, `
Make this change?
  a.go
  @@ -1 +1,3 @@
  -x
  +y\u202e
  +z
  +w
  why: edit_file writes /w/a.go, outside the workspace /v
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"rule", ruled, 1, `
Make this change?
  a.go
  @@ -1 +1,3 @@
  … 4 lines more
  why: the rule Edit(a.go) of /w/settings.json asks first
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"odd path", odd, 1, `
Make this change?
  a\u202e.go
  +x
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"arguments", oh.Question{Kind: oh.AskPermission, Tool: "mcp__db__run", Input: []byte(`{"sql":"drop\ntable","n":3,"o":{"a":[1]}}`)}, 9, `
Run mcp__db__run?
  sql: drop
  table
  n: 3
  o: {"a":[1]}
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"address", oh.Question{Kind: oh.AskPermission, Tool: "web_fetch", Input: []byte(`{"url":"http://a"}`), Access: oh.Access{URLs: []string{"http://a", "http://b"}}}, 9, `
Open this address with web_fetch?
  url: http://a
  http://b
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"path", oh.Question{Kind: oh.AskPermission, Tool: "read_file", Input: []byte(`{"path":"../x"}`), Access: oh.Access{Paths: []oh.PathUse{{Path: "/etc/x"}}}}, 9, `
Run read_file?
  path: ../x
  /etc/x
[y]es once  [n]o  [d]etails, or say what to do instead
`},
		{"plan", oh.Question{Kind: oh.AskPlan, Text: "1. a\n2. b\n3. c"}, 2, `
Is this plan all right?
  1. a
  2. b
  … 1 line more
[y]es, go on  [n]o, or say what to do instead
`},
		{"trust", oh.Question{Kind: oh.AskTrust, Text: "2 hooks"}, 2, `
Do you trust this folder?
  2 hooks
[y]es, from now on  [o]nly this time  [n]o
`},
		{"broken input", oh.Question{Kind: oh.AskPermission, Tool: "x", Input: []byte(`[1`)}, 2, `
Run x?
  [1
[y]es once  [n]o  [d]etails, or say what to do instead
`},
	}
	for _, tt := range tests {
		f := New(Config{Out: io.Discard, Getenv: env(nil)})
		if diff := cmp.Diff(tt.want, f.s.question("/w", tt.q, tt.n)+keysOf(tt.q).legend()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestGrounds: a reason is shown when it says more than that the mode asks.
func TestGrounds(t *testing.T) {
	const mode = ", which the mode default asks about"
	tests := []struct{ reason, want string }{
		{"bash runs a command" + mode, ""},
		{"bash may change something" + mode, ""},
		{"bash connects to example.org" + mode, ""},
		{"bash writes a b.txt" + mode, ""},
		{"bash reads /etc/x, outside the workspace /w" + mode, "bash reads /etc/x, outside the workspace /w"},
		{"bash writes x (a link to /etc/x)" + mode, "bash writes x (a link to /etc/x)"},
		{"bash sends local data to the network" + mode, "bash sends local data to the network"},
		{"a hook asks first", "a hook asks first"},
	}
	for _, tt := range tests {
		q := oh.Question{Tool: "bash", Reason: tt.reason}
		if why, _ := grounds(q); why != tt.want {
			t.Errorf("%q: shown %q, want %q", tt.reason, why, tt.want)
		}
		q.Guarded = true
		if why, _ := grounds(q); why != tt.reason {
			t.Errorf("%q of a guarded call: shown %q", tt.reason, why)
		}
	}
}

// TestNarrow: a question fits into 40 columns and 12 lines.
func TestNarrow(t *testing.T) {
	var out strings.Builder
	f := New(Config{Out: &out, Terminal: true, Width: 40, Getenv: env(map[string]string{"TERM": "dumb"})})
	q := commandQuestion()
	q.Reason, q.Rule, q.Access.Command = "it writes to a place that is outside of the workspace", "", "npm install --save-dev left-pad right-pad"
	f.s.line(f.s.question("/w", q, 9) + f.s.fold(keysOf(q).legend(), ""))
	item := oh.Item{Question: "Which of the colours do you like best of all?", Options: []oh.Option{{Label: "red", Description: "warm, and seen from far away by all"}, {Label: "blue"}}}
	f.s.line(f.s.item(oh.Question{Agent: "explore"}, item))
	f.show(oh.Notice{Level: oh.Warning, Text: "the settings file /home/me/with/a/very/long/name/settings.json is odd"})
	want := `
Run this command?
  npm install --save-dev left-pad right-pad
  in: /w/web
  why: it writes to a place that is
    outside of the workspace
[y]es once  [s]ession  [p]roject  [n]o
[d]etails, or say what to do instead
s, p: Bash(npm i:*)

Which of the colours do you like best of
  all? (asked by agent explore)
  1  red: warm, and seen from far away
     by all
  2  blue
type a number from 1 to 2, or an answer
note: the settings file
  /home/me/with/a/very/long/name/settings.json
  is odd
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDetail(t *testing.T) {
	q := oh.Question{Kind: oh.AskPermission, Tool: "run", Input: []byte(`{"a":"1\n2\n3"}`)}
	s, answers, _ := asking(t, Config{Lines: 1}, q)
	s.expect("a: 1\n  … 2 lines more\n")
	s.expect("? ")
	s.typed("d")
	s.expect("a: 1\n  2\n  3\n")
	s.expect("? ")
	s.typed("y")
	if a := <-answers; !a.Allow {
		t.Errorf("answer %+v", a)
	}
}

func TestChoices(t *testing.T) {
	q := oh.Question{Kind: oh.AskChoices, Items: []oh.Item{
		{Header: "Colour", Question: "Which?", Options: []oh.Option{{Label: "red", Description: "warm"}, {Label: "blue"}}},
		{Question: "Which ones?", Multi: true, Options: []oh.Option{{Label: "a"}, {Label: "b"}, {Label: "c"}}},
		{Question: "Why?"},
		{Question: "Else?", Options: []oh.Option{{Label: "no"}}},
	}}
	s, answers, errs := asking(t, Config{}, q)
	s.expect("Colour\nWhich?\n  1  red: warm\n  2  blue\ntype a number from 1 to 2, or an answer\n? ")
	for _, step := range [][2]string{{"3", "3 is no choice"}, {"1 2", "only one of them"}, {"", "type a number"}} {
		s.typed(step[0])
		s.expect(step[1])
		s.expect("? ")
	}
	s.typed("2")
	s.expect("Which ones?")
	s.expect("? ")
	s.typed("1, 3")
	s.expect("Why?\ntype an answer\n? ")
	s.typed("2")
	s.expect("Else?")
	s.expect("? ")
	s.typed("2 of them, please")
	want := oh.Answer{Allow: true, Values: [][]string{{"blue"}, {"a", "c"}, {"2"}, {"2 of them, please"}}}
	if diff := cmp.Diff(want, <-answers); diff != "" {
		t.Error(diff)
	}
	if err := <-errs; err != nil {
		t.Error(err)
	}
}

func TestInterruptedQuestion(t *testing.T) {
	s, _, errs := asking(t, Config{}, commandQuestion())
	s.expect("? ")
	s.face.Interrupt()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	s.expect("› ")
	s.typed("y")
	s.expect("? ")
}

func TestNobody(t *testing.T) {
	s, _, errs := asking(t, Config{}, commandQuestion())
	s.expect("? ")
	_ = s.in.Close()
	if err := <-errs; !errors.Is(err, oh.ErrNobody) {
		t.Errorf("error %v", err)
	}
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	if _, err := s.face.Ask(t.Context(), commandQuestion()); !errors.Is(err, oh.ErrNobody) {
		t.Errorf("after the end: error %v", err)
	}
}

// TestAskBeforeRun: trust is asked before there is a session.
func TestAskBeforeRun(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	out := newTerminal()
	s := &session{t: t, out: out, in: w, face: New(Config{In: r, Out: out, Getenv: env(nil)})}
	answers := make(chan oh.Answer, 1)
	ask := func() {
		a, err := s.face.Ask(t.Context(), oh.Question{Kind: oh.AskTrust, Text: "2 hooks"})
		if err != nil {
			a.Text = err.Error()
		}
		answers <- a
	}
	go ask()
	s.expect("? ")
	s.typed("o")
	if diff := cmp.Diff(oh.Answer{Allow: true, Scope: oh.Once}, <-answers); diff != "" {
		t.Error(diff)
	}
	go ask()
	s.expect("? ")
	s.face.Interrupt()
	if a := <-answers; a.Text != context.Canceled.Error() || a.Allow {
		t.Errorf("answer %+v", a)
	}
}

// TestQueue: two agents ask at once; one question is open at a time.
func TestQueue(t *testing.T) {
	s := start(t, Config{Dir: "/start"}, nil)
	question := commandQuestion()
	question.Access.Dir = ""
	results := make(chan oh.Answer, 2)
	s.rt.script = func(ctx context.Context, line string, say func(oh.Event)) error {
		prompted(say, line)
		for range 2 {
			go func() {
				a, _ := s.face.Ask(ctx, question)
				results <- a
			}()
		}
		<-results
		<-results
		finished(say)
		return nil
	}
	s.expect("› ")
	s.typed("go")
	s.expect("? ")
	if n := strings.Count(s.out.all(), "Run this command?"); n != 1 {
		t.Errorf("%d questions are open", n)
	}
	s.typed("y")
	s.expect("Run this command?")
	s.expect("in: /start\n")
	s.expect("? ")
	s.typed("n")
	s.expect("› ")
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "ls -l", "\x1b[2J\r\x00", "\u202e\u200d\ufe0f\U000e0001", "\xff\xfe", "é\n\t\"'\\", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range visible(s) {
			if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r == 0x200d) {
				t.Errorf("%q shows %U", s, r)
			}
		}
	})
}

func FuzzEntry(f *testing.F) {
	for _, s := range []string{"a\nb", "a\\\nb", "\x1b[200~a\nb\x1b[201~", "\\", "\x1b[201~x\x1b[200~\ny"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var e entry
		got := 0
		for line := range strings.Lines(s) {
			if whole, done := e.add(strings.TrimRight(line, "\r\n"), false); done {
				got += len(whole)
			}
		}
		rest, _ := e.rest()
		if got+len(rest) > len(s) {
			t.Errorf("%d bytes became more", len(s))
		}
		if _, held := e.rest(); held {
			t.Error("something is held after the end")
		}
	})
}
