package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Every reply of every scenario is a whole stream of valid events.
func TestReplies(t *testing.T) {
	for _, sc := range scenarios() {
		s := newScript(sc)
		for n := range sc.Turns + 1 {
			raw, err := s.reply(n)
			if err != nil {
				t.Fatal(err)
			}
			calls, text, ended := read(t, raw)
			wantCalls, wantEnd := sc.Calls, "tool_use"
			if n == sc.Turns {
				wantCalls, wantEnd = 0, "end_turn"
			}
			if calls != wantCalls || ended != wantEnd {
				t.Fatalf("%s, reply %d: %d calls, ended by %q", sc.Model, n, calls, ended)
			}
			if n == sc.Turns && text != strings.Repeat(piece, sc.Deltas) {
				t.Errorf("%s: the last text has %d bytes", sc.Model, len(text))
			}
			if n < sc.Prose && n < sc.Turns && (len(text) < sc.Long*9/10 || !strings.HasSuffix(text, "}\n")) {
				t.Fatalf("%s, reply %d: %d bytes of text", sc.Model, n, len(text))
			}
		}
		if _, err := s.reply(sc.Turns + 1); err == nil {
			t.Errorf("%s: a reply after the last", sc.Model)
		}
	}
}

// read decodes the events of a reply.
func read(t *testing.T, raw []byte) (calls int, text, stop string) {
	t.Helper()
	stopped := false
	var all strings.Builder
	lines := bufio.NewReader(bytes.NewReader(raw))
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var ev struct {
			Type  string
			Block struct{ Type string } `json:"content_block"`
			Delta struct {
				Text string
				Stop string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal(data, &ev); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all.WriteString(ev.Delta.Text)
		if ev.Block.Type == "tool_use" {
			calls++
		}
		if ev.Delta.Stop != "" {
			stop = ev.Delta.Stop
		}
		stopped = ev.Type == "message_stop"
	}
	if !stopped {
		t.Fatal("the reply does not end with message_stop")
	}
	return calls, all.String(), stop
}

// Each wire tells the whole text, and names the model in its own place.
func TestVoices(t *testing.T) {
	sc, err := Find("bench-one")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Voices() {
		raw, err := v.say(sc)
		if n := strings.Count(string(raw), piece); err != nil || n != sc.Deltas {
			t.Errorf("%s: %d deltas, %v", v.Name, n, err)
		}
		if _, err := v.say(Scenario{Model: "x", Turns: 1}); err == nil {
			t.Errorf("%s: no error for calls", v.Name)
		}
		if got, ok := voiceAt(v.Base + "/models/x" + v.path); !ok || got.Name != v.Name {
			t.Errorf("%s: found %q", v.Name, got.Name)
		}
	}
	for path, want := range map[string]string{"/v1beta/models/bench-a:streamGenerateContent": "bench-a", "/model/bench-b/converse-stream": "bench-b", "/api/chat": "bench-c"} {
		if got := modelIn(path, []byte(`{"model":"bench-c"}`)); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestServer(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	post := func(path, body string) int {
		t.Helper()
		resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	const body = `{"max_tokens":1,"model":"bench-bash-100"}`
	for range 3 {
		if code := post("/v1/messages", body); code != http.StatusOK {
			t.Fatalf("status %d", code)
		}
	}
	turns, err := s.Turns()
	if err != nil || len(turns) != 3 || turns[0].Size != len(body) || string(s.First()) != body {
		t.Errorf("%+v, %q, %v", turns, s.First(), err)
	}
	if gaps := Gaps(turns); len(gaps) != 2 || gaps[0] <= 0 || gaps[1] <= 0 {
		t.Errorf("gaps %v", gaps)
	}
	s.Begin()
	if turns, err := s.Turns(); len(turns) != 0 || err != nil {
		t.Errorf("after Begin: %+v, %v", turns, err)
	}
	if code := post("/v1/messages", `{"model":"other"}`); code != http.StatusBadRequest {
		t.Errorf("status %d", code)
	}
	if _, err := s.Turns(); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("error %v", err)
	}
}
