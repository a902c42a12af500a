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
	size int       // instructions of the compiled pattern
	must []literal // one of these is in every match; none: not known
	pure bool      // the only literal is all of the pattern
	raw  bool      // it names a carriage return, so that line ends keep theirs
	edge bool      // it looks at what is around a match: ^, $, \b
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
	tree = tree.Simplify()
	prog, err := syntax.Compile(tree)
	if err != nil {
		return nil, badPattern(pattern, err)
	}
	m := &matcher{re: re, size: len(prog.Inst), raw: has(tree, namesReturn), edge: has(tree, isEdge)}
	m.must, m.pure = required(tree)
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

// has reports whether a part of a pattern is such.
func has(re *syntax.Regexp, such func(*syntax.Regexp) bool) bool {
	return such(re) || slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return has(s, such) })
}

// namesReturn tells a carriage return that is asked for from a class such as \s
// that only includes it.
func namesReturn(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\r')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] == '\r' && re.Rune[i+1] == '\r' {
				return true
			}
		}
	}
	return false
}

func isEdge(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return false
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
