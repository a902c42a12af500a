// Package text cuts and cleans text that goes to a model or a person. It knows
// nothing of messages and does no I/O of its own. What it returns is valid
// UTF-8 and never cut inside a character.
package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Head returns the first n code points of s.
func Head(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Tail returns the last n code points of s.
func Tail(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// Cut returns s if it has at most n code points, else its head with an
// ellipsis, n code points in all.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return Head(s, n-1) + "…"
}

// OneLine returns s with each run of white space as one space, cut to n code
// points.
func OneLine(s string, n int) string {
	return Cut(strings.Join(strings.Fields(s), " "), n)
}

// Plural returns "1 file" or "7 files".
func Plural(n int, unit string) string {
	switch {
	case n == 1:
		return "1 " + unit
	case strings.HasSuffix(unit, "ch"):
		unit += "es"
	default:
		unit += "s"
	}
	return Number(n) + " " + unit
}

// Number writes n with a comma between thousands.
func Number(n int) string {
	if n < 0 {
		return "-" + Number(-n)
	}
	digits := []byte{}
	for i := 0; ; i++ {
		if i > 0 && i%3 == 0 {
			digits = append(digits, ',')
		}
		digits = append(digits, byte('0'+n%10))
		if n /= 10; n == 0 {
			break
		}
	}
	for i, j := 0, len(digits)-1; i < j; i, j = i+1, j-1 {
		digits[i], digits[j] = digits[j], digits[i]
	}
	return string(digits)
}

// Nearest returns the candidate with the smallest edit distance to name, the
// first by alphabet among equals, or "" when all are too far to be meant.
func Nearest(name string, candidates []string) string {
	best, at := "", 1+max(1, min(3, len(name)/2))
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := Distance(name, c); d < at {
			best, at = c, d
		}
	}
	return best
}

// Distance is the number of bytes to insert, delete or replace to get from a to
// b. Long texts, above 200 bytes, are not compared and as far apart as can be.
func Distance(a, b string) int {
	if len(a) > 200 || len(b) > 200 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
