package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// local opens loopback, where the servers of these tests are.
func local(_ string, a netip.Addr) bool { return a.IsLoopback() }

// call runs a tool with input as the engine does; an error is an error result.
func call(t *testing.T, cfg Config, name, input string) oh.Result {
	t.Helper()
	return callTool(t, tool(t, Tools(cfg), name), input)
}

func tool(t *testing.T, tools []oh.Tool, name string) oh.Tool {
	t.Helper()
	for _, x := range tools {
		if x.Spec().Name == name {
			return x
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}

func callTool(t *testing.T, x oh.Tool, input string) oh.Result {
	t.Helper()
	act, err := x.Prepare(t.Context(), &oh.Call{ID: "1", Name: x.Spec().Name, Input: json.RawMessage(input), Env: &oh.Env{}})
	if err != nil {
		return oh.ErrorResult(err.Error())
	}
	res, err := act.Run(t.Context(), func(oh.Event) {})
	if err != nil {
		return oh.ErrorResult(err.Error())
	}
	if !utf8.ValidString(res.Content.Text()) {
		t.Errorf("not UTF-8: %q", res.Content.Text())
	}
	return res
}

func arg(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	raw, _ := oh.Marshal(m)
	return string(raw)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestSpecs(t *testing.T) {
	for _, x := range Tools(Config{}) {
		s := x.Spec()
		for _, v := range ohtest.CheckSpec(s) {
			t.Error(v)
		}
		doc := map[string]string{"web_fetch": fetchDoc, "web_search": searchDoc}[s.Name]
		if len(doc) > 500 {
			t.Errorf("%s: %d bytes for the model", s.Name, len(doc))
		}
	}
}

func TestFetchAccess(t *testing.T) {
	act, err := tool(t, Tools(Config{}), "web_fetch").Prepare(t.Context(), &oh.Call{Input: json.RawMessage(`{"url":"https://Example.com:443/x#y"}`), Env: &oh.Env{}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oh.Access{ReadOnly: true, URLs: []string{"https://example.com/x"}}, act.Access); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFetchPage(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<title>T</title><p>Hello <a href="/x">x</a></p>`)
	})
	res := call(t, Config{Allow: local}, "web_fetch", arg("url", base, "prompt", "ignored"))
	want := oh.Result{
		Content: oh.Blocks{oh.Text{Text: "URL: " + base + "/\nStatus: 200 OK\nType: text/html, utf-8, 47 bytes, as Markdown\n\n" + marker() + "\n\n# T\n\nHello [x](" + base + "/x)"}},
		Meta:    json.RawMessage(`{"url":"` + base + `/","final_url":"` + base + `/","status":"200 OK","type":"text/html, utf-8, 47 bytes, as Markdown","chars":` + fmt.Sprint(len("# T\n\nHello [x]("+base+"/x)")) + `}`),
		Display: oh.Count{N: len("# T\n\nHello [x](" + base + "/x)"), Unit: "character", In: base + "/"},
	}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFetchRefuses(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("the server was reached") })
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	cfg := Config{Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	for _, host := range []string{"127.0.0.1", "localhost", "public.example", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"} {
		res := call(t, cfg, "web_fetch", arg("url", "http://"+host+":"+port))
		if !res.IsError || !strings.Contains(res.Content.Text(), "not public") {
			t.Errorf("%s: %+v", host, res)
		}
	}
}

func TestRedirects(t *testing.T) {
	var base string
	var asked atomic.Int32
	mux := http.NewServeMux()
	to := func(from, where string) {
		mux.HandleFunc(from, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Location", where); w.WriteHeader(302) })
	}
	to("/a", "b?q=1")
	to("/b", "/c")
	to("/away", "//other.example/x")
	to("/meta", "http://169.254.169.254/latest/")
	to("/file", "file:///etc/passwd")
	to("/user", "http://u:pw@127.0.0.1/")
	to("/none", "")
	mux.HandleFunc("/c", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "end") })
	mux.HandleFunc("/n/{n}", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, r.URL.Path+"1", 307)
	})
	base = serve(t, mux.ServeHTTP)
	for _, c := range []struct{ path, want string }{
		{"/a", "URL: BASE/a\nRedirected to: BASE/b?q=1\nFinal URL: BASE/c\nStatus: 200 OK\nType: text/plain, utf-8, 3 bytes\n\n" + marker() + "\n\nend"},
		{"/away", "URL: BASE/away\nRedirected to another host, which was not followed:\nhttp://other.example/x\nTo read it, call web_fetch with that URL."},
		{"/meta", "URL: BASE/meta\nRedirected to another host, which was not followed:\nhttp://169.254.169.254/latest/\nTo read it, call web_fetch with that URL."},
		{"/file", `BASE/file redirects to "file:///etc/passwd", which is refused: the scheme "file" is not supported: only http and https are`},
		{"/none", "BASE/none answered with status 302 and names no place to go to"},
		{"/n/1", "BASE/n/1 redirects more than 5 times; the last was to BASE/n/1111111"},
	} {
		res := call(t, Config{Allow: local}, "web_fetch", arg("url", base+c.path))
		if diff := cmp.Diff(strings.ReplaceAll(c.want, "BASE", base), res.Content.Text()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.path, diff)
		}
	}
	if n := asked.Load(); n != maxHops+1 {
		t.Errorf("%d requests for a chain without end", n)
	}
}

// A host that answers first on a public address and then redirects to itself
// is looked up and judged again for the next connection.
func TestRedirectRebinds(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Error("the second request was made")
		}
		http.Redirect(w, r, "/secret", 302)
	})
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	var lookups atomic.Int32
	cfg := Config{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			if lookups.Add(1) == 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.2")}, nil
		},
		// Stands for "public" here.
		Allow: func(_ string, a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") },
	}
	res := call(t, cfg, "web_fetch", arg("url", "http://rebind.example:"+port+"/"))
	if want := "rebind.example has the address 127.0.0.2, which is not public (loopback)"; !res.IsError || !strings.Contains(res.Content.Text(), want) {
		t.Errorf("%+v", res)
	}
}

// When a host has several addresses the next is tried.
func TestSecondAddress(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") })
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	cfg := Config{Allow: local, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.1")}, nil
	}}
	if got := call(t, cfg, "web_fetch", arg("url", "http://two.example:"+port)).Content.Text(); !strings.HasSuffix(got, "here") {
		t.Error(got)
	}
}

// Headers of any length do not reach the model.
func TestLongHeaders(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/to" {
			w.Header().Set("Location", "/"+strings.Repeat("x", 100_000))
			w.WriteHeader(302)
			return
		}
		w.Header().Set("Content-Type", "text/"+strings.Repeat("x", 100_000))
		w.Header().Set("Retry-After", strings.Repeat("1", 10_000))
		w.WriteHeader(map[string]int{"/": 200, "/bad": 500, "/zip": 200}[r.URL.Path])
		fmt.Fprint(w, map[string]string{"/zip": "\x00"}[r.URL.Path]+"body")
	})
	for _, path := range []string{"/", "/bad", "/zip", "/to"} {
		res := call(t, Config{Allow: local}, "web_fetch", arg("url", base+path))
		if n := len(res.Content.Text()) + len(res.Meta); n > 2000 || !strings.Contains(res.Content.Text(), base+path) {
			t.Errorf("%s: %d bytes: %.300s", path, n, res.Content.Text())
		}
	}
}

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestKinds(t *testing.T) {
	small := pngOf(t, 20, 10)
	for _, c := range []struct {
		name, header string
		body         []byte
		want         string // in the text
		isError      bool
	}{
		{"json", "application/json", []byte(`{"a":[1,{"b":null}]}`), "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ]\n}", false},
		{"long json", "application/ld+json", []byte(`{"a":"` + strings.Repeat("x", prettyLimit) + `"}`), `{"a":"xxx`, false},
		{"broken json", "application/json", []byte(`{"a":`), `{"a":`, false},
		{"text", "text/plain", []byte("a <b> c\r\n"), "a <b> c\n", false},
		{"no type, html", "", []byte("<!DOCTYPE html><p>x"), "as Markdown\n\n" + marker() + "\n\nx", false},
		{"no type, text", "", []byte("just text"), "Type: text/plain, utf-8, 9 bytes", false},
		{"octets, text", "application/octet-stream", []byte("just text"), "just text", false},
		{"xml", "application/atom+xml", []byte("<feed/>"), "<feed/>", false},
		{"empty", "text/html", nil, "The page holds no text.", false},
		{"escape", "text/plain", []byte("a\x1b[31mb"), "ab", false},
		{"binary", "application/zip", []byte("PK\x03\x04\x00\x00"), "is application/zip (6 bytes) and is not shown", true},
		{"binary text", "text/plain", []byte("a\x00\x01\x02"), "is text/plain (4 bytes) and is not shown", true},
		{"video", "video/mp4", []byte("....ftyp"), "is video/mp4", true},
		{"pdf", "application/pdf", []byte("%PDF-1.7\n..."), "is application/pdf (12 bytes) and is not shown: the text of PDF files is not extracted here", true},
		{"broken image", "image/png", small[:len(small)-4], "is image/png", true},
		{"false image", "image/png", []byte("<html>"), "is image/png (6 bytes) and is not shown", true},
		{"no image", "image/png", small, "images are not shown here", true},
		{"svg", "image/svg+xml", []byte("<svg/>"), "<svg/>", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if c.header != "" {
					w.Header().Set("Content-Type", c.header)
				}
				_, _ = w.Write(c.body)
			})
			res := call(t, Config{Allow: local}, "web_fetch", arg("url", base))
			if res.IsError != c.isError || !strings.Contains(res.Content.Text(), c.want) {
				t.Errorf("error %t: %s", res.IsError, res.Content.Text())
			}
		})
	}
}

func TestImage(t *testing.T) {
	data := pngOf(t, 20, 10)
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data)
	})
	cfg := Config{Allow: local, Image: func(img oh.Image) (oh.Image, string, error) {
		return oh.Image{MediaType: "image/jpeg", Data: img.Data[:8]}, "Scaled.", nil
	}}
	res := call(t, cfg, "web_fetch", arg("url", base))
	want := oh.Blocks{
		oh.Text{Text: fmt.Sprintf("URL: %s/\nStatus: 200 OK\nType: image/png, %d bytes\nScaled.\n\n%s", base, len(data), marker())},
		oh.Image{MediaType: "image/jpeg", Data: data[:8]},
	}
	if diff := cmp.Diff(want, res.Content); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	cfg.Image = func(oh.Image) (oh.Image, string, error) {
		return oh.Image{}, "", errors.New("an image of too many pixels")
	}
	res = call(t, cfg, "web_fetch", arg("url", base))
	if want := "is not shown: it is an image of too many pixels."; !res.IsError || !strings.Contains(res.Content.Text(), want) {
		t.Errorf("error %t: %s", res.IsError, res.Content.Text())
	}
}

