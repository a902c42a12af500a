//go:build unix

package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// hard is text that breaks when bytes or characters are cut in the wrong place.
const hard = "\"quoted\" \\n \\\\ 你好，世界 😀👩‍👩‍👧 é\ttab\nline\r\n</x> \u2028 $&"

// TestArgumentPieces (B01, B13): arguments and text survive any cut.
func TestArgumentPieces(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		want := strings.Repeat(hard, 8)
		var turns []ohtest.Turn
		rnd := rand.New(rand.NewPCG(1, 2))
		const n = 8
		for i := range n {
			cut := ohtest.Cut{Delta: 3, Bytes: 3, Seed: rnd.Uint64() | 1}
			if i == 0 {
				cut = ohtest.Cut{Delta: 1, Bytes: 1}
			}
			turn := ohtest.Reply(ohtest.Text(hard), ohtest.Call(fmt.Sprintf("c%d", i), "write_file",
				input(t, map[string]any{"path": fmt.Sprintf("f%d", i), "content": want})))
			turn.Cut = cut
			turns = append(turns, turn)
		}
		end := ohtest.Reply(ohtest.Text("你好 😀 end"))
		end.Cut = ohtest.Cut{Delta: 1, Bytes: 1}
		b := newBox(t, wire, append(turns, end)...)
		r := b.auto("go")
		r.wantCode(t, 0)
		if !strings.HasSuffix(r.out, "你好 😀 end\n") || strings.Contains(r.out, "\uFFFD") {
			t.Errorf("stdout %q", r.out)
		}
		b.done(n + 1)
		for i := range n {
			if got := b.read(fmt.Sprintf("f%d", i)); got != want {
				t.Fatalf("arguments of call %d: %q", i, got)
			}
		}
	})
}

// TestWireForms (B13): line ends, comments and events in several data lines.
func TestWireForms(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		form := func(id string, edit func(string) string) ohtest.Turn {
			return ohtest.Turn{
				Parts: []ohtest.Part{ohtest.Text(hard), ohtest.Call(id, "write_file", input(t, map[string]any{"path": id, "content": hard}))},
				Edit: func(_ ohtest.Wire, events [][]byte) []ohtest.Step {
					var steps []ohtest.Step
					for _, e := range events {
						for _, c := range []byte(edit(string(e))) {
							steps = append(steps, ohtest.Send([]byte{c}))
						}
					}
					return steps
				},
			}
		}
		b := newBox(t, wire,
			form("crlf", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }),
			form("comment", func(s string) string { return ": keep-alive\n\n" + s }),
			form("split", func(s string) string { return strings.Replace(s, "data: {", "data: {\ndata: ", 1) }),
			ohtest.Reply(ohtest.Text("done")))
		b.auto("go").wantCode(t, 0)
		b.done(4)
		for _, name := range []string{"crlf", "comment", "split"} {
			if got := b.read(name); got != hard {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

// TestBadArguments (B02, B03, B14): calls without, with broken or with missing
// arguments do not run; their siblings do.
func TestBadArguments(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire,
			ohtest.Reply(
				ohtest.Call("none", "bash", ""), ohtest.Call("null", "write_file", "null"), ohtest.Call("empty", "write_file", "{}"),
				ohtest.Call("open", "write_file", `{"path":"broken","content":"x`), ohtest.Call("raw", "write_file", "{\"path\":\"broken\",\"content\":\"a\nb\""),
				ohtest.Call("noargs", "glob", `{"pattern":"*.go"}`), ohtest.Call("unknown", "fly", `{}`),
				named(bash(t, `echo ran >> "$M/ok"; echo fine`), "ok"), named(bash(t, `grep nothing /dev/null`), "fail")),
			ohtest.Reply(ohtest.Text("done")))
		b.auto("go").wantCode(t, 0)
		req := b.done(2)[1]
		for id, want := range map[string]string{"none": "command", "null": "path", "empty": "path", "open": "JSON", "raw": "JSON", "unknown": "fly", "fail": "1"} {
			if a := resultOf(t, req, id); !a.isErr || !strings.Contains(a.text, want) {
				t.Errorf("%s: %+v lacks %q", id, a, want)
			}
		}
		if a := resultOf(t, req, "ok"); a.isErr || !strings.Contains(a.text, "fine") || b.marked("ok") != 1 {
			t.Errorf("the good sibling: %+v", a)
		}
		if a := resultOf(t, req, "noargs"); a.isErr {
			t.Errorf("glob: %+v", a)
		}
		if exists(filepath.Join(b.work, "broken")) {
			t.Error("a call with broken arguments ran")
		}
	})
}

