package file

import (
	"fmt"
	"strings"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

const (
	nearLines = 8      // lines shown of what comes nearest
	nearScan  = 20_000 // lines compared letter by letter
)

// nearest shows the lines of a file that are most like some others, which are called
// by name; numbered as read_file does; "" when nothing is like them.
func nearest(t, old lines, name string) string {
	at, same := alike(t.text, old.text)
	if same == 0 {
		if at = likest(t.text, old.text); at < 0 {
			return ""
		}
	}
	var b strings.Builder
	end := min(at+min(len(old.text), nearLines), len(t.text))
	for i := at; i < end; i++ {
		line, _ := workspace.DecodeLine([]byte(t.text[i]))
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, text.Cut(line, 200))
	}
	for i := range old.text {
		if same > 0 && at+i < len(t.text) && t.text[at+i] != old.text[i] {
			line, _ := workspace.DecodeLine([]byte(old.text[i]))
			fmt.Fprintf(&b, "Line %d of %s is the first that differs: %q", i+1, name, text.Cut(line, 200))
			break
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// alike returns the place where most lines equal those of old, white space
// around them aside, and how many do.
func alike(have, old []string) (at, same int) {
	where := map[string][]int{}
	for i, s := range old {
		if s = strings.TrimSpace(s); len(s) > 3 {
			where[s] = append(where[s], i)
		}
	}
	votes := map[int]int{}
	for i, s := range have {
		for _, j := range where[strings.TrimSpace(s)] {
			if i >= j {
				votes[i-j]++
			}
		}
	}
	for k, n := range votes {
		if n > same || n == same && k < at {
			at, same = k, n
		}
	}
	return at, same
}

// likest returns the line that shares most pairs of letters with the first
// telling line of old; -1 when none shares half of them.
func likest(have, old []string) int {
	first, skip := "", 0
	for i, s := range old {
		if s = strings.TrimSpace(s); len(s) > 2 {
			first, skip = text.Head(s, 400), i
			break
		}
	}
	if first == "" {
		return -1
	}
	want := pairs(first)
	best, at := 0.5, -1
	for i, s := range have[:min(len(have), nearScan)] {
		s = text.Head(strings.TrimSpace(s), 400)
		if len(s) < 3 || len(s) > 3*len(first) || len(first) > 3*len(s) {
			continue
		}
		got, both := pairs(s), 0
		for p, n := range got {
			both += min(n, want[p])
		}
		if score := 2 * float64(both) / float64(len(s)+len(first)-2); score > best {
			best, at = score, i
		}
	}
	if at < 0 {
		return -1
	}
	return max(0, at-skip)
}

func pairs(s string) map[[2]byte]int {
	m := map[[2]byte]int{}
	for i := range len(s) - 1 {
		m[[2]byte{s[i], s[i+1]}]++
	}
	return m
}
