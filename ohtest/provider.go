package ohtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Provider is a scripted [oh.Provider] in process. It answers request after
// request with the turns of its script and holds each request to
// [CheckRequest]: an illegal one fails the test and gets an [oh.Error] of kind
// invalid, without a turn being used up; so does a request after the end of the
// script. It is safe for concurrent use; which of two concurrent requests
// gets which turn is then open, unless Rule decides.
type Provider struct {
	// Rule, when set, is asked first; when it returns false the next turn of
	// the script is played. It must be set before the first request.
	Rule func(req *oh.Request) (Turn, bool)

	tb     TB
	script script
	mu     sync.Mutex
	reqs   []*oh.Request // guarded by mu
	found  []Violation   // guarded by mu
}

// NewProvider returns a provider that plays turns. Violations fail tb; with a
// nil tb they are only returned as errors and kept.
func NewProvider(tb TB, turns ...Turn) *Provider {
	p := &Provider{tb: tb}
	p.script.add(turns)
	return p
}

// Add appends turns to the script.
func (p *Provider) Add(turns ...Turn) { p.script.add(turns) }

// Remaining returns how many turns were not played yet.
func (p *Provider) Remaining() int { return p.script.remaining() }

// Requests returns copies of all requests so far, the illegal ones too.
func (p *Provider) Requests() []*oh.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reqs)
}

// Violations returns what was wrong with the requests so far.
func (p *Provider) Violations() []Violation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.found)
}

// Wait waits until there were n requests, or returns the error of ctx.
func (p *Provider) Wait(ctx context.Context, n int) error {
	return p.script.wait(ctx, n, func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.reqs)
	})
}

// Stream implements [oh.Provider].
func (p *Provider) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		turn, err := p.next(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		if err := hold(ctx, turn); err != nil {
			yield(nil, err)
			return
		}
		p.play(ctx, req, turn, yield)
	}
}

// next records and checks the request and returns the turn that answers it.
func (p *Provider) next(ctx context.Context, req *oh.Request) (Turn, error) {
	if ctx.Err() != nil {
		return Turn{}, cancelled(ctx)
	}
	kept := copyRequest(req)
	found := CheckRequest(kept)
	p.mu.Lock()
	p.reqs = append(p.reqs, kept)
	n := len(p.reqs)
	p.mu.Unlock()
	defer p.script.arrived()

	if len(found) > 0 {
		return Turn{}, p.refuse(n, found)
	}
	turn, ok := Turn{}, false
	if p.Rule != nil {
		turn, ok = p.Rule(kept)
	}
	if !ok {
		turn, ok = p.script.next()
	}
	if !ok {
		return Turn{}, p.refuse(n, []Violation{outOfScript(n, oh.Blocks{oh.Text{Text: LastUserText(kept.Messages)}})})
	}
	if turn.Steps != nil || turn.Edit != nil {
		return Turn{}, p.refuse(n, []Violation{{"script", "", fmt.Sprintf("the turn for request %d has Steps or Edit, which only a Server can play", n)}})
	}
	return turn, nil
}

func (p *Provider) refuse(n int, found []Violation) error {
	p.mu.Lock()
	p.found = append(p.found, found...)
	p.mu.Unlock()
	if p.tb != nil {
		p.tb.Helper()
		p.tb.Errorf("scripted provider: request %d: %s", n, describe(found))
	}
	return &oh.Error{Op: "scripted provider", Kind: oh.KindInvalid, Err: errors.New(describe(found))}
}

func (p *Provider) play(ctx context.Context, req *oh.Request, turn Turn, yield func(oh.Chunk, error) bool) {
	chunks, done := turn.Chunks, oh.Chunk(nil)
	if chunks == nil {
		chunks, done = chunksOf(req, turn)
	}
	for _, c := range chunks {
		if ctx.Err() != nil {
			yield(nil, cancelled(ctx))
			return
		}
		if !yield(c, nil) {
			return
		}
	}
	switch {
	case turn.Err != nil:
		yield(nil, turn.Err)
	case turn.Hang:
		<-ctx.Done()
		yield(nil, cancelled(ctx))
	case done != nil:
		yield(done, nil)
	}
}

