package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// sent returns the body of a request.
func sent(t *testing.T, v voice, cfg provider.Config, req *oh.Request) string {
	t.Helper()
	var raw []byte
	cfg.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		raw, _ = io.ReadAll(r.Body)
		if int64(len(raw)) != r.ContentLength {
			t.Errorf("%d bytes, announced %d", len(raw), r.ContentLength)
		}
		again, err := r.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := io.ReadAll(again); !bytes.Equal(raw, twice) {
			t.Error("the body cannot be sent again")
		}
		return nil, errors.New("enough")
	})}
	listen(t, wires[v.wire](cfg).Stream(t.Context(), req))
	if !json.Valid(raw) {
		t.Fatalf("the body is no JSON: %s", raw)
	}
	return string(raw)
}

func TestReasoningGoesHome(t *testing.T) {
	each(t, func(t *testing.T, v voice) {
		req := hello()
		reply := fullMessage(v.wire)
		reply.ID = "a1"
		req.Messages = append(req.Messages, reply, oh.Message{ID: "u2", Role: oh.User, Content: oh.Blocks{
			oh.ToolResult{ToolUseID: "c1", Content: oh.Blocks{oh.Text{Text: "done"}}},
			oh.ToolResult{ToolUseID: "c2", Content: oh.Blocks{oh.Text{Text: "noon"}}},
		}})
		for _, tt := range []struct {
			profile, model string
			home           bool
		}{{"p", "m", true}, {"", "m", true}, {"q", "m", false}, {"p", "n", false}} {
			req.Model = tt.model
			req.Memo = &oh.Memo{}
			for range 2 { // the second time from the memo
				got := sent(t, v, provider.Config{Profile: tt.profile}, req)
				if strings.Contains(got, fullThinking) != tt.home {
					t.Errorf("%s/%s: %s", tt.profile, tt.model, got)
				}
			}
		}
	})
}

func TestCacheMarks(t *testing.T) {
	v := voices()[0]
	req := hello()
	req.System = "s"
	req.Memo = &oh.Memo{}
	req.Tools = []oh.ToolSpec{{Name: "a"}, {Name: "b"}}
	want := 3
	for i := range 6 {
		got := sent(t, v, provider.Config{}, req)
		if n := strings.Count(got, `"cache_control"`); n != want {
			t.Errorf("turn %d: %d marks in %s", i, n, got)
		}
		want = 4
		req.Messages = append(req.Messages,
			oh.Message{ID: fmt.Sprint("a", i), Role: oh.Assistant, Content: oh.Blocks{oh.Text{Text: "reply"}}},
			oh.Message{ID: fmt.Sprint("u", i+2), Role: oh.User, Content: oh.Blocks{oh.Text{Text: "next"}}})
	}
}

