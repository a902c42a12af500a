//go:build unix

package file

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestEditKeepsIdentity edits a script, a link, a hard link and files in other
// encodings, all through the tool.
func TestEditKeepsIdentity(t *testing.T) {
	b := newBench(t)
	script := b.put("run.sh", "#!/bin/sh\necho old\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("run.sh", b.path("ln")); err != nil {
		t.Skip(err)
	}
	b.ok("edit_file", "path", "ln", "old_str", "old", "new_str", "new $& \\1")
	if to, err := os.Readlink(b.path("ln")); err != nil || to != "run.sh" {
		t.Errorf("the link became %q, %v", to, err)
	}
	info, err := os.Stat(script)
	if err != nil || info.Mode() != 0o755 || b.get("run.sh") != "#!/bin/sh\necho new $& \\1\n" {
		t.Errorf("mode %v, content %q, %v", info.Mode(), b.get("run.sh"), err)
	}
	// What was read by the link counts for the file, and the other way round.
	b.ok("write_file", "path", "run.sh", "content", "#!/bin/sh\n")

	b.put("one", "hard old\n")
	if err := os.Link(b.path("one"), b.path("two")); err != nil {
		t.Skip(err)
	}
	has(t, b.ok("edit_file", "path", "one", "old_str", "old", "new_str", "new"), "Written in place: it is hard-linked (2 names).")
	if got := b.get("two"); got != "hard new\n" {
		t.Errorf("the other name has %q", got)
	}

	legacy := "a\n" + strings.Repeat("line\n", 900) + "price \x80 \x99\n"
	b.put("legacy", legacy)
	b.ok("edit_file", "path", "legacy", "old_str", "a\nline", "new_str", "é\nline\nline")
	if got, want := b.get("legacy"), "\xe9\nline\n"+legacy[2:]; got != want {
		t.Errorf("other bytes changed: %q", got)
	}
}

func TestReadPipe(t *testing.T) {
	b := newBench(t)
	if err := syscall.Mkfifo(b.path("pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	has(t, b.fails("read_file", "path", "pipe"), "is a named pipe")
	has(t, b.fails("edit_file", "path", "pipe", "old_str", "a", "new_str", "b"), "is a named pipe")
	has(t, b.fails("write_file", "path", "pipe", "content", "b"), "is a named pipe")
	has(t, b.fails("read_file", "path", "/dev/zero"), "is a device")
}