// TestCutStream (B04, B07): a stream that ends or fails in the middle is tried
// again, and nothing of it is an answer; earlier tools do not run again.
func TestCutStream(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		cut := []ohtest.Part{ohtest.Text("VOID "), ohtest.Call("w", "write_file", `{"path":"cut.txt","content":"short"}`)}
		first := ohtest.Reply(named(bash(t, `echo ran >> "$M/early"`), "e"))
		for name, turn := range map[string]ohtest.Turn{
			"drop": {Parts: cut, Edit: func(_ ohtest.Wire, ev [][]byte) []ohtest.Step {
				return append(ohtest.SendAll(ev[:len(ev)-3]...), ohtest.Drop())
			}},
			"clean end": {Parts: cut, Edit: func(_ ohtest.Wire, ev [][]byte) []ohtest.Step {
				return ohtest.SendAll(ev[:len(ev)-3]...)
			}},
			"error event": ohtest.Fail(&oh.Error{Kind: oh.KindOverloaded}, ohtest.Text("VOID ")),
			"cut answer":  ohtest.Fail(io.ErrUnexpectedEOF, ohtest.Text("VOID ")),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newBox(t, wire, first, turn, ohtest.Reply(ohtest.Text("whole")))
				r := b.oh("-p", "--permission-mode", "full_auto", "--output-format", "json", "go")
				r.wantCode(t, 0)
				b.done(3)
				if f := last(t, r.out); f["result"] != "whole" || f["is_error"] != false {
					t.Errorf("result %v", f)
				}
				if exists(filepath.Join(b.work, "cut.txt")) || b.marked("early") != 1 {
					t.Errorf("a cut call ran, or an early one again (%d)", b.marked("early"))
				}
			})
		}
	})
}

// TestOverloaded (B07, B59): what stays broken ends with the reason and 4.
func TestOverloaded(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		fail := ohtest.Fail(&oh.Error{Kind: oh.KindOverloaded}, ohtest.Text("VOID"))
		b := newBox(t, wire, fail, fail, fail, fail)
		r := b.oh("-p", "--output-format", "json", "go")
		r.wantCode(t, 4)
		reqs := b.done(4)
		apart(t, reqs, 200*time.Millisecond)
		f := last(t, r.out)
		if f["is_error"] != true || f["terminal_reason"] != "api_error" || strings.Contains(fmt.Sprint(f["result"]), "VOID") {
			t.Errorf("result %v", f)
		}
	})
}

// apart fails when two requests are closer than d.
func apart(t *testing.T, reqs []*ohtest.Request, d time.Duration) {
	t.Helper()
	for i := 1; i < len(reqs); i++ {
		if gap := reqs[i].Time.Sub(reqs[i-1].Time); gap < d {
			t.Errorf("request %d came after %v, want at least %v", i+1, gap, d)
		}
	}
}

// TestRetryAfter (B10): the next request does not come before its time.
func TestRetryAfter(t *testing.T) {
	date := func() string { return time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat) }
	for _, tt := range []struct {
		name, header string
		value        func() string
		least        time.Duration
	}{
		{"seconds", "Retry-After", func() string { return "2" }, 2 * time.Second},
		{"milliseconds", "retry-after-ms", func() string { return "1500" }, 1500 * time.Millisecond},
		{"date", "Retry-After", date, 1900 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				b := newBox(t, wire, ohtest.Turn{Edit: func(ohtest.Wire, [][]byte) []ohtest.Step {
					return []ohtest.Step{ohtest.Status(429, http.Header{tt.header: {tt.value()}}, `{"error":{"type":"rate_limit_error","message":"slow down"}}`)}
				}}, ohtest.Reply(ohtest.Text("ok")))
				r := b.oh("-p", "go")
				r.wantCode(t, 0)
				apart(t, b.done(2), tt.least)
				if r.out != "ok\n" {
					t.Errorf("stdout %q", r.out)
				}
			})
		})
	}
}

