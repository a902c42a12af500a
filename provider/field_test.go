package provider_test

import (
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/anthropic"
	"github.com/openharness/oh/provider/openai"
)

// ask sends one request to a server that answers with the events, and returns
// the reply's text, its calls, and the error.
func ask(t *testing.T, wire ohtest.Wire, zipped bool, events string) (msg oh.Message, err error) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if !zipped {
			_, _ = w.Write([]byte(events))
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(events))
		_ = z.Close()
	}))
	defer srv.Close()
	cfg := provider.Config{BaseURL: srv.URL, Key: "k"}
	p := anthropic.New(cfg)
	if wire == ohtest.OpenAI {
		p = openai.New(cfg)
	}
	req := &oh.Request{Model: "m", Messages: []oh.Message{{ID: "u", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "hi"}}}}}
	for chunk, fail := range p.Stream(context.Background(), req) {
		if fail != nil {
			return msg, fail
		}
		if done, ok := chunk.(oh.MessageDone); ok {
			msg = done.Message
		}
	}
	return msg, nil
}

func stream(wire ohtest.Wire, parts ...ohtest.Part) string {
	var b strings.Builder
	for _, e := range ohtest.Events(wire, ohtest.Cut{}, parts...) {
		b.Write(e)
	}
	return b.String()
}

func TestCompressedStream(t *testing.T) {
	for _, wire := range []ohtest.Wire{ohtest.Anthropic, ohtest.OpenAI} {
		msg, err := ask(t, wire, true, stream(wire, ohtest.Text("all of it")))
		if err != nil || msg.Content.Text() != "all of it" {
			t.Errorf("%s: %q, %v", wire, msg.Content.Text(), err)
		}
	}
}

// A stream that nobody said the end of is cut, however it ends.
func TestEndWithoutReasonIsACut(t *testing.T) {
	for name, c := range map[string]struct {
		wire   ohtest.Wire
		events string
	}{
		"openai [DONE]": {ohtest.OpenAI, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\ndata: [DONE]\n\n"},
		"openai call": {ohtest.OpenAI, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]}}]}\n\n" +
			"data: [DONE]\n\n"},
		"anthropic message_stop": {ohtest.Anthropic, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\"}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"half\"}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
	} {
		if msg, err := ask(t, c.wire, false, c.events); oh.KindOf(err) != oh.KindUnavailable {
			t.Errorf("%s: %q, %v", name, msg.Content.Text(), err)
		}
	}
}

// A proxy that asks its service again must not glue two replies.
func TestReplyThatBeginsAgain(t *testing.T) {
	whole := stream(ohtest.Anthropic, ohtest.Text("whole"))
	half, _, _ := strings.Cut(whole, "event: content_block_stop")
	if msg, err := ask(t, ohtest.Anthropic, false, half+whole); oh.KindOf(err) != oh.KindUnavailable {
		t.Errorf("%q, %v", msg.Content.Text(), err)
	}
}

// A service that tells each call once more at the end means one call.
func TestRepeatedCallIsOne(t *testing.T) {
	piece := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"x\"}"}}]}`
	msg, err := ask(t, ohtest.OpenAI, false, "data: "+piece+"}]}\n\ndata: "+piece+",\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
	if calls := msg.Content.ToolUses(); err != nil || len(calls) != 1 || string(calls[0].Input) != `{"command":"x"}` {
		t.Errorf("%+v, %v", calls, err)
	}
}
