//go:build unix

package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// TestInterruptWaiting: SIGINT ends what waits for a service, whether it is
// silent, asks to wait, or streams.
func TestInterruptWaiting(t *testing.T) {
	for name, turn := range map[string]ohtest.Turn{
		"no header":   ohtest.Play(ohtest.WaitFor(nil)),
		"silent":      ohtest.Play(ohtest.Send(nil), ohtest.Hold()),
		"retry wait":  ohtest.Fail(&oh.Error{Kind: oh.KindLimited, After: 50 * time.Second}),
		"text so far": ohtest.Hang(ohtest.Text("so far")),
		"thinking":    ohtest.Hang(ohtest.Thinking("so far")),
	} {
		t.Run(name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				b := newBox(t, wire, turn)
				r := b.start(call{args: []string{"-p", "--output-format", "stream-json", "first question"}})
				b.requests(1)
				r.signal(syscall.SIGINT)
				res := r.wait()
				res.wantCode(t, 130)
				if f := last(t, res.out); f["is_error"] != true || res.took > 20*time.Second {
					t.Errorf("result %v after %v", f, res.took)
				}
				b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
				b.oh("-c", "-p", "second question").wantCode(t, 0)
				body := string(b.done(2)[1].Body)
				for _, want := range []string{"first question", "second question"} {
					if !strings.Contains(body, want) {
						t.Errorf("%q is lost", want)
					}
				}
			})
		})
	}
}

// TestStubbornChild (B23): a child that ignores SIGTERM dies too, soon.
func TestStubbornChild(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t,
		`trap '' TERM INT HUP; setsid sh -c 'trap "" TERM; echo $$ > "$M/deep"; while :; do sleep 0.2; done' & echo $$ > "$M/pid.new"; while [ ! -e "$M/deep" ]; do sleep 0.02; done; mv "$M/pid.new" "$M/pid"; while :; do sleep 0.2; done`), "a")))
	r := b.inSecond("go")
	r.signal(syscall.SIGINT)
	res := r.wait()
	res.wantCode(t, 130)
	for _, mark := range []string{"pid", "deep"} {
		if alive(b.pid(mark)) {
			t.Errorf("process %s is left", mark)
			_ = syscall.Kill(b.pid(mark), syscall.SIGKILL)
		}
	}
}

// TestOtherWire: a session goes on with another vendor's model; what only the
// first understands is left out.
func TestOtherWire(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		other, profile := ohtest.OpenAI, "openai-compatible"
		if wire == ohtest.OpenAI {
			other, profile = ohtest.Anthropic, "claude-api"
		}
		b := newBox(t, wire, ohtest.Reply(ohtest.Thinking("hm"), ohtest.Text("I look."), named(bash(t, "echo out-1"), "weird.id:1")), ohtest.Reply(ohtest.Thinking("so"), ohtest.Text("one")))
		delete(b.env, "OPENHARNESS_MODEL")
		args := []string{"-p", "--permission-mode", "full_auto", "first"}
		if wire == ohtest.OpenAI {
			args = append([]string{"--model", "gpt-5"}, args...)
		}
		b.oh(args...).wantCode(t, 0)
		next := newBox(t, other, ohtest.Reply(ohtest.Text("two")))
		for _, k := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"} {
			if v, ok := next.env[k]; ok {
				b.env[k] = v
			}
		}
		r := b.oh("-c", "-p", "--profile", profile, "--model", "m2", "second")
		r.wantCode(t, 0)
		req := next.done(1)[0]
		if req.Model() != "m2" || !strings.Contains(string(req.Body), "out-1") || !strings.Contains(string(req.Body), "first") {
			t.Errorf("history %s", req.Body)
		}
		b.done(2)
	})
}

// TestSameProfile: a resume without flags stays with the session's service,
// though another key would be preferred.
func TestSameProfile(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI, ohtest.Reply(ohtest.Text("one")))
	delete(b.env, "OPENHARNESS_MODEL")
	b.oh("-p", "--model", "gpt-5", "first").wantCode(t, 0)
	away := newBox(t, ohtest.Anthropic)
	b.env["ANTHROPIC_API_KEY"], b.env["ANTHROPIC_BASE_URL"] = anthropicKey, away.srv.URL
	b.srv.Add(ohtest.Reply(ohtest.Text("two")))
	r := b.oh("-c", "-p", "second")
	r.wantCode(t, 0)
	away.done(0)
	if req := b.done(2); len(req) == 2 && req[1].Model() != "gpt-5" {
		t.Errorf("model %q", req[1].Model())
	}
}

