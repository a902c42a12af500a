package cli

import (
	"context"
	"errors"
	"os"
	"testing"
)

// A pipe that has begun to speak and is silent then holds nothing up when the
// program is to end.
func TestReadStdinIsCalledOff(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString("begin\n"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, _, err := readStdin(ctx, r, stdinWaitAlone)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("readStdin = %v", err)
	}
}
