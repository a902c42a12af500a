package ohtest

import (
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

	"github.com/openharness/oh"
)

// defaultMaxBody is [Config.MaxBody] when it is 0.
const defaultMaxBody = 64 << 20

// Config is how a [Server] behaves. The zero value listens on a free port of
// 127.0.0.1, checks everything and has no script.
type Config struct {
	Addr   string   // host:port to listen on
	Turns  []Turn   // the script
	Rules  Rules    // the checks
	Models []string // what GET /v1/models lists; default "scripted"
	Key    string   // when set, any other key is answered with 401

	// MaxBody bounds the body of a request, in bytes; a larger one is answered
	// with 413. 0 is 64 MB.
	MaxBody int64

	// Rule, when set, is asked first for each legal request, perhaps for
	// several at a time; when it returns false the next turn is played.
	Rule func(*Request) (Turn, bool)

	// Reasoning is the field of the OpenAI wire for reasoning, default
	// reasoning_content.
	Reasoning string

	// Watch, when set, is called for each request when it was checked and
	// before it is answered, perhaps for several at a time.
	Watch func(*Request)

	// OnViolation, when set, is called for each violation in place of failing
	// the test, perhaps for several at a time. Where then names the request.
	OnViolation func(Violation)
}

// Server is a scripted model service on a port of this machine. It speaks each
// [Wire] on its paths; all take their turns from one script. GET /models lists
// models in the form of the vendor (/api/tags in Ollama's).
//
// A request that breaks a rule is recorded and answered with 400 and the error
// body of the vendor; no turn is used up. So is a request after the end of the
// script.
type Server struct {
	URL string // such as http://127.0.0.1:41234, without a path

	cfg    Config
	script script
	sent   issued
	http   *http.Server
	done   chan struct{} // closed by Close
	once   sync.Once
	busy   sync.WaitGroup // the accept loop and all connections

	mu    sync.Mutex
	reqs  []*Request  // guarded by mu
	stray []*Request  // guarded by mu
	found []Violation // guarded by mu
}

// Start starts a server. Close has to be called.
func Start(cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = defaultMaxBody
	}
	if cfg.Reasoning == "" {
		cfg.Reasoning = reasoningFields[0]
	}
	if len(cfg.Models) == 0 {
		cfg.Models = []string{"scripted"}
	}
	ln, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("scripted server: %w", err)
	}
	s := &Server{URL: "http://" + ln.Addr().String(), cfg: cfg, done: make(chan struct{})}
	s.script.add(cfg.Turns)
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ConnState: s.count}
	s.busy.Go(func() { _ = s.http.Serve(ln) }) // ends with ErrServerClosed
	return s, nil
}

// count keeps busy in step with the connections. New ones come from the accept
// loop only, which is counted itself.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.busy.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.busy.Done()
	}
}

// NewServer starts a server for a test that plays turns, and closes it with the
// test. Every violation fails the test.
func NewServer(tb TB, turns ...Turn) *Server {
	tb.Helper()
	return StartServer(tb, Config{Turns: turns})
}

// StartServer starts a server for a test and closes it with the test. A
// violation fails the test unless cfg.OnViolation is set. When the server
// cannot start the test fails, and the server that is returned refuses
// connections.
func StartServer(tb TB, cfg Config) *Server {
	tb.Helper()
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(v Violation) { tb.Errorf("scripted server: %s", v.Error()) }
	}
	s, err := Start(cfg)
	if err != nil {
		tb.Errorf("%v", err)
		return &Server{URL: "http://127.0.0.1:0", http: &http.Server{}, done: make(chan struct{})}
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// Close ends all answers, held ones too, and waits for them. Later calls do
// nothing.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		close(s.done)
		err = s.http.Close()
		s.busy.Wait()
	})
	return err
}

// Add appends turns to the script.
func (s *Server) Add(turns ...Turn) { s.script.add(turns) }

// Remaining returns how many turns were not played yet.
func (s *Server) Remaining() int { return s.script.remaining() }

// Requests returns the requests to a model so far, the illegal ones too.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reqs)
}

// Stray returns the requests on all other paths.
func (s *Server) Stray() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stray)
}

// Violations returns what was wrong with the requests so far.
func (s *Server) Violations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.found)
}

// Wait waits until there were n requests to a model, or returns the error of
// ctx.
func (s *Server) Wait(ctx context.Context, n int) error {
	return s.script.wait(ctx, n, func() int { return len(s.Requests()) })
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := &Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Wire: wireOf(r.URL.Path), query: r.URL.Query()}
	p := &player{w: w, ctx: r.Context(), done: s.done, kind: streamType(req.Wire)}
	var err error
	if req.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody)); err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			p.play([]Step{Status(http.StatusRequestEntityTooLarge, nil, failure{status: http.StatusRequestEntityTooLarge, kind: "request_too_large", text: fmt.Sprintf("the body has more than %d bytes", s.cfg.MaxBody)}.body(req.Wire))})
		}
		return // else the client went away
	}
	if req.Wire == "" {
		s.serveOther(p, req)
		return
	}
	p.play(s.answer(req))
}

