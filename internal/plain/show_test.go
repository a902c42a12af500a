package plain

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// shows returns what a face shows of events.
func shows(c Config, events ...oh.Event) string {
	var out strings.Builder
	c.Out, c.Getenv = &out, env(nil)
	f := New(c)
	i := f.info()
	f.known = state{string(i.Mode), i.Model, i.Effort}
	for _, e := range events {
		f.show(e)
	}
	return out.String()
}

// TestChanges: a change of the session is told once.
func TestChanges(t *testing.T) {
	info := func() Info { return Info{Mode: oh.ModeDefault, Model: "opus-9", Profile: "anthropic"} }
	said := func(text string) oh.Event { return oh.CommandOutput{Command: "x", Text: text} }
	tests := []struct {
		name   string
		events []oh.Event
		want   string
	}{
		{"by a tool", []oh.Event{oh.StateChanged{Mode: oh.ModePlan, Model: "opus-10", Effort: "high"}}, "mode: plan\nmodel: opus-10\neffort: high\n"},
		{"by a command that says so", []oh.Event{said("The model is now opus-10."), oh.StateChanged{Model: "opus-10"}}, "The model is now opus-10.\n"},
		{"by a command that says something like it", []oh.Event{said("Allowed."), oh.StateChanged{Effort: "low"}}, "Allowed.\neffort: low\n"},
		{"to what it was", []oh.Event{said("A new conversation."), oh.StateChanged{Mode: oh.ModeDefault, Profile: "anthropic", Model: "opus-9"}}, "A new conversation.\n"},
		{"to what was said", []oh.Event{oh.StateChanged{Mode: oh.ModePlan}, oh.StateChanged{Mode: oh.ModePlan}}, "mode: plan\n"},
		{"of something else", []oh.Event{oh.StateChanged{Dir: "/w", Title: "t", Profile: "p"}}, ""},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, shows(Config{Info: info}, tt.events...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestApprovedDiff: a change that was shown in a question is not shown again,
// one that came out differently is.
func TestApprovedDiff(t *testing.T) {
	diff := oh.Diff{Path: "/w/a.go", Unified: "@@ -1 +1 @@\n-x\n+y\n", Added: 1, Removed: 1}
	other := diff
	other.Unified = "@@ -1 +1 @@\n-x\n+z\n"
	tests := []struct {
		name, key string
		done      oh.ToolDone
		again     bool
	}{
		{"as approved", "y", oh.ToolDone{ID: "c1", Tool: "edit_file", Display: oh.DisplayBox{Display: diff}}, false},
		{"otherwise", "y", oh.ToolDone{ID: "c1", Tool: "edit_file", Display: oh.DisplayBox{Display: other}}, true},
		{"another call", "y", oh.ToolDone{ID: "c2", Tool: "edit_file", Display: oh.DisplayBox{Display: diff}}, true},
		{"refused", "n", oh.ToolDone{ID: "c1", Tool: "edit_file", Display: oh.DisplayBox{Display: diff}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, Config{}, nil)
			s.rt.script = func(ctx context.Context, line string, say func(oh.Event)) error {
				prompted(say, line)
				_, err := s.face.Ask(ctx, oh.Question{ID: "c1", Kind: oh.AskPermission, Tool: "edit_file", Preview: oh.DisplayBox{Display: diff}})
				say(tt.done)
				finished(say)
				return err
			}
			s.expect("› ")
			s.typed("go")
			s.expect("  +y\n")
			s.expect("? ")
			s.typed(tt.key)
			if tt.again {
				s.expect("✓ edit_file  +1 -1\n  /w/a.go\n  @@")
			} else {
				s.expect("✓ edit_file  +1 -1\n› ")
			}
		})
	}
}

// TestAdviceHere: a failure comes with advice for who sits at the prompt.
func TestAdviceHere(t *testing.T) {
	info := func() Info { return Info{KeySource: "OPENAI_API_KEY", BaseURL: "http://127.0.0.1:9"} }
	fail := map[string]error{
		"key":    &oh.Error{Op: "openai", Kind: oh.KindAuth, Status: 401, Err: errors.New("no")},
		"server": &oh.Error{Op: "openai", Kind: oh.KindUnavailable, Err: syscall.ECONNREFUSED},
		"own":    errors.New("the log is full"),
	}
	s := start(t, Config{Info: info}, func(_ context.Context, line string, say func(oh.Event)) error {
		if err, ok := fail[line]; ok {
			say(oh.RunDone{Reason: oh.ReasonFailed, Text: err.Error()})
			return err
		}
		say(oh.RunDone{Reason: oh.Reason(line)})
		return nil
	})
	for _, step := range [][2]string{
		{"key", "✗ openai: 401 auth: no. The key from OPENAI_API_KEY was refused: correct or unset it\n"},
		{"server", "Is it running at http://127.0.0.1:9? --base-url sets the address; /continue tries again\n"},
		{"own", "✗ the log is full\n"},
		{"max_tokens", "✗ the reply was cut at the output limit each time. /continue goes on\n"},
		{"loop_guard", "✗ the same failing call came again and again. Say what to do instead\n"},
		{"refusal", "✗ the model declined to answer\n"},
	} {
		s.expect("› ")
		s.typed(step[0])
		s.expect(step[1])
	}
}

// TestLongReason: the words of a run's end are cut after a word.
func TestLongReason(t *testing.T) {
	got := shows(Config{}, oh.RunDone{Reason: oh.ReasonBlocked, Text: strings.Repeat("sixish ", 200)})
	if want := "✗ " + strings.TrimSpace(strings.Repeat("sixish ", 85)) + "…\n"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 0, "one two three"},
		{"one two three", 9, "one two\n..three"},
		{"  one  two  three\n\nfour\n", 10, "  one  two\n..three\n\nfour\n"},
		{"averylongword and averylongword", 6, "averylongword\n..and\n..averylongword"},
		{"日本 日本 日本", 9, "日本 日本\n..日本"},
		{"e\u0301e\u0301 e\u0301e\u0301", 5, "e\u0301e\u0301 e\u0301e\u0301"},
		{"end  ", 4, "end  "},
	}
	for _, tt := range tests {
		if got := wrap(tt.in, tt.width, ".."); got != tt.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	for _, s := range []string{"", "one two", "  a\n b  c ", "日本 \u0301 x", "\xff \xfe"} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		got := wrap(s, width, "  ")
		if a, b := strings.Join(strings.Fields(s), " "), strings.Join(strings.Fields(got), " "); a != b {
			t.Errorf("%q became %q", s, got)
		}
	})
}