// TestReadImage: an image that a tool reads arrives on each wire.
func TestReadImage(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire)
		raw, err := base64.StdEncoding.DecodeString(pixel)
		must(t, err)
		b.file("a.png", string(raw))
		b.file("fake.png", "\x89PNG\r\n\x1a\nbroken")
		var big bytes.Buffer
		must(t, png.Encode(&big, image.NewGray(image.Rect(0, 0, 9000, 2))))
		b.file("big.png", big.String())
		b.file("prog", "\x7fELF\x00\x00\x00")
		var calls []ohtest.ToolCall
		for _, name := range []string{"a.png", "fake.png", "big.png", "prog", "absent", "."} {
			calls = append(calls, ohtest.Call("c", "read_file", input(t, map[string]any{"path": name})))
		}
		got := b.results(calls...)
		for i, a := range got[1:] {
			if scaled := i == 1; a.isErr == scaled || scaled && !strings.Contains(a.text, "Scaled down from 9000 x 2") {
				t.Errorf("call %d: %+v", i+1, a)
			}
		}
		reqs := b.srv.Requests()
		if !strings.Contains(string(reqs[1].Body), pixel) {
			t.Error("the image is not sent")
		}
	})
}

// TestPlaces: homes and folders that cannot be used get a clear error.
func TestPlaces(t *testing.T) {
	t.Parallel()
	t.Run("no home", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")))
		delete(b.env, "HOME")
		r := b.oh("-p", "--no-session-persistence", "hi")
		if r.code != 0 && !strings.Contains(r.err, "HOME") {
			t.Errorf("%v", r)
		}
		b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
		b.oh("-p", "--no-session-persistence", "hi")
	})
	t.Run("data is a file", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic)
		b.file(filepath.Join(b.home, ".openharness", "data"), "x")
		r := b.oh("-p", "hi")
		r.wantCode(t, 1)
		r.wantErr(t, filepath.Join(b.home, ".openharness", "data"))
		b.done(0)
	})
	t.Run("folder is gone", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic)
		r := b.run(call{shell: `mkdir gone && cd gone && rmdir ../gone && exec "$0" -p hi`})
		if r.code == 0 || !strings.Contains(r.err, "directory") {
			t.Errorf("%v", r)
		}
		b.done(0)
	})
	t.Run("the session's folder is gone", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, "mkdir d && cd d"), "a")), ohtest.Reply(ohtest.Text("ok")), ohtest.Reply(ohtest.Text("still")))
		b.auto("hi").wantCode(t, 0)
		must(t, os.Remove(filepath.Join(b.work, "d")))
		r := b.oh("-c", "-p", "hi")
		r.wantCode(t, 0)
		r.wantErr(t, "gone")
	})
	t.Run("closed streams", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")))
		r := b.run(call{shell: `exec "$0" -p hi <&-`})
		r.wantCode(t, 0)
		b.done(1)
		b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
		b.run(call{shell: `exec "$0" -p hi >&-`}) // the runtime opens /dev/null in its place
		for _, path := range b.logs() {
			for line := range strings.Lines(b.read(path)) {
				if !strings.HasPrefix(line, "{") {
					t.Errorf("the output went into the log: %q", line)
				}
			}
		}
	})
	t.Run("odd names", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic)
		odd := filepath.Join(b.work, "späce \"q\" $x\n'n")
		must(t, os.Mkdir(odd, 0o755))
		b.srv.Add(ohtest.Reply(named(bash(t, "pwd; cd sub 2>/dev/null; mkdir -p 'a b' && cd 'a b'"), "a")), ohtest.Reply(named(bash(t, "pwd"), "b")), ohtest.Reply(ohtest.Text("ok")))
		b.run(call{args: []string{"-p", "--permission-mode", "full_auto", "hi"}, dir: odd}).wantCode(t, 0)
		resultOf(t, b.done(3)[2], "b").want(t, false, "'n/a b")
	})
}

// TestPromptBytes: a prompt of any bytes, of any size.
func TestPromptBytes(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire)
		for _, prompt := range []string{"a\xff\xfeb", hard, strings.Repeat("x", 100_000), "😀", "-", "a\u2028b"} {
			b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
			b.oh("-p", "--", prompt).wantCode(t, 0)
		}
		for _, prompt := range []string{"", "  ", "\n"} {
			b.oh("-p", "--", prompt).wantCode(t, 2)
		}
		b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
		b.run(call{args: []string{"-c", "-p", "q"}, stdin: strings.NewReader(strings.Repeat("long line ", 200_000))}).wantCode(t, 0)
		b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
		b.oh("-c", "-p", "after a line of 2 MB in the log").wantCode(t, 0)
		if s := string(b.done(8)[7].Body); len(s) < 2_000_000 {
			t.Errorf("the long line is lost: %d bytes", len(s))
		}
	})
}

// TestPartialMessages: pieces come as they are streamed, and end in the whole.
func TestPartialMessages(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		turn := ohtest.Reply(ohtest.Thinking("let me see"), ohtest.Text("some words here"))
		turn.Cut = ohtest.Cut{Delta: 3}
		b := newBox(t, wire, turn)
		r := b.oh("-p", "--output-format", "stream-json", "--include-partial-messages", "--verbose", "hi")
		r.wantCode(t, 0)
		var text, thinking strings.Builder
		for _, f := range frames(t, r.out) {
			ev, _ := f["event"].(map[string]any)
			delta, _ := ev["delta"].(map[string]any)
			s, _ := delta["text"].(string)
			text.WriteString(s)
			s, _ = delta["thinking"].(string)
			thinking.WriteString(s)
		}
		if text.String() != "some words here" || thinking.String() != "let me see" {
			t.Errorf("pieces: %q, %q", text.String(), thinking.String())
		}
	})
}

