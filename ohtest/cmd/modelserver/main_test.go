package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve runs the command with a script until stop, which gives its exit code
// and what it wrote to the error output.
func serve(t *testing.T, script string, flags ...string) (url string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append(flags, "-"), strings.NewReader(script), in, &errs)
		in.Close()
	}()
	buf := make([]byte, 200)
	n, err := out.Read(buf)
	if err != nil {
		cancel()
		t.Fatalf("no address: exit %d: %s", <-code, errs.String())
	}
	rest := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, out)
		close(rest)
	}()
	return strings.TrimSpace(string(buf[:n])), func() (int, string) {
		cancel()
		c := <-code
		<-rest
		return c, errs.String()
	}
}

func post(t *testing.T, url, prompt string) (int, string) {
	t.Helper()
	b, err := json.Marshal(prompt)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":` + string(b) + `}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer s3cret")
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return -1, string(answer)
	}
	return resp.StatusCode, string(answer)
}

// The script of the package's documentation.
const demo = `{
  "models": ["demo"],
  "loop": true,
  "turns": [
    {"match": "weather", "thinking": "Look it up.",
     "calls": [{"id": "c1", "name": "bash", "input": {"command": "date"}}]},
    {"match": "weather", "text": "It is sunny.", "usage": {"input_tokens": 50, "output_tokens": 9}},
    {"error": "overloaded", "retry_after": "2s"},
    {"text": "Hello.", "cut": {"delta": 3, "bytes": 1}, "keep": true}
  ]
}`

func TestServesTheScript(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	url, stop := serve(t, demo, "-log", log)
	for i, tt := range []struct {
		prompt string
		status int
		want   string
	}{
		{"The weather?", 200, `{\"command\":\"date\"}`},
		{"hi", 503, "overloaded"},
		{"The weather?", 200, "It is sunny."},
		{"The weather?", 200, `"Hel"`},
		{"hi", 200, `"lo."`},
	} {
		if status, b := post(t, url, tt.prompt); status != tt.status || !strings.Contains(b, tt.want) {
			t.Errorf("request %d: %d %s", i+1, status, b)
		}
	}
	if code, errs := stop(); code != 0 || errs != "" {
		t.Errorf("exit %d: %s", code, errs)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 5 || strings.Contains(string(b), "s3cret") {
		t.Fatalf("log: %s", b)
	}
	var l struct {
		N    int
		Wire string
		Body struct{ Model string }
	}
	if err := json.Unmarshal([]byte(lines[4]), &l); err != nil || l.N != 5 || l.Wire != "openai" || l.Body.Model != "m" {
		t.Errorf("%s: %v", lines[4], err)
	}
}

func TestTurns(t *testing.T) {
	url, stop := serve(t, `
-- script.json --
{"turns": [
  {"bytes_file": "cut.sse", "error": "drop", "cut": {"bytes": 2}},
  {"status": 418, "headers": {"X-A": "b"}, "bytes": "{\"tea\":1}"},
  {"text": "half", "error": "drop", "delay": "1ms"},
  {"text": "", "stop": "max_tokens"},
  {"calls": [{"id": "c", "name": "x", "input": "{\"broken"}]}
]}
-- cut.sse --
data: {"choices":[{"index":0,"delta":{"content":"Hel
`)
	for i, tt := range []struct {
		status int
		want   string
	}{
		{-1, `"content":"Hel`},
		{418, `{"tea":1}`},
		{-1, "half"},
		{200, `"finish_reason":"length"`},
		{200, `{\"broken`},
		{400, "no turn left"},
	} {
		if status, b := post(t, url, "hi"); status != tt.status || !strings.Contains(b, tt.want) {
			t.Errorf("request %d: %d %s", i+1, status, b)
		}
	}
	if code, errs := stop(); code != 1 || !strings.Contains(errs, "request 6: the script has no turn left") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestLoop(t *testing.T) {
	url, stop := serve(t, `{"loop": true, "turns": [{"text": "one"}, {"text": "two"}, {"match": "x", "hang": true}]}`)
	for _, want := range []string{"one", "two", "one"} {
		if _, b := post(t, url, "hi"); !strings.Contains(b, want) {
			t.Errorf("got %s, want %s", b, want)
		}
	}
	if code, errs := stop(); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestBadScripts(t *testing.T) {
	for script, want := range map[string]string{
		``:                                     "neither a JSON object nor a txtar archive",
		`-- a --`:                              "neither a JSON object nor a txtar archive",
		`{}`:                                   "there are no turns",
		`{"turns":[{}]} x`:                     "after the script's JSON object",
		"{\"turns\":[\n{\"txt\":1}]}":          `script -: json: unknown field "txt"`,
		`{"turns":[{},{"bytes_file":"a"}]}`:    `turn 2: bytes_file: the archive has no file "a"`,
		`{"turns":[{"text":"a","bytes":"b"}]}`: "turn 1: text, thinking, calls, stop and usage exclude bytes and status",
		`{"turns":[{"status":99}]}`:            "turn 1: status 99 is not between 200 and 599",
		`{"turns":[{"hang":true,"error":"auth"}]}`:                                          "turn 1: hang and error exclude each other",
		`{"turns":[{"bytes":"","error":"auth"}]}`:                                           "turn 1: after bytes or a status the only error is drop",
		`{"turns":[{"error":"odd"}]}`:                                                       `turn 1: error "odd" is none of`,
		`{"turns":[{"retry_after":"1s"}]}`:                                                  "turn 1: retry_after needs an error",
		`{"turns":[{"delay":"-1s"}]}`:                                                       "negative",
		"{\"turns\":[\n{\"keep\":1}]}":                                                      "line 2: json: cannot unmarshal number",
		"{\"turns\":[\n\n{,}]}":                                                             "line 3: invalid character",
		`{"turns":[{"delay":"soon"}]}`:                                                      "soon",
		`{"turns":[{"calls":[{"id":"a"}]}]}`:                                                "turn 1: call 1 has no name",
		`{"turns":[{"cut":{"delta":-1}}]}`:                                                  "turn 1: cut",
		"-- script.json --\n{\"turns\":[{}]\n-- b --\n":                                     "line 2: unexpected EOF",
		"-- script.json --\n{\"turns\":[{\"bytes\":\"\",\"bytes_file\":\"b\"}]}\n-- b --\n": "exclude each other",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"-"}, strings.NewReader(script), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), want) || out.Len() != 0 {
			t.Errorf("%q: exit %d, %q, want %q", script, code, errs.String(), want)
		}
	}
}

