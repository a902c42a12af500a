package search

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// matcher finds a pattern in text. It is safe for concurrent use.
type matcher struct {
	re   *regexp.Regexp
	must []literal // one of these is in every match; none: not known
	pure bool      // the only literal is all of the pattern
}

// newMatcher compiles a pattern for searching line by line, or across lines.
func newMatcher(pattern string, plain, ignoreCase, multiline bool) (*matcher, error) {
	expr := pattern
	if plain {
		expr = regexp.QuoteMeta(pattern)
	}
	flags := "m"
	if ignoreCase {
		flags += "i"
	}
	if multiline {
		flags += "s"
	}
	expr = "(?" + flags + ")" + "(?:" + expr + ")"
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, badPattern(pattern, err)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, badPattern(pattern, err)
	}
	m := &matcher{re: re}
	m.must, m.pure = required(tree.Simplify())
	if !multiline {
		// A match of one line never holds a line break.
		for _, l := range m.must {
			if bytes.IndexByte(l.text, '\n') >= 0 {
				return nil, fmt.Errorf("invalid pattern %q: it holds a line break, which only multiline finds", pattern)
			}
		}
	}
	return m, nil
}

// badPattern words a syntax error for the model.
func badPattern(pattern string, err error) error {
	msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	hint := "set literal to search for plain text"
	for _, s := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if strings.Contains(pattern, s) {
			hint = "RE2 syntax has no lookahead or lookbehind; search for less and look through the results"
		}
	}
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '\\' {
			if c := pattern[i+1]; c >= '1' && c <= '9' {
				hint = "RE2 syntax has no backreferences"
			}
			i++
		}
	}
	return fmt.Errorf("invalid pattern %q: %s (%s)", pattern, msg, hint)
}

const maxLiterals = 8

// required returns literals of which each match holds one, and whether that
// literal is all of the pattern; none when there is no telling set.
func required(re *syntax.Regexp) (lits []literal, pure bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return literals(re)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		lits, _ = required(re.Sub[0])
		return lits, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			lits, _ = required(re.Sub[0])
		}
		return lits, false
	case syntax.OpConcat:
		for _, s := range joined(re.Sub) {
			if got, _ := required(s); better(got, lits) {
				lits = got
			}
		}
		return lits, false
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			got, _ := required(s)
			if len(got) == 0 || len(lits)+len(got) > maxLiterals {
				return nil, false
			}
			lits = append(lits, got...)
		}
		return lits, false
	}
	return nil, false
}

// joined puts literals that follow each other together, as in e{2}d.
func joined(subs []*syntax.Regexp) []*syntax.Regexp {
	var out []*syntax.Regexp
	for _, s := range subs {
		if s.Op == syntax.OpConcat {
			out = append(out, joined(s.Sub)...)
			continue
		}
		if n := len(out); n > 0 && s.Op == syntax.OpLiteral && out[n-1].Op == syntax.OpLiteral &&
			(s.Flags^out[n-1].Flags)&syntax.FoldCase == 0 {
			last := *out[n-1]
			last.Rune = slices.Concat(last.Rune, s.Rune)
			out[n-1] = &last
			continue
		}
		out = append(out, s)
	}
	return out
}

func literals(re *syntax.Regexp) ([]literal, bool) {
	if re.Flags&syntax.FoldCase == 0 {
		s := string(re.Rune)
		if strings.ContainsRune(s, utf8.RuneError) {
			return nil, false // also stands for a byte that is no UTF-8
		}
		return []literal{newLiteral(s, false)}, true
	}
	// k and s have twins beyond ASCII (the Kelvin sign, the long s), other
	// characters fold in ways that bytes do not show: the longest run without
	// them is what must be there.
	best, run := "", ""
	for _, r := range re.Rune {
		c := r
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= utf8.RuneSelf || c == 'k' || c == 's' {
			run = ""
			continue
		}
		run += string(c)
		if len(run) > len(best) {
			best = run
		}
	}
	if best == "" {
		return nil, false
	}
	return []literal{newLiteral(best, true)}, len(best) == len(re.Rune)
}

// better prefers the set whose shortest literal is longest.
func better(a, b []literal) bool {
	return len(a) > 0 && (len(b) == 0 || shortest(a) > shortest(b))
}

func shortest(list []literal) int {
	n := len(list[0].text)
	for _, l := range list {
		n = min(n, len(l.text))
	}
	return n
}

// lineFinder goes through a text for the lines that match.
type lineFinder struct {
	m    *matcher
	b    []byte
	next []int // per literal, where it is next; -1: not any more
}

// lines returns a finder for b.
func (m *matcher) lines(b []byte) *lineFinder {
	f := &lineFinder{m: m, b: b, next: make([]int, len(m.must))}
	for i := range f.next {
		f.next[i] = -2
	}
	return f
}

// find returns the first line at or after at, which is the beginning of a
// line, that matches; ok is false when there is none.
func (f *lineFinder) find(at int) (start, end int, ok bool) {
	for at < len(f.b) {
		hit := at
		if len(f.m.must) > 0 {
			if hit = f.candidate(at); hit < 0 {
				return 0, 0, false
			}
		}
		start = bytes.LastIndexByte(f.b[at:hit], '\n') + 1 + at
		end = len(f.b)
		if i := bytes.IndexByte(f.b[hit:], '\n'); i >= 0 {
			end = hit + i
		}
		if f.m.pure || f.m.re.Match(bytes.TrimSuffix(f.b[start:end], []byte{'\r'})) {
			return start, end, true
		}
		at = end + 1
	}
	return 0, 0, false
}

// candidate returns where the next literal is.
func (f *lineFinder) candidate(at int) int {
	best := -1
	for i := range f.m.must {
		if f.next[i] != -1 && f.next[i] < at {
			f.next[i] = f.m.must[i].index(f.b[at:])
			if f.next[i] >= 0 {
				f.next[i] += at
			}
		}
		if n := f.next[i]; n >= 0 && (best < 0 || n < best) {
			best = n
		}
	}
	return best
}