func TestBaseURL(t *testing.T) {
	for _, tt := range []struct{ wire, base, want string }{
		{"anthropic", "", "https://api.anthropic.com/v1/messages"},
		{"anthropic", "http://h", "http://h/v1/messages"},
		{"anthropic", " http://h/v1/ ", "http://h/v1/messages"},
		{"anthropic", "http://h/anthropic", "http://h/anthropic/v1/messages"},
		{"anthropic", "http://h/v1/messages", "http://h/v1/messages"},
		{"openai", "", "https://api.openai.com/v1/chat/completions"},
		{"openai", "http://h", "http://h/v1/chat/completions"},
		{"openai", "http://h/", "http://h/v1/chat/completions"},
		{"openai", "http://h/api/v3/", "http://h/api/v3/chat/completions"},
		{"openai", "http://h/d?api-version=1", "http://h/d/chat/completions?api-version=1"},
		{"openai", "http://h/v1/chat/completions", "http://h/v1/chat/completions"},
		{"openai", "h/v1", ""},
	} {
		got := ""
		p := wires[tt.wire](provider.Config{BaseURL: tt.base, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return nil, errors.New("enough")
		})}})
		res := listen(t, p.Stream(t.Context(), hello()))
		if got != tt.want || tt.want == "" && oh.KindOf(res.err) != oh.KindInvalid {
			t.Errorf("%s %q: asked %q, want %q (%v)", tt.wire, tt.base, got, tt.want, res.err)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		wire string
		cfg  provider.Config
		want map[string]string
	}{
		{"anthropic", provider.Config{Key: " k\n"}, map[string]string{"X-Api-Key": "k", "Authorization": "", "Anthropic-Version": "2023-06-01"}},
		{"anthropic", provider.Config{Token: "t"}, map[string]string{"X-Api-Key": "", "Authorization": "Bearer t"}},
		{"openai", provider.Config{Key: "k"}, map[string]string{"Authorization": "Bearer k"}},
		{"openai", provider.Config{Key: "k", Token: "t"}, map[string]string{"Authorization": "Bearer t"}},
		{"openai", provider.Config{}, map[string]string{"Authorization": "", "Accept": "text/event-stream"}},
		{"openai", provider.Config{Key: "k", Headers: http.Header{"authorization": {"mine"}, "X-Extra": {"1"}}}, map[string]string{"Authorization": "mine", "X-Extra": "1"}},
	} {
		var got http.Header
		tt.cfg.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.Header
			return nil, errors.New("enough")
		})}
		listen(t, wires[tt.wire](tt.cfg).Stream(t.Context(), hello()))
		for name, want := range tt.want {
			if got.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", tt.wire, name, got.Get(name), want)
			}
		}
	}
}

// Half characters and broken bytes in any field do not reach the service.
func TestBodyIsClean(t *testing.T) {
	const bad = "a\xffb\xed\xa0\xbdc"
	raw := json.RawMessage("{\"path\":\"\\ud83d \xff\"}")
	req := &oh.Request{Model: bad, System: bad, Effort: bad, Session: bad,
		Tools: []oh.ToolSpec{{Name: bad, Description: bad, Schema: json.RawMessage("{\"properties\":{\"a\":{\"description\":\"\\ude00\xff\"}}}")}},
		Messages: []oh.Message{
			{ID: "u1", Role: oh.User, Content: oh.Blocks{oh.Text{Text: bad}, oh.Document{MediaType: "text/plain", Name: bad, Data: []byte(bad)}, oh.Document{MediaType: bad, Name: bad}, oh.Image{MediaType: bad}}},
			{ID: "a1", Role: oh.Assistant, Content: oh.Blocks{
				oh.Thinking{Text: bad, Opaque: &oh.Opaque{Origin: oh.Origin("p", bad), Data: json.RawMessage(`{"field":"reasoning_content","signature":"\ud83d"}`)}},
				oh.Text{Text: bad}, oh.ToolUse{ID: bad, Name: bad, Input: raw}}},
			{ID: "u2", Role: oh.User, Content: oh.Blocks{oh.ToolResult{ToolUseID: bad, Content: oh.Blocks{oh.Text{Text: bad}}}}},
		}}
	traits := func(string) provider.Traits { return provider.Traits{Thinking: provider.ThinkEffort, CacheKey: true} }
	each(t, func(t *testing.T, v voice) {
		got := sent(t, v, provider.Config{Profile: "p", Traits: traits}, req)
		if !utf8.ValidString(got) {
			t.Errorf("invalid UTF-8: %q", got)
		}
		for _, half := range []string{`\ud8`, `\ude`, `\\ud8`} {
			if strings.Contains(got, half) {
				t.Errorf("half a character: %s", got)
			}
		}
	})
}

// A provider, a memo and a list of tools serve many requests at a time.
func TestConcurrentStreams(t *testing.T) {
	each(t, func(t *testing.T, v voice) {
		p := served(v, func(*http.Request) io.Reader { return strings.NewReader(v.full) })
		memo := &oh.Memo{}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				req := hello()
				req.Memo = memo
				req.Tools = []oh.ToolSpec{{Name: fmt.Sprint("tool", i%2)}}
				checkFull(t, v, listen(t, p.Stream(t.Context(), req)))
			})
		}
		wg.Wait()
	})
}