// serveOther answers what is no request to a model.
func (s *Server) serveOther(p *player, req *Request) {
	s.mu.Lock()
	s.stray = append(s.stray, req)
	req.N = len(s.stray)
	s.mu.Unlock()
	if s.cfg.Watch != nil {
		s.cfg.Watch(req)
	}
	if req.Method == http.MethodGet {
		if body, ok := s.models(req); ok {
			p.play([]Step{Status(http.StatusOK, nil, body)})
			return
		}
	}
	w := Anthropic
	f := failure{status: http.StatusNotFound, kind: "not_found_error", text: fmt.Sprintf("nothing is served at %s %s", req.Method, req.Path)}
	if isGoogle(req) {
		w, f.kind = Gemini, "NOT_FOUND"
	}
	p.play([]Step{Status(http.StatusNotFound, nil, f.body(w))})
}

// answer records and checks a request and returns what to do.
func (s *Server) answer(req *Request) []Step {
	if m, err := decodeObject(req.Body); err == nil {
		req.JSON = m
	}
	refused := s.door(req)
	if refused == nil {
		req.Violations = append(req.Violations, check(req.Wire, req.Model(), req.Body, s.cfg.Rules, &s.sent)...)
	}
	s.mu.Lock()
	s.reqs = append(s.reqs, req)
	req.N = len(s.reqs)
	s.mu.Unlock()
	defer s.script.arrived()
	if s.cfg.Watch != nil {
		s.cfg.Watch(req)
	}
	if len(req.Violations) > 0 {
		s.blame(req.N, req.Violations...)
	}
	switch {
	case refused != nil:
		return refused
	case len(req.Violations) > 0:
		return []Step{Refusal(req.Wire, oh.KindInvalid, 0, describe(req.Violations))}
	}
	return s.turn(req)
}

// turn returns the steps of the turn for a legal request.
func (s *Server) turn(req *Request) []Step {
	turn, ok := Turn{}, false
	if s.cfg.Rule != nil {
		turn, ok = s.cfg.Rule(req)
	}
	if !ok {
		turn, ok = s.script.next()
	}
	var v Violation
	switch {
	case !ok:
		v = outOfScript(req.N, oh.Blocks{oh.Text{Text: req.LastUserText()}})
	case turn.Chunks != nil:
		v = Violation{"script", "", fmt.Sprintf("the turn for request %d has Chunks, which only a Provider can play", req.N)}
	default:
		steps := s.steps(req, turn)
		s.sent.learn(req.Wire, sentBytes(steps))
		return steps
	}
	s.blame(req.N, v)
	return []Step{Refusal(req.Wire, oh.KindInvalid, 0, v.Error())}
}

// blame keeps and reports what is wrong with request n.
func (s *Server) blame(n int, found ...Violation) {
	s.mu.Lock()
	s.found = append(s.found, found...)
	s.mu.Unlock()
	if s.cfg.OnViolation == nil {
		return
	}
	for _, v := range found {
		v.Where = strings.TrimSuffix(fmt.Sprintf("request %d: %s", n, v.Where), ": ")
		s.cfg.OnViolation(v)
	}
}

// steps makes of a turn what is to be done.
func (s *Server) steps(req *Request, turn Turn) []Step {
	var steps []Step
	if turn.Header != nil {
		steps = append(steps, Header(turn.Header))
	}
	if turn.After != nil {
		steps = append(steps, WaitFor(turn.After))
	}
	if turn.Delay > 0 {
		steps = append(steps, Wait(turn.Delay))
	}
	if turn.Steps != nil {
		return append(steps, turn.Steps...)
	}
	options, _ := req.JSON["stream_options"].(map[string]any)
	enc := encoding{wire: req.Wire, model: req.Model(), id: newID(idPrefix(req.Wire)), usage: options["include_usage"] == true,
		reasoning: s.cfg.Reasoning, encrypted: includes(req.JSON, encryptedReasoning), cut: turn.Cut}
	events, open := enc.encode(turn.Parts)
	switch {
	case turn.Edit != nil:
		return append(steps, turn.Edit(req.Wire, events)...)
	case turn.Err != nil:
		return append(steps, failSteps(req.Wire, turn, events[:open])...)
	case turn.Hang:
		return append(append(steps, SendAll(turn.Cut.Writes(events[:open]...)...)...), Hold())
	}
	return append(steps, SendAll(turn.Cut.Writes(events...)...)...)
}

// failSteps plays the error of a turn.
func failSteps(w Wire, turn Turn, events [][]byte) []Step {
	if len(turn.Parts) == 0 {
		events = nil
	}
	steps := SendAll(turn.Cut.Writes(events...)...)
	e, ok := errors.AsType[*oh.Error](turn.Err)
	if !ok || e.Kind == oh.KindCancelled {
		return append(steps, Drop())
	}
	f := failureOf(w, e.Kind)
	f.after = e.After
	if e.Err != nil {
		f.text = e.Err.Error()
	}
	if len(events) > 0 {
		return append(steps, Send(f.event(w, len(events))))
	}
	if e.Status != 0 {
		f.status = e.Status
	}
	return []Step{f.refusal(w)}
}
