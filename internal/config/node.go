package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxDepth bounds how deeply a settings file may nest.
const maxDepth = 64

// node is a JSON value that knows its line and, for values that come from no
// file, the name of its source.
type node struct {
	kind  hujson.Kind // n t f " 0 { [
	lit   []byte      // of a literal, as JSON
	text  string      // of a string
	keys  []string    // of an object, in order
	kids  map[string]*node
	items []*node
	line  int
	src   string // overrides the layer's file
}

// document is a parsed settings file.
type document struct {
	root  *node
	twice []*Warning // names that an object has more than once, without File
}

// parse reads JSON with comments and trailing commas. Nothing but white space
// is an empty object. The error is an *Error without File.
func parse(data []byte) (document, *Error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return document{root: &node{kind: '{'}}, nil
	}
	if i := invalid(data); i >= 0 {
		return document{}, &Error{Line: 1 + bytes.Count(data[:i], []byte("\n")), Problem: "the file is no UTF-8 text; save it as UTF-8"}
	}
	if line := tooDeep(data); line > 0 {
		return document{}, &Error{Line: line, Problem: fmt.Sprintf("objects and lists are nested more than %d deep", maxDepth)}
	}
	v, err := hujson.Parse(data)
	if err != nil {
		if _, bare := hujson.Parse(append(bytes.Clone(data), "\n{}"...)); bare == nil {
			return document{root: &node{kind: '{'}}, nil // nothing but comments
		}
		return document{}, parseError(data, err)
	}
	c := converter{data: data, line: 1}
	d := document{root: c.value(&v, "")}
	d.twice = c.twice
	if d.root.kind != '{' {
		return document{}, &Error{Line: d.root.line, Problem: "the settings must be a JSON object: { ... }"}
	}
	return d, nil
}

// invalid returns where data stops being UTF-8, or -1.
func invalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func parseError(data []byte, err error) *Error {
	e := &Error{Line: 1 + bytes.Count(bytes.TrimRight(data, " \t\r\n"), []byte("\n"))}
	problem := strings.TrimPrefix(err.Error(), "hujson: ")
	var line, column int
	if n, _ := fmt.Sscanf(problem, "line %d, column %d:", &line, &column); n == 2 {
		e.Line = line
		_, problem, _ = strings.Cut(problem, ": ")
		if strings.HasPrefix(problem, "invalid literal") {
			problem = "invalid literal" // what follows may be a key without its quotes
		}
		problem = fmt.Sprintf("%s (column %d)", problem, column)
	}
	e.Problem = "the file is no valid JSON (comments and trailing commas are allowed): " + problem
	return e
}

// tooDeep returns the line where the nesting passes maxDepth, or 0.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return 1 + bytes.Count(data[:i], []byte("\n"))
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(data, i)
		}
	}
	return 0
}

func skipComment(data []byte, i int) int {
	rest := data[i:]
	end := -1
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end = bytes.IndexByte(rest, '\n')
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			end += 3
		}
	default:
		return i
	}
	if end < 0 {
		return len(data)
	}
	return i + end
}

// converter makes nodes of a syntax tree, in the order of the file.
type converter struct {
	data  []byte
	at    int
	line  int
	twice []*Warning
}

func (c *converter) lineAt(offset int) int {
	if offset > c.at && offset <= len(c.data) {
		c.line += bytes.Count(c.data[c.at:offset], []byte("\n"))
		c.at = offset
	}
	return c.line
}

func (c *converter) value(v *hujson.Value, key string) *node {
	n := &node{kind: v.Value.Kind(), line: c.lineAt(v.StartOffset)}
	switch x := v.Value.(type) {
	case hujson.Literal:
		n.lit = []byte(x)
		if n.kind == '"' {
			n.text = x.String()
		}
	case *hujson.Array:
		for i := range x.Elements {
			n.items = append(n.items, c.value(&x.Elements[i], key))
		}
	case *hujson.Object:
		n.kids = make(map[string]*node, len(x.Members))
		for i := range x.Members {
			m := &x.Members[i]
			name := m.Name.Value.(hujson.Literal).String()
			full := join(key, name)
			line := c.lineAt(m.Name.StartOffset)
			kid := c.value(&m.Value, full)
			if n.kids[name] != nil {
				c.twice = append(c.twice, &Warning{Line: line, Key: full, Problem: "is there twice; this last one counts"})
				kid = keepTight(full, n.kids[name], kid)
			} else {
				n.keys = append(n.keys, name)
			}
			n.kids[name] = kid
		}
	}
	return n
}

