package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh"
)

// Server is the scripted model on a port of this machine, on Anthropic's wire.
// It is no test server: it knows what the demo needs, so that the program does
// not carry package ohtest about. Start makes one.
type Server struct {
	URL string // such as http://127.0.0.1:41234, without a path

	http   *http.Server
	served chan error

	mu       sync.Mutex
	requests int     // guarded by mu
	faults   []error // guarded by mu
}

// maxBody bounds a request, in bytes.
const maxBody = 64 << 20

// Start listens on a free port of 127.0.0.1. Close has to be called.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the scripted model: %w", err)
	}
	s := &Server{URL: "http://" + l.Addr().String(), served: make(chan error, 1)}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.served <- s.http.Serve(l) }() // Close waits for it
	return s, nil
}

// Close ends all answers and waits for them. It is called once.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	if end := <-s.served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// Requests returns how many requests to the model came.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Err returns why requests were refused, nil when none was.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.faults...)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages") {
		http.NotFound(w, r)
		return
	}
	reply, err := answer(http.MaxBytesReader(w, r.Body, maxBody))
	s.mu.Lock()
	s.requests++
	if err != nil {
		s.faults = append(s.faults, fmt.Errorf("request %d: %w", s.requests, err))
	}
	s.mu.Unlock()
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		reply = fmt.Appendf(nil, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, quote(err.Error()))
	} else {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = w.Write(reply) // who went away does not read it
}

// answer reads a request and makes the reply: the one after as many replies as
// the request holds.
func answer(body io.Reader) ([]byte, error) {
	var req request
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	if err := json.Unmarshal(raw, &req); err != nil {
		return nil, fmt.Errorf("decode it: %w", err)
	}
	if err := req.check(); err != nil {
		return nil, err
	}
	n := 0
	for _, m := range req.Messages {
		if m.Role == oh.Assistant {
			n++
		}
	}
	script := steps()
	if n < len(script) {
		return script[n].reply(req.Model), nil
	}
	return step{said: verdict(req.result(lastRun))}.reply(req.Model), nil
}
