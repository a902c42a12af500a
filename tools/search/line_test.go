package search

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/workspace"
)

// TestGrepReturns searches for line ends: a pattern that names the carriage
// return sees it, for others $ lies before it.
func TestGrepReturns(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\r\nb\r\n", "g": "a\nb\n", "h": "x\ry\r\r\n"})
	for _, c := range []struct {
		pattern   string
		multiline bool
		want      string
	}{
		{`\r`, false, "f:2\nh:1"},
		{`\r$`, false, "f:2\nh:1"},
		{`a\r$`, false, "f:1"},
		{`a[\r]$`, false, "f:1"},
		{`a\r?$`, false, "f:1\ng:1"},
		{`a$`, false, "f:1\ng:1"},
		{`^[^\r]$`, false, "f:2\ng:2"},
		{`a\s$`, false, "No matches (3 files searched)."},
		{`\r`, true, "f:2\nh:1"},
		{`\r\n`, true, "f:2\nh:1"},
		{`a\r\nb`, true, "f:1"},
		{`a[\r\n]+b`, true, "f:1\ng:1"},
		{`a\nb$`, true, "f:1\ng:1"},
	} {
		b.is(c.want, "grep", "pattern", c.pattern, "multiline", c.multiline, "output_mode", "count")
	}
	b.is("h:1:x y ", "grep", "pattern", "y", "root", "h")
	b.is("f:1:a", "grep", "pattern", `a\r$`, "root", "f")
}

// TestGrepOddNames lets names hold what would break a line of the result.
func TestGrepOddNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the file system may refuse such names")
	}
	b := newBench(t, map[string]string{"a\nb": "needle\n", "d/c\xff": "needle\n", "ä b": "needle\n"})
	b.is("\"a\\nb\"\n\"d/c\\xff\"\nä b", "glob", "pattern", "**")
	b.is("\"a\\nb\":1:needle\n\"d/c\\xff\":1:needle\nä b:1:needle", "grep", "pattern", "needle")
	b.is(`"a\nb":1:needle`, "grep", "pattern", "needle", "root", "a\nb")
}

// TestGrepVeryLongLines searches lines that do not fit the first buffers.
func TestGrepVeryLongLines(t *testing.T) {
	b := newBench(t, map[string]string{
		"edge":   strings.Repeat("a", 5_000_000) + "xxbbbbbbbbbb\n",
		"before": "one\ntwo\n" + strings.Repeat("y", 9<<20) + "needle\nafter",
		"middle": "one\ntwo\n" + strings.Repeat("y", 9<<20) + "\nneedle\nafter",
		"after":  "needle\n" + strings.Repeat("y", 5<<20) + "\nthree\nfour",
	})
	b.is("No matches (1 file searched).", "grep", "pattern", "^a+$", "root", "edge", "output_mode", "count")
	y := strings.Repeat("y", maxShown)
	b.is("before-1-one\nbefore-2-two\nbefore:3:(9,437,059 bytes) …"+strings.Repeat("y", 125)+"needle\nbefore-4-after",
		"grep", "pattern", "needle", "root", "before", "context", 2)
	b.is("middle-2-two\nmiddle-3-"+y+"… (9,436,684 bytes)\nmiddle:4:needle\nmiddle-5-after",
		"grep", "pattern", "needle", "root", "middle", "context", 2)
	b.is("after:1:needle\nafter-2-"+y+"… (5,242,380 bytes)\nafter-3-three",
		"grep", "pattern", "needle", "root", "after", "context", 2)
}

