package file

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// TestDiskFull changes several files on a disk that is too small for the last
// one: none is changed.
func TestDiskFull(t *testing.T) {
	b := newBench(t)
	if err := os.Mkdir(b.path("disk"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", b.path("disk"), "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(b.path("disk"), 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	// Shrinking a and growing b leaves no room for going back but that of a.
	big := strings.Repeat("0123456789abcde\n", 100<<10/16)
	b.put("disk/a", big+"end\n")
	b.put("disk/b", "small\n")
	b.put("disk/c", "gone\n")
	before := b.tree()
	edits := []any{one("disk/a", big, "little\n"), one("disk/b", "small", strings.Repeat("x", 300<<10))}
	has(t, b.fails("multi_edit", "edits", edits), "no space left", b.path("disk/b"), "put back, so that nothing was changed")
	if diff := cmp.Diff(before, b.tree()); diff != "" {
		t.Error("multi_edit changed something")
	}
	patch := envelope("*** Delete File: disk/c\n*** Update File: disk/a\n*** Move to: disk/sub/a\n-end\n+End\n*** Add File: disk/d\n+" + strings.Repeat("x", 200<<10) + "\n")
	has(t, b.fails("apply_patch", "patch", patch), "no space left", "nothing was changed")
	if diff := cmp.Diff(before, b.tree()); diff != "" {
		t.Error("apply_patch changed something")
	}
	b.ok("multi_edit", "edits", []any{one("disk/a", "end", "End"), one("disk/b", "small", "Small")})
}

// TestHardLinks changes a file of two names among others, and takes it back.
func TestHardLinks(t *testing.T) {
	b := newBench(t)
	b.put("one", "old\n")
	b.put("x", "x\n")
	if err := os.Link(b.path("one"), b.path("two")); err != nil {
		t.Skip(err)
	}
	has(t, b.ok("multi_edit", "edits", []any{one("one", "old", "new"), one("x", "x", "y")}), "Written in place: it is hard-linked (2 names).")
	if got := b.get("two"); got != "new\n" {
		t.Errorf("the other name has %q", got)
	}
	has(t, b.fails("multi_edit", "edits", []any{one("one", "new", "newer"), one("two", "new", "old")}), "two names of one file")
	b.ok("apply_patch", "patch", envelope("*** Update File: one\n*** Move to: three\n-new\n+last\n"))
	if got := b.get("two") + b.get("three"); got != "last\nlast\n" {
		t.Errorf("content %q", got)
	}
}

// TestReadOnlyFolder is a file among several that may not be replaced.
func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere; TestDiskFull lets a write fail")
	}
	b := newBench(t)
	b.put("a", "a\n")
	b.put("ro/b", "b\n")
	if err := os.Chmod(b.path("ro"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(b.path("ro"), 0o755) })
	before := b.tree()
	has(t, b.fails("multi_edit", "edits", []any{one("a", "a", "A"), one("ro/b", "b", "B")}), "read-only", "put back, so that nothing was changed")
	has(t, b.fails("apply_patch", "patch", envelope("*** Update File: a\n-a\n+A\n*** Delete File: ro/b\n")), "put back, so that nothing was changed")
	if diff := cmp.Diff(before, b.tree()); diff != "" {
		t.Error(diff)
	}
}

// TestSwappedLink puts a link in the place of a folder between the check of a
// patch and its run.
func TestSwappedLink(t *testing.T) {
	b := newBench(t)
	b.put("sub/a", "a\n")
	b.put("x", "x\n")
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/a", []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var acts []oh.Action
	for _, body := range []string{"*** Update File: sub/a\n-a\n+b\n", "*** Delete File: sub/a\n", "*** Update File: x\n*** Move to: sub/y\n", "*** Add File: sub/new\n+x\n"} {
		act, err := b.prepare("apply_patch", "patch", envelope(body))
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, act)
	}
	if err := os.Rename(b.path("sub"), b.path("was")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, b.path("sub")); err != nil {
		t.Fatal(err)
	}
	for i, act := range acts {
		if _, err := b.run(act); err == nil || !strings.Contains(err.Error(), "leads elsewhere") {
			t.Errorf("patch %d went through the swapped link: %v", i, err)
		}
	}
	list, err := os.ReadDir(outside)
	data, _ := os.ReadFile(outside + "/a")
	if err != nil || len(list) != 1 || !bytes.Equal(data, []byte("a\n")) {
		t.Errorf("outside holds %v, %q, %v", list, data, err)
	}
}
