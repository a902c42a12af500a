package workspace

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// Some files below /proc look regular and wait for content that never comes.
func TestFileThatWaitsIsGivenUp(t *testing.T) {
	t.Parallel()
	const path = "/proc/kmsg"
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("%s cannot be read here: %v", path, err)
	}
	f.Close()
	w, err := New(Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Locate("/", path)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, _, err = w.ReadFile(p, 1<<30)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("gave up after %v: %v", took, err)
	}
}
