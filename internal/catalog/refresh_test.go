package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sourceBody = `{
 "openai": {"id": "openai", "env": ["OPENAI_API_KEY"], "models": {
  "gpt-5.4": {"id": "gpt-5.4", "tool_call": true, "modalities": {"input": ["text", "image", "pdf"]}, "limit": {"context": 1000000, "input": 900000, "output": 99000}, "cost": {"input": 7, "output": 8, "cache_read": 0.5, "tiers": [{"input": 9}]},
   "reasoning_options": [{"type": "toggle"}, {"type": "effort", "values": ["none", null, "high", "low"]}]},
  "gpt-7": {"id": "gpt-7", "tool_call": false, "modalities": {"input": ["text"]}, "limit": {"context": 2000000.0, "output": 2000000}, "cost": {"input": "free", "output": 1}},
  "bad": 7, "empty": {}, "voice": {"modalities": {"input": ["text"], "output": ["audio"]}, "limit": {"context": 8000}}}},
 "anthropic": {"models": {"claude-sonnet-4-6": {"limit": {"context": 1000000, "output": 64000}, "cost": {"input": 3, "output": 15}}}},
 "groq": {"models": []},
 "nobody-knows-this-service": {"models": {"x": {"limit": {"context": 5}}}}
}`

// source serves a catalogue and counts how often it is sent whole.
func source(t *testing.T, body string) (address string, sent *int) {
	t.Helper()
	sent = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		*sent++
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/api.json", sent
}

