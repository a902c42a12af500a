//go:build unix

package e2e

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// voice is a profile that is chosen by flags, at an address that is given by
// flags.
type voice struct {
	profile string
	wire    ohtest.Wire
	path    string // of the address
	model   string // "": the profile's
	keyName string
}

// voices returns the wires that users have, and for Gemini both of its ways to
// think.
func voices() []voice {
	return []voice{
		{"claude-api", ohtest.Anthropic, "", "", "ANTHROPIC_API_KEY"},
		{"openai-compatible", ohtest.OpenAI, "/v1", "", "OPENAI_API_KEY"},
		{"openai-responses", ohtest.Responses, "/v1", "", "OPENAI_API_KEY"},
		{"gemini", ohtest.Gemini, "/v1beta", "", "GEMINI_API_KEY"},
		{"gemini", ohtest.Gemini, "/v1beta", "gemini-3-pro-preview", "GEMINI_API_KEY"},
	}
}

// box is a world with a server that knows the voice's key only.
func (v voice) box(t *testing.T, cfg ohtest.Config) *box {
	t.Helper()
	b := newBox(t, "")
	b.wire, b.env[v.keyName] = v.wire, "sk-e2e-"+v.profile
	cfg.Key = b.env[v.keyName]
	b.srv = ohtest.StartServer(t, cfg)
	return b
}

// args are the flags that choose the voice, and further words.
func (v voice) args(b *box, more ...string) []string {
	out := []string{"-p", "--permission-mode", "full_auto", "--profile", v.profile, "--base-url", b.srv.URL + v.path}
	if v.model != "" {
		out = append(out, "--model", v.model)
	}
	return append(out, more...)
}

// allVoices runs a test on each, side by side with all others.
func allVoices(t *testing.T, f func(t *testing.T, v voice)) {
	t.Helper()
	t.Parallel()
	for _, v := range voices() {
		t.Run(strings.TrimSuffix(v.profile+" "+v.model, " "), func(t *testing.T) {
			t.Parallel()
			f(t, v)
		})
	}
}

// TestVoices: text, parallel tools, an image, and reasoning that comes back as
// it was sent, in two runs of one session.
func TestVoices(t *testing.T) {
	allVoices(t, func(t *testing.T, v voice) {
		rules := ohtest.Rules{RequireReasoning: v.wire == ohtest.Responses || v.wire == ohtest.Gemini}
		b := v.box(t, ohtest.Config{Rules: rules, Turns: []ohtest.Turn{
			{Cut: ohtest.Cut{Delta: 3, Bytes: 7}, Parts: []ohtest.Part{ohtest.Thinking("Look at 思 first."), ohtest.Text("I look: 你好 😀"),
				named(bash(t, "echo one"), "c1"), named(bash(t, "echo two >&2; exit 3"), "c2"), ohtest.Call("c3", "read_file", `{"path":"a.png"}`)}},
			ohtest.Reply(ohtest.Call("c4", "write_file", input(t, map[string]any{"path": "out.txt", "content": hard}))),
			ohtest.Reply(ohtest.Thinking("Now I know."), ohtest.Text("It is done."), ohtest.Usage{InputTokens: 70, CacheReadTokens: 20, OutputTokens: 9}),
			ohtest.Reply(ohtest.Text("Once more.")),
		}})
		raw, err := base64.StdEncoding.DecodeString(pixel)
		must(t, err)
		b.file("a.png", string(raw))
		r := b.oh(v.args(b, "--effort", "high", "--output-format", "json", "--image", "a.png", "what is this?")...)
		r.wantCode(t, 0)
		res := last(t, r.out)
		if res["result"] != "It is done." || res["is_error"] != false {
			t.Errorf("result %v", res)
		}
		if u, _ := res["usage"].(map[string]any); u["input_tokens"] != 90.0 || u["cache_read_input_tokens"] != 20.0 || u["output_tokens"] != 19.0 {
			t.Errorf("usage %v", res["usage"])
		}
		if got := b.read("out.txt"); got != hard {
			t.Errorf("arguments %q", got)
		}
		b.oh(v.args(b, "-c", "--effort", "high", "and now?")...).wantCode(t, 0)
		reqs := b.done(4)
		if n := strings.Count(string(reqs[2].Body), pixel); n != 2 {
			t.Errorf("the image was sent %d times, want from the user and from a tool", n)
		}
		for id, want := range map[string]answer{"c1": {"one", false}, "c2": {"two", true}} {
			if a := resultOf(t, reqs[3], id); !strings.Contains(a.text, want.text) || a.isErr != want.isErr {
				t.Errorf("%s: %+v", id, a)
			}
		}
		for _, req := range reqs[1:] {
			if req.System() != reqs[0].System() || len(req.Tools()) != len(reqs[0].Tools()) {
				t.Errorf("request %d has another prefix", req.N)
			}
		}
	})
}