// TestGrepPieces makes lines longer than what is searched as a whole.
func TestGrepPieces(t *testing.T) {
	long := strings.Repeat("y", 3*chunkSize)
	for _, c := range []struct {
		pattern, data string
		part          bool
		want          []hit
	}{
		{"needle", long + "needle" + long + "\nneedle\n", true, []hit{{1, "…" + strings.Repeat("y", 125) + "needle" + strings.Repeat("y", 369) + "…", true, true}, {2, "needle", true, true}}},
		{"needle", "needle\n" + long + "\nthree\nfour\n", true, []hit{{1, "needle", true, true}, {2, strings.Repeat("y", 500) + "…", false, false}, {3, "three", false, false}}},
		{"^y+$", long + "x\nyy\n", true, []hit{{2, "yy", true, true}}},
		{"^y+$", "x" + long + "x\nyy", true, []hit{{2, "yy", true, true}}},
		{"y$", "y\n" + long, true, []hit{{1, "y", true, true}, {2, strings.Repeat("y", 500) + "…", false, false}}},
		{"^yy$", "x\nyy\n", false, []hit{{2, "yy", true, true}}},
	} {
		m, err := newMatcher(c.pattern, false, false, false)
		if err != nil {
			t.Fatal(err)
		}
		s := &scanner{m: m, after: 2, mode: modeContent, keep: 10, longest: chunkSize}
		res, ok, err := s.scan(t.Context(), "f", strings.NewReader(c.data))
		if err != nil || !ok || res.part != c.part {
			t.Errorf("%q: %v, %v, in part: %v", c.pattern, ok, err, res.part)
		}
		if diff := cmp.Diff(c.want, res.lines, cmp.AllowUnexported(hit{})); diff != "" {
			t.Errorf("%q (-want +got):\n%.2000s", c.pattern, diff)
		}
	}
	m, err := newMatcher("needle", false, false, false)
	if err != nil {
		t.Fatal(err)
	}
	s := &scanner{m: m, before: 2, mode: modeContent, keep: 10, longest: chunkSize}
	res, _, err := s.scan(t.Context(), "f", strings.NewReader("one\n"+long[:chunkSize-chunkSize/4]+"\ntwo\nneedle"+long[:chunkSize/2]+"\n"))
	if err != nil || res.part || !res.bare || len(res.lines) != 2 || res.lines[0] != (hit{3, "two", false, false}) {
		t.Errorf("context that is too long: %v, %+v", err, res)
	}
	m, err = newMatcher("a$", false, false, false)
	if err != nil {
		t.Fatal(err)
	}
	g := &grepping{m: m, root: workspace.Place{Path: "/r"}, in: grepInput{Mode: modeContent, Limit: 5}, partial: 1, bare: 2}
	if got := g.result(workspace.Skipped{}, false).Content.Text(); !strings.Contains(got, "[Lines over 32 MiB (in 1 file): not searched, since the pattern has ^, $ or \\b. Context of over 16 MiB is left out (in 2 files).]") {
		t.Errorf("said: %q", got)
	}
}

// expiring is a context that is done after being looked at some times.
type expiring struct {
	context.Context
	looks int
}

func (e *expiring) Err() error {
	if e.looks--; e.looks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestGrepStopsWithinLine ends a match that takes long, and one that a cut text
// would allow does not count.
func TestGrepStopsWithinLine(t *testing.T) {
	line := strings.Repeat("a", 1<<20) + "xxbbbbbbbbbb"
	for _, multiline := range []bool{false, true} {
		for _, pattern := range []string{"a{1000}.*b$", "a{1000}[ab]*$"} {
			m, err := newMatcher(pattern, false, false, multiline)
			if err != nil {
				t.Fatal(err)
			}
			s := &scanner{m: m, mode: modeCount, keep: 10, longest: maxLine, multiline: multiline}
			ctx := &expiring{t.Context(), 5}
			res, ok, err := s.scan(ctx, "f", strings.NewReader("x\n"+line))
			if err != context.DeadlineExceeded || ok || ctx.looks < -5 {
				t.Errorf("%q, multiline %v: %v %v, looked %d times after the end: %+v", pattern, multiline, ok, err, -ctx.looks, res)
			}
		}
	}
	b := newBench(t, nil)
	g := &grepping{dir: b.dir, in: grepInput{Mode: modeCount, Limit: 5, TimeoutSec: 2}}
	var err error
	if g.m, err = newMatcher("a{1000}.*b$", false, false, false); err != nil {
		t.Fatal(err)
	}
	g.best.need = 10
	err = g.file(&expiring{t.Context(), 5}, g.scanner(), "f", strings.NewReader(strings.Repeat("a", 1000)+"b\n"+line))
	if err != context.DeadlineExceeded || g.searched != 1 || g.best.hits != 1 {
		t.Errorf("a file searched in part: %v, searched %d, hits %d", err, g.searched, g.best.hits)
	}
}

// TestTimeoutHolds runs the clock: the pattern takes seconds on this line.
func TestTimeoutHolds(t *testing.T) {
	if os.Getenv("OH_SEARCH_SLOW") == "" {
		t.Skip("takes seconds; set OH_SEARCH_SLOW to run it")
	}
	b := newBench(t, map[string]string{"f": strings.Repeat("a", 1<<20) + "xxbbbbbbbbbb"})
	start := time.Now()
	got, err := b.call("grep", "pattern", "a{1000}.*b$", "output_mode", "count", "timeout_seconds", 1)
	if took := time.Since(start); err != nil || took > 3*time.Second || !strings.Contains(got, "Stopped after 1 second") || !strings.HasPrefix(got, "No matches") {
		t.Errorf("%v after %v: %q", err, took, got)
	}
}
