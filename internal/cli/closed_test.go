//go:build linux || darwin

package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestOutletClosed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := watchOutlet(w, cancel)
	defer o.stop()
	if ctx.Err() != nil || o.closed.Load() {
		t.Error("closed at once")
	}
	r.Close()
	<-ctx.Done()
	if !o.closed.Load() {
		t.Error("it is not known why")
	}
}

// The watch ends with the run, and a full pipe is not a closed one.
func TestOutletOpen(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, out := range []*os.File{w, file} {
		ctx, cancel := context.WithCancel(t.Context())
		o := watchOutlet(out, cancel)
		if _, err := out.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		o.stop()
		if ctx.Err() != nil || o.closed.Load() {
			t.Errorf("%s counts as closed", out.Name())
		}
		cancel()
	}
}
