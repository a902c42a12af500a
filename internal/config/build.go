package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/openharness/oh"
)

// layer is one source of settings while it is added.
type layer struct {
	scope   Scope
	file    string
	claude  bool
	trusted bool
	text    bool // has lines
	flag    bool // single flags: a bad value is a mistake of usage
	root    *node

	ignored []string // keys that an untrusted folder may not set
	first   int      // line of the first of them
}

// builder adds layers, lowest first.
type builder struct {
	opt  Options
	out  *Loaded
	rows []row
	errs []error
}

func newBuilder(o Options, p Paths) *builder {
	b := &builder{opt: o, out: &Loaded{Paths: p, opt: o, Settings: defaults(), origins: map[string][]Origin{}}}
	b.rows = rows(&b.out.Settings)
	return b
}

// add applies a layer over those before it.
func (b *builder) add(l *layer) {
	bad := map[string]bool{}
	for i := range b.rows {
		r := &b.rows[i]
		n, key, block := l.value(r)
		if block != "" {
			if !bad[block] {
				bad[block] = true
				b.fault(l, block, n, "must be an object, not "+n.what())
			}
			continue
		}
		if n == nil {
			continue
		}
		if !l.trusted && !b.permitted(r, n) {
			l.ignore(key, n)
			continue
		}
		b.apply(l, r, key, n)
	}
	b.choice(l)
	b.slips(l)
	if len(l.ignored) > 0 {
		b.out.Warnings = append(b.out.Warnings, Warning{File: l.file, Line: l.first,
			Problem: "this folder is not trusted, so these settings are ignored: " + strings.Join(l.ignored, ", ")})
	}
}

// value finds a row's value in the layer, under our name or Claude's.
func (l *layer) value(r *row) (n *node, key, block string) {
	if !l.claude {
		if n, block = l.root.find(r.key); n != nil {
			return n, r.key, block
		}
	}
	if r.claude == "" || r.claude == r.key && !l.claude {
		return nil, "", ""
	}
	n, block = l.root.find(r.claude)
	return n, r.claude, block
}

func (l *layer) ignore(key string, n *node) {
	if len(l.ignored) == 0 || n.line < l.first {
		l.first = n.line
	}
	l.ignored = append(l.ignored, key)
}

func (l *layer) origin(n *node) Origin {
	if n.src != "" {
		return Origin{Scope: l.scope, File: n.src}
	}
	return Origin{Scope: l.scope, File: l.file, Line: n.line}
}

// fault records a bad value: an error where it must not be passed over.
func (b *builder) fault(l *layer, key string, n *node, problem string) {
	o := l.origin(n)
	if strict(key) || l.flag {
		b.errs = append(b.errs, &Error{File: o.File, Line: o.Line, Key: key, Problem: problem})
		return
	}
	b.out.Warnings = append(b.out.Warnings, Warning{File: o.File, Line: o.Line, Key: key, Problem: problem + "; it is ignored"})
}

func (b *builder) note(key string, o Origin) { b.out.origins[key] = []Origin{o} }

// permitted reports whether an untrusted folder may set this value.
func (b *builder) permitted(r *row, n *node) bool {
	if r.free != tightens {
		return r.free == always
	}
	switch p := r.ptr.(type) {
	case *oh.Mode:
		m, err := oh.ParseMode(n.text)
		return err != nil || m.Width() <= p.Width()
	case *bool:
		return *p == (n.kind == 't') || n.kind == 't'
	case *int:
		v, err := strconv.Atoi(string(n.lit))
		return err != nil || v <= *p
	}
	return false
}

// apply sets one value after checking it.
func (b *builder) apply(l *layer, r *row, key string, n *node) {
	if n.kind == '?' {
		b.fault(l, key, n, n.text)
		return
	}
	if r.read != nil {
		r.read(b, l, n)
		return
	}
	switch p := r.ptr.(type) {
	case *[]string:
		b.strings(l, r, key, n, p)
		return
	case *map[string]string, *map[string]bool:
		b.table(l, r, key, n)
		return
	}
	if _, secret := r.ptr.(*Secret); secret && !l.owned() {
		b.fault(l, key, n, keyInProject)
		return
	}
	problem, note := r.set(n)
	if problem != "" {
		b.fault(l, key, n, problem)
		return
	}
	o := l.origin(n)
	if note != "" {
		b.out.Warnings = append(b.out.Warnings, Warning{File: o.File, Line: o.Line, Key: key, Problem: note})
	}
	b.note(r.key, o)
}

// set checks a scalar and stores it. A problem means that nothing was stored;
// a note is to be told.
func (r *row) set(n *node) (problem, note string) {
	switch p := r.ptr.(type) {
	case *string:
		return r.setText(n, p), ""
	case *Secret:
		if n.kind != '"' {
			return "must be text, not " + n.what(), ""
		}
		*p = Secret{n.text}
	case *bool:
		if n.kind != 't' && n.kind != 'f' {
			return "must be true or false, not " + n.what(), ""
		}
		*p = n.kind == 't'
	case *int:
		v, problem, note := r.number(n, true)
		if problem == "" {
			*p = int(v)
		}
		return problem, note
	case *float64:
		v, problem, note := r.number(n, false)
		if problem == "" {
			*p = v
		}
		return problem, note
	case *oh.Mode:
		return r.setMode(n, p)
	default:
		return fmt.Sprintf("cannot be read into a %T", p), ""
	}
	return "", ""
}

