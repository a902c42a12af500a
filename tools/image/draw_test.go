package image

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// painter is an images API.
type painter struct {
	*httptest.Server
	status int
	answer string
	during func() // while a request is answered

	mu   sync.Mutex
	seen []sent // guarded by mu
}

// sent is a request as the painter got it. A form is shown as its parts.
type sent struct {
	Path, Key string
	Body      string
	Parts     map[string]string
}

func newPainter(t *testing.T, answer string) *painter {
	t.Helper()
	p := &painter{status: 200, answer: answer}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := sent{Path: r.URL.Path, Key: r.Header.Get("Authorization")}
		body, _ := io.ReadAll(r.Body)
		if kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
			s.Parts = parts(t, body, params["boundary"])
		} else {
			s.Body = string(body)
		}
		p.mu.Lock()
		p.seen = append(p.seen, s)
		p.mu.Unlock()
		if p.during != nil {
			p.during()
		}
		if p.status >= 300 && p.status < 400 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(p.status)
		_, _ = io.WriteString(w, p.answer)
	}))
	t.Cleanup(p.Close)
	return p
}

func parts(t *testing.T, body []byte, boundary string) map[string]string {
	out := map[string]string{}
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := r.NextPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Error(err)
			return out
		}
		data, _ := io.ReadAll(part)
		name := part.FormName()
		if part.FileName() != "" {
			name += " " + part.FileName() + " " + part.Header.Get("Content-Type")
		}
		out[name] = string(data)
	}
}

func (p *painter) requests() []sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]sent(nil), p.seen...)
}

func (p *painter) bench(t *testing.T) *bench {
	return newBench(t, Config{Service: func() (Service, error) {
		return Service{BaseURL: p.URL + "/v1/", Key: "sk-hush", Client: p.Client()}, nil
	}})
}

// pictures is an answer with images of these bytes.
func pictures(images ...string) string {
	var list []string
	for _, s := range images {
		list = append(list, fmt.Sprintf(`{"b64_json":%q}`, base64.StdEncoding.EncodeToString([]byte(s))))
	}
	return `{"data":[` + strings.Join(list, ",") + `]}`
}

const (
	pngBytes  = "\x89PNG\r\n\x1a\n1"
	jpegBytes = "\xff\xd8\xff2"
)

func TestDraw(t *testing.T) {
	p := newPainter(t, `{"data":[{"b64_json":"`+base64.StdEncoding.EncodeToString([]byte(pngBytes))+`","revised_prompt":"A very\nred fox"}],"usage":{"input_tokens":5,"output_tokens":70}}`)
	b := p.bench(t)
	input := `{"prompt":"A red fox!","background":"opaque","output_compression":"80","moderation":"low"}`
	act, err := b.prepare(drawName, input)
	if err != nil {
		t.Fatal(err)
	}
	out := b.path("generated_images/a-red-fox.png")
	want := oh.Access{Upload: true, URLs: []string{p.URL + "/v1/images/generations"}, Paths: []oh.PathUse{{Path: out, Write: true}}}
	if diff := cmp.Diff(want, act.Access); diff != "" {
		t.Error(diff)
	}
	res, events, err := b.call(drawName, input)
	if err != nil {
		t.Fatal(err)
	}
	wantRes := oh.TextResult("gpt-image-2 made 1 image.\nWrote " + out + "\nThe service changed the prompt to: A very red fox")
	wantRes.Display = oh.Tree{Paths: []string{out}}
	wantRes.Meta = json.RawMessage(`{"model":"gpt-image-2","paths":[` + jsonOf(out) + `]}`)
	if diff := cmp.Diff(wantRes, res); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]oh.Event{oh.Status{Text: "gpt-image-2 makes 1 image."},
		oh.SideUsage{For: drawName, Model: "gpt-image-2", Usage: oh.Usage{InputTokens: 5, OutputTokens: 70}}}, events); diff != "" {
		t.Error(diff)
	}
	wantSent := []sent{{Path: "/v1/images/generations", Key: "Bearer sk-hush",
		Body: `{"background":"opaque","model":"gpt-image-2","moderation":"low","n":1,"output_compression":80,"output_format":"png","prompt":"A red fox!","quality":"medium","size":"auto"}`}}
	if diff := cmp.Diff(wantSent, p.requests()); diff != "" {
		t.Error(diff)
	}
	if got, _ := os.ReadFile(out); string(got) != pngBytes {
		t.Errorf("wrote %q", got)
	}
	// A second one gets another name.
	if res, _, err := b.call(drawName, input); err != nil || !strings.Contains(res.Content.Text(), "a-red-fox-2.png") {
		t.Errorf("second: %q, %v", res.Content.Text(), err)
	}
}