func TestPDF(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "%PDF-1.7 body") })
	cfg := Config{Allow: local, PDF: func(_ context.Context, data []byte) (string, error) { return "text of " + string(data), nil }}
	if got := call(t, cfg, "web_fetch", arg("url", base)).Content.Text(); !strings.HasSuffix(got, "\n\ntext of %PDF-1.7 body") {
		t.Error(got)
	}
	cfg.PDF = func(context.Context, []byte) (string, error) { return "", errors.New("encrypted") }
	if res := call(t, cfg, "web_fetch", arg("url", base)); !res.IsError || res.Content.Text() != "read the PDF file "+base+"/: encrypted" {
		t.Error(res)
	}
}

func TestCharsets(t *testing.T) {
	for _, c := range []struct {
		name, header string
		body         string
		want         string
	}{
		{"header", "text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		{"header beats meta", "text/html; charset=windows-1251", "<meta charset=utf-8><p>\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		{"meta", "text/html", "<meta charset=shift_jis><p>\x93\xfa\x96\x7b", "日本"},
		{"meta http-equiv", "text/html", `<meta http-equiv=content-type content="text/html; charset=gbk"><p>` + "\xc4\xe3\xba\xc3", "你好"},
		{"meta is for pages", "text/plain", "<meta charset=shift_jis>é", "<meta charset=shift_jis>é"},
		{"utf-16 mark", "text/html", "\xff\xfe<\x00p\x00>\x00\xe9\x00", "é"},
		{"utf-8 mark", "text/plain; charset=iso-8859-1", "\xef\xbb\xbfé", "é"},
		{"late utf-8", "text/plain", strings.Repeat("a", 1500) + "é", strings.Repeat("a", 1500) + "é"},
		{"late utf-8 page", "text/html", "<p>" + strings.Repeat("a", 1500) + "é", strings.Repeat("a", 1500) + "é"},
		{"old page", "text/html", "<p>\x93caf\xe9\x94", "“café”"},
		{"ascii charset", "text/html", "<meta charset=iso-2022-jp><p>\x1b$BF|K\\\x1b(B", "日本"},
		{"json", "application/json", `"é"`, `"é"`},
		{"unknown name", "text/plain; charset=nonsense", "é", "é"},
		{"euc-kr", "text/plain; charset=euc-kr", "\xb0\xa1", "가"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.header)
				fmt.Fprint(w, c.body)
			})
			_, got, _ := strings.Cut(call(t, Config{Allow: local}, "web_fetch", arg("url", base)).Content.Text(), marker()+"\n\n")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(503)
		fmt.Fprint(w, "<h1>Down</h1>"+strings.Repeat("word ", 1000))
	})
	res := call(t, Config{Allow: local}, "web_fetch", arg("url", base))
	head := "URL: " + base + "/\nStatus: 503 Service Unavailable\nType: text/html, utf-8, 5,013 bytes, as Markdown\nRetry after: 30\n\n" + marker() + "\n\n# Down\n\nword"
	got := res.Content.Text()
	if !res.IsError || !strings.HasPrefix(got, head) || len(got) > len(head)+errorChars {
		t.Errorf("error %t: %s", res.IsError, got)
	}
}