// chunksOf makes the deltas of a turn, and the message that completes it.
func chunksOf(req *oh.Request, turn Turn) (deltas []oh.Chunk, done oh.Chunk) {
	msg := oh.Message{ID: "msg_" + oh.NewID(), Role: oh.Assistant, Model: req.Model,
		Stop: stopOf(turn.Parts), Usage: usageOf(turn.Parts)}
	origin := oh.Origin(req.Profile, req.Model)
	calls := 0
	for _, part := range turn.Parts {
		switch part := part.(type) {
		case Text:
			for _, s := range turn.Cut.runes(string(part)) {
				deltas = append(deltas, oh.TextDelta{Text: s})
			}
			msg.Content = append(msg.Content, oh.Text{Text: string(part)})
		case Thinking:
			for _, s := range turn.Cut.runes(string(part)) {
				deltas = append(deltas, oh.ThinkingDelta{Text: s})
			}
			data := json.RawMessage(`{"signature":"` + seal(string(part)) + `"}`)
			msg.Content = append(msg.Content, oh.Thinking{Text: string(part), Opaque: &oh.Opaque{Origin: origin, Data: data}})
		case Redacted:
			data := json.RawMessage(`{"redacted":` + quote(string(part)) + `}`)
			msg.Content = append(msg.Content, oh.Thinking{Opaque: &oh.Opaque{Origin: origin, Data: data}})
		case ToolCall:
			deltas = append(deltas, oh.ToolInputDelta{Index: calls, ID: part.ID, Name: part.Name})
			for _, s := range turn.Cut.runes(part.Input) {
				deltas = append(deltas, oh.ToolInputDelta{Index: calls, JSON: s})
			}
			calls++
			msg.Content = append(msg.Content, toolUse(part))
		}
	}
	return deltas, oh.MessageDone{Message: msg}
}

// toolUse makes of a scripted call what a codec makes of it: the input is an
// object even when the arguments are not.
func toolUse(c ToolCall) oh.ToolUse {
	u := oh.ToolUse{ID: c.ID, Name: c.Name, Input: json.RawMessage("{}")}
	switch {
	case blank(c.Input) || c.Input == "null":
	case isObject([]byte(c.Input)):
		u.Input = oh.Compact([]byte(c.Input))
	default:
		u.Malformed = "the arguments are not a JSON object: " + text.Cut(c.Input, 500)
		u.Input = json.RawMessage(`{"malformed":` + quote(c.Input) + `}`)
	}
	return u
}

func cancelled(ctx context.Context) error {
	return &oh.Error{Op: "scripted provider", Kind: oh.KindCancelled, Err: context.Cause(ctx)}
}

// hold waits until the turn may be played.
func hold(ctx context.Context, turn Turn) error {
	if turn.After != nil {
		select {
		case <-turn.After:
		case <-ctx.Done():
			return cancelled(ctx)
		}
	}
	if turn.Delay <= 0 {
		return nil
	}
	timer := time.NewTimer(turn.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return cancelled(ctx)
	}
}

// copyRequest copies what a caller may go on to change. Blocks are values that
// do not change.
func copyRequest(req *oh.Request) *oh.Request {
	out := *req
	out.Memo = nil
	out.Tools = slices.Clone(req.Tools)
	out.Messages = slices.Clone(req.Messages)
	for i, m := range out.Messages {
		out.Messages[i].Content = copyBlocks(m.Content)
	}
	return &out
}

func copyBlocks(in oh.Blocks) oh.Blocks {
	out := slices.Clone(in)
	for i, b := range out {
		switch b := b.(type) {
		case oh.ToolUse:
			b.Input = slices.Clone(b.Input)
			out[i] = b
		case oh.ToolResult:
			b.Content = copyBlocks(b.Content)
			out[i] = b
		}
	}
	return out
}
