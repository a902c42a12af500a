// Command modelserver serves a scripted model on a port of this machine, to
// try a harness by hand or from a shell script without a real service, and
// answers a request that the real service would refuse with 400 and the reason.
// One script serves all wires; the path of a request tells which:
//
//	anthropic  POST .../messages
//	openai     POST .../chat/completions
//	responses  POST .../responses
//	gemini     POST .../models/NAME:streamGenerateContent?alt=sse
//	bedrock    POST .../model/NAME/converse-stream
//	ollama     POST .../api/chat
//
// GET .../models lists the models in the form of the vendor, .../api/tags in
// Ollama's. Usage:
//
//	modelserver [-addr HOST:PORT] [-log FILE] [-no-auth] [-any-signature] SCRIPT
//
// The first line of its output is the address, such as http://127.0.0.1:41234.
// What is wrong with a request goes to the error output and into the log, where
// each request is one line of JSON: n, time, wire, method, path, headers (keys
// hidden), violations and body. It runs until it is interrupted, and then exits
// with 1 if a request was illegal or the script had run out, else with 0; a
// script or flag that is wrong exits with 2 at once.
//
// # Script
//
// SCRIPT is a JSON file, or "-" for the input:
//
//	{
//	  "models": ["demo"],
//	  "loop": true,
//	  "turns": [
//	    {"match": "weather", "thinking": "Look it up.",
//	     "calls": [{"id": "c1", "name": "bash", "input": {"command": "date"}}]},
//	    {"match": "weather", "text": "It is sunny.", "usage": {"input_tokens": 50, "output_tokens": 9}},
//	    {"error": "overloaded", "retry_after": "2s"},
//	    {"text": "Hello.", "cut": {"delta": 3, "bytes": 1}, "keep": true}
//	  ]
//	}
//
// Each request gets the first turn that is not used up and whose match, if any,
// is in the text of its last user message. A turn is used up when it was
// played unless it says keep. With loop all turns come back when none is left
// that fits.
//
// The fields of a turn, all optional:
//
//	match        text to look for
//	keep         play it again and again
//	thinking     reasoning
//	text         the reply's text
//	calls        calls of tools: id, name, and input (an object, or a string
//	             that is sent as it is, broken or not)
//	stop         end_turn, tool_use, max_tokens, refusal, ...
//	usage        input_tokens, output_tokens, cache_read_input_tokens,
//	             cache_creation_input_tokens, reasoning_tokens
//	cut          delta (code points a delta), bytes (bytes a write), seed
//	delay        wait first, such as "1.5s"
//	hang         stay open after the above
//	error        auth, quota, limited, overloaded, too_long, invalid, unavailable:
//	             the vendor's answer, or after text an event in the stream; drop
//	             cuts the connection
//	retry_after  how long the error asks to wait
//	headers      an object of strings that go into the header of the answer,
//	             such as rate limits, or a Retry-After in a form of its own
//	status       answer with this HTTP status, and bytes as the body
//	bytes        send this as the stream, as it is; then hang or drop if asked
//	bytes_file   the same from a file of the archive
//
// SCRIPT may also be a txtar archive with the script as script.json and files
// for bytes_file:
//
//	-- script.json --
//	{"turns": [{"bytes_file": "cut.sse", "error": "drop"}]}
//	-- cut.sse --
//	data: {"choices":[{"index":0,"delta":{"content":"Hel
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	addr, log, script    string
	noAuth, anySignature bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("modelserver", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: modelserver [flags] SCRIPT\n\nSCRIPT is a file, or - for the input; go doc shows its format.")
		fs.PrintDefaults()
	}
	fs.StringVar(&o.addr, "addr", "127.0.0.1:0", "the `host:port` to listen on")
	fs.StringVar(&o.log, "log", "", "the `file` that gets a line of JSON for each request")
	fs.BoolVar(&o.noAuth, "no-auth", false, "take requests without a key")
	fs.BoolVar(&o.anySignature, "any-signature", false, "take reasoning that this server did not send")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() != 1 {
		err := errors.New("usage: modelserver [flags] SCRIPT: name one script, or - for the input")
		fmt.Fprintln(stderr, err)
		return o, err
	}
	o.script = fs.Arg(0)
	return o, nil
}

// run serves until ctx ends and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	fail := func(err error) int {
		fmt.Fprintln(stderr, "modelserver:", err)
		return 2
	}
	sc, err := load(o.script, stdin)
	if err != nil {
		return fail(err)
	}
	out := &journal{stderr: stderr}
	if o.log != "" {
		f, err := os.OpenFile(o.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return fail(fmt.Errorf("open the log: %w", err))
		}
		defer f.Close()
		out.file = f
	}
	s, err := ohtest.Start(ohtest.Config{
		Addr: o.addr, Models: sc.Models, Key: sc.Key, Rule: sc.rule, Watch: out.request, OnViolation: out.violation,
		Rules: ohtest.Rules{NoAuth: o.noAuth, AnySignature: o.anySignature, Fields: sc.Fields},
	})
	if err != nil {
		return fail(err)
	}
	fmt.Fprintln(stdout, s.URL)
	<-ctx.Done()
	if err := s.Close(); err != nil {
		fmt.Fprintln(stderr, "modelserver:", err)
	}
	return out.code()
}

// journal writes down what comes in.
type journal struct {
	mu     sync.Mutex
	file   io.Writer // guarded by mu; nil: none
	stderr io.Writer // guarded by mu
	bad    bool      // guarded by mu
}

// line is one request in the log.
type line struct {
	N          int                `json:"n"`
	Time       time.Time          `json:"time"`
	Wire       ohtest.Wire        `json:"wire,omitempty"`
	Method     string             `json:"method"`
	Path       string             `json:"path"`
	Headers    http.Header        `json:"headers"`
	Violations []ohtest.Violation `json:"violations,omitempty"`
	Body       any                `json:"body,omitempty"` // text when it is no JSON
}

func (j *journal) request(r *ohtest.Request) {
	l := line{N: r.N, Time: r.Time, Wire: r.Wire, Method: r.Method, Path: r.Path,
		Headers: r.SafeHeader(), Violations: r.Violations}
	switch {
	case json.Valid(r.Body):
		l.Body = json.RawMessage(r.Body)
	case len(r.Body) > 0:
		l.Body = string(r.Body)
	}
	b, err := oh.Marshal(l)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return
	}
	if err == nil {
		_, err = j.file.Write(append(b, '\n'))
	}
	if err != nil {
		j.bad = true
		fmt.Fprintf(j.stderr, "modelserver: write the log: %v\n", err)
	}
}

func (j *journal) violation(v ohtest.Violation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bad = true
	fmt.Fprintln(j.stderr, "modelserver:", v.Error())
}

func (j *journal) code() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.bad {
		return 1
	}
	return 0
}