func TestPaging(t *testing.T) {
	whole := strings.Repeat("0123456789é", 100) // 1,100 characters
	var asked atomic.Int32
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); fmt.Fprint(w, whole) })
	x := tool(t, Tools(Config{Allow: local}), "web_fetch")
	var got strings.Builder
	for _, c := range []struct {
		start int
		note  string
	}{{0, "Shown: characters 0-500 of 1100; go on with start=500\n"}, {500, "Shown: characters 500-1000 of 1100; go on with start=1000\n"}, {1000, "Shown: characters 1000-1100, the end\n"}} {
		res := callTool(t, x, arg("url", base+"#"+fmt.Sprint(c.start), "max_chars", 500, "start", c.start))
		head, part, _ := strings.Cut(res.Content.Text(), "\n"+marker()+"\n\n")
		if !strings.HasSuffix(head, c.note) {
			t.Errorf("start %d: %s", c.start, head)
		}
		got.WriteString(part)
	}
	if got.String() != whole {
		t.Errorf("the parts make %q", got.String())
	}
	if res := callTool(t, x, arg("url", base, "start", 1100)); !res.IsError || !strings.Contains(res.Content.Text(), "past the end") {
		t.Error(res)
	}
	if asked.Load() != 1 {
		t.Errorf("%d requests", asked.Load())
	}
}

