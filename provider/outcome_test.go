package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
)

// script is what a service answers: bytes as they are, on the Bedrock wire in
// lines that become frames (see framed). When the last line is "~", the bytes
// end in the midst of the line (the frame) before it.
type script struct {
	wire   string
	status int
	header http.Header
	answer []byte
	bytes  int    // that come at a time; 0: no matter
	abort  string // "leave", "cancel" or "": the answer ends
}

func (b *behaviour) script(t *testing.T, wire, step string) *script {
	t.Helper()
	s := &script{wire: wire, status: 200, header: http.Header{}, abort: strings.TrimSpace(b.in["abort"])}
	first, rest, _ := strings.Cut(strings.TrimSpace(b.of("head", wire)), "\n")
	if first != "" && step == "" {
		var err error
		if s.status, err = strconv.Atoi(first); err != nil {
			t.Fatalf("head: %v", err)
		}
		for line := range strings.Lines(rest) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok {
				t.Fatalf("head: %q is no header", line)
			}
			s.header.Add(name, value)
		}
	}
	if n := strings.TrimSpace(b.in["bytes"]); n != "" {
		var err error
		if s.bytes, err = strconv.Atoi(n); err != nil {
			t.Fatalf("bytes: %v", err)
		}
	}
	s.answer = []byte(b.of(step+"answer", wire))
	if s.status < 400 {
		s.answer = rendered(wire, string(s.answer))
	}
	return s
}

func rendered(wire, answer string) []byte {
	whole, cut := strings.CutSuffix(strings.TrimSpace(answer), "\n~")
	switch {
	case strings.HasPrefix(whole, "<"):
		return []byte(answer) // a page
	case !cut:
		return framed(wire, "", []byte(answer))
	}
	i := strings.LastIndexByte(whole, '\n') + 1
	begin, last := "", framed(wire, "", []byte(whole[i:]))
	if i > 0 {
		begin = string(framed(wire, "", []byte(whole[:i])))
	}
	return append([]byte(begin), last[:len(last)/2]...)
}

// reply is the body of an answer. It knows whether it was closed.
type reply struct {
	io.Reader
	closed bool
}

func (r *reply) Close() error {
	r.closed = true
	return nil
}

// play asks a question of a codec whose service answers by the script. Whatever
// happens, the answer is closed and no error tells the key.
func (s *script) play(t *testing.T, cfg provider.Config, req *oh.Request) outcome {
	t.Helper()
	var out outcome
	var body *reply
	gone := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Idle = 10 * time.Second // for an answer that does not end, should that be missed
	cfg.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || out.sent != nil {
			t.Errorf("a second request, or %v", err)
		}
		out.sent = raw
		if s.abort != "" {
			return s.hang(t, r, gone)
		}
		body = &reply{Reader: s.reader()}
		return &http.Response{StatusCode: max(s.status, 200), Header: s.headers(), Body: body, Request: r}, nil
	})}
	for c, err := range wires[s.wire](cfg).Stream(ctx, req) {
		if out.err != nil || out.message != nil {
			t.Errorf("after the end: %v %v", c, err)
		}
		out.add(c, err)
		if s.abort == "cancel" {
			cancel()
		}
		if s.abort == "leave" {
			break
		}
	}
	switch {
	case s.abort != "":
		<-gone
	case body == nil || !body.closed:
		t.Error("the answer was not closed")
	}
	if s.abort != "leave" && (out.err == nil) == (out.message == nil) {
		t.Errorf("the stream ended with message %v and error %v", out.message, out.err)
	}
	return out
}

// hang asks a real service, which answers and then says nothing until the
// client is gone.
func (s *script) hang(t *testing.T, r *http.Request, gone chan<- struct{}) (*http.Response, error) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), s.headers())
		_, _ = w.Write(s.answer)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	t.Cleanup(srv.Close)
	real, err := http.NewRequestWithContext(r.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		return nil, err
	}
	return srv.Client().Transport.RoundTrip(real)
}

func (s *script) reader() io.Reader {
	var r io.Reader = bytes.NewReader(s.answer)
	if s.bytes == 1 {
		r = iotest.OneByteReader(r)
	} else if s.bytes > 1 {
		r = &slow{r, s.bytes}
	}
	return r
}