func TestEdit(t *testing.T) {
	p := newPainter(t, pictures(jpegBytes, jpegBytes))
	b := p.bench(t)
	b.put("in.png", []byte(pngBytes))
	b.put("in2.jpg", []byte(jpegBytes))
	b.put("mask.png", []byte(pngBytes+"m"))
	b.put("notes.txt", []byte("secret"))
	b.put("in.gif", []byte("GIF89a"))
	input := `{"prompt":"Brighter","image_paths":["in.png","in2.jpg"],"mask_path":"mask.png","output_path":"out/fox.png","output_format":"jpeg","n":2,"input_fidelity":"high","size":"1024x1024","moderation":"low"}`
	act, err := b.prepare(drawName, input)
	if err != nil {
		t.Fatal(err)
	}
	want := oh.Access{Upload: true, URLs: []string{p.URL + "/v1/images/edits"}, Paths: []oh.PathUse{
		{Path: b.path("in.png")}, {Path: b.path("in2.jpg")}, {Path: b.path("mask.png")},
		{Path: b.path("out/fox-1.jpeg"), Write: true}, {Path: b.path("out/fox-2.jpeg"), Write: true}}}
	if diff := cmp.Diff(want, act.Access); diff != "" {
		t.Error(diff)
	}
	res, err := act.Run(t.Context(), func(oh.Event) {})
	if err != nil || res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	wantSent := []sent{{Path: "/v1/images/edits", Key: "Bearer sk-hush", Parts: map[string]string{
		"model": "gpt-image-2", "prompt": "Brighter", "n": "2", "size": "1024x1024", "quality": "medium", "output_format": "jpeg", "input_fidelity": "high",
		"image[] 1.png image/png": pngBytes, "image[] 2.jpeg image/jpeg": jpegBytes, "mask 3.png image/png": pngBytes + "m"}}}
	if diff := cmp.Diff(wantSent, p.requests()); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ input, want string }{
		{`{"prompt":"x","image_paths":["notes.txt"]}`, "notes.txt is not a png, jpeg, gif or webp image, so it was not sent"},
		{`{"prompt":"x","image_paths":["in.gif"]}`, "in.gif is image/gif"},
		{`{"prompt":"x","image_paths":["in.png"],"mask_path":"in2.jpg"}`, "and a mask png"},
		{`{"prompt":"x","image_paths":["none.png"]}`, "none.png does not exist"},
	} {
		_, _, err := b.call(drawName, c.input)
		fails(t, err, c.want)
	}
	if n := len(p.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	p.answer = pictures(pngBytes)
	if _, _, err := b.call(drawName, `{"prompt":"one","image_paths":["in.png"],"mask_path":"mask.png"}`); err != nil {
		t.Error(err)
	}
	if got := p.requests()[1].Parts["image 1.png image/png"]; got != pngBytes {
		t.Errorf("one image is sent as %v", p.requests()[1].Parts)
	}
}