func TestLimits(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("a"), 1<<20))
	_ = z.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("é", 10_000)) })
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("gzip is not asked for")
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(zipped.Bytes())
	})
	mux.HandleFunc("/br", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		fmt.Fprint(w, "x")
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5000")
		fmt.Fprint(w, "x")
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1000)); err != nil {
				return
			}
		}
	})
	base := serve(t, mux.ServeHTTP)
	for _, c := range []struct{ path, want string }{
		{"/text", "Type: text/plain, utf-8, 4,001 bytes\nThe download was stopped at 4,001 bytes: the end is missing.\n"},
		{"/gzip", "The download was stopped at 4,001 bytes: the end is missing.\n"},
		{"/endless", "The download was stopped at 4,001 bytes: the end is missing.\n"},
		{"/br", `answered in the encoding "br"`},
		{"/cut", "closed the connection before its answer was complete"},
	} {
		res := call(t, Config{Allow: local, MaxBytes: 4001}, "web_fetch", arg("url", base+c.path))
		if !strings.Contains(res.Content.Text(), c.want) {
			t.Errorf("%s: %s", c.path, res.Content.Text())
		}
	}
}

// A server that goes on for ever, a few bytes at a time, is left in time.
func TestSlow(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
			return
		}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
			}
		}
	})
	for _, path := range []string{"/slow", "/silent"} {
		res := call(t, Config{Allow: local, Timeout: 100 * time.Millisecond}, "web_fetch", arg("url", base+path))
		if want := strings.TrimPrefix(base, "http://") + " gave no complete answer within 100ms; try again later, or another source"; !res.IsError || res.Content.Text() != want {
			t.Errorf("%s: %s", path, res.Content.Text())
		}
	}
}