func (r *row) setText(n *node, p *string) (problem string) {
	if n.kind != '"' {
		return "must be text, not " + n.what()
	}
	v := n.text
	if r.lower {
		v = strings.ToLower(v)
	}
	if len(r.enum) > 0 && v != "" && !slices.Contains(r.enum, v) {
		return fmt.Sprintf("%q is not one of %s", v, strings.Join(r.enum, ", "))
	}
	switch v {
	case "max":
		if r.key == "effort" {
			v = "xhigh"
		}
	case "openai_compat":
		v = "openai"
	}
	*p = v
	return ""
}

func (r *row) setMode(n *node, p *oh.Mode) (problem, note string) {
	if n.kind != '"' {
		return "must be the name of a mode, not " + n.what(), ""
	}
	if n.text == "delegate" {
		return "", "the mode delegate has no meaning here; it is ignored"
	}
	m, err := oh.ParseMode(n.text)
	if err != nil {
		return fmt.Sprintf("%q is not one of plan, dontAsk, default, acceptEdits, full_auto", n.text), ""
	}
	*p = m
	if n.text == "auto" {
		note = "the mode auto counts as acceptEdits"
	}
	return "", note
}

func (r *row) number(n *node, whole bool) (v float64, problem, note string) {
	want := "a number"
	if whole {
		want = "a whole number"
	}
	if n.kind != '0' {
		return 0, "must be " + want + ", not " + n.what(), ""
	}
	v, err := strconv.ParseFloat(string(n.lit), 64)
	if err != nil || math.IsInf(v, 0) || whole && (v != math.Trunc(v) || math.Abs(v) > 1<<53) {
		return 0, fmt.Sprintf("must be %s, not %s", want, n.lit), ""
	}
	if v < r.min {
		if r.clamp {
			return r.min, "", fmt.Sprintf("%s is too small; the least value %v counts", n.lit, r.min)
		}
		return 0, fmt.Sprintf("must be at least %v, not %s", r.min, n.lit), ""
	}
	if r.max > 0 && v > r.max {
		return 0, fmt.Sprintf("must be at most %v, not %s", r.max, n.lit), ""
	}
	return v, "", ""
}

// strings unites a list of texts, and records its rules.
func (b *builder) strings(l *layer, r *row, key string, n *node, p *[]string) {
	if n.kind != '[' {
		b.fault(l, key, n, "must be a list of texts, not "+n.what())
		return
	}
	for i, item := range n.items {
		text := strings.TrimSpace(item.text)
		if item.kind != '"' || text == "" {
			b.fault(l, fmt.Sprintf("%s[%d]", key, i), item, "must be text that is not empty, not "+item.what())
			continue
		}
		b.element(l, r, item, text, p)
	}
}

func (b *builder) element(l *layer, r *row, item *node, text string, p *[]string) {
	o := l.origin(item)
	if r.kind != "" {
		b.out.Rules = append(b.out.Rules, Rule{Text: text, Effect: r.effect, Kind: r.kind, Scope: l.scope, File: o.File, Line: o.Line})
	}
	if slices.Contains(*p, text) {
		return
	}
	for len(b.out.origins[r.key]) < len(*p) {
		b.out.origins[r.key] = append(b.out.origins[r.key], Origin{Scope: Default})
	}
	*p = append(*p, text)
	b.out.origins[r.key] = append(b.out.origins[r.key], o)
}

// table merges a map of texts or switches by name.
func (b *builder) table(l *layer, r *row, key string, n *node) {
	if n.kind != '{' {
		b.fault(l, key, n, "must be an object, not "+n.what())
		return
	}
	for _, name := range n.keys {
		v := n.kids[name]
		full := join(key, name)
		switch p := r.ptr.(type) {
		case *map[string]string:
			if v.kind != '"' {
				b.fault(l, full, v, "must be text, not "+v.what())
				continue
			}
			*p = put(*p, name, v.text)
		case *map[string]bool:
			if v.kind != 't' && v.kind != 'f' {
				b.fault(l, full, v, "must be true or false, not "+v.what())
				continue
			}
			*p = put(*p, name, v.kind == 't')
		}
		b.note(join(r.key, name), l.origin(v))
	}
}

func put[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

// what describes a value for a message, without showing it where it may be a
// secret.
func (n *node) what() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		if n.text == "" {
			return "an empty text"
		}
		return "a text"
	case 'n':
		return "null"
	}
	return string(n.lit)
}

// fromText makes a value for a key of text as people type it, in a variable or
// on a command line.
func (b *builder) fromText(key, text string) (*node, string) {
	for i := range b.rows {
		if r := &b.rows[i]; r.key == key {
			return r.fromText(text)
		}
	}
	return textNode(text), ""
}

func textNode(text string) *node {
	lit, err := oh.Marshal(text)
	if err != nil {
		lit = []byte(`""`)
	}
	return &node{kind: '"', text: text, lit: lit}
}

func (r *row) fromText(text string) (*node, string) {
	switch r.ptr.(type) {
	case *string, *Secret, *oh.Mode:
		return textNode(text), ""
	case *bool:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "1", "true", "yes", "on":
			return &node{kind: 't', lit: []byte("true")}, ""
		case "0", "false", "no", "off":
			return &node{kind: 'f', lit: []byte("false")}, ""
		}
		return nil, fmt.Sprintf("must be true or false, not %q", text)
	case *int, *float64:
		num := strings.TrimSpace(text)
		if !json.Valid([]byte(num)) || num[0] != '-' && (num[0] < '0' || num[0] > '9') {
			return nil, fmt.Sprintf("must be a number, not %q", text)
		}
		return &node{kind: '0', lit: []byte(num)}, ""
	}
	n, err := fromJSON([]byte(text), "")
	if err != nil {
		return nil, "must be JSON: " + err.Error()
	}
	return n, ""
}
