package pdf

import (
	"bytes"
	"context"
	"math"
	"strings"
)

// matrix maps points: x' = a x + c y + e, y' = b x + d y + f.
type matrix [6]float64

var unit = matrix{1, 0, 0, 1, 0, 0}

// mul is first m, then n.
func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what q saves and Q brings back.
type state struct {
	ctm                 matrix
	font                *font
	size, leading, rise float64
	char, word, stretch float64
}

// runner carries out drawing commands for the text in them.
type runner struct {
	ctx  context.Context
	file *File
	out  *writer
	ops  int // commands so far
}

// maxOps bounds the commands of one page.
const maxOps = 2_000_000

// maxForms bounds how deep drawings may hold other drawings.
const maxForms = 8

func (r *runner) run(data []byte, resources dict, ctm matrix, depth int) error {
	d := drawing{runner: r, resources: resources, depth: depth, tm: unit, line: unit}
	d.state = state{ctm: ctm, stretch: 1}
	s := scanner{data: data}
	var args []value
	for {
		if r.ops++; r.ops%1000 == 1 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		v, ok := s.next(0, false)
		if !ok || r.out.full() || r.ops > maxOps {
			return nil
		}
		word, ok := v.(op)
		if !ok {
			if len(args) < 100 {
				args = append(args, v)
			}
			continue
		}
		if word == "ID" {
			skipImage(&s)
		} else if err := d.do(word, args); err != nil {
			return err
		}
		args = args[:0]
	}
}

// skipImage passes the bytes of a picture among the commands.
func skipImage(s *scanner) {
	for {
		i := bytes.Index(s.data[s.at:], []byte("EI"))
		if i < 0 {
			s.at = len(s.data)
			return
		}
		from := s.at + i
		s.at = from + 2
		if from > 0 && isSpace(s.data[from-1]) && (s.at >= len(s.data) || isSpace(s.data[s.at])) {
			return
		}
	}
}

// drawing is one list of commands under way.
type drawing struct {
	*runner
	state
	resources dict
	depth     int
	saved     []state
	tm, line  matrix
}

// nums returns the last n arguments as numbers, zeros for what is none.
func nums(args []value, n int) []float64 {
	out := make([]float64, n)
	args = args[max(0, len(args)-n):]
	for i, v := range args {
		if x, ok := v.(float64); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
			out[i] = x
		}
	}
	return out
}

func last(args []value) value {
	if len(args) == 0 {
		return nil
	}
	return args[len(args)-1]
}

func (d *drawing) do(word op, args []value) error {
	switch word {
	case "q":
		if len(d.saved) < 1000 {
			d.saved = append(d.saved, d.state)
		}
	case "Q":
		if n := len(d.saved); n > 0 {
			d.state, d.saved = d.saved[n-1], d.saved[:n-1]
		}
	case "cm":
		d.ctm = matrix(nums(args, 6)).mul(d.ctm)
	case "BT":
		d.tm, d.line = unit, unit
	case "Tm":
		d.line = matrix(nums(args, 6))
		d.tm = d.line
	case "Td", "TD":
		n := nums(args, 2)
		if word == "TD" {
			d.leading = -n[1]
		}
		d.step(n[0], n[1])
	case "T*":
		d.step(0, -d.leading)
	case "Tj", "TJ", "'", "\"":
		d.text(word, args)
	case "Do":
		return d.form(last(args))
	default:
		d.set(word, args)
	}
	return nil
}

// set changes one number of the state of text.
func (d *drawing) set(word op, args []value) {
	n := nums(args, 1)[0]
	switch word {
	case "Tf":
		d.size = n
		if len(args) > 1 {
			if key, ok := args[len(args)-2].(name); ok {
				fonts, _ := d.file.get(d.resources["Font"]).(dict)
				d.font = d.file.font(fonts[key])
			}
		}
	case "Tc":
		d.char = n
	case "Tw":
		d.word = n
	case "Tz":
		d.stretch = n / 100
	case "TL":
		d.leading = n
	case "Ts":
		d.rise = n
	}
}

func (d *drawing) step(x, y float64) {
	d.line = matrix{1, 0, 0, 1, x, y}.mul(d.line)
	d.tm = d.line
}