// TestDeltas: a long stream in small pieces is shown whole.
func TestDeltas(t *testing.T) {
	for _, format := range []string{"text", "stream-json", "events"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			want := strings.Repeat("word ", 4000) + "end"
			turn := ohtest.Reply(ohtest.Text(want))
			turn.Cut = ohtest.Cut{Delta: 1, Bytes: -1}
			b := newBox(t, ohtest.Anthropic, turn)
			r := b.oh("-p", "--output-format", format, "hi")
			r.wantCode(t, 0)
			if !strings.Contains(r.out, want) || r.took > 20*time.Second {
				t.Errorf("%d bytes after %v", len(r.out), r.took)
			}
		})
	}
}

// TestOddAnswers: what proxies and broken services send is an error of the
// service, in one line, and never an answer.
func TestOddAnswers(t *testing.T) {
	html := "<html><body>" + strings.Repeat("sorry ", 5000) + "</body></html>"
	for _, tt := range []struct {
		name string
		step ohtest.Step
	}{
		{"html with 200", ohtest.Status(200, http.Header{"Content-Type": {"text/html"}}, html)},
		{"json with 200", ohtest.Status(200, http.Header{"Content-Type": {"application/json"}}, `{"error":{"message":"no"}}`)},
		{"404", ohtest.Status(404, nil, html)},
		{"403", ohtest.Status(403, nil, "denied")},
		{"control characters", ohtest.Status(400, nil, "{\"error\":{\"message\":\"\\u001b]0;x\\u0007\\u001b[2J red\"}}")},
		{"garbage events", ohtest.SendText("data: {not json\n\ndata: 7\n\nevent: x\ndata: []\n\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				b := newBoxWith(t, wire, ohtest.Config{Rule: func(*ohtest.Request) (ohtest.Turn, bool) { return ohtest.Play(tt.step), true }})
				r := b.oh("-p", "hi")
				if r.code != 4 && (r.code != 3 || tt.name != "403") {
					t.Errorf("%v", r)
				}
				if r.out != "" || len(r.err) > 3000 || strings.ContainsAny(r.err, "\x1b\x07") {
					t.Errorf("%d bytes: %v", len(r.err), r)
				}
			})
		})
	}
}

// TestManyCalls: forty calls in one turn are all answered, reads side by side.
func TestManyCalls(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire)
		b.file("f", "content")
		var parts []ohtest.Part
		for i := range 40 {
			parts = append(parts, ohtest.Call(fmt.Sprintf("c%d", i), "read_file", `{"path":"f"}`))
		}
		b.srv.Add(ohtest.Reply(parts...), ohtest.Reply(ohtest.Text("ok")))
		b.oh("-p", "hi").wantCode(t, 0)
		req := b.done(2)[1]
		for i := range 40 {
			resultOf(t, req, fmt.Sprintf("c%d", i)).want(t, false, "content")
		}
	})
}

// TestOtherTools: the list of things to do, questions with nobody there, and
// files found by name.
func TestOtherTools(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire)
		b.file("src/a.go", "x")
		b.file("src/b.txt", "x")
		b.file(".gitignore", "ignored/\n")
		b.file("ignored/c.go", "x")
		b.git("init", "-q")
		got := b.results(
			ohtest.Call("c", "todo_write", `{"todos":[{"content":"one","status":"in_progress"},{"content":"two","status":"pending"}]}`),
			ohtest.Call("c", "ask_user_question", `{"questions":[{"question":"Which?","header":"W","options":[{"label":"a","description":"x"},{"label":"b","description":"y"}]}]}`),
			ohtest.Call("c", "glob", `{"pattern":"**/*.go"}`),
			ohtest.Call("c", "grep", `{"pattern":"x","output_mode":"files_with_matches"}`),
			ohtest.Call("c", "write_file", `{"path":"src/a.go","content":"y"}`),
			ohtest.Call("c", "bash", `{"command":"sleep 5","timeout_seconds":"1"}`),
			ohtest.Call("c", "bash", `{"command":"true","timeout_seconds":9999}`),
		)
		got[0].want(t, false)
		got[1].want(t, true)
		got[2].want(t, false, "src/a.go")
		if strings.Contains(got[2].text, "ignored/c.go") {
			t.Errorf("glob: %s", got[2].text)
		}
		got[3].want(t, false, "src/a.go", "src/b.txt")
		got[4].want(t, true, "read")
		got[5].want(t, true)
		got[6].want(t, true, "600")
		if r := b.oh("-c", "-p", "/status"); !strings.Contains(r.out, "0 of 2") {
			t.Errorf("status after a resume: %v", r)
		}
	})
}
