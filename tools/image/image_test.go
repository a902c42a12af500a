package image

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	stdimage "image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/workspace"
)

// bench is a workspace with the two tools.
type bench struct {
	t     *testing.T
	dir   string
	env   *oh.Env
	tools map[string]oh.Tool
}

func newBench(t *testing.T, cfg Config) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Workspace, err = workspace.New(workspace.Config{Root: dir}); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, env: &oh.Env{Dir: dir}, tools: map[string]oh.Tool{}}
	for _, tool := range Tools(cfg) {
		b.tools[tool.Spec().Name] = tool
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) put(name string, data []byte) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) prepare(tool, input string) (oh.Action, error) {
	return b.tools[tool].Prepare(b.t.Context(), &oh.Call{ID: "c", Name: tool, Input: json.RawMessage(input), Env: b.env})
}

// call prepares and runs a call.
func (b *bench) call(tool, input string) (res oh.Result, events []oh.Event, err error) {
	act, err := b.prepare(tool, input)
	if err != nil {
		return oh.Result{}, nil, err
	}
	res, err = act.Run(b.t.Context(), func(e oh.Event) { events = append(events, e) })
	return res, events, err
}

func fails(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, which has no %q", err, want)
	}
}

// dot is a png of one pixel.
func dot(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, stdimage.NewGray(stdimage.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// seeing is a Config with a scripted vision model.
func seeing(p oh.Provider) Config {
	return Config{Vision: func() (Vision, error) {
		return Vision{Provider: p, Profile: "v", Model: "eye-1", URL: "https://eye.example/v1"}, nil
	}}
}

func TestLookAtFile(t *testing.T) {
	p := ohtest.NewProvider(t, ohtest.Reply(ohtest.Text("A \x1b[1mdot.\n"), ohtest.Usage{InputTokens: 9, OutputTokens: 3}))
	b := newBench(t, seeing(p))
	b.put("a.jpg", dot(t)) // the bytes tell the type, not the name
	act, err := b.prepare(lookName, `{"image_path":"a.jpg","prompt":" What is it? ","max_tokens":300}`)
	if err != nil {
		t.Fatal(err)
	}
	want := oh.Access{Upload: true, Parallel: true, Paths: []oh.PathUse{{Path: b.path("a.jpg")}}, URLs: []string{"https://eye.example/v1"}}
	if diff := cmp.Diff(want, act.Access); diff != "" {
		t.Error(diff)
	}
	var events []oh.Event
	res, err := act.Run(t.Context(), func(e oh.Event) { events = append(events, e) })
	if err != nil {
		t.Fatal(err)
	}
	wantRes := oh.TextResult("What eye-1 sees:\n\nA dot.")
	wantRes.Display = oh.Markdown{Text: "A dot."}
	wantRes.Meta = json.RawMessage(`{"bytes":` + jsonOf(len(dot(t))) + `,"media_type":"image/png","model":"eye-1"}`)
	if diff := cmp.Diff(wantRes, res); diff != "" {
		t.Error(diff)
	}
	wantEvents := []oh.Event{oh.Status{Text: "eye-1 looks at the image."},
		oh.SideUsage{For: lookName, Profile: "v", Model: "eye-1", Usage: oh.Usage{InputTokens: 9, OutputTokens: 3}}}
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		t.Error(diff)
	}
	req := p.Requests()[0]
	wantReq := &oh.Request{Profile: "v", Model: "eye-1", MaxTokens: 300, Messages: []oh.Message{{ID: "look", Role: oh.User,
		Content: oh.Blocks{oh.Image{MediaType: "image/png", Data: dot(t)}, oh.Text{Text: "What is it?"}}}}}
	if diff := cmp.Diff(wantReq, req); diff != "" {
		t.Error(diff)
	}
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

func TestLookAtData(t *testing.T) {
	plain := base64.StdEncoding.EncodeToString(dot(t))
	for name, data := range map[string]string{
		"base64": plain, "lines": plain[:10] + "\n " + plain[10:], "no padding": strings.TrimRight(plain, "="),
		"for addresses": base64.URLEncoding.EncodeToString(dot(t)), "data address": "data:image/jpeg;base64," + plain,
	} {
		p := ohtest.NewProvider(t, ohtest.Reply(ohtest.Text("Dot."), ohtest.Stop(oh.StopMaxTokens)))
		res, _, err := newBench(t, seeing(p)).call(lookName, `{"image_path":"","image_data":`+jsonOf(data)+`}`)
		if err != nil || res.Content.Text() != "What eye-1 sees:\n\nDot.\n\n[The answer was cut at max_tokens.]" {
			t.Errorf("%s: %q, %v", name, res.Content.Text(), err)
			continue
		}
		want := oh.Blocks{oh.Image{MediaType: "image/png", Data: dot(t)}, oh.Text{Text: strings.TrimSpace(describe)}}
		if diff := cmp.Diff(want, p.Requests()[0].Messages[0].Content); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLookRefuses(t *testing.T) {
	p := ohtest.NewProvider(t) // nothing may be sent
	b := newBench(t, seeing(p))
	b.put("key", []byte("-----BEGIN OPENSSH PRIVATE KEY-----"))
	b.put("large.png", append(dot(t), make([]byte, lookLimit)...))
	large := base64.StdEncoding.EncodeToString(append(dot(t), make([]byte, lookLimit)...))
	for _, c := range []struct{ input, want string }{
		{`{}`, "there is no image: give image_path or image_data"},
		{`{"image_path":"a","image_data":"b"}`, "not both"},
		{`{"image_path":"none.png"}`, "none.png does not exist"},
		{`{"image_path":"key"}`, "is not a png, jpeg, gif or webp image, so it was not sent"},
		{`{"image_path":"."}`, "folder"},
		{`{"image_path":"large.png"}`, "at most 5,242,880 can be sent"},
		{`{"image_data":"` + large + `"}`, "at most 5,242,880 can be sent"},
		{`{"image_data":"!!"}`, "image_data is not base64"},
		{`{"image_data":"aGVsbG8="}`, "image_data is not a png"},
		{`{"image_data":"data:image/png,x"}`, "without base64"},
		{`{"image_path":"a","max_tokens":20}`, "max_tokens"},
	} {
		_, _, err := b.call(lookName, c.input)
		fails(t, err, c.want)
	}
}

func TestLookFails(t *testing.T) {
	input := `{"image_data":"` + base64.StdEncoding.EncodeToString(dot(t)) + `"}`
	p := ohtest.NewProvider(t, ohtest.Fail(&oh.Error{Op: "eye", Kind: oh.KindAuth, Status: 401, Err: errors.New("bad key")}), ohtest.Reply(ohtest.Text(" ")))
	b := newBench(t, seeing(p))
	_, _, err := b.call(lookName, input)
	fails(t, err, "eye-1 could not look at the image: ")
	if oh.KindOf(err) != oh.KindAuth {
		t.Errorf("the kind is lost: %v", err)
	}
	_, _, err = b.call(lookName, input)
	fails(t, err, `eye-1 said nothing about the image (it stopped with "end_turn")`)

	broken := errors.New("no such profile")
	for _, c := range []struct {
		vision func() (Vision, error)
		want   string
	}{
		{nil, "no vision model is configured. A person can set one: vision.model, "},
		{func() (Vision, error) { return Vision{}, nil }, "no vision model is configured"},
		{func() (Vision, error) { return Vision{}, broken }, "the vision model: no such profile"},
	} {
		_, err := newBench(t, Config{Vision: c.vision}).prepare(lookName, input)
		fails(t, err, c.want)
	}
}

func TestSpecs(t *testing.T) {
	for _, doc := range []string{lookDoc, drawDoc} {
		if len(doc) > 600 {
			t.Errorf("%d bytes of words: %s", len(doc), doc)
		}
	}
	for _, tool := range Tools(Config{}) {
		s := tool.Spec()
		for _, v := range ohtest.CheckSpec(s) {
			t.Errorf("%s: %v", s.Name, v)
		}
		if n := len(s.Description) + len(s.Schema); n > 1900 {
			t.Errorf("%s takes %d bytes", s.Name, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("aGVsbG8=")
	f.Add("data:image/png;base64,iVBORw0KGgo=")
	f.Add("\x00\xff==")
	f.Fuzz(func(t *testing.T, s string) {
		if data, kind, err := decode(s); err == nil && (kind == "" || kindOf(data) != kind) {
			t.Errorf("%q gives %q", s, kind)
		}
	})
}
