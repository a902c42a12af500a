//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// pair is a world with a service on each of two wires.
type pair struct {
	*box
	other *ohtest.Server // speaks OpenAI's wire
}

func newPair(t *testing.T) *pair {
	t.Helper()
	b := newBox(t, ohtest.Anthropic)
	other := ohtest.StartServer(t, ohtest.Config{Key: openaiKey})
	b.point(ohtest.OpenAI, other.URL)
	delete(b.env, "OPENHARNESS_MODEL")
	return &pair{b, other}
}

func (p *pair) wantNone(t *testing.T) {
	t.Helper()
	for _, s := range []*ohtest.Server{p.srv, p.other} {
		if v := s.Violations(); len(v) > 0 || s.Remaining() > 0 {
			t.Errorf("violations %v, %d turns left", v, s.Remaining())
		}
	}
}

// said lists who said what in a request, results included.
func said(req *ohtest.Request) (out []string) {
	for _, m := range req.Messages() {
		for _, b := range m.Content {
			switch b := b.(type) {
			case oh.Text:
				if !strings.HasPrefix(b.Text, "Date: ") && !strings.HasPrefix(b.Text, "Permission mode: ") {
					out = append(out, string(m.Role)+": "+b.Text)
				}
			case oh.ToolUse:
				out = append(out, "call "+b.Name)
			case oh.ToolResult:
				out = append(out, "result "+strings.TrimSpace(b.Content.Text()))
			case oh.Thinking:
				out = append(out, "thinking "+b.Text)
			}
		}
	}
	return out
}

