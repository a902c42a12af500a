package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openharness/oh/workspace"
)

// source is the content of a file as servers see it: UTF-8 text without a byte
// order mark.
type source struct {
	text    string
	charset workspace.Charset
	starts  []int // offsets of the lines; there is at least one
}

// newSource decodes a file; false when it is no text.
func newSource(data []byte) (*source, bool) {
	s := &source{charset: workspace.Sniff(data, true)}
	switch s.charset {
	case workspace.Binary:
		return nil, false
	case workspace.UTF16LE, workspace.UTF16BE:
		text, ok := workspace.DecodeUTF16(data, s.charset)
		if !ok {
			return nil, false
		}
		s.text = text
	case workspace.CP1252:
		s.text, _ = workspace.DecodeLine(data)
	default:
		s.text = string(data[len(s.charset.Mark()):])
	}
	s.starts = lineStarts(s.text)
	return s, true
}

// encode returns text in the form of the file; false when the form lacks a
// character.
func (s *source) encode(text string) ([]byte, bool) {
	body := []byte(text)
	switch s.charset {
	case workspace.UTF16LE, workspace.UTF16BE, workspace.CP1252:
		var ok bool
		if body, ok = s.charset.Encode(text); !ok {
			return nil, false
		}
	}
	return append(append([]byte(nil), s.charset.Mark()...), body...), true
}

// lineStarts finds the lines: they end with LF, CR LF or CR.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n', text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			starts = append(starts, i+1)
		}
	}
	return starts
}

// line returns a line, from 0, without its end; "" when there is none.
func (s *source) line(n int) string {
	if n < 0 || n >= len(s.starts) {
		return ""
	}
	end := len(s.text)
	if n+1 < len(s.starts) {
		end = s.starts[n+1]
	}
	return strings.TrimRight(s.text[s.starts[n]:end], "\r\n")
}

// offset returns the byte offset of a position. One beyond the end of its line
// is at the end, as the protocol wants; false when there is no such line.
func (s *source) offset(p position) (int, bool) {
	if p.Line < 0 || p.Character < 0 || p.Line > len(s.starts) {
		return 0, false
	}
	if p.Line == len(s.starts) { // the end of the text, as some servers name it
		return len(s.text), p.Character == 0
	}
	return s.starts[p.Line] + byteAt(s.line(p.Line), p.Character), true
}

// byteAt turns a column in UTF-16 units into a byte offset.
func byteAt(line string, units int) int {
	n := 0
	for i, r := range line {
		if n >= units {
			return i
		}
		n += unitsOf(r)
	}
	return len(line)
}

// unitsOf is how many UTF-16 units a character takes. A byte that is no UTF-8
// reaches the server as U+FFFD, which is one.
func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// unitsIn counts the UTF-16 units of a piece of a line.
func unitsIn(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

// at returns the position of a byte offset within a line.
func (s *source) at(line, offset int) position {
	return position{line, unitsIn(s.line(line)[:offset])}
}

// column is the place in its line of a position, in characters from 1.
func (s *source) column(p position) int {
	line := s.line(p.Line)
	return utf8.RuneCountInString(line[:byteAt(line, p.Character)]) + 1
}

// fromColumn turns a line and column as people count them into a position.
func (s *source) fromColumn(line, column int) position {
	text := s.line(line - 1)
	n, at := 1, len(text)
	for i := range text {
		if n == column {
			at = i
			break
		}
		n++
	}
	return s.at(line-1, at)
}

// wordAt returns the identifier that holds a position or ends there.
func (s *source) wordAt(p position) string {
	line := s.line(p.Line)
	at := byteAt(line, p.Character)
	start, end := at, at
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(line[:start])
		if !wordRune(r) {
			break
		}
		start -= n
	}
	for end < len(line) {
		r, n := utf8.DecodeRuneInString(line[end:])
		if !wordRune(r) {
			break
		}
		end += n
	}
	return line[start:end]
}

func wordRune(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// findWord finds a whole word in a line at or after a byte offset, -1 when it
// is not there.
func findWord(line, word string, from int) int {
	if word == "" {
		return -1
	}
	for from <= len(line) {
		i := strings.Index(line[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(line[:i])
		after, _ := utf8.DecodeRuneInString(line[i+len(word):])
		if (i == 0 || !wordRune(before)) && (i+len(word) == len(line) || !wordRune(after)) {
			return i
		}
		from = i + len(word)
	}
	return -1
}

// toURI returns the file URI of an absolute path.
func toURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/x is /C:/x
	}
	u := url.URL{Scheme: "file", Path: path}
	return u.String()
}

// fromURI returns the path of a file URI; false when it is none (some servers
// invent documents that lie in no file).
func fromURI(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
		if len(path) > 1 && path[1] == ':' { // the case of the letter differs between servers
			path = strings.ToUpper(path[:1]) + path[1:]
		}
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", false
	}
	return filepath.Clean(path), true
}
