package shell

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed command.txt
var commandText string

//go:embed wrapper.txt
var wrapperText string

//go:embed variable.txt
var variableText string

// option is what follows an option: 0 nothing, = text, & text in two words, @ a
// path that is read, > one that is written.
type option struct {
	kind  byte
	stand bool // takes the place of an operand
}

// operand is one place among the operands: t text, r read, w written, p read if
// it leads elsewhere, + text with a plus.
type operand struct {
	kind byte
	star bool
}

// row is a line of the tables.
type row struct {
	kind     string // of a command r, w, u; of a wrapper through, ask, away
	dashed   bool   // one dash begins a long option
	wraps    bool   // a wrapper
	line     bool   // one that joins its words
	any      bool   // options that are not listed are harmless
	options  map[string]option
	bad      []string
	operands []operand
	here     bool // the directory is read when no path is named
	there    bool // the directory is written
	stood    bool // the directory is written with an option that stands in
	before   int  // words of a wrapper before its command
	files    bool // and these are written
}

// tables are the data files, read when they are first needed.
type tables struct {
	commands, wrappers map[string]*row
	longest            int             // words in a name
	families           map[string]bool // commands that have subcommands
	variables          []string
}

var data = sync.OnceValue(func() *tables {
	t := &tables{commands: map[string]*row{}, wrappers: map[string]*row{}, families: map[string]bool{}}
	t.read(commandText, func(name string, cells []string) {
		r := parseRow(cells)
		r.parseOperands(cells[2])
		t.commands[name] = r
	})
	t.read(wrapperText, func(name string, cells []string) {
		r := parseRow(cells)
		r.wraps = true
		r.line = strings.Contains(r.kind, "line")
		r.files = strings.Contains(r.kind, "file")
		r.kind, _, _ = strings.Cut(r.kind, " ")
		for _, c := range cells[2] {
			r.before = r.before*10 + int(c-'0')
		}
		t.wrappers[name] = r
	})
	for line := range strings.Lines(variableText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			t.variables = append(t.variables, line)
		}
	}
	return t
})

// read cuts a table into lines and cells.
func (t *tables) read(text string, add func(name string, cells []string)) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		for len(cells) < 4 {
			cells = append(cells, "")
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		t.longest = max(t.longest, strings.Count(cells[0], " ")+1)
		if first, _, ok := strings.Cut(cells[0], " "); ok {
			t.families[first] = true
		}
		add(cells[0], cells[1:])
	}
}

func parseRow(cells []string) *row {
	r := &row{kind: cells[0], options: map[string]option{}}
	if k, ok := strings.CutSuffix(r.kind, "s"); ok && len(k) == 1 {
		r.kind, r.dashed = k, true
	}
	for o := range strings.FieldsSeq(cells[1]) {
		if o == "*" {
			r.any = true
			continue
		}
		if name, ok := strings.CutPrefix(o, "~"); ok {
			r.bad = append(r.bad, name)
			continue
		}
		name, stand := strings.CutSuffix(o, "!")
		f := option{stand: stand}
		if n := len(name) - 1; strings.IndexByte("=@>&", name[n]) >= 0 {
			f.kind, name = name[n], name[:n]
		}
		r.options[name] = f
	}
	return r
}

func (r *row) parseOperands(cell string) {
	for o := range strings.FieldsSeq(cell) {
		p := operand{kind: o[0]}
		for _, c := range o[1:] {
			switch c {
			case '*':
				p.star = true
			case '.':
				r.here = true
			case '!':
				r.there = true
			case '^':
				r.stood = true
			}
		}
		r.operands = append(r.operands, p)
	}
}

// lookup finds the row with the longest name that fits, and how many words it
// takes. The words after the name must be plain.
func lookup(in map[string]*row, longest int, name string, args []word) (*row, int) {
	n := 0
	for n < len(args) && n+1 < longest && known(args[n].val) && args[n].val != "" {
		n++
	}
	for ; n >= 0; n-- {
		key := name
		for _, a := range args[:n] {
			key += " " + a.val
		}
		if r := in[key]; r != nil {
			return r, n
		}
	}
	return nil, 0
}

// unsafeVariable reports whether a variable changes what commands do.
func unsafeVariable(name string) bool {
	for _, pat := range data().variables {
		not := pat[0] == '!'
		if not {
			pat = pat[1:]
		}
		if head, tail, glob := strings.Cut(pat, "*"); pat == name ||
			glob && len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail) {
			return !not
		}
	}
	return false
}

// scanned is what the words of a command say by its row.
type scanned struct {
	reads, writes []word
	rest          []word // of a wrapper: what follows its own words
	line          *word  // of a wrapper: the value of an option that is a line
	bad           string // why it is not understood
	stand         bool
	operands      []word
}

// careless reports whether no option can do harm, so that words that may be
// options do not matter.
func (r *row) careless() bool {
	if !r.any || len(r.bad) > 0 {
		return false
	}
	for _, o := range r.options {
		if o.kind == '>' {
			return false
		}
	}
	return true
}

// scan goes through the options of a command. With stop the first operand ends
// them, after r.before of them.
func (r *row) scan(args []word, stop bool) (s scanned) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case stop && len(s.operands) == r.before && !isOption(a.val):
			s.rest = args[i:]
			return s
		case a.val == "--":
			if stop {
				n := min(max(r.before-len(s.operands), 0), len(args)-i-1)
				s.operands = append(s.operands, args[i+1:i+1+n]...)
				s.rest = args[i+1+n:]
				return s
			}
			s.operands = append(s.operands, args[i+1:]...)
			return s
		case mayBeOption(a) && !r.careless():
			s.fault(a.text() + " may be an option")
			s.operands = append(s.operands, a)
		case !isOption(a.val):
			s.operands = append(s.operands, a)
		case strings.HasPrefix(a.val, "--") || r.dashed || r.has(a.val):
			i += r.long(&s, args[i:])
		default:
			i += r.short(&s, args[i:])
		}
	}
	return s
}

