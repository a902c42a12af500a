package cloud

import (
	"context"
	"time"
)

// Cell holds a value that is made when it is needed and renewed before it ends.
// One caller at a time makes it, the others wait. It is safe for concurrent use.
type Cell[T any] struct {
	turn   chan struct{} // holds one token: whoever has it may use the rest
	source func(ctx context.Context) (T, time.Time, error)

	value T
	have  bool
	ends  time.Time // zero: never
	renew time.Time // zero: never
}

// early is how long before its end a value is renewed; one that lives shortly
// in the last fifth of its life.
const early = 5 * time.Minute

// NewCell returns an empty cell. source makes a value and says when it ends, the
// zero time for never.
func NewCell[T any](source func(ctx context.Context) (T, time.Time, error)) *Cell[T] {
	c := &Cell[T]{turn: make(chan struct{}, 1), source: source}
	c.turn <- struct{}{}
	return c
}

// Get returns the value. One that is near its end is used still when it cannot
// be renewed.
func (c *Cell[T]) Get(ctx context.Context) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	select {
	case <-c.turn:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	defer func() { c.turn <- struct{}{} }()
	if c.have && (c.renew.IsZero() || time.Until(c.renew) > 0) {
		return c.value, nil
	}
	value, ends, err := c.source(ctx)
	switch {
	case err == nil:
		c.value, c.ends, c.renew, c.have = value, ends, time.Time{}, true
		if !ends.IsZero() {
			c.renew = ends.Add(-min(early, time.Until(ends)/5))
		}
	case c.have && time.Until(c.ends) > 0:
		// A token service that is down for a moment is no reason to stop.
	default:
		return none, err
	}
	return c.value, nil
}

// Forget drops the value, so that the next Get makes a new one. It waits for a
// value that is being made.
func (c *Cell[T]) Forget() {
	<-c.turn
	var none T
	c.value, c.have = none, false
	c.turn <- struct{}{}
}