// Nothing is paid for that could not be saved.
func TestChecksBeforePaying(t *testing.T) {
	p := newPainter(t, pictures(pngBytes))
	b := p.bench(t)
	b.put("there.png", []byte("old"))
	b.put("many-2.png", []byte("old"))
	if err := os.Mkdir(b.path("folder.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ input, want string }{
		{`{"prompt":"x","output_path":"there.png"}`, "there.png exists; give another output_path, or overwrite: true; nothing was sent"},
		{`{"prompt":"x","output_path":"there.webp"}`, "there.png exists"},
		{`{"prompt":"x","output_path":"many.png","n":3}`, "many-2.png exists"},
		{`{"prompt":"x","output_path":"folder.png","overwrite":true}`, "folder.png is a folder"},
		{`{"prompt":"x","output_path":"there.png/x.png"}`, "nothing was sent"},
		{`{"prompt":"x","output_path":"sub/"}`, "is a folder: name a file"},
		{`{"prompt":" "}`, "prompt is empty"},
		{`{}`, "prompt is required"},
		{`{"prompt":"` + strings.Repeat("x", mostPrompt+1) + `"}`, "more than 32,000 characters"},
		{`{"prompt":"x","mask_path":"there.png"}`, "mask_path needs the image"},
		{`{"prompt":"x","input_fidelity":"low"}`, "input_fidelity needs an image"},
		{`{"prompt":"x","n":11}`, "n "},
		{`{"prompt":"x","output_format":"gif"}`, "output_format"},
		{`{"prompt":"x","provider":"codex"}`, "the provider codex draws on a ChatGPT subscription, which is not supported"},
	} {
		_, _, err := b.call(drawName, c.input)
		fails(t, err, c.want)
	}
	if n := len(p.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	res, _, err := b.call(drawName, `{"prompt":"x","output_path":"there.png","overwrite":true}`)
	if got, _ := os.ReadFile(b.path("there.png")); err != nil || res.IsError || string(got) != pngBytes {
		t.Errorf("overwrite: %v, %q", err, got)
	}
}

// shelf keeps artifacts in a folder.
type shelf string

func (s shelf) Create(tool string) (oh.Artifact, error) {
	f, err := os.Create(filepath.Join(string(s), tool))
	return artifact{f}, err
}

type artifact struct{ *os.File }

func (a artifact) Path() string { return a.Name() }

// What was paid for is kept when it cannot be written where it belongs.
func TestKeepsWhatWasPaidFor(t *testing.T) {
	p := newPainter(t, pictures(pngBytes))
	b := p.bench(t)
	p.during = func() { b.put("x.png", []byte("somebody else's")) }
	dir := t.TempDir()
	b.env.Artifacts = shelf(dir)
	res, _, err := b.call(drawName, `{"prompt":"x","output_path":"x.png"}`)
	kept := filepath.Join(dir, drawName)
	if err != nil || !res.IsError || !strings.Contains(res.Content.Text(), "; the image is kept in "+kept) {
		t.Errorf("%+v, %v", res, err)
	}
	if got, _ := os.ReadFile(kept); string(got) != pngBytes {
		t.Errorf("kept %q", got)
	}
	if got, _ := os.ReadFile(b.path("x.png")); string(got) != "somebody else's" {
		t.Errorf("overwrote it with %q", got)
	}
	if err := os.Remove(b.path("x.png")); err != nil {
		t.Fatal(err)
	}
	b.env.Artifacts = nil
	res, _, err = b.call(drawName, `{"prompt":"x","output_path":"x.png"}`)
	if err != nil || !res.IsError || !strings.Contains(res.Content.Text(), "; the image is lost") {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		answer string
		input  string
		want   string // in the text, or the error
		fails  bool   // with an error of the call
	}{
		{name: "too few", answer: pictures(pngBytes), input: `{"prompt":"x","n":2}`, want: "Wrote {dir}/generated_images/x-1.png\nThe service made only 1 of 2 images."},
		{name: "too many", answer: pictures(pngBytes, pngBytes, pngBytes), want: "The service sent 2 images more than were asked for; they were dropped."},
		{name: "another format", answer: pictures(jpegBytes), want: "x.png (the service sent jpeg all the same)"},
		{name: "no image", answer: pictures("hello"), want: "x.png (it does not begin like an image)"},
		{name: "an address", answer: `{"data":[{"url":"https://img.example/1"}]}`, want: "it can be fetched there for a while: https://img.example/1"},
		{name: "nothing", answer: `{"data":[]}`, want: "answered without an image", fails: true},
		{name: "no JSON", answer: `<html>`, want: "sent something else than the JSON of images", fails: true},
		{name: "no base64", answer: `{"data":[{"b64_json":"!"}]}`, want: "sent image 1 broken", fails: true},
		{name: "key refused", status: 401, answer: `{"error":{"message":"Incorrect key: sk-hush.","code":"invalid_api_key"}}`,
			want: "answered 401 Unauthorized: Incorrect key: [key]. (a person can check the key: image_generation.api_key", fails: true},
		{name: "not found", status: 404, answer: `{"error":"nope"}`, want: `answered 404 Not Found: {"error":"nope"} (check the model, and image_generation.base_url)`, fails: true},
		{name: "gateway", status: 502, answer: `<html>bad gateway</html>`, want: "answered 502 Bad Gateway", fails: true},
		{name: "redirect", status: 307, want: "answered 307 Temporary Redirect (redirects are not followed", fails: true},
		{name: "moderated", status: 400, answer: `{"error":{"message":"Not\nallowed\u001b[1m.","code":"moderation_blocked"}}`, want: "answered 400 Bad Request: Not allowed.", fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPainter(t, c.answer)
			if c.status != 0 {
				p.status = c.status
			}
			b := p.bench(t)
			if c.input == "" {
				c.input = `{"prompt":"x"}`
			}
			res, _, err := b.call(drawName, c.input)
			if c.fails {
				fails(t, err, c.want)
				if err != nil && strings.Contains(err.Error(), "sk-hush") {
					t.Errorf("tells the key: %v", err)
				}
			} else if err != nil || !strings.Contains(res.Content.Text(), strings.ReplaceAll(c.want, "{dir}", b.dir)) {
				t.Errorf("%q, %v", res.Content.Text(), err)
			}
			if len(p.requests()) != 1 {
				t.Errorf("%d requests", len(p.requests()))
			}
		})
	}
}

// Services other than OpenAI's are not told what they do not know.
func TestOtherModel(t *testing.T) {
	p := newPainter(t, pictures(pngBytes))
	b := newBench(t, Config{Service: func() (Service, error) { return Service{BaseURL: p.URL, Model: "flux", Provider: "openai"}, nil }})
	if _, _, err := b.call(drawName, `{"prompt":"x <y>"}`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.call(drawName, `{"prompt":"x","model":"dall-e-3","size":"1792x1024","quality":"hd","background":"opaque"}`); err != nil {
		t.Fatal(err)
	}
	want := []sent{
		{Path: "/images/generations", Body: `{"model":"flux","n":1,"prompt":"x <y>","response_format":"b64_json"}`},
		{Path: "/images/generations", Body: `{"model":"dall-e-3","n":1,"prompt":"x","quality":"hd","response_format":"b64_json","size":"1792x1024"}`},
	}
	if diff := cmp.Diff(want, p.requests()); diff != "" {
		t.Error(diff)
	}
}

func TestServiceSettings(t *testing.T) {
	broken := errors.New("helper failed")
	for _, c := range []struct {
		name    string
		service func() (Service, error)
		want    string
	}{
		{"none", nil, "no image service is configured. A person can set one: image_generation.api_key"},
		{"empty", func() (Service, error) { return Service{Model: "m"}, nil }, "no image service is configured"},
		{"error", func() (Service, error) { return Service{}, broken }, "the image service: helper failed"},
		{"codex", func() (Service, error) { return Service{Provider: "codex", Key: "k"}, nil }, "the provider codex draws on a ChatGPT subscription"},
		{"odd provider", func() (Service, error) { return Service{Provider: "acme", Key: "k"}, nil }, `image_generation.provider is "acme", but must be auto, openai or codex`},
		{"no address", func() (Service, error) { return Service{BaseURL: "ftp://x"}, nil }, "not an http or https address"},
		{"bad address", func() (Service, error) { return Service{BaseURL: "http://[::1"}, nil }, "not an http or https address"},
		{"password", func() (Service, error) { return Service{BaseURL: "https://a:hush@x"}, nil }, "without name and password"},
	} {
		_, err := newBench(t, Config{Service: c.service}).prepare(drawName, `{"prompt":"x"}`)
		fails(t, err, c.want)
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s tells a password: %v", c.name, err)
		}
	}
	act, err := newBench(t, Config{Service: func() (Service, error) { return Service{Key: "k"}, nil }}).prepare(drawName, `{"prompt":"x"}`)
	if err != nil || act.Access.URLs[0] != "https://api.openai.com/v1/images/generations" {
		t.Errorf("default: %v, %v", act.Access.URLs, err)
	}
	if s := fmt.Sprintf("%v %+v %#v", Service{Key: "hush"}, Service{Key: "hush"}, Service{Key: "hush"}); strings.Contains(s, "hush") {
		t.Errorf("prints the key: %s", s)
	}
}

func TestNoAnswer(t *testing.T) {
	p := newPainter(t, "")
	stop := make(chan struct{})
	p.during = func() { <-stop }
	t.Cleanup(func() { close(stop) }) // before the server is closed
	b := newBench(t, Config{Service: func() (Service, error) {
		return Service{BaseURL: p.URL, Client: p.Client(), Timeout: 20 * time.Millisecond}, nil
	}})
	_, _, err := b.call(drawName, `{"prompt":"x"}`)
	fails(t, err, "did not answer within 20ms; it may have made the images")

	act, err := p.bench(t).prepare(drawName, `{"prompt":"x"}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := act.Run(ctx, func(oh.Event) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	p := newPainter(t, "")
	b := p.bench(t)
	p.Close()
	_, _, err := b.call(drawName, `{"prompt":"x"}`)
	if err == nil || strings.Contains(err.Error(), "/v1/") || !strings.HasPrefix(err.Error(), strings.TrimPrefix(p.URL, "http://")+": ") {
		t.Errorf("got %v", err)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ path, format, want string }{
		{"a.png", "png", "a.png"}, {"a.PNG", "png", "a.PNG"}, {"a.jpg", "jpeg", "a.jpg"}, {"a.jpg", "webp", "a.webp"},
		{"a", "png", "a.png"}, {"a.v2", "png", "a.v2.png"}, {".png", "png", ".png.png"}, {"d.x/a", "png", "d.x/a.png"}, {"../a.gif", "jpeg", "../a.jpeg"},
	} {
		if got := numbered(stem(c.path), suffix(c.path, c.format), 1)[0]; got != c.want {
			t.Errorf("%s as %s: %s", c.path, c.format, got)
		}
	}
	for prompt, want := range map[string]string{
		"A red fox, in the snow!": "a-red-fox-in-the-snow", "赤い狐": "image", "../../etc/passwd": "etc-passwd",
		strings.Repeat("word ", 30): "word-word-word-word-word-word-word-word", strings.Repeat("x", 60): "image",
	} {
		if got := slug(prompt); got != want {
			t.Errorf("%q: %q", prompt, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(pictures(pngBytes)))
	f.Add([]byte(`{"data":[{"url":"u"}],"usage":{"input_tokens":-1}}`))
	f.Add([]byte(`{"error":{"message":"m"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := read("host", body)
		if err == nil && len(m.images)+len(m.links) == 0 {
			t.Error("neither images nor an error")
		}
		_ = Service{Key: "k"}.refusal("host", 400, body)
	})
}