func (s *scanned) fault(why string) {
	if s.bad == "" {
		s.bad = why
	}
}

func isOption(val string) bool { return len(val) > 1 && val[0] == '-' }

// mayBeOption reports whether a word that is not known may turn out to be one.
func mayBeOption(w word) bool {
	if w.loose || strings.IndexByte(w.val, many) >= 0 {
		return true
	}
	return w.val != "" && strings.IndexByte("\x00\x02\x03\x04", w.val[0]) >= 0 || isOption(w.val) && !sure(name(w.val))
}

func name(val string) string {
	n, _, _ := strings.Cut(val, "=")
	return n
}

func (r *row) has(val string) bool {
	_, ok := r.options[val]
	return ok && len(val) > 2
}

// long reads an option of several letters and returns how many more words it
// takes.
func (r *row) long(s *scanned, args []word) int {
	w := args[0]
	given, value, attached := strings.Cut(w.val, "=")
	o, ok := r.options[w.val]
	if !ok {
		o, ok = r.options[given]
	}
	if !ok && strings.HasPrefix(given, "--") {
		// A program may take a beginning for the whole.
		for have, opt := range r.options {
			if opt.kind == '>' && strings.HasPrefix(have, given) {
				o, ok = opt, true
			}
		}
	}
	bad := !ok && !r.any
	for _, b := range r.bad {
		bad = bad || b == given || strings.HasPrefix(given, "--") && strings.HasPrefix(b, given)
	}
	switch {
	case bad:
		s.fault("the option " + show(given) + " is not known to be harmless")
	case !ok || o.kind == 0:
		s.stand = s.stand || o.stand
	case o.kind == '&':
		return min(2, len(args)-1)
	case attached:
		r.value(s, o, word{val: value, src: w.src})
	case len(args) > 1:
		r.value(s, o, args[1])
		return 1
	}
	return 0
}

// short reads a word of options of one letter.
func (r *row) short(s *scanned, args []word) int {
	w := args[0].val
	for i := 1; i < len(w); i++ {
		name := "-" + w[i:i+1]
		o, ok := r.options[name]
		for _, b := range r.bad {
			if b == name {
				s.fault("the option " + name + " is not known to be harmless")
				return 0
			}
		}
		switch {
		case !ok && (r.any || r.wraps && strings.Trim(w[i:], "0123456789") == ""):
		case !ok:
			s.fault("the option " + show(name) + " is not known to be harmless")
			return 0
		case o.kind == 0:
			s.stand = s.stand || o.stand
		case i+1 < len(w):
			r.value(s, o, word{val: strings.TrimPrefix(w[i+1:], "="), src: args[0].src})
			return 0
		case len(args) > 1:
			r.value(s, o, args[1])
			return 1
		}
	}
	return 0
}

func (r *row) value(s *scanned, o option, v word) {
	s.stand = s.stand || o.stand
	if mayBeOption(v) && (v.loose || strings.IndexByte(v.val, many) >= 0) && !r.careless() {
		s.fault(v.text() + " may be several words")
	}
	switch o.kind {
	case '@':
		s.reads = append(s.reads, v)
	case '>':
		s.writes = append(s.writes, v)
		if s.line == nil {
			s.line = &v
		}
	}
}

// place sorts the operands into what is read and what is written.
func (r *row) place(s *scanned) {
	ops := r.operands
	if s.stand {
		ops = standIn(ops)
	}
	star := len(ops)
	for i, o := range ops {
		if o.star {
			star = i
		}
	}
	after := max(len(ops)-star-1, 0)
	named := false
	for i, w := range s.operands {
		var o operand
		left := len(s.operands) - i
		switch {
		case i < star:
			o = ops[i]
		case star == len(ops):
			s.fault("it has more operands than are known")
			return
		case left <= after:
			o = ops[len(ops)-left]
		default:
			o = ops[star]
		}
		named = s.put(o.kind, w) || named
	}
	if r.here && !named {
		s.reads = append(s.reads, word{val: ".", src: "."})
	}
	if r.there && !s.stand || r.stood && s.stand {
		s.writes = append(s.writes, word{val: ".", src: "."})
	}
}

// put files an operand and reports whether it is a path.
func (s *scanned) put(kind byte, w word) bool {
	switch kind {
	case 'r':
		if w.val != "-" {
			s.reads = append(s.reads, w)
		}
		return true
	case 'w':
		if w.val != "-" {
			s.writes = append(s.writes, w)
		}
	case 'p':
		if v := show(w.val); strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~") || strings.HasPrefix(v, "../") || v == ".." || strings.Contains(v, "/../") {
			s.reads = append(s.reads, w)
		}
	case '+':
		if !strings.HasPrefix(w.val, "+") {
			s.fault(w.text() + " may set something")
		}
	}
	return false
}

// standIn leaves out the operand that an option stands in for.
func standIn(ops []operand) []operand {
	for i, o := range ops {
		if o.kind == 't' && !o.star {
			return append(ops[:i:i], ops[i+1:]...)
		}
	}
	if n := len(ops) - 1; n >= 0 && ops[n].kind == 'w' && !ops[n].star {
		return ops[:n]
	}
	return ops
}
