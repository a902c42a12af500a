//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace/proc"
)

// counter is an artifact that keeps nothing but a count.
type counter struct {
	n      int64
	closed bool
}

func (c *counter) Create(string) (oh.Artifact, error) { return c, nil }
func (c *counter) Write(p []byte) (int, error)        { c.n += int64(len(p)); return len(p), nil }
func (c *counter) Close() error                       { c.closed = true; return nil }
func (c *counter) Path() string                       { return "/the/file" }

func TestBackgroundFloodInFlatMemory(t *testing.T) {
	const size = 16 << 20
	y := newYard(t)
	file := &counter{}
	y.env.Artifacts = file
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	before := heap()
	m := y.start(fmt.Sprintf("yes 0123456789abcde | head -c %d", size))
	y.notice()
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	want := "0123456789a\n[... 16,777,195 bytes left out; all of it is in /the/file ...]\n6789abcde\n[task ID has ended: exit code 0 after T]"
	if got := y.look(m.ID, fields{"max_bytes": 21}); got != want {
		t.Errorf("got %q", got)
	}
	if file.n != size || !file.closed {
		t.Errorf("the file got %d bytes (closed: %v)", file.n, file.closed)
	}
}

func TestSavedOutputHasALimit(t *testing.T) {
	file := &counter{}
	task := &task{id: "b1", file: file, path: "/the/file", saved: mostSaved - 5, news: make(chan struct{})}
	task.clean.W = fill{task}
	for _, s := range []string{"abc", "éx", "more"} {
		if _, err := task.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	got := task.progress(6)
	got.Duration = 0
	want := Progress{ID: "b1", State: TaskRunning, Path: "/the/file", Head: "abc", Tail: "ore", Cut: 4, Lost: errFull}
	if file.n != 5 {
		t.Errorf("the file got %d bytes", file.n)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if body := got.body(); body != "abc\n[... 4 bytes left out; the file /the/file is not whole: the limit of 1,073,741,824 bytes is reached ...]\nore" {
		t.Errorf("got %q", body)
	}
}

func TestTheEndIsToldWhenTheLastWaiterGivesUp(t *testing.T) {
	told := make(chan string, 1)
	task := &task{id: "b1", news: make(chan struct{}), tell: func(t *task, _ proc.Exit) { told <- t.id }}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error)
	go func() {
		_, err := task.look(ctx, time.Hour, 10)
		failed <- err
	}()
	for waiting := false; !waiting; runtime.Gosched() {
		task.mu.Lock()
		waiting = task.waiting == 1
		if waiting { // the end comes just after the waiter has given up
			cancel()
			task.over, task.untold = true, true
			task.notify()
		}
		task.mu.Unlock()
	}
	if err := <-failed; !errors.Is(err, context.Canceled) || len(told) != 1 {
		t.Errorf("%v, told %d times", err, len(told))
	}
}
