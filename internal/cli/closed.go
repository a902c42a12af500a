package cli

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// outlet watches whether somebody still reads stdout, and ends a context when
// not: a run whose answer nobody will see must not go on until it has one.
type outlet struct {
	closed atomic.Bool
	stop   func() // ends the watch and waits for it
}

// watchOutlet watches out, if it is a pipe or socket of a system where that can
// be seen, until stop is called. cancel is called once at most.
func watchOutlet(out io.Writer, cancel context.CancelFunc) *outlet {
	o := &outlet{stop: func() {}}
	f, ok := out.(*os.File)
	if !ok {
		return o
	}
	if info, err := f.Stat(); err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return o
	}
	o.stop = whenClosed(f, func() {
		o.closed.Store(true)
		cancel()
	})
	return o
}
