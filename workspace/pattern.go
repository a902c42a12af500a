package workspace

import "strings"

// pattern is one line of an ignore file.
type pattern struct {
	negate   bool
	dirOnly  bool
	anchored bool // matched against the path below the file's folder, not the name alone
	fold     bool // ASCII letters match in either case

	// kind picks the cheapest way to match; text is what it needs.
	kind patternKind
	text string
	segs []string // of a path pattern
}

type patternKind int

const (
	exact  patternKind = iota // the name is text
	suffix                    // the name ends with text: *.o
	glob                      // the name matches the wildcards of text
	path                      // the path matches segs
)

// parsePattern reads one line of an ignore file; false when it holds no
// pattern.
func parsePattern(line string, ignoreCase bool) (pattern, bool) {
	p := pattern{fold: ignoreCase}
	line = trimLine(line)
	if line == "" || line[0] == '#' {
		return p, false
	}
	if line[0] == '!' {
		p.negate = true
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly = true
		line = line[:len(line)-1]
	}
	if line == "" {
		return p, false
	}
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if p.fold {
		line = lower(line)
	}
	switch {
	case p.anchored:
		p.kind = path
		p.segs = splitPattern(line)
	case !strings.ContainsAny(line, `*?[\`):
		p.kind = exact
		p.text = line
	case line[0] == '*' && !strings.ContainsAny(line[1:], `*?[\`):
		p.kind = suffix
		p.text = line[1:]
	default:
		p.kind = glob
		p.text = line
	}
	return p, true
}

// trimLine drops the line's end and trailing spaces that are not escaped.
func trimLine(line string) string {
	line = strings.TrimSuffix(line, "\n")
	line = strings.TrimSuffix(line, "\r")
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i+1 < len(line) {
				i++
			}
		}
		end = i + 1
	}
	return line[:end]
}

// splitPattern cuts a pattern at its slashes, but not inside brackets.
func splitPattern(s string) []string {
	var segs []string
	start := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case '\\':
			i += 2
			continue
		case '[':
			if end := classEnd(s, i); end > 0 {
				i = end
				continue
			}
		case '/':
			segs = append(segs, s[start:i])
			start = i + 1
		}
		i++
	}
	return append(segs, s[start:])
}

// match reports whether the pattern names an entry: rel is its path below the
// folder of the ignore file, name its last part. Both are in lower case when
// the pattern folds.
func (p *pattern) match(rel, name string, dir bool) bool {
	if p.dirOnly && !dir {
		return false
	}
	switch p.kind {
	case exact:
		return name == p.text
	case suffix:
		return strings.HasSuffix(name, p.text)
	case glob:
		return wild(p.text, name)
	}
	return matchPath(p.segs, rel)
}

// matchPath matches a slash-separated path. A segment ** stands for any number
// of parts, at the end for at least one.
func matchPath(segs []string, rel string) bool {
	star, starRel := -1, ""
	i := 0
	for {
		if i < len(segs) && segs[i] == "**" {
			if i == len(segs)-1 {
				return rel != ""
			}
			star, starRel = i, rel
			i++
			continue
		}
		if rel == "" && i == len(segs) {
			return true
		}
		if rel != "" && i < len(segs) {
			part, rest, _ := strings.Cut(rel, "/")
			if wild(segs[i], part) {
				i++
				rel = rest
				continue
			}
		}
		if star < 0 || starRel == "" {
			return false
		}
		_, starRel, _ = strings.Cut(starRel, "/")
		i, rel = star+1, starRel
	}
}

// wild matches one part of a path, byte by byte as git does: * ? [...] and
// backslash. A broken pattern matches nothing.
func wild(pat, s string) bool {
	i, j := 0, 0
	star, mark := -1, 0
	for j < len(s) || i < len(pat) {
		if i < len(pat) && pat[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if i < len(pat) && j < len(s) {
			if n, ok := wildByte(pat[i:], s[j]); ok {
				i += n
				j++
				continue
			} else if n < 0 {
				return false
			}
		}
		if star < 0 || mark >= len(s) {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	return true
}

// wildByte matches the first element of pat with one byte. n is the element's
// length, -1 when the pattern is broken.
func wildByte(pat string, c byte) (n int, ok bool) {
	switch pat[0] {
	case '?':
		return 1, true
	case '\\':
		if len(pat) == 1 {
			return -1, false
		}
		return 2, pat[1] == c
	case '[':
		end := classEnd(pat, 0)
		if end < 0 {
			return -1, false
		}
		return end, inClass(pat[1:end-1], c)
	}
	return 1, pat[0] == c
}

// classEnd returns the index after the bracket expression that begins at
// s[at], or -1 when it does not end.
func classEnd(s string, at int) int {
	i := at + 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := true; i < len(s); first = false {
		switch {
		case s[i] == ']' && !first:
			return i + 1
		case s[i] == '\\':
			i++
		case s[i] == '[' && i+1 < len(s) && s[i+1] == ':':
			if end := strings.Index(s[i+2:], ":]"); end >= 0 {
				i += 2 + end + 1
			}
		}
		i++
	}
	return -1
}

// inClass reports whether c is in a bracket expression, given without its
// brackets. A slash is in none.
func inClass(set string, c byte) bool {
	not := false
	if set != "" && (set[0] == '!' || set[0] == '^') {
		not = true
		set = set[1:]
	}
	in := false
	for i := 0; i < len(set); {
		if strings.HasPrefix(set[i:], "[:") {
			if end := strings.Index(set[i+2:], ":]"); end >= 0 {
				in = in || inNamed(set[i+2:i+2+end], c)
				i += end + 4
				continue
			}
		}
		lo, n := classByte(set[i:])
		i += n
		hi := lo
		if i+1 < len(set) && set[i] == '-' {
			hi, n = classByte(set[i+1:])
			i += 1 + n
		}
		in = in || lo <= c && c <= hi
	}
	return in != not && c != '/'
}

func classByte(s string) (c byte, n int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}

// inNamed reports whether c is in a POSIX class of ASCII.
func inNamed(name string, c byte) bool {
	upper := c >= 'A' && c <= 'Z'
	low := c >= 'a' && c <= 'z'
	digit := c >= '0' && c <= '9'
	switch name {
	case "alnum":
		return upper || low || digit
	case "alpha":
		return upper || low
	case "blank":
		return c == ' ' || c == '\t'
	case "cntrl":
		return c < 32 || c == 127
	case "digit":
		return digit
	case "graph":
		return c > 32 && c < 127
	case "lower":
		return low
	case "print":
		return c >= 32 && c < 127
	case "punct":
		return c > 32 && c < 127 && !upper && !low && !digit
	case "space":
		return c == ' ' || c >= 9 && c <= 13
	case "upper":
		return upper
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
	return false
}

// lower folds ASCII letters only, as git does.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] >= 'A' && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
