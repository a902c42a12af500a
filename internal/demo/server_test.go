package demo

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// post sends a body and returns the answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

const (
	head   = `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"go"}]}`
	silent = `,{"role":"assistant","content":[{"type":"text","text":"x"}]},{"role":"user","content":[{"type":"text","text":"go on"}]}`
	called = `,{"role":"assistant","content":[{"type":"tool_use","id":"run_2","name":"bash","input":{}}]}`
)

func result(id, out string) string {
	return `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":[{"type":"text","text":"` + out + `"}]}]}`
}

func TestReplies(t *testing.T) {
	s := start(t)
	for i, tt := range []struct{ body, want string }{
		{head + "]}", `"id":"read_2"`},
		{head + silent + "]}", `"id":"run_1"`},
		{head + strings.Repeat(silent, 3) + "]}", `"id":"run_2"`},
		{head + strings.Repeat(silent, 3) + called + result("run_2", "ok all") + "]}", `"Fixed."`},
		{head + strings.Repeat(silent, 3) + called + result("run_2", "FAIL") + "]}", `"The te"`},
	} {
		code, got := post(t, s.URL+"/v1/messages", tt.body)
		if code != http.StatusOK || !strings.Contains(got, tt.want) || !strings.HasSuffix(got, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") {
			t.Errorf("%d: %d %s", i, code, got)
		}
	}
	if s.Requests() != 5 || s.Err() != nil {
		t.Errorf("%d requests, %v", s.Requests(), s.Err())
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"x", "decode"},
		{`{"model":"m","messages":[]}`, "stream"},
		{head + called + result("other", "") + "]}", "answers no call"},
		{head + called + silent + "]}", "no result"},
		{head + called + result("run_2", "a") + result("run_2", "b") + "]}", "answers no call"},
	} {
		s := start(t)
		code, got := post(t, s.URL+"/v1/messages", tt.body)
		if code != http.StatusBadRequest || !strings.Contains(got, tt.want) || s.Err() == nil || !strings.Contains(s.Err().Error(), tt.want) {
			t.Errorf("%s: %d %s, %v", tt.body, code, got, s.Err())
		}
	}
	if code, _ := post(t, start(t).URL+"/other", ""); code != http.StatusNotFound {
		t.Errorf("status %d", code)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "test.sh")); err != nil {
		t.Error(err)
	}
	if err := Write(filepath.Join(dir, "missing")); err == nil {
		t.Error("no error for a folder that is not there")
	}
}