func (d *drawing) text(word op, args []value) {
	if word == "'" || word == "\"" {
		if word == "\"" && len(args) > 2 {
			d.word, d.char = nums(args[:1], 1)[0], nums(args[1:2], 1)[0]
		}
		d.step(0, -d.leading)
	}
	switch v := last(args).(type) {
	case str:
		d.show(v)
	case array:
		for _, part := range v {
			switch part := part.(type) {
			case str:
				d.show(part)
			case float64:
				d.advance(-part / 1000 * d.size * d.stretch)
			}
		}
	}
}

func (d *drawing) advance(x float64) {
	d.tm = matrix{1, 0, 0, 1, x, 0}.mul(d.tm)
}

func (d *drawing) show(s str) {
	if d.font == nil {
		return
	}
	for len(s) > 0 && !d.out.full() {
		chars, width, space, rest := d.font.next(s)
		s = rest
		w := width / 1000 * d.size
		at := matrix{1, 0, 0, 1, 0, d.rise}.mul(d.tm).mul(d.ctm)
		end := matrix{1, 0, 0, 1, w * d.stretch, d.rise}.mul(d.tm).mul(d.ctm)
		size := d.size * math.Hypot(at[2], at[3])
		d.out.put(chars, at[4], at[5], end[4], end[5], math.Abs(size))
		w += d.char
		if space {
			w += d.word
		}
		d.advance(w * d.stretch)
	}
}

// form carries out a drawing that is kept apart.
func (d *drawing) form(v value) error {
	key, _ := v.(name)
	all, _ := d.file.get(d.resources["XObject"]).(dict)
	s, _ := d.file.get(all[key]).(*stream)
	if s == nil || d.file.get(s.dict["Subtype"]) != name("Form") || d.depth >= maxForms {
		return nil
	}
	ctm := d.ctm
	if m, ok := d.file.get(s.dict["Matrix"]).(array); ok && len(m) == 6 {
		ctm = matrix(nums(m, 6)).mul(ctm)
	}
	resources := d.resources
	if own, ok := d.file.get(s.dict["Resources"]).(dict); ok {
		resources = own
	}
	return d.run(d.file.decode(s), resources, ctm, d.depth+1)
}

// writer makes lines of characters that come with their places.
type writer struct {
	b     strings.Builder
	begun bool
	x, y  float64 // where the last character ended
	size  float64
}

func (w *writer) full() bool { return w.b.Len() >= maxText }

// put adds characters that go from one point to another. A new line begins
// where they stand on another line than those before, a blank goes where there
// is a gap.
func (w *writer) put(chars string, x, y, endX, endY, size float64) {
	if chars == "" || w.full() {
		return
	}
	if w.begun {
		high := max(size, w.size, 0.1)
		dx, dy := x-w.x, y-w.y
		if math.Abs(endY-y) > math.Abs(endX-x) { // it runs upright
			dx, dy = dy, dx
			if endY < y {
				dx = -dx
			}
		}
		switch {
		case math.Abs(dy) > 1.8*high:
			w.newline()
			w.newline()
		case math.Abs(dy) > 0.5*high, dx < -2*high:
			w.newline()
		case dx > 0.17*high, dx < -0.7*high:
			w.blank()
		}
	}
	if strings.TrimSpace(chars) == "" {
		w.blank()
	} else {
		w.b.WriteString(chars)
	}
	w.begun, w.x, w.y, w.size = true, endX, endY, size
}

func (w *writer) ends(s string) bool { return strings.HasSuffix(w.b.String(), s) }

func (w *writer) blank() {
	if w.b.Len() > 0 && !w.ends(" ") && !w.ends("\n") {
		w.b.WriteByte(' ')
	}
}

func (w *writer) newline() {
	if w.b.Len() > 0 && !w.ends("\n\n") {
		w.b.WriteByte('\n')
	}
}

// text returns the lines, without blanks at their ends.
func (w *writer) text() string {
	var out strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(w.b.String(), "\ufffd")) {
		line = strings.TrimRight(line, " \n")
		if line != "" || out.Len() > 0 {
			out.WriteString(line + "\n")
		}
	}
	if s := strings.TrimRight(out.String(), "\n"); s != "" {
		return s + "\n"
	}
	return ""
}
