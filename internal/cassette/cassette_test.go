package cassette

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

const (
	secret = "canary-4711-secret"
	looks  = "sk-proj-abcdefghijklmnopqrstuvwx"
)

func scrubber() Scrubber { return Scrubber{Secrets: []string{secret}, Home: "/home/alice"} }

// answers is a service with one answer per path.
func answers(t *testing.T) *httptest.Server {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("data: packed\n\n"))
	_ = z.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", secret)
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "7")
		switch r.URL.Path {
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		case "/busy":
			w.Header().Set("Retry-After", "3")
			http.Error(w, "the key "+looks+" has had enough", http.StatusTooManyRequests)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		default:
			for i := range 3 {
				fmt.Fprintf(w, "data: %d 你好 %s\n\n", i, r.URL.Path)
				w.(http.Flusher).Flush()
			}
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// got is what a program sees of an answer.
type got struct {
	Status int
	Body   string
	Err    string
}

func ask(t *testing.T, over http.RoundTripper, url, body string) got {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	resp, err := over.RoundTrip(req)
	if err != nil {
		return got{Err: err.Error()}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	out := got{Status: resp.StatusCode, Body: string(raw)}
	if err != nil {
		out.Err = "cut"
	}
	return out
}

type exchange struct{ path, body string }

var session = []exchange{
	{"/v1/messages?key=" + secret, `{"text":"hello, see /home/alice/x and ` + secret + `"}`},
	{"/busy", `{"n":1}`},
	{"/packed", `no json ` + looks},
	{"/cut", `{}`},
	{"/v1/messages", `{"text":"again"}`},
}

func record(t *testing.T, path string, over http.RoundTripper, base string) []got {
	t.Helper()
	r, err := Create(path, Head{Profile: "claude-api", Model: "m", BaseURL: base}, scrubber())
	if err != nil {
		t.Fatal(err)
	}
	var out []got
	for _, x := range session {
		out = append(out, ask(t, r.Wrap(over), base+x.path, x.body))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRecordAndPlay(t *testing.T) {
	srv := answers(t)
	path := filepath.Join(t.TempDir(), "one.cassette")
	over := &http.Transport{DisableCompression: true}
	defer over.CloseIdleConnections()
	want := record(t, path, over, srv.URL)
	srv.Close()

	p, err := Open(path, scrubber())
	if err != nil {
		t.Fatal(err)
	}
	p.Differs = func(n int, where string) { t.Errorf("request %d: %s", n, where) }
	if h := p.Head(); h.Profile != "claude-api" || h.Model != "m" || h.Version != Version {
		t.Errorf("head %+v", h)
	}
	want[1].Body = strings.ReplaceAll(want[1].Body, looks, hidden)
	for i, x := range session {
		if d := cmp.Diff(want[i], ask(t, p, "http://elsewhere.test"+x.path, x.body)); d != "" {
			t.Errorf("exchange %d (-want +got)\n%s", i+1, d)
		}
	}
	if g := ask(t, p, "http://elsewhere.test/v1/messages", `{}`); !strings.Contains(g.Err, "has no answer for request 6") {
		t.Errorf("after the end: %+v", g)
	}
}

func TestNothingSecretIsKept(t *testing.T) {
	srv := answers(t)
	path := filepath.Join(t.TempDir(), "one.cassette")
	record(t, path, http.DefaultTransport, srv.URL)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{secret, looks, "alice", "Set-Cookie", "Authorization"} {
		if bytes.Contains(raw, []byte(bad)) {
			t.Errorf("the cassette holds %q", bad)
		}
	}
	if !bytes.Contains(raw, []byte("~/x")) {
		t.Error("the path below the home folder is gone")
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Create(path, Head{}, Scrubber{}); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second recording: %v", err)
	}
}

func TestDifferences(t *testing.T) {
	const was = `{"model":"m","prompt_cache_key":"a","messages":[{"text":"Date: 2026-10-01\nhello 12"},{"id":"01a23182-7754-7b7a-aa74-6246ad54a5ef"}]}`
	for is, want := range map[string]string{
		was: "",
		`{"model":"m","prompt_cache_key":"b","messages":[{"text":"Date: 2026-11-02\nhello 7"},{"id":"01b23182-7754-7b7a-aa74-6246ad54a5ff"}]}`: "",
		`{"model":"n","messages":[]}`: `messages had 2 elements and has 0`,
		`{"model":"m","messages":[{"text":"Date: 2026-10-01\nhello there"},{"id":"x"}]}`: `messages[0].text was "hello 12" and is "hello there"`,
		`{"model":"m"}`: "messages is missing",
		`{"model":"m","messages":[{"text":"Date: 1\nhello 1"},{"id":"01b23182-7754-7b7a-aa74-6246ad54a5ff"}],"x":1}`: "x is new",
		`{"model":7,"messages":[{"text":"Date: 1\nhello 1"},{"id":"01b23182-7754-7b7a-aa74-6246ad54a5ff"}]}`:         `model was "m" and is 7`,
	} {
		if where := difference(&request{JSON: []byte(was)}, &request{JSON: []byte(is)}); where != want {
			t.Errorf("%s\n got %s\nwant %s", is, where, want)
		}
	}
}

func TestStrict(t *testing.T) {
	srv := answers(t)
	path := filepath.Join(t.TempDir(), "one.cassette")
	record(t, path, http.DefaultTransport, srv.URL)
	p, err := Open(path, scrubber())
	if err != nil {
		t.Fatal(err)
	}
	p.Strict = true
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/busy", strings.NewReader(`{"n":"other"}`))
	_, err = p.RoundTrip(req)
	if e, ok := errors.AsType[*oh.Error](err); !ok || e.Retryable() || !strings.Contains(err.Error(), "n was 1 and is") {
		t.Errorf("%v", err)
	}
}

func TestOpenBadFiles(t *testing.T) {
	const head = `{"cassette":1}` + "\n"
	for name, tt := range map[string]struct{ text, want string }{
		"empty":       {"", "it is empty"},
		"no cassette": {"{}\n", "line 1: this is no cassette"},
		"text":        {"hello\n", "line 1: this is no cassette"},
		"newer":       {`{"cassette":9}`, "has version 9"},
		"no exchange": {head, "holds no exchange"},
		"torn":        {head + `{"n":1,"request":{"method":"POST","url":"/x"}}` + "\n" + `{"n":1,"resp`, "line 3: it is no line of a cassette"},
		"no request":  {head + `{"n":2,"text":"x"}`, "line 2: exchange 2 has no request"},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Scrubber{}); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestScrub(t *testing.T) {
	c := Scrubber{Secrets: []string{"abc", secret}, Home: `C:\Users\me`}
	for in, want := range map[string]string{
		"abc":                               "abc",
		"x" + secret + "y":                  "x[key]y",
		`C:\Users\me\x, C:\Users\mean`:      `~\x, C:\Users\mean`,
		`"C:\\Users\\me\\x"`:                `"~\\x"`,
		"sk-short, task-sk-" + looks[3:]:    "sk-short, task-sk-" + looks[3:],
		"a " + looks + ", AIza" + looks[8:]: "a [key], [key]",
	} {
		if got := c.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"cassette":1}` + "\n" + `{"n":1,"request":{"method":"POST","url":"/x","json":{}}}` + "\n" + `{"n":1,"response":{"status":200}}` + "\n" + `{"n":1,"text":"a"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := &Player{}
		if p.load(bytes.NewReader(raw)) != nil {
			return
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/x", strings.NewReader(`{}`))
		if resp, err := p.RoundTrip(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
		}
	})
}

func TestHeadOfACloud(t *testing.T) {
	for at, want := range map[string]string{
		"https://bedrock-runtime.eu-west-1.amazonaws.com/model/a%3A0/converse-stream":                           "https://bedrock-runtime.eu-west-1.amazonaws.com",
		"https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/m:stream?alt=sse": "https://aiplatform.googleapis.com/v1/projects/p/locations/l",
	} {
		p := Player{tapes: []*tape{{request: request{URL: at}}}}
		if got := p.Head().BaseURL; got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}