// slow gives n bytes at a time.
type slow struct {
	io.Reader
	n int
}

func (s *slow) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.n)]) }

func (s *script) headers() http.Header {
	h := s.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	kind := "text/event-stream"
	switch {
	case s.status >= 400:
		kind = "application/json"
	case s.wire == string(ohtest.Bedrock):
		kind = "application/vnd.amazon.eventstream"
	case s.wire == string(ohtest.Ollama):
		kind = "application/x-ndjson"
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", kind)
	}
	return h
}

// outcome is what a request came to, and its body.
type outcome struct {
	sent    []byte
	chunks  []oh.Chunk // deltas of one kind are one
	message *oh.Message
	err     error
}

func (o *outcome) add(c oh.Chunk, err error) {
	if err != nil {
		o.err = err
		return
	}
	if done, ok := c.(oh.MessageDone); ok {
		o.message = &done.Message
		return
	}
	for i, before := range o.chunks {
		switch d := c.(type) {
		case oh.TextDelta:
			if b, ok := before.(oh.TextDelta); ok {
				o.chunks[i] = oh.TextDelta{Text: b.Text + d.Text}
				return
			}
		case oh.ThinkingDelta:
			if b, ok := before.(oh.ThinkingDelta); ok {
				o.chunks[i] = oh.ThinkingDelta{Text: b.Text + d.Text}
				return
			}
		case oh.ToolInputDelta:
			if b, ok := before.(oh.ToolInputDelta); ok && b.Index == d.Index {
				d.JSON = b.JSON + d.JSON
				o.chunks[i] = d
				return
			}
		}
	}
	o.chunks = append(o.chunks, c)
}

// text is the outcome as every wire has to give it. What only one wire has is
// left out: the payloads of [oh.Opaque] and blocks that are nothing else, the
// name of the model, how arguments were written on the way (the message has
// them as they are), and ids that the service did not give.
func (o *outcome) text(t *testing.T, answer string) string {
	t.Helper()
	var b strings.Builder
	line := func(e oh.Event) {
		raw, err := oh.AppendEvent(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	for _, c := range o.chunks {
		if d, ok := c.(oh.ToolInputDelta); ok {
			d.ID, d.JSON = "", meant(d.JSON)
			c = d
		}
		line(c)
	}
	if o.message != nil {
		line(oh.MessageDone{Message: bare(claimed(t, *o.message), answer)})
	}
	if o.err != nil {
		b.WriteString(failure(t, o.err))
	}
	return b.String()
}

// meant is what arguments mean, however they are written.
func meant(args string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	if args != "" && (!json.Valid([]byte(args)) || d.Decode(&v) != nil) {
		return args
	}
	if v == nil {
		return "{}"
	}
	if held, ok := v.(string); ok {
		return meant(held)
	}
	raw, err := oh.Marshal(v)
	if err != nil {
		return args
	}
	return string(raw)
}

// bare is a message without what only one wire has.
func bare(m oh.Message, answer string) oh.Message {
	m.Model = ""
	blocks, made := oh.Blocks{}, 0
	for _, block := range m.Content {
		switch v := block.(type) {
		case oh.Unknown:
			continue
		case oh.Thinking:
			if v.Text == "" {
				continue
			}
			block = oh.Thinking{Text: v.Text}
		case oh.Text:
			v.Opaque = nil
			block = v
		case oh.ToolUse:
			v.Opaque = nil
			if !strings.Contains(answer, `"`+v.ID+`"`) {
				made++
				v.ID = fmt.Sprint("made-", made)
			}
			block = v
		}
		blocks = append(blocks, block)
	}
	m.Content = blocks
	return m
}

// failure is an error in one line. Its words and its status are the vendor's, as
// is whether tokens were told before it. What it has to say is in "says".
func failure(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*oh.Error](err)
	if !ok || e.Kind == "" || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("error %#v", err)
		return err.Error() + "\n"
	}
	retry := "stays"
	if e.Retryable() {
		retry = "may heal"
	}
	return fmt.Sprintf("error: %s, %s, after %v\n", e.Kind, retry, e.After)
}
