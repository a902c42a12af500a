package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/term"
)

const (
	// stdinWait is how long stdin may be silent when there is a prompt without
	// it; stdinWaitAlone when it is the only source of one.
	stdinWait      = 200 * time.Millisecond
	stdinWaitAlone = 2 * time.Second
	stdinMax       = 10 << 20 // bytes
)

// readStdin reads what stands on stdin, if it is a regular file, or a pipe or
// socket that says something soon enough. note, when not empty, tells why
// nothing was read although it is open.
func readStdin(ctx context.Context, f *os.File, wait time.Duration) (text string, note string, err error) {
	info, err := f.Stat()
	if err != nil || term.IsTerminal(int(f.Fd())) {
		return "", "", nil
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		wait = 0
	case mode&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
	default:
		return "", "", nil // /dev/null and other devices
	}
	first := make([]byte, 64<<10)
	n, err := readWithin(ctx, f, first, wait)
	if errors.Is(err, errSilent) {
		return "", fmt.Sprintf("stdin is open but silent for %v; going on without it (use < /dev/null to say so)", wait), nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", "", fmt.Errorf("read stdin: %w", err)
	}
	all := bytes.NewBuffer(first[:n])
	part := make([]byte, 64<<10)
	for err == nil && all.Len() <= stdinMax {
		n, err = readWithin(ctx, f, part, 0)
		all.Write(part[:n])
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", "", fmt.Errorf("read stdin: %w", err)
	}
	if all.Len() > stdinMax {
		return "", "", usageError{fmt.Errorf("stdin has more than %d MB; write it to a file and name that in the prompt", stdinMax>>20)}
	}
	return all.String(), "", nil
}

var errSilent = errors.New("silent")

// readWithin reads once. After wait (0: no limit), or when ctx ends, it gives
// up; the read itself cannot be called off and ends with the program.
func readWithin(ctx context.Context, f *os.File, p []byte, wait time.Duration) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := make([]byte, len(p)) // the read may end after p is in other hands
	go func() {
		n, err := f.Read(own)
		done <- result{n, err}
	}()
	var over <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-over:
		return 0, errSilent
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