func TestBadUse(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none", "file")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "name one script"},
		{[]string{"a", "b"}, 2, "name one script"},
		{[]string{"-odd", "-"}, 2, "-odd"},
		{[]string{"-h"}, 0, "-any-signature"},
		{[]string{missing}, 2, "read the script: open "},
		{[]string{"-log", missing, "-"}, 2, "open the log: open "},
		{[]string{"-addr", "nowhere", "-"}, 2, "scripted server: listen"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), tt.args, strings.NewReader(demo), &out, &errs)
		if code != tt.code || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%v: exit %d: %s", tt.args, code, errs.String())
		}
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte(demo))
	f.Add([]byte("-- script.json --\n{\"turns\":[{\"bytes_file\":\"b\"}]}\n-- b --\nx"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		s, err := parseScript(data)
		if err != nil {
			return
		}
		for i := range s.Turns {
			s.Turns[i].play()
		}
	})
}

// The same script on each wire; a header of a turn that is no status.
func TestAllWires(t *testing.T) {
	url, stop := serve(t, `{"key": "s3cret", "loop": true, "turns": [{"match": "hi", "thinking": "Hm.", "text": "it is sunny", "headers": {"X-Left": "3"}}]}`)
	const parts = `{"role":"user","parts":[{"text":"hi"}]}`
	for path, body := range map[string]string{
		"/v1/messages":         `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1/chat/completions": `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1/responses":        `{"model":"m","stream":true,"input":[{"role":"user","content":"hi"}]}`,
		"/v1beta/models/m:streamGenerateContent?alt=sse": `{"contents":[` + parts + `]}`,
		"/model/m/converse-stream":                       `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`,
		"/api/chat":                                      `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer s3cret")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(answer), "it is sunny") || resp.Header.Get("X-Left") != "3" {
			t.Errorf("%s: %v %d %s", path, err, resp.StatusCode, answer)
		}
	}
	if code, errs := stop(); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
}
