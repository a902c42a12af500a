package prompt

import "strings"

// imports lists the references that a Markdown text imports with @path: at the
// beginning of a word, outside of code spans and fenced code. In a path, "\ "
// stands for a space. A span ends on its line.
func imports(s string) []string {
	var refs []string
	var f fence
	for line := range strings.Lines(s) {
		if f.inside(line) {
			continue
		}
		refs = append(refs, importsOf(line)...)
	}
	return refs
}

// fence follows fenced code blocks; the zero value is outside of one.
type fence struct {
	mark string // what opened the block, "" outside
}

// inside reports whether a line is part of a fenced block, its fences
// included.
func (f *fence) inside(line string) bool {
	line = strings.TrimSpace(line)
	mark, rest := run(line)
	if f.mark != "" {
		if len(mark) >= len(f.mark) && mark[0] == f.mark[0] && rest == "" {
			f.mark = ""
		}
		return true
	}
	if len(mark) < 3 || mark[0] == '`' && strings.Contains(rest, "`") {
		return false
	}
	f.mark = mark
	return true
}

// run splits off the backticks or tildes that a line begins with.
func run(line string) (mark, rest string) {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return "", line
	}
	rest = strings.TrimLeft(line, line[:1])
	return line[:len(line)-len(rest)], rest
}

func importsOf(line string) []string {
	var refs []string
	before := byte(' ')
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == '`':
			n := spanEnd(line[i:])
			i += n
			before = '`'
			continue
		case c == '@' && isSpace(before):
			ref, n := word(line[i+1:])
			if ref != "" && ref[0] != '@' {
				refs = append(refs, ref)
			}
			i += 1 + n
			before = 'x'
			continue
		}
		before = c
		i++
	}
	return refs
}

// spanEnd is the length of the code span that s begins with, or of its
// backticks alone when nothing closes it.
func spanEnd(s string) int {
	open := len(s) - len(strings.TrimLeft(s, "`"))
	for i := open; i < len(s); {
		at := strings.IndexByte(s[i:], '`')
		if at < 0 {
			break
		}
		i += at
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		i += n
		if n == open {
			return i
		}
	}
	return open
}

// word reads up to white space and returns how many bytes that took.
func word(s string) (string, int) {
	var b strings.Builder
	i := 0
	for ; i < len(s) && !isSpace(s[i]) && s[i] != '`'; i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] == ' ' {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
