package permit

import "strings"

// word is one word of a command line. Text has quotes and backslashes taken
// away; expansions stay as written.
type word struct {
	text    string
	quoted  bool // some of it was in quotes
	dynamic bool // an expansion outside single quotes is in it
	globbed bool // a character of a glob outside quotes is in it
}

// simple is one simple command: its words, and the targets of its redirections.
type simple struct {
	raw   string // as written
	words []word
	files []word // sources of <
	sinks []word // targets of >
	body  string // of here documents and here strings
	heard bool   // another command gets what it prints
}

// budget bounds the bytes that one analysis scans, since what is in quotes and
// here documents may be scanned again as a command of its own.
type budget struct {
	left  int
	spent bool // something was left unscanned
}

func (b *budget) take(n int) bool {
	if b.left -= n; b.left < 0 {
		b.spent = true
		return false
	}
	return true
}

// scanner cuts a command line into simple commands. It knows quotes, comments,
// here documents and substitutions, and treats all else (keywords, groups,
// functions) as words or borders, so that it finds rather more commands than
// there are.
type scanner struct {
	src   string
	pos   int
	start int // of the simple command
	cur   simple
	out   []simple
	text  strings.Builder
	w     word
	in    bool   // within a word
	redir byte   // the next word belongs to this redirection: < or >, = for a here string, & for a number
	heres []here // whose bodies begin after the line
	line  int    // index in out of the first command of the line
	depth int
	room  *budget
}

type here struct {
	delim string
	plain bool // quoted delimiter: nothing in the body expands
	tabs  bool
}

const maxDepth = 8

// scan cuts src into simple commands, with those in substitutions after them.
func scan(src string, depth int, room *budget) []simple {
	if !room.take(len(src)) {
		return nil
	}
	s := &scanner{src: src, depth: depth, room: room}
	for s.pos < len(src) && !room.spent {
		s.step()
	}
	s.endCommand()
	return s.out
}

func (s *scanner) step() {
	c := s.src[s.pos]
	switch c {
	case '\\':
		if s.pos+1 < len(s.src) && s.src[s.pos+1] != '\n' {
			s.add(s.src[s.pos+1 : s.pos+2])
		}
		s.pos += 2
	case '\'':
		s.single()
	case '"':
		s.double()
	case '`', '$':
		s.dollar()
	case ' ', '\t', '\r':
		s.endWord()
		s.pos++
	case '#':
		if s.in {
			s.add("#")
			s.pos++
			return
		}
		if i := strings.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
			s.pos += i
		} else {
			s.pos = len(s.src)
		}
	case '\n':
		s.endCommand()
		s.pos++
		s.start = s.pos
		s.bodies()
	case ';', '&', '|', '(', ')':
		if rest := s.src[s.pos:]; c == '|' && !strings.HasPrefix(rest, "||") && !strings.HasSuffix(s.src[:s.pos], "|") {
			s.piped()
		}
		s.endCommand()
		s.pos++
		s.start = s.pos
	case '<', '>':
		s.redirect()
	default:
		if strings.IndexByte("*?[", c) >= 0 {
			s.w.globbed = true
		}
		s.add(s.src[s.pos : s.pos+1])
		s.pos++
	}
}

func (s *scanner) add(t string) {
	s.in = true
	s.text.WriteString(t)
}

func (s *scanner) single() {
	end := strings.IndexByte(s.src[s.pos+1:], '\'')
	if end < 0 {
		end = len(s.src) - s.pos - 1
	}
	s.add(s.src[s.pos+1 : s.pos+1+end])
	s.w.quoted = true
	s.pos = min(s.pos+end+2, len(s.src))
}

func (s *scanner) double() {
	s.add("")
	s.w.quoted = true
	s.pos++
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return
		case c == '\\' && s.pos+1 < len(s.src) && strings.IndexByte("$`\"\\", s.src[s.pos+1]) >= 0:
			s.add(s.src[s.pos+1 : s.pos+2])
			s.pos += 2
		case c == '$' || c == '`':
			s.dollar()
		default:
			s.add(s.src[s.pos : s.pos+1])
			s.pos++
		}
	}
}

// dollar takes an expansion as it is written and scans commands in it.
func (s *scanner) dollar() {
	rest := s.src[s.pos:]
	n, inner := expansion(rest)
	if strings.HasPrefix(rest, "$'") || strings.HasPrefix(rest, `$"`) {
		s.pos++
		return
	}
	s.add(rest[:n])
	s.w.dynamic = s.w.dynamic || n > 1
	s.pos += n
	s.nested(inner)
}

func (s *scanner) nested(src string) {
	if src == "" {
		return
	}
	if s.depth >= maxDepth {
		s.room.spent = true
		return
	}
	for _, c := range scan(src, s.depth+1, s.room) {
		c.heard = true
		s.out = append(s.out, c)
	}
}

