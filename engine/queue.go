package engine

import (
	"sync"

	"github.com/openharness/oh"
)

// queue carries events from running calls to the run's goroutine. It never
// blocks a call and loses nothing: output of one call is merged while it
// waits, all else is kept in order. Once closed it takes nothing more.
type queue struct {
	wake chan struct{} // holds a token when there is something to take

	mu     sync.Mutex // guards all below
	items  []item
	left   int // calls that have not ended
	closed bool
}

// item is an event of a call, or an error that ends the run.
type item struct {
	job   *job
	event oh.Event
	err   error
}

// maxMerged bounds live output that waits for a slow watcher, per call and
// waiting piece, in bytes; what is beyond is not shown live.
const maxMerged = 256 << 10

func newQueue(calls int) *queue {
	return &queue{wake: make(chan struct{}, 1), left: calls}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) put(x item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if out, ok := x.event.(oh.ToolOutput); ok {
		if n := len(q.items); n > 0 {
			if last, ok := q.items[n-1].event.(oh.ToolOutput); ok && last.ID == out.ID {
				if len(last.Text) < maxMerged {
					last.Text += out.Text
					q.items[n-1].event = last
				}
				return
			}
		}
	}
	q.items = append(q.items, x)
	q.signal()
}

// settle runs f, which changes the conversation, unless the queue is closed:
// a call that was left behind must not write to a history that went on.
func (q *queue) settle(f func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil
	}
	return f()
}

// leave says that a call has ended.
func (q *queue) leave() {
	q.mu.Lock()
	q.left--
	q.mu.Unlock()
	q.signal()
}

// take returns what waits, and whether more may come.
func (q *queue) take() (items []item, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items, q.items = q.items, nil
	return items, q.left > 0
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.items = nil
	q.mu.Unlock()
}
