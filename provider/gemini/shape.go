package gemini

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
)

// shape reads the common chunk of a long stream cheaply: one that equals a
// chunk before it in everything but its text and its numbers of tokens. It is
// learned from a chunk that was decoded in full, and proven by decoding that
// once more with another text and other numbers, so a match means exactly what
// the full decoding would have meant.
type shape struct {
	prefix  []byte // up to the text
	slots   []slot // what follows the text
	suffix  []byte
	thought bool
	model   delta.Text
	learned int
}

// slot is a number that may differ, and what comes before it.
type slot struct {
	before []byte
	field  func(*counts) *loose.Count // nil for a number that does not matter
}

// maxLearned bounds the work on streams whose chunks never repeat a shape.
const maxLearned = 64

type tally struct {
	name  string
	field func(*counts) *loose.Count
}

// numbers are the members whose numbers may differ.
var numbers = [...]tally{
	{"promptTokenCount", func(c *counts) *loose.Count { return &c.Prompt }},
	{"candidatesTokenCount", func(c *counts) *loose.Count { return &c.Candidates }},
	{"thoughtsTokenCount", func(c *counts) *loose.Count { return &c.Thoughts }},
	{"totalTokenCount", func(c *counts) *loose.Count { return &c.Total }},
	{"tokenCount", nil},
}

// match returns the text and the counts of a chunk of the learned shape.
func (s *shape) match(data []byte) (p part, u counts, ok bool) {
	if len(s.prefix) == 0 || !bytes.HasPrefix(data, s.prefix) {
		return part{}, counts{}, false
	}
	rest := data[len(s.prefix):]
	end := stringEnd(rest)
	text, ok := delta.Piece(rest[:end])
	if !ok {
		return part{}, counts{}, false
	}
	rest = rest[end:]
	for _, slot := range s.slots {
		n := 0
		if rest, ok = bytes.CutPrefix(rest, slot.before); ok {
			n, rest, ok = number(rest)
		}
		if !ok {
			return part{}, counts{}, false
		}
		if slot.field != nil {
			*slot.field(&u) = loose.Count(n)
		}
	}
	return part{Text: delta.Text(text), Thought: s.thought}, u, bytes.Equal(rest, s.suffix)
}

// learn forgets the shape and makes data, which is c, the new one if it carries
// nothing but one text.
func (s *shape) learn(c *chunk, data []byte) {
	s.prefix = nil
	p := c.pure()
	if p == nil || s.learned >= maxLearned {
		return
	}
	s.learned++
	start := textStart(data)
	if start < 0 {
		return
	}
	rest := data[start:]
	rest = rest[stringEnd(rest):]
	slots, suffix := cut(rest)
	proof := append(bytes.Clone(data[:start]), marker...)
	var want counts
	for i, slot := range slots {
		proof = append(append(proof, slot.before...), '9', byte('0'+i%10))
		if slot.field != nil {
			*slot.field(&want) = loose.Count(90 + i%10)
		}
	}
	proof = append(proof, suffix...)
	var again chunk
	if json.Unmarshal(proof, &again) != nil || again.Model != c.Model || (c.Usage == nil) != (again.Usage == nil) {
		return
	}
	q := again.pure()
	if q == nil || string(q.Text) != marked || q.Thought != p.Thought || again.Usage != nil && !again.Usage.covers(c.Usage, want) {
		return
	}
	s.prefix, s.suffix, s.thought = bytes.Clone(data[:start]), bytes.Clone(suffix), p.Thought
	s.model = c.Model
	s.slots = slots
	for i := range s.slots {
		s.slots[i].before = bytes.Clone(s.slots[i].before)
	}
}

const (
	marked = "\u2063proof\u2063"
	marker = `"` + marked + `"`
)

// covers reports whether the counts that may differ are as wanted, and the
// others as they were.
func (u *counts) covers(old *counts, want counts) bool {
	for _, n := range numbers {
		if n.field == nil {
			continue
		}
		got := *n.field(u)
		if w := *n.field(&want); w != 0 && got != w || w == 0 && got != *n.field(old) {
			return false
		}
	}
	return u.ToolPrompt == old.ToolPrompt && u.Cached == old.Cached
}

// pure returns the one part that the chunk carries, if it is a text and nothing
// else is in the chunk that acts more than once.
func (c *chunk) pure() *part {
	if c.fault() != nil || c.Feedback.Reason != "" || len(c.Candidates) != 1 {
		return nil
	}
	x := &c.Candidates[0]
	if x.Finish != "" || len(x.Content.Parts) != 1 {
		return nil
	}
	p := &x.Content.Parts[0]
	if p.Text == "" || p.Signature != "" || p.Call != nil {
		return nil
	}
	return p
}

// textStart returns where the value of the member "text" begins, -1 when there
// is none.
func textStart(data []byte) int {
	const name = `"text"`
	i := bytes.Index(data, []byte(name))
	if i < 0 {
		return -1
	}
	i += len(name)
	for colon := false; i < len(data); i++ {
		switch data[i] {
		case ' ':
		case ':':
			if colon {
				return -1
			}
			colon = true
		case '"':
			if colon {
				return i
			}
			return -1
		default:
			return -1
		}
	}
	return -1
}

// stringEnd returns where the JSON string at the start of b ends.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// cut finds the numbers that may differ.
func cut(rest []byte) (slots []slot, suffix []byte) {
	from := 0
	for i := 0; i < len(rest); i++ {
		if rest[i] != '"' {
			continue
		}
		end := i + stringEnd(rest[i:])
		name := bytes.Trim(rest[i:end], `"`)
		k := slices.IndexFunc(numbers[:], func(n tally) bool { return n.name == string(name) })
		i = end - 1
		if k < 0 {
			continue
		}
		at := end
		for at < len(rest) && (rest[at] == ' ' || rest[at] == ':') {
			at++
		}
		if _, after, ok := number(rest[at:]); ok {
			slots = append(slots, slot{before: rest[from:at], field: numbers[k].field})
			from = len(rest) - len(after)
			i = from - 1
		}
	}
	return slots, rest[from:]
}

// number reads the whole number at the start of b.
func number(b []byte) (n int, rest []byte, ok bool) {
	i := 0
	for i < len(b) && i < 16 && b[i] >= '0' && b[i] <= '9' {
		n = 10*n + int(b[i]-'0')
		i++
	}
	if i == 0 || i == 16 || b[0] == '0' && i > 1 {
		return 0, nil, false
	}
	return n, b[i:], true
}