// TestResumeElsewhere: a session goes on with another profile, and back.
func TestResumeElsewhere(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.srv.Add(ohtest.Reply(ohtest.Thinking("signed"), named(bash(t, "echo x"), "toolu_1")), ohtest.Reply(ohtest.Text("one")))
	p.auto("--profile", "claude-api", "first").wantCode(t, 0)
	p.other.Add(ohtest.Reply(named(bash(t, "echo y"), "toolu_1")), ohtest.Reply(ohtest.Text("two")))
	p.auto("-c", "--profile", "openai-compatible", "second").wantCode(t, 0)
	p.srv.Add(ohtest.Reply(ohtest.Text("three")))
	p.auto("-c", "--profile", "claude-api", "third").wantCode(t, 0)
	p.wantNone(t)
	got := said(p.srv.Requests()[2])
	want := []string{"user: first", "thinking signed", "call bash", "result x", "assistant: one", "user: second", "call bash", "result y", "assistant: two", "user: third"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if model := p.other.Requests()[0].Model(); strings.Contains(model, "claude") {
		t.Errorf("the other service was asked for %s", model)
	}
}

// TestProviderCommand: /provider turns to another service, with that service's
// key and model; the session keeps it.
func TestProviderCommand(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.srv.Add(ohtest.Reply(ohtest.Text("one")))
	p.oh("-p", "--profile", "claude-api", "first").wantCode(t, 0)
	r := p.oh("-p", "-c", "/provider openai-compatible gpt-5-mini")
	r.wantCode(t, 0)
	if !strings.Contains(r.out, "The provider is now openai-compatible, with the model gpt-5-mini.") {
		t.Errorf("%v", r)
	}
	p.other.Add(ohtest.Reply(ohtest.Text("two")))
	p.oh("-p", "-c", "second").wantCode(t, 0)
	p.wantNone(t)
	if model := p.other.Requests()[0].Model(); model != "gpt-5-mini" {
		t.Errorf("asked for %s", model)
	}
	for args, want := range map[string]string{"nowhere": "is no profile", "openai-compatible a b": "takes a profile", "codex": "does not imitate"} {
		r := p.oh("-p", "-c", "/provider "+args)
		r.wantCode(t, 2)
		r.wantErr(t, want)
	}
	if r := p.oh("-p", "-c", "/provider"); r.code != 0 || !strings.Contains(r.out, "openai-compatible (") || !strings.Contains(r.out, "there are") {
		t.Errorf("%v", r)
	}
}

// TestProviderInSession: on a terminal the switch works both ways although the
// program has put its keys away.
func TestProviderInSession(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.srv.Add(ohtest.Reply(ohtest.Thinking("hm"), ohtest.Text("answer one")), ohtest.Reply(ohtest.Text("answer three")))
	p.other.Add(ohtest.Reply(ohtest.Text("answer two")))
	f := p.terminal("--profile", "claude-api")
	f.typed("first\r")
	f.expect("answer one")
	f.expect("› ")
	f.typed("/provider openai-compatible\r")
	f.expect("The provider is now openai-compatible")
	f.expect("› ")
	f.typed("second\r")
	f.expect("answer two")
	f.expect("› ")
	f.typed("/provider claude-api\r")
	f.expect("The provider is now claude-api")
	f.expect("› ")
	f.typed("third\r")
	f.expect("answer three")
	f.expect("› ")
	f.typed("/cost\r")
	f.expect("(claude-api)")
	f.expect("(openai-compatible)")
	f.expect("› ")
	f.typed("exit\r")
	f.ends(0)
	p.wantNone(t)
	want := []string{"user: first", "thinking hm", "assistant: answer one", "user: second", "assistant: answer two", "user: third"}
	if diff := cmp.Diff(want, said(p.srv.Requests()[1])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestImagesInWords: the vision model of the settings describes images once for
// a model that sees none; a model that sees gets them as they are.
func TestImagesInWords(t *testing.T) {
	t.Parallel()
	vision := ohtest.StartServer(t, ohtest.Config{Key: "sk-vision"})
	b := newBox(t, ohtest.OpenAI)
	b.env["OPENHARNESS_MODEL"] = "gpt-3.5-turbo"
	b.settings(`{"vision": {"model": "gpt-5-mini", "base_url": "` + vision.URL + `/v1", "api_key": "sk-vision"}}`)
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	img.Set(1, 1, color.RGBA{255, 0, 0, 255})
	var buf bytes.Buffer
	must(t, png.Encode(&buf, img))
	path := b.file("a.png", buf.String())
	vision.Add(ohtest.Reply(ohtest.Text("A red dot."), ohtest.Usage{InputTokens: 500, OutputTokens: 5}))
	b.srv.Add(ohtest.Reply(ohtest.Call("c", "read_file", `{"path":"a.png"}`)), ohtest.Reply(ohtest.Text("red")), ohtest.Reply(ohtest.Text("still red")))
	r := b.oh("-p", "--output-format", "json", "--image", path, "which colour?")
	r.wantCode(t, 0)
	if f := r.frame(t); f.Models["gpt-5-mini"].Input != 500 {
		t.Errorf("%+v", f)
	}
	b.oh("-p", "-c", "and now?").wantCode(t, 0)
	reqs := b.done(3)
	if n := len(vision.Requests()); n != 1 || vision.Remaining() != 0 {
		t.Errorf("the vision model was asked %d times", n)
	}
	for _, req := range reqs {
		if !strings.Contains(string(req.Body), "A red dot.") || strings.Contains(string(req.Body), "image_url") {
			t.Errorf("request %d: %s", req.N, req.Body)
		}
	}
	if !bytes.HasPrefix(reqs[2].Body[:bytes.Index(reqs[2].Body, []byte("red"))], reqs[0].Body[:bytes.Index(reqs[0].Body, []byte("red"))]) {
		t.Error("the prefix has moved")
	}
}

// TestImagesInVain: a vision model that fails leaves a note, and is not asked
// again.
func TestImagesInVain(t *testing.T) {
	t.Parallel()
	vision := ohtest.StartServer(t, ohtest.Config{Key: "sk-vision"})
	b := newBox(t, ohtest.OpenAI)
	b.env["OPENHARNESS_MODEL"] = "gpt-3.5-turbo"
	b.settings(`{"vision": {"model": "gpt-5-mini", "base_url": "` + vision.URL + `/v1", "api_key": "sk-vision"}}`)
	var buf bytes.Buffer
	must(t, png.Encode(&buf, image.NewRGBA(image.Rect(0, 0, 8, 8))))
	path := b.file("a.png", buf.String())
	vision.Add(ohtest.Turn{Err: &oh.Error{Kind: oh.KindQuota}})
	b.srv.Add(ohtest.Reply(ohtest.Call("c", "glob", `{"pattern":"*"}`)), ohtest.Reply(ohtest.Text("no idea")))
	r := b.oh("-p", "--image", path, "which colour?")
	r.wantCode(t, 0)
	r.wantErr(t, "could not be put into words")
	b.done(2)
	if n := len(vision.Requests()); n != 1 {
		t.Errorf("the vision model was asked %d times", n)
	}
}

// TestVisionSettings: a vision model that cannot be asked is told of, and one
// that is silent is waited for as long as any.
func TestVisionSettings(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI)
	b.env["OPENHARNESS_MODEL"], b.env["OPENHARNESS_TIMEOUT"] = "gpt-3.5-turbo", "1"
	var buf bytes.Buffer
	must(t, png.Encode(&buf, image.NewRGBA(image.Rect(0, 0, 8, 8))))
	path := b.file("a.png", buf.String())
	vision := ohtest.StartServer(t, ohtest.Config{Key: "sk-vision", Turns: []ohtest.Turn{{Hang: true}}})
	for settings, want := range map[string]string{
		`{"vision": {"model": "gpt-5-mini"}}`: `"vision.model": is not asked, since neither vision.api_key nor vision.base_url is set`,
		`{"vision": {"model": "gpt-5-mini", "base_url": "` + vision.URL + `/v1", "api_key": "sk-vision"}}`: "nothing came for 1s",
	} {
		b.settings(settings)
		b.srv.Add(ohtest.Reply(ohtest.Text("blind")))
		r := b.oh("-p", "--image", path, "which colour?")
		r.wantCode(t, 0)
		r.wantErr(t, want)
	}
	b.done(2)
}

// TestHandOverOnAllWires: one session goes on from each wire to each other one;
// every server holds every request to its rules.
func TestHandOverOnAllWires(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	servers := map[string]*ohtest.Server{}
	all := voices()[:4]
	for _, v := range all {
		b.env[v.keyName] = "sk-e2e-" + strings.ToLower(v.keyName)
		servers[v.profile] = ohtest.StartServer(t, ohtest.Config{Key: b.env[v.keyName]})
	}
	// Each ordered pair of neighbours occurs once.
	way := []int{0, 1, 2, 3, 0, 2, 1, 0, 3, 2, 0, 3, 1, 3}
	for step, n := range way {
		v := all[n]
		b.srv = servers[v.profile]
		at := fmt.Sprintf(" %d", step) // servers seal equal replies alike
		b.srv.Add(ohtest.Reply(ohtest.Thinking("thought"+at), ohtest.Text("I run it"+at), named(bash(t, "echo same"+at), "call_1"), named(bash(t, "exit 3"), "call_2")),
			ohtest.Reply(ohtest.Thinking("more"+at), ohtest.Text("done")))
		args := v.args(b, "go on")
		if step > 0 {
			args = v.args(b, "-c", "go on")
		}
		r := b.oh(args...)
		r.wantCode(t, 0)
		if !strings.HasSuffix(strings.TrimSpace(r.out), "done") {
			t.Fatalf("step %d, %s: %v", step, v.profile, r)
		}
	}
	for name, s := range servers {
		if v := s.Violations(); len(v) > 0 || s.Remaining() > 0 {
			t.Errorf("%s: violations %v, %d turns left", name, v, s.Remaining())
		}
	}
	reqs := servers[all[3].profile].Requests()
	calls := 0
	for _, s := range said(reqs[len(reqs)-1]) {
		if s == "call bash" {
			calls++
		}
	}
	if want := 2 * len(way); calls != want {
		t.Errorf("the last request has %d calls, want %d", calls, want)
	}
}
