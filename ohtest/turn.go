package ohtest

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/openharness/oh"
)

// TB is what the wrappers of this package need of a test: [testing.TB] has it.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Part is one piece of a scripted reply: [Text], [Thinking], [Redacted],
// [ToolCall], [Stop] or [Usage]. Contents come in the order of the parts.
type Part interface{ part() }

// Text is a block of text. It may be empty or blank.
type Text string

// Thinking is a block of reasoning, on the Responses wire a summary of it.
// Providers and servers sign it; it has to come back unchanged, if it does.
type Thinking string

// Redacted is a block of encrypted reasoning, in base64 where the wire demands
// it. On the Responses wire it is reasoning without a summary, on the Gemini
// wire a signature without a thought. The OpenAI and Ollama wires leave it out.
type Redacted string

// ToolCall is a call of a tool. Input is the text of the arguments as it goes
// over the wire: it may be broken JSON, and "" sends no arguments at all. The
// Gemini and Ollama wires carry no broken JSON: there the call is left out and the
// reply ends as malformed, or the arguments are empty.
type ToolCall struct{ ID, Name, Input string }

// Stop is the reason why the reply ended, in the words of [oh.StopReason].
// Without one it is tool_use when there are calls, else end_turn.
type Stop oh.StopReason

// Usage is the number of tokens used. Without one it is [DefaultInputTokens]
// and [DefaultOutputTokens].
type Usage oh.Usage

// What a reply without a [Usage] part reports.
const (
	DefaultInputTokens  = 10
	DefaultOutputTokens = 5
)

func (Text) part()     {}
func (Thinking) part() {}
func (Redacted) part() {}
func (ToolCall) part() {}
func (Stop) part()     {}
func (Usage) part()    {}

// Call returns a call of a tool as a part. See [ToolCall].
func Call(id, name, input string) ToolCall { return ToolCall{ID: id, Name: name, Input: input} }

// Turn is the scripted answer to one request. The zero value is a reply with
// nothing in it. Chunks is for a [Provider] only; Header, Edit and Steps are for
// a [Server] only.
type Turn struct {
	Parts []Part
	Cut   Cut

	// After, when set, holds the answer back until it is closed or the request
	// ends.
	After <-chan struct{}

	// Delay holds the answer back for a time.
	Delay time.Duration

	// Header is added to the header of the answer, whatever the answer is:
	// rate limits, or a Retry-After in a form of its own. Keys in any case.
	Header http.Header

	// Err fails the request after the deltas of Parts. A server answers with
	// the status and error body that its vendor has for the kind of an
	// [oh.Error] (in the stream, when there are Parts); any other error cuts
	// the connection.
	Err error

	// Hang keeps the request open after the deltas of Parts, until the caller
	// gives up or the server closes.
	Hang bool

	// Chunks are yielded as they are, in place of Parts, unless nil.
	Chunks []oh.Chunk

	// Edit gets the events that Parts make on the request's wire, one piece of
	// bytes each, and returns what to do with them.
	Edit func(w Wire, events [][]byte) []Step

	// Steps are played as they are, in place of Parts, unless nil.
	Steps []Step
}

// Reply is a complete reply.
func Reply(parts ...Part) Turn { return Turn{Parts: parts} }

// Fail is a request that fails with err after the deltas of parts.
func Fail(err error, parts ...Part) Turn { return Turn{Parts: parts, Err: err} }

// Hang is a request that stays open after the deltas of parts.
func Hang(parts ...Part) Turn { return Turn{Parts: parts, Hang: true} }

// Raw is a reply of chunks as they are. For a [Provider] only.
func Raw(chunks ...oh.Chunk) Turn { return Turn{Chunks: append([]oh.Chunk{}, chunks...)} }

// Play is an answer in bytes; without steps it is empty. For a [Server] only.
func Play(steps ...Step) Turn { return Turn{Steps: append([]Step{}, steps...)} }