// TestLimitedForEver (B11, B59): a bounded number of tries with growing waits.
func TestLimitedForEver(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBoxWith(t, wire, ohtest.Config{Rule: func(*ohtest.Request) (ohtest.Turn, bool) {
			return ohtest.Play(ohtest.Status(429, http.Header{"Retry-After": {"0"}}, `{"error":{"type":"rate_limit_error","message":"slow down"}}`)), true
		}})
		r := b.oh("-p", "go")
		r.wantCode(t, 4)
		r.wantErr(t, "429")
		reqs := b.srv.Requests()
		if len(reqs) != 4 {
			t.Errorf("%d requests", len(reqs))
		}
		apart(t, reqs, 200*time.Millisecond)
	})
}

// TestNoRetry: what cannot heal is not tried again.
func TestNoRetry(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   *oh.Error
		after time.Duration
		code  int
		says  string
	}{
		{"wrong key", &oh.Error{Kind: oh.KindAuth}, 0, 3, "401"},
		{"quota", &oh.Error{Kind: oh.KindQuota}, 0, 4, ""},
		{"invalid", &oh.Error{Kind: oh.KindInvalid}, 0, 4, "400"},
		{"wait of an hour", &oh.Error{Kind: oh.KindLimited, After: time.Hour}, 0, 4, "429"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				b := newBox(t, wire, ohtest.Fail(tt.err))
				r := b.oh("-p", "--output-format", "stream-json", "go")
				r.wantCode(t, tt.code)
				b.done(1)
				f := last(t, r.out)
				if f["is_error"] != true || f["api_error_status"] == nil || !strings.Contains(fmt.Sprint(f["result"]), tt.says) {
					t.Errorf("result %v", f)
				}
				if r.took > 8*time.Second {
					t.Errorf("took %v", r.took)
				}
				if strings.Contains(r.out+r.err, anthropicKey) || strings.Contains(r.out+r.err, openaiKey) {
					t.Errorf("the key is shown: %v", r)
				}
			})
		})
	}
}

// TestSilence (B09): a silent stream is given up, a slow one is not.
func TestSilence(t *testing.T) {
	idle := map[string]string{"OPENHARNESS_TIMEOUT": "1"}
	t.Run("nothing after the header", func(t *testing.T) {
		bothWires(t, func(t *testing.T, wire ohtest.Wire) {
			b := newBox(t, wire, ohtest.Play(ohtest.Send(nil), ohtest.Hold()), ohtest.Reply(ohtest.Text("ok")))
			r := b.run(call{args: []string{"-p", "go"}, env: idle})
			r.wantCode(t, 0)
			apart(t, b.done(2), time.Second)
		})
	})
	t.Run("no header", func(t *testing.T) {
		bothWires(t, func(t *testing.T, wire ohtest.Wire) {
			b := newBox(t, wire, ohtest.Play(ohtest.WaitFor(nil)), ohtest.Reply(ohtest.Text("ok")))
			b.run(call{args: []string{"-p", "go"}, env: idle}).wantCode(t, 0)
			b.done(2)
		})
	})
	t.Run("slow and pings", func(t *testing.T) {
		bothWires(t, func(t *testing.T, wire ohtest.Wire) {
			b := newBox(t, wire, ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("slow")}, Edit: func(_ ohtest.Wire, ev [][]byte) []ohtest.Step {
				var steps []ohtest.Step
				for range 7 {
					steps = append(steps, ohtest.SendText(": ping\n\n"), ohtest.Wait(500*time.Millisecond))
				}
				return append(steps, ohtest.SendAll(ev...)...)
			}})
			r := b.run(call{args: []string{"-p", "go"}, env: map[string]string{"OPENHARNESS_TIMEOUT": "3"}})
			r.wantCode(t, 0)
			b.done(1)
			if r.out != "slow\n" || r.took < 3500*time.Millisecond {
				t.Errorf("%v", r)
			}
		})
	})
}

