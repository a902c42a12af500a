// Package scan finds what a source file declares by the look of its lines: a
// stand-in where there is no language server.
//
// It knows common languages by a table of patterns. It is fast, needs nothing
// and is never exact: declarations inside of comments and strings are found
// too, those that span lines or are unusually laid out are not.
package scan

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Symbol is something that a file declares.
type Symbol struct {
	Kind   string // function, method, class, ...
	Name   string // with what it lies in: Type.Method
	Line   int    // from 1
	Column int    // of the name, in characters from 1
	Text   string // the line
}

const (
	maxLine  = 2000 // bytes; longer lines are generated
	tabWidth = 8
)

// language is one row of the table, ready for use.
type language struct {
	name  string
	exts  []string
	rules func() []rule
}

// rule finds one kind of declaration. Its pattern has a group name, and may
// have a group in for what it lies in.
type rule struct {
	kind     string
	re       *regexp.Regexp
	name, in int
}

// holds reports whether what is declared further in lies in this.
func (r rule) holds() bool {
	switch r.kind {
	case "class", "struct", "interface", "trait", "module", "namespace", "enum", "object", "protocol", "extension", "impl", "union":
		return true
	}
	return false
}

// languages is built once, and each language's patterns when it is first met.
var languages = sync.OnceValue(func() map[string]*language {
	out := map[string]*language{}
	for _, row := range table() {
		l := &language{name: row.name, exts: strings.Fields(row.exts)}
		l.rules = sync.OnceValue(func() []rule { return compile(row.rules) })
		for _, ext := range l.exts {
			out[ext] = l
		}
	}
	return out
})

func compile(patterns []pattern) []rule {
	out := make([]rule, 0, len(patterns))
	for _, p := range patterns {
		re := regexp.MustCompile(p.expr)
		out = append(out, rule{p.kind, re, re.SubexpIndex("name"), re.SubexpIndex("in")})
	}
	return out
}

// Language names the language of a file by its extension, "" when it is not
// known.
func Language(path string) string {
	if l := languages()[strings.ToLower(filepath.Ext(path))]; l != nil {
		return l.name
	}
	return ""
}

// box is a declaration that holds others further in.
type box struct {
	name   string
	indent int
}

// Symbols returns what a file declares, in the order of its lines; false when
// the language is not known.
func Symbols(path, content string) ([]Symbol, bool) {
	l := languages()[strings.ToLower(filepath.Ext(path))]
	if l == nil {
		return nil, false
	}
	rules := l.rules()
	var out []Symbol
	var boxes []box
	n := 0
	for line := range strings.SplitSeq(content, "\n") {
		n++
		line = strings.TrimSuffix(line, "\r")
		depth := indent(line)
		if depth < 0 || len(line) > maxLine {
			continue
		}
		for len(boxes) > 0 && boxes[len(boxes)-1].indent >= depth && !continues(line) {
			boxes = boxes[:len(boxes)-1]
		}
		s, r, ok := match(rules, line)
		if !ok {
			continue
		}
		if s.Name = qualified(s, boxes); r.holds() {
			boxes = append(boxes, box{s.Name, depth})
		}
		if r.kind == "impl" {
			continue // it declares nothing itself
		}
		s.Line, s.Text = n, line
		out = append(out, s.Symbol)
	}
	return out, true
}

type matched struct {
	Symbol
	in string
}

// match finds the first rule that a line fits.
func match(rules []rule, line string) (matched, rule, bool) {
	for _, r := range rules {
		m := r.re.FindStringSubmatchIndex(line)
		if m == nil || m[2*r.name] < 0 {
			continue
		}
		start, end := m[2*r.name], m[2*r.name+1]
		name := line[start:end]
		if control(name) || control(firstWord(line)) {
			continue // a statement that looks like a declaration
		}
		s := matched{Symbol: Symbol{Kind: r.kind, Name: name, Column: utf8.RuneCountInString(line[:start]) + 1}}
		if r.in >= 0 && m[2*r.in] >= 0 {
			s.in = line[m[2*r.in]:m[2*r.in+1]]
		}
		return s, r, true
	}
	return matched{}, rule{}, false
}

// firstWord is the word that a line begins with.
func firstWord(line string) string {
	line = strings.TrimLeft(line, " \t}")
	end := strings.IndexFunc(line, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(line)
	}
	return line[:end]
}

// control reports whether a word begins a statement in most languages.
func control(word string) bool {
	switch word {
	case "if", "else", "elif", "for", "foreach", "while", "do", "switch", "case", "return", "throw", "catch", "try", "await", "yield", "goto", "sizeof", "assert", "raise":
		return true
	}
	return false
}

func qualified(s matched, boxes []box) string {
	switch {
	case s.in != "":
		return s.in + "." + s.Name
	case len(boxes) > 0:
		return boxes[len(boxes)-1].name + "." + s.Name
	}
	return s.Name
}

// indent is the width of a line's indentation, -1 for a blank line.
func indent(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += tabWidth - n%tabWidth
		default:
			return n
		}
	}
	return -1
}

// continues reports whether a line goes on with the declaration above it rather
// than ending what that holds: an opening brace or bracket on its own, or the
// end of a list of parameters.
func continues(line string) bool {
	s := strings.TrimSpace(line)
	return s == "{" || strings.HasPrefix(s, ")") || strings.HasPrefix(s, "#")
}

// Keyword reports whether a word belongs to a common language rather than to a
// program.
func Keyword(word string) bool {
	switch word {
	case "abstract", "as", "async", "auto", "await", "bool", "break", "byte", "case", "catch", "char", "class", "const", "continue",
		"def", "default", "defer", "defp", "del", "delete", "do", "double", "elif", "else", "elsif", "end", "enum", "except", "export",
		"extends", "extern", "final", "finally", "float", "fn", "for", "foreach", "from", "fun", "func", "function", "go", "goto", "if",
		"impl", "implements", "import", "in", "inline", "int", "interface", "internal", "is", "lambda", "let", "local", "long", "match",
		"mod", "module", "mut", "namespace", "new", "not", "null", "or", "and", "override", "package", "pass", "private", "protected",
		"pub", "public", "raise", "range", "readonly", "return", "select", "self", "short", "signed", "sizeof", "static", "struct",
		"super", "switch", "synchronized", "template", "then", "this", "throw", "trait", "try", "type", "typedef", "typename", "union",
		"unless", "unsafe", "unsigned", "until", "use", "using", "val", "var", "virtual", "void", "volatile", "when", "where", "while",
		"with", "yield":
		return true
	}
	return false
}