// keepTight returns what counts when a name is there twice: the later value,
// but with the deny and ask rules of the earlier one, which no slip may lose.
func keepTight(key string, old, last *node) *node {
	top, _, _ := strings.Cut(key, ".")
	if top != "permission" && top != "permissions" || old.kind == 'n' {
		return last
	}
	if last.kind == 'n' {
		return old
	}
	if old.kind != last.kind {
		return last
	}
	if last.kind == '{' {
		for _, name := range old.keys {
			if last.kids[name] == nil {
				last.keys = append(last.keys, name)
				last.kids[name] = old.kids[name]
			} else {
				last.kids[name] = keepTight(join(key, name), old.kids[name], last.kids[name])
			}
		}
	}
	switch key {
	case "permission.denied_tools", "permission.denied_commands", "permission.path_rules", "permissions.deny", "permissions.ask":
		last.items = append(old.items, last.items...)
	}
	return last
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// fromValue makes a node of a Go value, by its JSON form.
func fromValue(v any, src string) (*node, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src, err)
	}
	return fromJSON(data, src)
}

func fromJSON(data []byte, src string) (*node, error) {
	if tooDeep(data) > 0 {
		return nil, fmt.Errorf("%s: the value is nested too deeply", src)
	}
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: the value is no valid JSON: %w", src, err)
	}
	c := converter{data: data, line: 1}
	n := c.value(&v, "")
	n.name(src)
	return n, nil
}

// name sets the source of a node and of all in it, without lines.
func (n *node) name(src string) {
	n.src, n.line = src, 0
	for _, k := range n.kids {
		k.name(src)
	}
	for _, i := range n.items {
		i.name(src)
	}
}

var errNotObject = errors.New("must be an object")

// put sets the value at a path of names, making objects on the way.
func (n *node) put(path []string, v *node) error {
	for i, name := range path {
		if n.kids == nil {
			n.kids = map[string]*node{}
		}
		kid := n.kids[name]
		if kid == nil {
			n.keys = append(n.keys, name)
		}
		if i == len(path)-1 {
			n.kids[name] = v
			return nil
		}
		if kid == nil {
			kid = &node{kind: '{', src: v.src}
			n.kids[name] = kid
		}
		if kid.kind != '{' {
			return errNotObject
		}
		n = kid
	}
	return nil
}

// find returns the value at a dotted key; nil when it is not there or null.
// When something on the way is no object, bad is its key and node the value.
func (n *node) find(key string) (found *node, bad string) {
	done := 0
	for {
		name, rest, more := strings.Cut(key[done:], ".")
		kid := n.kids[name]
		if kid == nil || kid.kind == 'n' {
			return nil, ""
		}
		if !more {
			return kid, ""
		}
		if kid.kind != '{' {
			return kid, key[:done+len(name)]
		}
		n, done = kid, len(key)-len(rest)
	}
}

// json returns the value as compact JSON.
func (n *node) json() []byte { return n.appendJSON(nil, false, false) }

// shown is json for people: secrets are hidden, and so is every text within
// env and headers.
func (n *node) shown() []byte { return n.appendJSON(nil, true, false) }

func (n *node) appendJSON(dst []byte, hide, all bool) []byte {
	switch n.kind {
	case '{':
		dst = append(dst, '{')
		for i, k := range n.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, hujson.String(k)...), ':')
			kid := n.kids[k]
			if hide && kid.kind == '"' && kid.text != "" && (all || SecretName(k)) {
				dst = append(dst, `"`+hidden+`"`...)
				continue
			}
			if shown := hideText(k, kid.text); hide && kid.kind == '"' && shown != kid.text {
				dst = append(dst, hujson.String(shown)...)
				continue
			}
			dst = kid.appendJSON(dst, hide, hide && (all || k == "env" || k == "headers"))
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, k := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if shown := hideText("", k.text); hide && k.kind == '"' && shown != k.text {
				dst = append(dst, hujson.String(shown)...)
				continue
			}
			dst = k.appendJSON(dst, hide, all)
		}
		return append(dst, ']')
	}
	return append(dst, n.lit...)
}