func TestRefresh(t *testing.T) {
	address, sent := source(t, sourceBody)
	file := filepath.Join(t.TempDir(), "data", FileName)
	got, err := Refresh(t.Context(), nil, address, file)
	if err != nil || got.Services != 2 || got.Models != 3 || got.Same || got.Source != address || got.Fetched.IsZero() {
		t.Fatalf("%+v, %v", got, err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 2000 {
		t.Fatalf("%v %v", info, err)
	}

	c := Load(Config{File: file})
	want := Info{Known: true, Window: 900_000, Sure: true, MaxOutput: 128_000, Vision: true, Documents: true, Thinking: ThinkEffort, Efforts: []string{"low", "high"},
		TokenField: "max_completion_tokens", Cache: CacheAuto, Price: Price{Known: true, In: 7, Out: 8, CacheRead: 0.5}}
	for _, name := range []string{"gpt-5.4", "gpt-5.4-2026-03-05"} {
		have := c.Model("openai-responses", name)
		have.Quirks = want.Quirks
		if diff := same(want, have); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	seven := c.Model("openai-compatible", "gpt-7")
	if seven.Window != 2_000_000 || !seven.Known || seven.Vision || !seven.Quirks.NoTools || seven.MaxOutput != 500_000 || seven.Price.Known {
		t.Errorf("%+v", seven)
	}
	if i := c.Model("claude-api", "claude-sonnet-4-6"); i.Window != 200_000 {
		t.Errorf("the long window came without its name: %+v", i)
	}
	if i := c.Model("groq", "gpt-7"); i.Known {
		t.Errorf("another service's: %+v", i)
	}
	var names []string
	for _, m := range c.Models("openai-compatible") {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff([]string{"gpt-5.4", "gpt-7"}, names); diff != "" {
		t.Error(diff)
	}

	again, err := Refresh(t.Context(), nil, address, file)
	if err != nil || !again.Same || again.Models != 3 || *sent != 1 {
		t.Errorf("%+v, %v, sent %d times", again, err, *sent)
	}
	if err := Load(Config{File: file}).Warning(); err != nil {
		t.Error(err)
	}
}

func TestRefreshRefuses(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a page":         {"<html>", "no catalogue"},
		"a list":         {"[]", "no catalogue"},
		"nothing of use": {`{"x": {"models": {}}}`, "no catalogue"},
		"empty services": {`{"openai": {"models": {"a": {}}}}`, "no catalogue"},
		"providers":      {`{"providers": 7}`, "no catalogue"},
		"too much":       {strings.Repeat(" ", maxSource+1), "more than 32 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := source(t, c.body)
			file := filepath.Join(t.TempDir(), FileName)
			if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Refresh(t.Context(), nil, address, file)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), address) {
				t.Errorf("%v", err)
			}
			if data, _ := os.ReadFile(file); string(data) != "old" {
				t.Errorf("the file is now %.50q", data)
			}
		})
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.invalid/", http.StatusFound))
	defer moved.Close()
	for address, want := range map[string]string{
		gone.URL:                        "404",
		moved.URL:                       "302",
		"http://models.example.com/":    "https://",
		"https://user:pw@x.example/":    "name or password",
		"file:///etc/passwd":            "https://",
		"not an address":                "https://",
		"http://127.0.0.1:1/nobody":     "reach http://127.0.0.1:1/nobody",
		"https://127.0.0.1:1/nobody#aé": "reach",
	} {
		_, err := Refresh(t.Context(), nil, address, filepath.Join(t.TempDir(), FileName))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestProvidersBelow(t *testing.T) {
	services, err := reduce([]byte(`{"models": {}, "providers": {"groq": {"models": {"m": {"limit": {"context": 7000}}}}}}`))
	if got := services["groq"]; err != nil || len(got) != 1 || got[0].name != "m" || got[0].facts != `{"context_window":7000}` {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{"cut": `{"version":1,"serv`, "other": "{\"version\":99,\"services\":{\n\n}}\n", "stray": "{\"version\":1,\"services\":{\nx\n}}\n", "empty": "", "page": "<html>"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		c := Load(Config{File: file})
		if err := c.Warning(); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
		if i := c.Model("openai-compatible", "gpt-5.4"); i.Window != 1_050_000 {
			t.Errorf("%s: %+v", name, i)
		}
	}
	if err := Load(Config{File: filepath.Join(dir, "none")}).Warning(); err != nil {
		t.Error(err)
	}
	c := Load(Config{File: filepath.Join(dir, "half")})
	half := `{"version":1,"services":{` + "\n" + `"openai":{` + "\n" + `"a":{x}` + "\n}," + `
"groq":{
"m":{"context_window":"x","vision":true}
}
}}
`
	if err := os.WriteFile(filepath.Join(dir, "half"), []byte(half), 0o600); err != nil {
		t.Fatal(err)
	}
	if i := c.Model("openai-compatible", "a"); i.Sure {
		t.Errorf("%+v", i)
	}
	if i := c.Model("groq", "m"); !i.Vision || i.Window != RemoteWindow {
		t.Errorf("%+v", i)
	}
}

func FuzzReduce(f *testing.F) {
	f.Add([]byte(sourceBody))
	f.Add([]byte(`{"providers":{"openai":{"models":{"a":{"limit":{"context":1e300,"output":-1},"cost":{"input":null}}}}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		services, err := reduce(body)
		if (err == nil) == (len(services) == 0) {
			t.Fatalf("%v and %v", services, err)
		}
		l := latest{head{Version: latestVersion}, services}
		data, err := l.encode()
		if err != nil || !json.Valid(data) {
			t.Fatalf("%v: %s", err, data)
		}
		back, err := decodeLatest(data)
		if len(services) > 0 && (err != nil || !cmp.Equal(services, back.Services, cmp.AllowUnexported(listed{}))) {
			t.Fatalf("%v: %v came back as %v", err, services, back)
		}
		for id, models := range services {
			for _, m := range models {
				for key, raw := range l.find(id, m.name, m.name) {
					if err := CheckField(key, raw); err != nil {
						t.Errorf("%s %s %s: %v", id, m.name, key, err)
					}
				}
			}
		}
	})
}

func FuzzDecodeLatest(f *testing.F) {
	f.Add([]byte("{\"version\":1,\"services\":{\n\"groq\":{\n\"m\":{\"vision\":true}\n}\n}}\n"))
	f.Add([]byte("{\"version\":1,\"services\":{\n\"groq\":{\n\"m\":{\n}\n}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := decodeLatest(data)
		if (err == nil) == (l == nil) {
			t.Fatalf("%v, %v", l, err)
		}
		if err != nil {
			return
		}
		for id := range l.Services {
			for _, name := range l.names(id) {
				l.find(id, name, name)
			}
		}
	})
}

func BenchmarkRefreshed(b *testing.B) {
	var models []listed
	for i := range 100 {
		facts := fmt.Sprintf(`{"context_window":%d,"input_price":1.5,"output_price":7.25,"vision":true,"documents":false,"tools":true}`, 100_000+i)
		models = append(models, listed{fmt.Sprintf("vendor/model-%d", i), facts})
	}
	l := latest{head{Version: latestVersion}, map[string][]listed{}}
	for _, p := range Profiles() {
		if p.Listed != "" {
			l.Services[p.Listed] = models
		}
	}
	data, err := l.encode()
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), FileName)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if i := Load(Config{File: file}).Model("openrouter", "vendor/model-7"); i.Window != 100_007 {
			b.Fatalf("%+v", i)
		}
	}
}

// TestRefreshLeavesOddNames: a name that nobody can type, or that does things
// to a terminal, is no model.
func TestRefreshLeavesOddNames(t *testing.T) {
	facts := `{"limit": {"context": 5000}}`
	body := `{"openai": {"models": {"ok/é:4b@x": ` + facts
	for _, odd := range []string{`a\u001b[31m`, `a\u202eb`, `a\u200bb`, `a b`, `gpt*`, `a\tb`, ` `, `a\"b`, `a\\b`, "a\xff", strings.Repeat("x", 1025)} {
		body += `, "` + odd + `": ` + facts
	}
	address, _ := source(t, body+`}}}`)
	file := filepath.Join(t.TempDir(), FileName)
	got, err := Refresh(t.Context(), nil, address, file)
	if err != nil || got.Models != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if i := Load(Config{File: file}).Model("openai-compatible", "ok/é:4b@x"); i.Window != 5000 {
		t.Errorf("%+v", i)
	}
}

// TestUnsortedFile: a file that somebody wrote by hand is found in, too.
func TestUnsortedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	text := `{"version":1,"source":"","fetched":"2026-12-01T00:00:00Z","services":{` + "\n" + `"openai":{` + "\n" +
		`"z":{"context_window":1000},` + "\n" + `"a":{"context_window":2000},` + "\n" + `"m":{"context_window":3000}` + "\n}\n}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Load(Config{File: file})
	for name, want := range map[string]int{"z": 1000, "a": 2000, "m": 3000, "x/m-20260101": 3000} {
		if i := c.Model("openai-compatible", name); i.Window != want {
			t.Errorf("%s: %+v, %v", name, i, c.Warning())
		}
	}
}
