//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestFlagEffects: each flag has its effect on what is sent.
func TestFlagEffects(t *testing.T) {
	for _, tt := range []struct {
		name          string
		args          []string
		with, without []string // texts of the first request
	}{
		{"plain", nil, []string{"Project words."}, []string{"APPENDED", `"effort"`, `"thinking":{`, "reasoning_effort"}},
		{"system prompt", []string{"-s", "REPLACED words"}, []string{"REPLACED words", "Project words."}, nil},
		{"append", []string{"--append-system-prompt", "APPENDED words"}, []string{"APPENDED words", "Project words."}, nil},
		{"bare", []string{"--bare"}, nil, []string{"Project words."}},
		{"effort", []string{"--effort", "low"}, []string{`effort":"low"`}, nil},
		{"model", []string{"--model", "some-model"}, []string{`"some-model"`}, nil},
		{"inline settings", []string{"--settings", `{"model":"inline-model"}`}, []string{`"inline-model"`}, nil},
		{"settings file", []string{"--settings", "more.json"}, []string{`"file-model"`}, nil},
		{"user's settings", nil, []string{"user-words"}, nil},
		{"sources", []string{"--setting-sources", "project"}, nil, []string{"user-words"}},
		{"folder", []string{"--cwd", "sub"}, []string{"/sub"}, nil},
		{"without -p", nil, []string{"hi there"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				b := newBox(t, wire, ohtest.Reply(ohtest.Text("ok")))
				delete(b.env, "OPENHARNESS_MODEL")
				b.file("CLAUDE.md", "Project words.")
				b.file("more.json", `{"model":"file-model"}`)
				b.file("sub/x", "")
				b.settings(`{"system_prompt":"user-words"}`)
				args := tt.args
				if wire == ohtest.OpenAI && !strings.Contains(tt.name, "model") && !strings.Contains(tt.name, "settings") {
					args = append([]string{"--model", "gpt-5"}, args...)
				}
				if tt.name != "without -p" {
					args = append([]string{"-p"}, args...)
				}
				r := b.oh(append(args, "hi there")...)
				r.wantCode(t, 0)
				body := string(b.done(1)[0].Body)
				for _, w := range tt.with {
					if !strings.Contains(body, w) {
						t.Errorf("the request lacks %q: %s", w, body)
					}
				}
				for _, w := range tt.without {
					if strings.Contains(body, w) {
						t.Errorf("the request has %q", w)
					}
				}
			})
		})
	}
}

// TestDemoInterrupted: an interrupted demo leaves nothing either.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	tmp := b.env["TMPDIR"]
	r := b.start(call{args: []string{"demo"}})
	until(t, "it has begun", func() bool {
		list, err := os.ReadDir(tmp)
		return err == nil && len(list) > 0
	})
	r.signal(syscall.SIGINT)
	if res := r.wait(); res.code != 130 && res.code != 0 {
		t.Errorf("%v", res)
	}
	if list, err := os.ReadDir(tmp); err != nil || len(list) > 0 {
		t.Errorf("left: %v, %v", list, err)
	}
	if exists(filepath.Join(b.home, ".openharness")) {
		t.Error("left in the home")
	}
}

// TestEmptyReasoning (B19): a service that demands the field gets it when it is
// set so.
func TestEmptyReasoning(t *testing.T) {
	t.Parallel()
	b := newBoxWith(t, ohtest.OpenAI, ohtest.Config{Rules: ohtest.Rules{RequireReasoning: true, EmptyReasoning: true}, Turns: []ohtest.Turn{
		ohtest.Reply(ohtest.Thinking("because"), named(bash(t, "echo 1"), "a")), ohtest.Reply(named(bash(t, "echo 2"), "b")), ohtest.Reply(ohtest.Text("done"))}})
	b.env["OPENHARNESS_REQUIRE_EMPTY_REASONING_CONTENT"] = "1"
	b.auto("go").wantCode(t, 0)
	b.done(3)
}