// TestVoicesFail: a cut reply goes on, a limit is waited for, a cut stream and an
// empty reply are asked for again, an overflow and a wrong key end with their
// codes.
func TestVoicesFail(t *testing.T) {
	allVoices(t, func(t *testing.T, v voice) {
		for name, tt := range map[string]struct {
			turns []ohtest.Turn
			code  int
			out   string
		}{
			"cut reply": {[]ohtest.Turn{ohtest.Reply(ohtest.Text("Half "), ohtest.Call("w", "write_file", `{"path":"cut.txt","content":"sho`), ohtest.Stop(oh.StopMaxTokens)),
				ohtest.Reply(ohtest.Text("and whole."))}, 0, "whole."},
			"cut reasoning": {[]ohtest.Turn{ohtest.Reply(ohtest.Thinking("Hm, I thi"), ohtest.Stop(oh.StopMaxTokens)), ohtest.Reply(ohtest.Text("Whole."))}, 0, "Whole."},
			"limit":         {[]ohtest.Turn{ohtest.Fail(&oh.Error{Kind: oh.KindLimited, After: 1200 * time.Millisecond}), ohtest.Reply(ohtest.Text("At last."))}, 0, "At last."},
			"limit in milliseconds": {[]ohtest.Turn{{Err: &oh.Error{Kind: oh.KindLimited}, Header: http.Header{"Retry-After-Ms": {"1200"}}},
				ohtest.Reply(ohtest.Text("At last."))}, 0, "At last."},
			"limit by a date": {[]ohtest.Turn{{Err: &oh.Error{Kind: oh.KindLimited}, Header: http.Header{"Date": {"Thu, 01 Jan 2026 00:00:00 GMT"}, "Retry-After": {"Thu, 01 Jan 2026 00:00:02 GMT"}}},
				ohtest.Reply(ohtest.Text("At last."))}, 0, "At last."},
			"no wait":           {[]ohtest.Turn{{Err: &oh.Error{Kind: oh.KindLimited}, Header: http.Header{"Retry-After": {"0"}}}, ohtest.Reply(ohtest.Text("At last."))}, 0, "At last."},
			"cut stream":        {[]ohtest.Turn{ohtest.Fail(io.ErrUnexpectedEOF, ohtest.Text("VOID"), ohtest.Call("w", "write_file", `{"path":"cut.txt","content":"sho`)), ohtest.Reply(ohtest.Text("Whole."))}, 0, "Whole."},
			"empty":             {[]ohtest.Turn{ohtest.Reply(), ohtest.Reply(ohtest.Text("Something."))}, 0, "Something."},
			"empty twice":       {[]ohtest.Turn{ohtest.Reply(), ohtest.Reply(ohtest.Text(" \n"))}, 4, ""},
			"overloaded midway": {[]ohtest.Turn{ohtest.Fail(&oh.Error{Kind: oh.KindOverloaded}, ohtest.Text("VOID")), ohtest.Reply(ohtest.Text("Whole."))}, 0, "Whole."},
			"overflow":          {[]ohtest.Turn{ohtest.Fail(&oh.Error{Kind: oh.KindTooLong})}, 4, ""},
			"quota":             {[]ohtest.Turn{ohtest.Fail(&oh.Error{Kind: oh.KindQuota})}, 4, ""},
			"wrong key":         {[]ohtest.Turn{ohtest.Fail(&oh.Error{Kind: oh.KindAuth})}, 3, ""},
			"broken request":    {[]ohtest.Turn{ohtest.Fail(&oh.Error{Kind: oh.KindInvalid})}, 4, ""},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := v.box(t, ohtest.Config{Turns: tt.turns})
				r := b.oh(v.args(b, "go")...)
				r.wantCode(t, tt.code)
				if !strings.HasSuffix(strings.TrimSpace(r.out), tt.out) || strings.Contains(r.out+r.err, b.env[v.keyName]) {
					t.Errorf("answer: %v", r)
				}
				reqs := b.done(len(tt.turns))
				if strings.HasPrefix(name, "limit") && reqs[1].Time.Sub(reqs[0].Time) < 1100*time.Millisecond {
					t.Errorf("asked again after %v", reqs[1].Time.Sub(reqs[0].Time))
				}
				if exists(b.work + "/cut.txt") {
					t.Error("a cut call ran")
				}
			})
		}
	})
}

// TestVoicesInterrupt: SIGINT while text arrives leaves a history that goes on.
func TestVoicesInterrupt(t *testing.T) {
	allVoices(t, func(t *testing.T, v voice) {
		b := v.box(t, ohtest.Config{Turns: []ohtest.Turn{
			ohtest.Reply(ohtest.Thinking("Think."), named(bash(t, "echo one"), "c1")),
			ohtest.Hang(ohtest.Thinking("More."), ohtest.Text("so far"), ohtest.Call("c2", "bash", `{"command":"echo never`)),
		}})
		r := b.start(call{args: v.args(b, "--output-format", "stream-json", "first question")})
		b.requests(2)
		r.signal(syscall.SIGINT)
		res := r.wait()
		res.wantCode(t, 130)
		if f := last(t, res.out); f["is_error"] != true {
			t.Errorf("result %v", f)
		}
		b.srv.Add(ohtest.Reply(ohtest.Text("back")))
		b.oh(v.args(b, "-c", "second question")...).wantCode(t, 0)
		body := string(b.done(3)[2].Body)
		for _, want := range []string{"first question", "second question", "one"} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is lost", want)
			}
		}
	})
}

// TestVoicesHandOver: one session goes from each wire to the next; what was
// sealed for one is not sent to another, which the servers would not know.
func TestVoicesHandOver(t *testing.T) {
	t.Parallel()
	all := voices()
	var turns []ohtest.Turn
	for range all {
		turns = append(turns, ohtest.Reply(ohtest.Thinking("Think."), ohtest.Text("I run it."), named(bash(t, "echo one"), "c1")), ohtest.Reply(ohtest.Text("Done.")))
	}
	b := newBox(t, "")
	b.srv = ohtest.StartServer(t, ohtest.Config{Turns: turns})
	for i, v := range append(all[1:], all[0]) {
		b.env[v.keyName] = "sk-e2e-" + v.profile
		more := []string{"--effort", "high", "go on"}
		if i > 0 {
			more = append([]string{"-c"}, more...)
		}
		b.oh(v.args(b, more...)...).wantCode(t, 0)
	}
	reqs := b.done(2 * len(all))
	if n := strings.Count(string(reqs[len(reqs)-1].Body), "I run it."); n != len(all) {
		t.Errorf("the last request has %d of %d earlier replies", n, len(all))
	}
}