// TestOutputLimit (B06): a call cut by the output limit never runs, and the
// run ends after a few tries.
func TestOutputLimit(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBoxWith(t, wire, ohtest.Config{Rule: func(r *ohtest.Request) (ohtest.Turn, bool) {
			return ohtest.Reply(ohtest.Text("part"), ohtest.Call(fmt.Sprintf("w%d", r.N), "write_file", `{"path":"cut.txt","content":"sho`), ohtest.Stop(oh.StopMaxTokens)), true
		}})
		r := b.oh("-p", "--permission-mode", "full_auto", "--output-format", "json", "go")
		r.wantCode(t, 5)
		reqs := b.srv.Requests()
		if len(reqs) != 4 || exists(filepath.Join(b.work, "cut.txt")) {
			t.Errorf("%d requests; file %v", len(reqs), exists(filepath.Join(b.work, "cut.txt")))
		}
		if len(reqs) > 1 && !strings.Contains(strings.ToLower(string(reqs[1].Body)), "cut") {
			t.Errorf("the model is not told: %s", reqs[1].Body)
		}
		if f := last(t, r.out); f["is_error"] != true {
			t.Errorf("result %v", f)
		}
	})
}

// TestReusedIDs (B15): each call runs once, though ids come again.
func TestReusedIDs(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		var turns []ohtest.Turn
		for i := range 5 {
			turns = append(turns, ohtest.Reply(
				named(bash(t, fmt.Sprintf(`echo ran >> "$M/a%d"; echo out-a%d`, i, i)), "dup_1"),
				named(bash(t, fmt.Sprintf(`echo ran >> "$M/b%d"; echo out-b%d`, i, i)), "dup_1")))
		}
		b := newBox(t, wire, append(turns, ohtest.Reply(ohtest.Text("done")))...)
		b.auto("go").wantCode(t, 0)
		reqs := b.done(6)
		results := 0
		for _, m := range reqs[5].Messages() {
			for _, c := range m.Content {
				if _, ok := c.(oh.ToolResult); ok {
					results++
				}
			}
		}
		for i := range 5 {
			if b.marked(fmt.Sprintf("a%d", i)) != 1 || b.marked(fmt.Sprintf("b%d", i)) != 1 {
				t.Errorf("turn %d did not run once", i)
			}
		}
		if results != 10 {
			t.Errorf("%d results", results)
		}
	})
}

// TestReasoning (B19): reasoning comes back as it was sent, and only then.
func TestReasoning(t *testing.T) {
	for name, rules := range map[string]ohtest.Rules{"required": {RequireReasoning: true}, "strict": {}} {
		t.Run(name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				b := newBoxWith(t, wire, ohtest.Config{Rules: rules, Turns: []ohtest.Turn{
					ohtest.Reply(ohtest.Thinking("because"), named(bash(t, "echo 1"), "a")),
					ohtest.Reply(named(bash(t, "echo 2"), "b")),
					ohtest.Reply(ohtest.Thinking("so"), ohtest.Text("done")),
					ohtest.Reply(ohtest.Text("again")),
				}})
				b.auto("go").wantCode(t, 0)
				b.oh("-c", "-p", "more").wantCode(t, 0)
				b.done(4)
			})
		})
	}
}

// TestEmptyText (B20): blank text and empty results never go back; an empty
// reply ends with a message.
func TestEmptyText(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire,
			ohtest.Reply(ohtest.Text(""), named(bash(t, "true"), "a")),
			ohtest.Reply(ohtest.Text("\n"), named(bash(t, "printf '\\n'"), "b")),
			ohtest.Reply(), ohtest.Reply())
		r := b.oh("-p", "--permission-mode", "full_auto", "--output-format", "json", "go")
		r.wantCode(t, 4)
		if f := last(t, r.out); f["is_error"] != true {
			t.Errorf("result %v", f)
		}
		if a := resultOf(t, b.done(4)[3], "a"); a.isErr || strings.TrimSpace(a.text) == "" {
			t.Errorf("empty result: %+v", a)
		}
		b.srv.Add(ohtest.Reply(ohtest.Text("alive")))
		b.oh("-c", "-p", "more").wantCode(t, 0)
		b.done(5)
	})
}