// Cut says how a reply is cut into pieces. The zero value sends each block as
// one delta and writes each event at once.
type Cut struct {
	Delta int    // code points in a delta of text, thinking or arguments; 0: no cut
	Bytes int    // bytes in a write; 0: one event in a write; -1: all in one write
	Seed  uint64 // not 0: sizes are random, from 1 to Delta and from 1 to Bytes
}

// runes cuts s into deltas. An empty s gives none.
func (c Cut) runes(s string) []string {
	var out []string
	r := []rune(s)
	if c.Delta <= 0 {
		if s != "" {
			out = append(out, s)
		}
		return out
	}
	rng := c.rng()
	for len(r) > 0 {
		n := min(c.size(rng, c.Delta), len(r))
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}

// Writes cuts pieces of bytes, such as the events of a stream, into those of
// one write each.
func (c Cut) Writes(events ...[]byte) [][]byte {
	if c.Bytes == 0 {
		return events
	}
	var all []byte
	for _, e := range events {
		all = append(all, e...)
	}
	if c.Bytes < 0 && len(all) > 0 {
		return [][]byte{all}
	}
	var out [][]byte
	rng := c.rng()
	for len(all) > 0 { // none at all stays none
		n := min(c.size(rng, c.Bytes), len(all))
		out = append(out, all[:n])
		all = all[n:]
	}
	return out
}

func (c Cut) rng() *rand.Rand {
	if c.Seed == 0 {
		return nil
	}
	return rand.New(rand.NewPCG(c.Seed, 1))
}

func (c Cut) size(rng *rand.Rand, limit int) int {
	if rng == nil {
		return limit
	}
	return 1 + rng.IntN(limit)
}

// Step is one act of a [Server] that answers in bytes. Without a [Status] first
// the answer is 200 with an event stream; after the last step it ends
// regularly.
type Step struct {
	act    act
	data   []byte
	wait   time.Duration
	until  <-chan struct{}
	status int
	header http.Header
}

type act int

const (
	actSend act = iota
	actWait
	actUntil
	actHold
	actDrop
	actStatus
	actHeader
)

// Send writes b and flushes; with nothing in b it sends the header alone.
func Send(b []byte) Step { return Step{act: actSend, data: b} }

// SendText writes s and flushes.
func SendText(s string) Step { return Send([]byte(s)) }

// SendAll writes each piece and flushes after each.
func SendAll(pieces ...[]byte) []Step {
	out := make([]Step, 0, len(pieces))
	for _, p := range pieces {
		out = append(out, Send(p))
	}
	return out
}

// Wait waits for d.
func Wait(d time.Duration) Step { return Step{act: actWait, wait: d} }

// WaitFor waits until ch is closed or gives a value. A nil ch waits for ever,
// without even a header when nothing was sent before.
func WaitFor(ch <-chan struct{}) Step { return Step{act: actUntil, until: ch} }

// Hold sends the header, if it was not yet, and keeps the connection open until the client goes or the server closes.
func Hold() Step { return Step{act: actHold} }

// Drop cuts the connection in the midst of the answer.
func Drop() Step { return Step{act: actDrop} }

// Status answers with a status, headers (may be nil) and the body, if any.
// It has to be the first step that writes. The content type is JSON for a body
// that begins with a brace unless header says otherwise.
func Status(code int, header http.Header, body string) Step {
	return Step{act: actStatus, status: code, header: header, data: []byte(body)}
}

// Header adds to the header of the answer and wins over what comes after it. It
// has to come before the step that writes.
func Header(h http.Header) Step { return Step{act: actHeader, header: h} }

// stopOf returns how the reply of the parts ends.
func stopOf(parts []Part) oh.StopReason {
	stop := oh.StopEnd
	for _, p := range parts {
		switch p := p.(type) {
		case ToolCall:
			stop = oh.StopToolUse
		case Stop:
			return oh.StopReason(p)
		}
	}
	return stop
}

// usageOf returns the usage of the parts.
func usageOf(parts []Part) oh.Usage {
	for _, p := range parts {
		if u, ok := p.(Usage); ok {
			return oh.Usage(u)
		}
	}
	return oh.Usage{InputTokens: DefaultInputTokens, OutputTokens: DefaultOutputTokens}
}
