package slash

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	type want struct {
		Name, Args string
		OK         bool
	}
	tests := map[string]want{
		"/help":                {"help", "", true},
		"/model  opus ":        {"model", "opus", true},
		"/team:fix-it a\nb":    {"team:fix-it", "a\nb", true},
		"/commit\nfirst line":  {"commit", "first line", true},
		"/commit\r\nwindows":   {"commit", "windows", true},
		"/etc/x is broken":     {},
		"/etc/passwd":          {},
		"/":                    {},
		"/ help":               {},
		"/Help":                {},
		"/1st":                 {},
		" /help":               {},
		"help":                 {},
		"":                     {},
		"/naïve":               {},
		"/help.":               {},
		"/a_B9-c:d":            {"a_B9-c:d", "", true},
		"/x\ty":                {"x", "y", true},
		"// a comment in code": {},
	}
	for line, w := range tests {
		name, args, ok := Parse(line)
		if diff := cmp.Diff(w, want{name, args, ok}); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", line, diff)
		}
	}
}

func says(text string) func(context.Context, string) (Effect, error) {
	return func(_ context.Context, args string) (Effect, error) { return Effect{Text: text + args}, nil }
}

func sample(t *testing.T) *Set {
	t.Helper()
	var s Set
	err := s.Add(
		Command{Name: "exit", Aliases: []string{"quit"}, Summary: "end the session", Run: says("bye")},
		Command{Name: "model", Args: "[NAME]", Summary: "show or\nset the model", Run: says("model ")},
		Command{Name: "broken", Run: func(context.Context, string) (Effect, error) { panic("boom") }},
		Command{Name: "fails", Run: func(context.Context, string) (Effect, error) {
			return Effect{Exit: true}, errors.New("no such profile")
		}},
		Command{Name: "slow", Run: func(ctx context.Context, _ string) (Effect, error) { return Effect{}, ctx.Err() }},
	)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestRun(t *testing.T) {
	s := sample(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		line   string
		ctx    context.Context
		effect Effect
		ok     bool
		err    string
	}{
		{line: "/model opus", effect: Effect{Text: "model opus"}, ok: true},
		{line: "/quit", effect: Effect{Text: "bye"}, ok: true},
		{line: "hello"},
		{line: "/etc/x y"},
		{line: "/modle", ok: true, err: "/modle is no command: did you mean /model? (/help lists all)"},
		{line: "/qiut", ok: true, err: "/qiut is no command: did you mean /quit? (/help lists all)"},
		{line: "/zzzzzz", ok: true, err: "/zzzzzz is no command (/help lists all)"},
		{line: "/fails", ok: true, err: "/fails: no such profile"},
		{line: "/broken x", ok: true, err: "/broken failed inside: boom (please report this; the session goes on)"},
		{line: "/slow", ctx: cancelled, ok: true, err: "/slow was interrupted: context canceled"},
	}
	for _, tt := range tests {
		ctx := tt.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		e, ok, err := s.Run(ctx, tt.line)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if e != tt.effect || ok != tt.ok || msg != tt.err {
			t.Errorf("Run(%q) = %+v, %v, %q; want %+v, %v, %q", tt.line, e, ok, msg, tt.effect, tt.ok, tt.err)
		}
	}
}

func TestUnknownIsUsage(t *testing.T) {
	_, _, err := sample(t).Run(t.Context(), "/nope")
	unknown, ok := errors.AsType[*UnknownError](err)
	if !ok || !unknown.Usage() || unknown.Name != "nope" {
		t.Errorf("error %#v is no usage error for nope", err)
	}
}

func TestAddRefuses(t *testing.T) {
	run := says("")
	tests := map[string][]Command{
		"/exit exists twice":       {{Name: "new", Run: run}, {Name: "exit", Run: run}},
		"/quit exists twice":       {{Name: "quit", Run: run}},
		"/model exists twice":      {{Name: "new", Aliases: []string{"model"}, Run: run}},
		"/new exists twice":        {{Name: "new", Run: run}, {Name: "other", Aliases: []string{"new"}, Run: run}},
		"must be a lower-case":     {{Name: "Bad", Run: run}},
		`slash command "a b"`:      {{Name: "ok", Aliases: []string{"a b"}, Run: run}},
		"/new cannot run":          {{Name: "new"}},
		`slash command "": the na`: {{Run: run}},
	}
	for want, commands := range tests {
		s := sample(t)
		err := s.Add(commands...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Add: error %v, want one with %q", err, want)
		}
		if diff := cmp.Diff(sample(t).Names(), s.Names()); diff != "" {
			t.Errorf("%s: a refused Add changed the set:\n%s", want, diff)
		}
	}
}

func TestHelp(t *testing.T) {
	want := `/broken
/exit, /quit   end the session
/fails
/model [NAME]  show or set the model
/slow
`
	if diff := cmp.Diff(want, sample(t).Help()); diff != "" {
		t.Error(diff)
	}
}

func TestEmptySet(t *testing.T) {
	var s Set
	_, ok, err := s.Run(t.Context(), "/help")
	if !ok || err == nil {
		t.Errorf("empty set: ok %v, error %v", ok, err)
	}
	if len(s.Names()) != 0 || s.Help() != "" {
		t.Error("an empty set names commands")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/help", "/etc/x y", "/a\nb", "/\x00", "/é", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		name, args, ok := Parse(line)
		if !ok {
			if name != "" || args != "" {
				t.Errorf("a prompt gave %q and %q", name, args)
			}
			return
		}
		if !validName(name) || !strings.HasPrefix(line, "/"+name) || args != strings.TrimSpace(args) || !strings.HasSuffix(strings.TrimSpace(line), args) {
			t.Errorf("Parse(%q) = %q, %q", line, name, args)
		}
	})
}
