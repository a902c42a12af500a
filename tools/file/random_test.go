package file

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/openharness/oh/internal/text"
)

// unique widens a change of lines from a to b, both in lines, until the old
// ones occur once in the text; false when they never do.
func unique(old []string, a, b int) (int, int, bool) {
	whole := strings.Join(old, "\n")
	for {
		if b > a {
			part := strings.Join(old[a:b], "\n")
			if part != "" && !strings.Contains(whole[strings.Index(whole, part)+1:], part) {
				return a, b, true
			}
		}
		if a == 0 && b == len(old) {
			return a, b, b > a && whole != ""
		}
		a, b = max(0, a-1), min(len(old), b+1)
	}
}

// TestRandomEdits makes random changes of lines, and the same by multi_edit and
// by apply_patch: all three give the same bytes.
func TestRandomEdits(t *testing.T) {
	b := newBench(t)
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"foo", "bar", "é “x”", "", "\tif {", "}", "  return", "x  "}
	random := func(n int) []string {
		var list []string
		for range n {
			list = append(list, words[r.IntN(len(words))]+fmt.Sprint(r.IntN(12)))
		}
		return list
	}
	edits, rounds := 0, 0
	for ; edits < 1000; rounds++ {
		end := []string{"\n", "\r\n"}[r.IntN(2)]
		last := []string{end, ""}[r.IntN(2)]
		lines := random(5 + r.IntN(60))
		put := func(name string) { b.put(name, strings.Join(lines, end)+last) }
		put("multi")
		put("patch")
		var calls []any
		var hunks strings.Builder
		now := append([]string(nil), lines...)
		at := 0
		for range 1 + r.IntN(6) {
			// A change of the running text, below the one before.
			from := at + r.IntN(4)
			if from >= len(now) {
				break
			}
			to := min(len(now), from+r.IntN(3))
			repl := random(r.IntN(4))
			a, z, ok := unique(now, from, to)
			if !ok || strings.Join(now[from:to], "\n") == strings.Join(repl, "\n") || len(repl) == 0 && to-from == len(now) {
				continue
			}
			old := strings.Join(now[a:z], "\n")
			next := append(append(append([]string(nil), now[:from]...), repl...), now[to:]...)
			fresh := strings.Join(next[a:z+len(next)-len(now)], "\n")
			if z < len(now) || last != "" { // whole lines, so that lines can vanish
				old += "\n"
				if len(next[a:z+len(next)-len(now)]) > 0 {
					fresh += "\n"
				}
			} else if fresh == "" || to == len(now) && len(repl) == 0 {
				continue // removing the open last line closes the one before
			}
			calls = append(calls, one("", old, fresh))
			now = next
			at = from + len(repl)
			edits++
		}
		if len(calls) == 0 {
			continue
		}
		want := strings.Join(now, end) + last
		// The patch is made of whole difference, each hunk made unique.
		hunks.WriteString(hunksOf(t, lines, now))
		b.ok("multi_edit", "path", "multi", "edits", calls)
		if got := b.get("multi"); got != want {
			t.Fatalf("multi_edit round %d:\n%q\n%q", rounds, got, want)
		}
		if hunks.Len() == 0 {
			continue
		}
		b.ok("apply_patch", "patch", envelope("*** Update File: patch\n"+hunks.String()))
		if got := b.get("patch"); got != want {
			t.Fatalf("apply_patch round %d:\n%s\n%q\n%q", rounds, hunks.String(), got, want)
		}
	}
	t.Logf("%s in %s", text.Plural(edits, "edit"), text.Plural(rounds, "file"))
}

// hunksOf is the difference of two lists of lines as one hunk of a patch, with
// as much context as makes its lines unique.
func hunksOf(t *testing.T, old, now []string) string {
	t.Helper()
	a, b := whole(old), whole(now)
	u, err := udiff.ToUnifiedDiff("a", "b", a, udiff.Lines(a, b), len(old))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, h := range u.Hunks {
		out.WriteString("@@\n")
		for _, l := range h.Lines {
			out.WriteString(map[udiff.OpKind]string{udiff.Insert: "+", udiff.Delete: "-", udiff.Equal: " "}[l.Kind] + strings.TrimSuffix(l.Content, "\n") + "\n")
		}
	}
	return out.String()
}
