//go:build unix

package proc

import (
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/openharness/oh/internal/text"
)

// sink counts what goes to an artifact.
type sink struct{ n int64 }

func (s *sink) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	return len(p), nil
}
func (s *sink) Close() error { return nil }
func (s *sink) Path() string { return "/artifact" }

func TestFloodInFlatMemory(t *testing.T) {
	r := newRunner(t, Config{})
	file := &sink{}
	var mu sync.Mutex
	var peak uint64
	sample := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		mu.Lock()
		defer mu.Unlock()
		peak = max(peak, m.HeapInuse)
	}
	runtime.GC()
	sample()
	before := peak
	out := &Output{
		Create: func() (text.File, error) { return file, nil },
		Live:   func(string) { sample() },
	}
	exit, err := r.Run(within(t), Job{Command: "yes 0123456789abcdef | head -c " + strconv.Itoa(floodSize), Out: out})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	sample()
	sum, err := out.Finish("bash", "c")
	if err != nil || sum.Bytes != floodSize || file.n != floodSize || !sum.Cut {
		t.Errorf("%d bytes, %d in the file, %v", sum.Bytes, file.n, err)
	}
	if grown := int64(peak) - int64(before); grown > 12<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
}
