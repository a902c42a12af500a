package openai

import (
	"strings"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/body"
)

// parts is the content of a message: one string as long as it is only text.
type parts struct {
	list      [][]byte
	said      []string // the texts among list
	firstText bool     // list begins with text
}

func (p *parts) text(s string) {
	if body.Blank(s) {
		return
	}
	out := append([]byte(nil), `{"type":"text","text":`...)
	p.firstText = p.firstText || len(p.list) == 0
	p.list = append(p.list, append(text.AppendJSON(out, s), '}'))
	p.said = append(p.said, s)
}

func (p *parts) add(raw []byte) {
	p.list = append(p.list, raw)
}

// beginsWith reports whether the first part is text that begins so, in any case.
func (p *parts) beginsWith(s string) bool {
	return p.firstText && strings.HasPrefix(strings.ToLower(strings.TrimSpace(p.said[0])), s)
}

// prefix puts s before the first text, or before all when there is none.
func (p *parts) prefix(s string) {
	rest := *p
	*p = parts{}
	if rest.firstText {
		s += rest.said[0]
		rest.list, rest.said = rest.list[1:], rest.said[1:]
	}
	p.text(strings.TrimSpace(s))
	p.list = append(p.list, rest.list...)
	p.said = append(p.said, rest.said...)
}

func (p *parts) append(out []byte) []byte {
	if len(p.said) == len(p.list) {
		return text.AppendJSON(out, strings.Join(p.said, "\n\n"))
	}
	out = append(out, '[')
	for i, raw := range p.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']')
}

// words is the texts alone.
func (p *parts) words() string { return strings.Join(p.said, "\n\n") }
