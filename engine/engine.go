// Package engine is the loop: it asks a model, runs the tools the model calls
// under a gate, and asks again, until the model has answered.
//
// It knows no provider, no tool and no face: they come in through the
// contracts of package oh. Which model answers, and in which directory tools
// work, is state of the conversation, set by an [oh.StateChanged] entry. It writes nothing but the conversation's log and,
// through [oh.Artifacts], output that is too long for the model.
package engine

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/openharness/oh"
)

// Config is what an [Engine] works with. Provider is required; every other
// zero value is useful.
type Config struct {
	Provider oh.Provider

	// Tools is asked at the start of a run and after a compaction. The order is
	// the order the model sees; it should be stable.
	Tools func() []oh.Tool

	// Deferred tools are not declared to the model; it finds them by a search
	// and calls them through [CallTool]. Asked when Tools is.
	Deferred func() []oh.Tool

	Gate      oh.Gate      // nil: read-only calls run, all else is refused
	Asker     oh.Asker     // nil: nobody to ask, so what would ask is refused
	Hook      oh.Hook      // nil: no hooks
	Compactor oh.Compactor // nil: the history is never shortened
	Artifacts oh.Artifacts // nil: output that is too long is cut and lost, which is said

	// Before is called when a call has passed the gate and is about to run,
	// never from two goroutines at a time. Its error becomes the call's result.
	Before func(ctx context.Context, call oh.ToolUse, access oh.Access) error

	// Budget is asked before each request, also one that repeats a failed one,
	// with the state so far; an error ends the run with reason budget and its
	// text.
	Budget func(oh.State) error

	// Fallback are further models of the same profile, in the order in which
	// they are asked when one before them is overloaded: after three such errors
	// in a row, or when no try is left. The next run begins with the first model
	// again.
	Fallback []string

	// Fit may change a request before it is made, for the model it goes to. What
	// it changes of a message gets an id of its own, and is the same each time.
	// record takes [oh.SideUsage] and [oh.StateChanged] for the log, and other
	// events for watchers. An error ends the run.
	Fit func(ctx context.Context, req *oh.Request, record func(oh.Event) error) error

	// Answer, when set, asks for an answer that is the input of a tool.
	Answer *Answer

	Limits    oh.Limits
	MaxTurns  int           // requests per run; 0 is 200
	MaxTokens int           // output limit per reply; 0 leaves it to the codec
	Retry     Retry         // of failed requests
	Grace     time.Duration // how long tools may take to end after a cancel; 0 is 3 s
	Agent     string        // id of the sub-agent this engine runs, "" for the main conversation
	Depth     int
}

// Answer asks for an answer in a certain form: the model has to call a declared
// tool with it. A call that succeeds ends the run with reason end; the member
// structured_output of the result's Meta is the answer. A model that ends
// without one is reminded, and one that calls in vain may try again, within
// these bounds; then the run ends with reason no_structured_output.
type Answer struct {
	Tool    string
	Remind  string // what a model is told that ended without calling the tool
	Reminds int    // 0 is 2
	Retries int    // calls after one that failed; 0 is 3
}

// CallTool is the name of the declared tool that stands for all deferred ones:
// its input is {"name", "input"}. The engine looks through it, so that gate,
// hooks, events and results are those of the tool that is named.
const CallTool = "call_tool"

// Retry bounds the attempts at one request. The wait before attempt n+1 is
// Base doubled n-1 times, at most Cap, plus up to a quarter of jitter, and at
// least what the service asked for.
type Retry struct {
	Tries    int           // attempts in all; 0 is 4
	Base     time.Duration // 0 is 1 s
	Cap      time.Duration // 0 is 30 s
	MaxAfter time.Duration // give up at once when the service asks for more; 0 is 60 s
}

func (r Retry) withDefaults() Retry {
	if r.Tries <= 0 {
		r.Tries = 4
	}
	if r.Base <= 0 {
		r.Base = time.Second
	}
	if r.Cap <= 0 {
		r.Cap = 30 * time.Second
	}
	if r.MaxAfter <= 0 {
		r.MaxAfter = time.Minute
	}
	return r
}

// Engine runs conversations. It is immutable; many conversations may share it.
type Engine struct {
	cfg Config
}

// New returns an engine, or an error when the configuration lacks a provider.
func New(cfg Config) (*Engine, error) {
	if cfg.Provider == nil {
		return nil, errors.New("engine: no provider")
	}
	if cfg.MaxTurns <= 0 {
		cfg.MaxTurns = 200
	}
	if cfg.Grace <= 0 {
		cfg.Grace = 3 * time.Second
	}
	cfg.Retry = cfg.Retry.withDefaults()
	cfg.Answer = cfg.Answer.withDefaults()
	cfg.Limits = cfg.Limits.WithDefaults()
	return &Engine{cfg: cfg}, nil
}

// Run sends the prompt, if any, and drives the conversation until the model
// has answered, a limit is reached, or ctx ends. Without a prompt it takes up
// what is pending or queued.
//
// The contract of the sequence:
//   - Its last event is one [oh.RunDone]. When the reason is failed, an error
//     follows it; an error is the last thing yielded, always. While another run
//     has the conversation the only thing yielded is [oh.ErrBusy].
//   - What is of record is in the conversation's log before it is yielded; a
//     result is there the moment it exists. However the run ends (error, break,
//     cancelled context, limit) the conversation stays legal, and results that
//     had finished are kept.
//   - Only the goroutine that ranges over the sequence yields. Each
//     [oh.ToolDone] is yielded when its tool ends. [oh.ToolOutput] is merged
//     and never blocks a tool; all else is queued without loss.
//   - After a break or a cancel, tools get at most Config.Grace to end; one that
//     ignores its context is left behind and its result is dropped.
//   - The sequence is ranged over once.
func (e *Engine) Run(ctx context.Context, conv *oh.Conversation, prompt ...oh.Block) iter.Seq2[oh.Event, error] {
	return func(yield func(oh.Event, error) bool) {
		end, err := conv.Begin()
		if err != nil {
			yield(nil, err)
			return
		}
		defer end()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &run{cfg: &e.cfg, conv: conv, ctx: ctx, cancel: cancel, yield: yield, start: time.Now()}
		r.do(prompt)
	}
}
