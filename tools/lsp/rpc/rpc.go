// Package rpc is the wire of the Language Server Protocol: JSON-RPC 2.0
// messages, each behind a header that tells its length.
//
// It knows no method. It guarantees that a call ends when its context does, or
// the connection; that neither side can block the other (what is written waits
// in a bounded queue); and that bytes which are no JSON-RPC end the connection
// with an error that shows them.
package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/openharness/oh"
)

// The codes of errors that callers act on.
const (
	CodeNoMethod        = -32601
	CodeInternal        = -32603
	CodeServerCancelled = -32802
	CodeContentModified = -32801
)

// maxQueue bounds what waits to be written, in bytes.
const maxQueue = 64 << 20

// ErrClosed says that the connection was closed from this side.
var ErrClosed = errors.New("the connection is closed")

// Error is an error that the other side answered with.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string {
	if e.Message == "" {
		return "error " + strconv.Itoa(e.Code)
	}
	return e.Message
}

// Handler answers what the other side asks or tells; the answer to a
// notification is dropped. It is called for one message at a time and must not
// block. An error that is no [*Error] becomes an internal one.
type Handler func(method string, params json.RawMessage) (any, error)

// Conn is one connection. It is safe for concurrent use.
type Conn struct {
	handle Handler
	w      io.WriteCloser
	loops  sync.WaitGroup
	wake   chan struct{} // holds one when the queue has changed
	done   chan struct{} // closed with the connection

	mu      sync.Mutex // guards what follows
	next    int64
	pending map[int64]chan reply
	queue   [][]byte
	queued  int // bytes
	err     error
}

type reply struct {
	result json.RawMessage
	err    error
}

// message is any JSON-RPC message.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// NewConn starts a connection. It ends with r, or by [Conn.Close]; [Conn.Wait]
// returns when r has ended and nothing is being written.
func NewConn(r io.Reader, w io.WriteCloser, handle Handler) *Conn {
	c := &Conn{
		handle: handle, w: w,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		pending: map[int64]chan reply{},
	}
	c.loops.Go(func() { c.fail(c.read(bufio.NewReaderSize(r, 32<<10))) })
	c.loops.Go(c.write)
	return c
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection ended; nil while it lives.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and with it all calls. The reader's end comes from
// the other side.
func (c *Conn) Close() { c.fail(ErrClosed) }

// Wait waits until nothing reads or writes any more.
func (c *Conn) Wait() { c.loops.Wait() }

// Call asks and waits for the answer, which it decodes into result unless that
// is nil. When ctx ends, the other side is told that the answer is not wanted.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	id, ch, err := c.enter()
	if err != nil {
		return err
	}
	defer c.leave(id)
	if err := c.send(message{ID: strconv.AppendInt(nil, id, 10), Method: method}, params); err != nil {
		return err
	}
	select {
	case r := <-ch:
		return r.decode(method, result)
	case <-ctx.Done():
		_ = c.Notify("$/cancelRequest", map[string]int64{"id": id}) // if it cannot be told, it is gone
		return ctx.Err()
	case <-c.done:
		select {
		case r := <-ch: // it had answered just before
			return r.decode(method, result)
		default:
			return c.Err()
		}
	}
}

func (r reply) decode(method string, result any) error {
	if r.err != nil || result == nil || len(r.result) == 0 {
		return r.err
	}
	if err := json.Unmarshal(r.result, result); err != nil {
		return fmt.Errorf("the answer to %s does not fit the protocol: %w", method, err)
	}
	return nil
}

// Notify tells without asking.
func (c *Conn) Notify(method string, params any) error {
	return c.send(message{Method: method}, params)
}

func (c *Conn) enter() (int64, chan reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	c.next++
	ch := make(chan reply, 1)
	c.pending[c.next] = ch
	return c.next, ch, nil
}

func (c *Conn) leave(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// send puts a message into the queue.
func (c *Conn) send(m message, params any) error {
	m.Version = "2.0"
	if params != nil {
		raw, err := oh.Marshal(params)
		if err != nil {
			return fmt.Errorf("encode %s: %w", m.Method, err)
		}
		m.Params = raw
	}
	body, err := oh.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Method, err)
	}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	full := c.queued > 0 && c.queued+len(body) > maxQueue
	if !full {
		c.queue = append(c.queue, frame(body))
		c.queued += len(body)
	}
	c.mu.Unlock()
	if full {
		err := fmt.Errorf("%d bytes wait to be read by the other side", maxQueue)
		c.fail(err)
		return err
	}
	c.nudge()
	return nil
}

func (c *Conn) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// fail ends the connection; the first error counts. Who closes the writer
// wakes a write that hangs.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	c.queue = nil
	close(c.done)
	_ = c.w.Close()
}

// write takes the queue until the connection ends.
func (c *Conn) write() {
	for {
		select {
		case <-c.wake:
		case <-c.done:
			return
		}
		for {
			frame := c.pop()
			if frame == nil {
				break
			}
			if _, err := c.w.Write(frame); err != nil {
				c.fail(fmt.Errorf("write: %w", err))
				return
			}
		}
	}
}

func (c *Conn) pop() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil
	}
	first := c.queue[0]
	c.queue[0] = nil
	c.queue = c.queue[1:]
	c.queued = max(0, c.queued-len(first))
	return first
}

// read takes messages until there are none, and returns why.
func (c *Conn) read(r *bufio.Reader) error {
	for {
		body, err := ReadMessage(r)
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			return fmt.Errorf("a message is not JSON-RPC: %w: %q", err, cut(string(body)))
		}
		switch {
		case m.Method != "":
			if err := c.answer(m); err != nil {
				return err
			}
		case len(m.ID) > 0:
			c.deliver(m)
		default:
			return fmt.Errorf("a message is not JSON-RPC: it has neither method nor id: %q", cut(string(body)))
		}
	}
}

// deliver gives an answer to who waits for it; a late one has nobody.
func (c *Conn) deliver(m message) {
	raw := string(m.ID)
	if s, err := strconv.Unquote(raw); err == nil {
		raw = s
	}
	id, err := strconv.ParseInt(raw, 10, 64)
	if err != nil {
		return
	}
	r := reply{result: m.Result}
	if m.Error != nil {
		r = reply{err: m.Error}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.pending[id]; ch != nil {
		delete(c.pending, id)
		ch <- r
	}
}

// answer handles a request or notification of the other side.
func (c *Conn) answer(m message) error {
	result, err := c.handle(m.Method, m.Params)
	if len(m.ID) == 0 || string(m.ID) == "null" {
		return nil
	}
	out := message{ID: m.ID}
	var known *Error
	switch {
	case errors.As(err, &known):
		out.Error = known
	case err != nil:
		out.Error = &Error{Code: CodeInternal, Message: err.Error()}
	default:
		raw, err := oh.Marshal(result)
		if err != nil {
			return fmt.Errorf("encode the answer to %s: %w", m.Method, err)
		}
		out.Result = raw
	}
	return c.send(out, nil)
}