func TestCancel(t *testing.T) {
	began := make(chan struct{})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) { close(began); <-r.Context().Done() })
	act, err := tool(t, Tools(Config{Allow: local}), "web_fetch").Prepare(t.Context(), &oh.Call{Input: json.RawMessage(arg("url", base)), Env: &oh.Env{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := act.Run(ctx, func(oh.Event) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSummarise(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the page") })
	cfg := Config{Allow: local, Summarise: func(ctx context.Context, _ func(oh.Event), prompt, page string) (string, error) {
		if _, ok := ctx.Deadline(); ok {
			t.Error("the limit of the download holds for the answer")
		}
		if prompt == "fail" {
			return "", errors.New("no model")
		}
		return prompt + ": " + page, nil
	}}
	for prompt, want := range map[string]string{
		"what": "Shown: the answer of a model to the prompt, from the page\n\n" + marker() + "\n\nwhat: the page",
		"fail": "The prompt could not be answered (no model), so this is the page.\n\n" + marker() + "\n\nthe page",
		"":     "8 bytes\n\n" + marker() + "\n\nthe page",
	} {
		if got := call(t, cfg, "web_fetch", arg("url", base, "prompt", prompt)).Content.Text(); !strings.HasSuffix(got, want) {
			t.Errorf("prompt %q: %s", prompt, got)
		}
	}
}

func TestCacheBounds(t *testing.T) {
	var c cache
	now := time.Now()
	for i := range 5 {
		c.put(fmt.Sprint(i), &page{text: strings.Repeat("x", cacheBytes/4), fetched: now})
		c.get("0", now) // kept as the one last used
	}
	c.put("big", &page{text: strings.Repeat("x", cacheBytes+1), fetched: now})
	var left []string
	for _, u := range []string{"0", "1", "2", "3", "4", "big"} {
		if c.get(u, now) != nil {
			left = append(left, u)
		}
	}
	if diff := cmp.Diff([]string{"0", "3", "4"}, left); diff != "" || c.bytes > cacheBytes {
		t.Errorf("%d bytes (-want +got)\n%s", c.bytes, diff)
	}
	if c.get("0", now.Add(cacheTime-1)) == nil || c.get("0", now.Add(cacheTime)) != nil || c.get("0", now) != nil {
		t.Error("pages do not age as they should")
	}
}
