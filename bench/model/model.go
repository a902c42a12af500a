// Package model is a model service on loopback that answers at once: canned
// bytes of Anthropic's wire, or a text on any other, chosen by the model's name and by how many
// requests came before. It notes when each request came and when its answer had
// been sent, so that the time a client spends between them can be told.
//
// It checks nothing and serves one client at a time: it is for measuring. For
// tests see package ohtest.
package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Turn is one request and its answer.
type Turn struct {
	Arrived  time.Time // the whole body was read
	Answered time.Time // the last byte was handed to the system
	Size     int       // of the request's body in bytes
}

// Server is the service. Start makes one.
type Server struct {
	http *http.Server
	url  string
	done chan error

	mu     sync.Mutex // guards all below
	body   bytes.Buffer
	first  []byte
	turns  []Turn
	script *script
	err    error
}

// Start listens on a free port of the loopback interface.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the model service: %w", err)
	}
	s := &Server{url: "http://" + l.Addr().String(), done: make(chan error, 1)}
	s.http = &http.Server{Handler: s}
	go func() { s.done <- s.http.Serve(l) }()
	return s, nil
}

// URL is the base URL of the service, without /v1.
func (s *Server) URL() string { return s.url }

// Close ends the service.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// Begin forgets all turns: the next request is the first of a new run.
func (s *Server) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns, s.script, s.first, s.err = s.turns[:0], nil, nil, nil
}

// Turns returns the turns since Begin. The error is the first request that
// could not be answered.
func (s *Server) Turns() ([]Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.turns), s.err
}

// First returns the body of the first request since Begin.
func (s *Server) First() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.first)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.answer(w, r); err != nil {
		if s.err == nil {
			s.err = err
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) error {
	voice, other := voiceAt(r.URL.Path)
	if r.Method == http.MethodGet || r.URL.Path == "/api/show" {
		http.NotFound(w, r) // a question about the model, as local servers are asked
		return nil
	}
	if r.Method != http.MethodPost || !other && !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		return fmt.Errorf("%s %s is not served here", r.Method, r.URL.Path)
	}
	s.body.Reset()
	if _, err := io.Copy(&s.body, r.Body); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	turn := Turn{Arrived: time.Now(), Size: s.body.Len()}
	if s.script == nil {
		s.first = bytes.Clone(s.body.Bytes())
		sc, err := Find(modelIn(r.URL.Path, s.first))
		if err != nil {
			return err
		}
		s.script = newScript(sc)
	}
	kind := "text/event-stream"
	reply, err := s.script.reply(len(s.turns))
	if err == nil && other {
		kind = voice.Kind
		reply, err = voice.say(s.script.Scenario)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	if _, err := w.Write(reply); err != nil {
		return fmt.Errorf("send the answer: %w", err)
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return fmt.Errorf("send the answer: %w", err)
	}
	turn.Answered = time.Now()
	s.turns = append(s.turns, turn)
	return nil
}

// modelIn finds the model's name in a path, or else in a body without decoding
// all of it.
func modelIn(path string, body []byte) string {
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == ':' }) {
		if strings.HasPrefix(part, "bench-") {
			return part
		}
	}
	_, rest, ok := bytes.Cut(body, []byte(`"model":"`))
	if !ok {
		return ""
	}
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(name)
}

// Gaps returns the times from each answer to the next request.
func Gaps(turns []Turn) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(turns); i++ {
		out = append(out, turns[i].Arrived.Sub(turns[i-1].Answered))
	}
	return out
}
