package file

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/openharness/oh/workspace"
)

// TestReplayHistory replays the history of a git repository: each change of a
// file is made again by calls of edit_file, and by one of apply_patch, and the
// outcome compared with git's blob, byte for byte.
//
// OH_REPLAY_REPO names the repository, else it is this one; OH_REPLAY_EDITS
// how many edits are replayed, else 10,000 of a named one and 300 of this.
func TestReplayHistory(t *testing.T) {
	repo, most := os.Getenv("OH_REPLAY_REPO"), 10_000
	if repo == "" {
		repo, most = ".", 300
	}
	if n, err := strconv.Atoi(os.Getenv("OH_REPLAY_EDITS")); err == nil {
		most = n
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if out, err := exec.Command("git", "-C", repo, "rev-parse", "--git-dir").CombinedOutput(); err != nil {
		t.Skipf("%s is no git repository: %s", repo, out)
	}
	out, err := exec.Command("git", "-C", repo, "log", "--no-merges", "--no-renames", "--diff-filter=M", "--raw", "--abbrev=40", "--no-abbrev", "--format=", "-n", "20000").Output()
	if err != nil {
		t.Skipf("git log: %v", err)
	}
	b := newBench(t)
	blobs := openBlobs(t, repo)
	edits, files, skipped := 0, 0, 0
	for line := range strings.Lines(string(out)) {
		if edits >= most {
			break
		}
		f := strings.Fields(strings.TrimPrefix(line, ":"))
		if len(f) < 6 || !strings.HasPrefix(f[0], "100") || !strings.HasPrefix(f[1], "100") {
			continue
		}
		before, after := blobs.get(f[2]), blobs.get(f[3])
		if before == nil || !replayable(before, after) {
			skipped++
			continue
		}
		edits += replay(t, b, before, after, fmt.Sprintf("%s..%s %s", f[2][:8], f[3][:8], f[5]))
		files++
	}
	t.Logf("%d edits in %d changes of files; %d skipped (binary, mixed or changed line endings, or too large)", edits, files, skipped)
	if edits == 0 && skipped > 20 {
		t.Error("nothing could be replayed")
	}
}

// replayable reports whether a change can be said as edits of text: both sides
// are text of the same line endings.
func replayable(before, after []byte) bool {
	for _, data := range [][]byte{before, after} {
		set := workspace.Sniff(data, true)
		if set != workspace.UTF8 && set != workspace.UTF8BOM || len(data) == 0 || len(data) > 1<<20 || bytes.ContainsRune(data, '\ufffd') {
			return false
		}
	}
	if bytes.HasPrefix(before, workspace.UTF8BOM.Mark()) != bytes.HasPrefix(after, workspace.UTF8BOM.Mark()) {
		return false
	}
	kind := func(data []byte) int {
		n, crlf := bytes.Count(data, []byte("\n")), bytes.Count(data, []byte("\r\n"))
		switch {
		case bytes.Count(data, []byte("\r")) != crlf:
			return -1
		case crlf == 0:
			return 0
		case crlf == n:
			return 1
		}
		return -1
	}
	// A file of one line has no ending that a new line could take.
	return kind(before) >= 0 && kind(before) == kind(after) && (kind(before) == 0 || bytes.Count(before, []byte("\n")) > 0)
}

// replay makes one change of a file and returns how many edits it took.
func replay(t *testing.T, b *bench, before, after []byte, what string) int {
	t.Helper()
	old, now := unix(string(before)), unix(string(after))
	b.put("f", string(before))
	b.put("p", string(before))
	n, shift := 0, 0
	running := old
	for _, x := range udiff.Lines(old, now) {
		from, to := grow(running, x.Start+shift, x.End+shift)
		was := running[from:to]
		repl := running[from:x.Start+shift] + x.New + running[x.End+shift:to]
		running = running[:from] + repl + running[to:]
		shift += len(x.New) - (x.End - x.Start)
		if _, err := b.call("edit_file", "path", "f", "old_str", was, "new_str", repl); err != nil {
			t.Fatalf("%s: edit_file %q: %v", what, was, err)
		}
		n++
	}
	if got := b.get("f"); got != string(after) {
		t.Fatalf("%s: edit_file gave other bytes:\n%s", what, diff("", after, []byte(got)).Unified)
	}
	if n == 0 {
		return 0
	}
	u, err := udiff.ToUnifiedDiff("a", "b", old, udiff.Lines(old, now), 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	var hunk strings.Builder
	for _, l := range u.Hunks[0].Lines {
		hunk.WriteString(map[udiff.OpKind]string{udiff.Insert: "+", udiff.Delete: "-", udiff.Equal: " "}[l.Kind] + strings.TrimSuffix(l.Content, "\n") + "\n")
		if !strings.HasSuffix(l.Content, "\n") {
			hunk.WriteString(openMark + "\n")
		}
	}
	if _, err := b.call("apply_patch", "patch", envelope("*** Update File: p\n@@\n"+hunk.String())); err != nil {
		t.Fatalf("%s: apply_patch: %v\n%s", what, err, hunk.String())
	}
	if got := b.get("p"); got != string(after) {
		t.Fatalf("%s: apply_patch gave other bytes:\n%s", what, diff("", after, []byte(got)).Unified)
	}
	return n
}

// grow widens a part of a text by whole lines until it occurs once.
func grow(s string, from, to int) (int, int) {
	for {
		if part := s[from:to]; part != "" {
			if i := strings.Index(s, part); i == from && !strings.Contains(s[i+1:], part) {
				return from, to
			}
		}
		if from == 0 && to == len(s) {
			return from, to
		}
		from = backLines(s, from, 1)
		to = forwardLines(s, to, 1)
	}
}

// blobs reads contents out of a git repository.
type blobs struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func openBlobs(t *testing.T, repo string) *blobs {
	t.Helper()
	cmd := exec.Command("git", "-C", repo, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return &blobs{in, bufio.NewReader(out)}
}

// get returns the content of a blob, nil when it is not there.
func (b *blobs) get(id string) []byte {
	if _, err := fmt.Fprintln(b.in, id); err != nil {
		return nil
	}
	head, err := b.out.ReadString('\n')
	f := strings.Fields(head)
	if err != nil || len(f) != 3 {
		return nil
	}
	size, err := strconv.Atoi(f[2])
	if err != nil {
		return nil
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil
	}
	return data[:size]
}