// piped notes that what comes before is heard by what follows: the command, or
// the commands of the line so far when a group ends here.
func (s *scanner) piped() {
	s.cur.heard = true
	if s.in || len(s.cur.words) > 0 || !s.room.take(len(s.out)-min(s.line, len(s.out))) {
		return
	}
	for i := min(s.line, len(s.out)); i < len(s.out); i++ {
		s.out[i].heard = true
	}
}

// expansion measures $x, ${x}, $(x) or `x` at the head of s; inner is the
// command in it, if it holds one.
func expansion(s string) (n int, inner string) {
	if s[0] == '`' {
		if end := strings.IndexByte(s[1:], '`'); end >= 0 {
			return end + 2, s[1 : end+1]
		}
		return len(s), s[1:]
	}
	if len(s) < 2 {
		return 1, ""
	}
	switch s[1] {
	case '(':
		n := closing(s[1:], '(', ')') + 1
		return n, strings.TrimSuffix(s[2:n], ")")
	case '{':
		n := closing(s[1:], '{', '}') + 1
		return n, ""
	}
	n = 1
	for n < len(s) && (s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n]|32 >= 'a' && s[n]|32 <= 'z') {
		n++
	}
	if n == 1 && strings.IndexByte("@*#?$!-", s[1]) >= 0 {
		n = 2
	}
	return n, ""
}

// closing returns the length of the bracketed text at the head of s.
func closing(s string, open, end byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

func (s *scanner) endWord() {
	if !s.in {
		return
	}
	s.w.text = s.text.String()
	switch {
	case len(s.heres) > 0 && s.heres[len(s.heres)-1].delim == "":
		h := &s.heres[len(s.heres)-1]
		h.delim, h.plain = s.w.text, s.w.quoted
		if h.delim == "" {
			s.heres = s.heres[:len(s.heres)-1]
		}
	case s.redir == '&':
	case s.redir == '=':
		s.cur.body += s.w.text + "\n"
	case s.redir == '<':
		s.cur.files = append(s.cur.files, s.w)
	case s.redir == '>':
		s.cur.sinks = append(s.cur.sinks, s.w)
	default:
		s.cur.words = append(s.cur.words, s.w)
	}
	s.text.Reset()
	s.w, s.in, s.redir = word{}, false, 0
}

func (s *scanner) endCommand() {
	s.endWord()
	s.redir = 0
	if len(s.cur.words)+len(s.cur.files)+len(s.cur.sinks) == 0 {
		s.cur.heard = false
		return
	}
	s.cur.raw = strings.TrimSpace(s.src[min(s.start, s.pos):min(s.pos, len(s.src))])
	s.out = append(s.out, s.cur)
	s.cur = simple{}
}

func (s *scanner) redirect() {
	// A number right before belongs to the redirection.
	if s.in && strings.Trim(s.text.String(), "0123456789") == "" {
		s.text.Reset()
		s.w, s.in = word{}, false
	}
	s.endWord()
	rest := s.src[s.pos:]
	switch {
	case strings.HasPrefix(rest, "<<<"):
		s.pos += 3
		s.redir = '='
	case strings.HasPrefix(rest, "<<-"):
		s.pos += 3
		s.heres = append(s.heres, here{tabs: true})
	case strings.HasPrefix(rest, "<<"):
		s.pos += 2
		s.heres = append(s.heres, here{})
	case strings.HasPrefix(rest, "<(") || strings.HasPrefix(rest, ">("):
		n := closing(rest[1:], '(', ')') + 1
		s.nested(strings.TrimSuffix(rest[2:n], ")"))
		s.add(rest[:n])
		s.w.dynamic = true
		s.pos += n
	default:
		s.redir = rest[0]
		s.pos++
		for s.pos < len(s.src) && strings.IndexByte(">&|", s.src[s.pos]) >= 0 {
			switch s.src[s.pos] {
			case '>':
				s.redir = '>' // <> opens for writing too
			case '&':
				if s.pos+1 < len(s.src) && strings.IndexByte("0123456789-", s.src[s.pos+1]) >= 0 {
					s.redir = '&' // what follows is an open file's number
				}
			}
			s.pos++
		}
	}
}

// bodies takes the here documents that begin on this line.
func (s *scanner) bodies() {
	last := len(s.out)
	for _, h := range s.heres {
		var body strings.Builder
		for s.pos < len(s.src) {
			line, _, _ := strings.Cut(s.src[s.pos:], "\n")
			s.pos = min(s.pos+len(line)+1, len(s.src))
			if h.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == h.delim {
				break
			}
			body.WriteString(line + "\n")
		}
		// Any command of the line may get it, through a pipe.
		for i := s.line; i < last && s.room.take(body.Len()); i++ {
			s.out[i].body += body.String()
		}
		if !h.plain {
			s.substitutions(body.String())
		}
	}
	s.heres, s.line, s.start = nil, len(s.out), s.pos
}

// substitutions scans the commands that run inside text that expands.
func (s *scanner) substitutions(text string) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '$', '`':
			n, inner := expansion(text[i:])
			s.nested(inner)
			i += n - 1
		}
	}
}
