package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
)

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// thinkTag takes the reasoning out of content that begins with it, between
// <think> and </think>, however the content is cut. Nothing is lost: what looked
// like a tag and was none is given out at the latest by flush.
type thinkTag struct {
	state thinkState
	held  string
}

type thinkState int

const (
	beforeTag thinkState = iota // nothing but white space so far
	inTag                       // after <think>
	afterTag                    // after </think>, white space is dropped
	pastTag                     // plain text from here on
)

// feed takes a piece and returns what is certain of both kinds, the thought
// first.
func (t *thinkTag) feed(s string) (thought, said string) {
	if t.state == pastTag {
		return "", s
	}
	s = t.held + s
	t.held = ""
	if t.state == beforeTag {
		begin := strings.TrimLeft(s, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, openTag):
			t.state = inTag
			s = begin[len(openTag):]
		case strings.HasPrefix(openTag, begin):
			t.held = s
			return "", ""
		default:
			t.state = pastTag
			return "", s
		}
	}
	if t.state == inTag {
		i := strings.Index(s, closeTag)
		if i < 0 {
			keep := overlap(s, closeTag)
			t.held = s[len(s)-keep:]
			return s[:len(s)-keep], ""
		}
		thought, s = s[:i], s[i+len(closeTag):]
		t.state = afterTag
	}
	if s = strings.TrimLeft(s, " \t\r\n"); s != "" {
		t.state = pastTag
	}
	return thought, s
}

// interrupt returns what is held back before a tag, when something other than
// text follows: white space then stands where it was said.
func (t *thinkTag) interrupt() (said string) {
	if t.state != beforeTag {
		return ""
	}
	said, t.held = t.held, ""
	return said
}

// flush returns what is still held back.
func (t *thinkTag) flush() (thought, said string) {
	held := t.held
	t.held = ""
	if t.state == inTag {
		return held, ""
	}
	return "", held
}

// overlap is the length of the longest end of s that tag begins with.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// details collects reasoning_details, a list in pieces: neighbours of one
// index and type are pieces of one item.
type details struct {
	list []map[string]json.RawMessage
	part *part // the block that carries the list
}

func (d *details) add(raws []json.RawMessage) {
	for _, raw := range raws {
		var item map[string]json.RawMessage
		if json.Unmarshal(raw, &item) != nil || item == nil {
			continue
		}
		if n := len(d.list); n > 0 && sameItem(d.list[n-1], item) {
			join(d.list[n-1], item)
		} else {
			d.list = append(d.list, item)
		}
	}
}

func sameItem(a, b map[string]json.RawMessage) bool {
	if len(a["index"]) == 0 || !bytes.Equal(a["index"], b["index"]) || !bytes.Equal(a["type"], b["type"]) {
		return false
	}
	return !loose.Present(a["id"]) || !loose.Present(b["id"]) || bytes.Equal(a["id"], b["id"])
}

// join puts a piece to an item: what grows is joined, all else is kept once.
func join(to, piece map[string]json.RawMessage) {
	for name, raw := range piece {
		if !loose.Present(raw) {
			if _, ok := to[name]; !ok {
				to[name] = raw
			}
			continue
		}
		switch a := to[name]; {
		case name != "text" && name != "summary" && name != "data" || !isString(a) || !isString(raw):
			to[name] = raw
		default:
			// Joined as they are, two halves of a character become one.
			to[name] = append(a[:len(a)-1], raw[1:]...)
		}
	}
}

func isString(raw json.RawMessage) bool { return len(raw) > 1 && raw[0] == '"' }

// owner reports whether p carries the list: the first thinking block that asks.
func (d *details) owner(p *part) bool {
	if d.part == nil {
		d.part = p
	}
	return d.part == p
}

func (d *details) raw() []json.RawMessage {
	out := make([]json.RawMessage, 0, len(d.list))
	for _, item := range d.list {
		if raw, err := oh.Marshal(item); err == nil {
			out = append(out, body.AppendRaw(nil, raw, "{}"))
		}
	}
	return out
}

// detailText is what details say to a reader.
func detailText(raws []json.RawMessage) string {
	var s strings.Builder
	for _, raw := range raws {
		var item struct {
			Text    delta.Text `json:"text"`
			Summary delta.Text `json:"summary"`
		}
		if json.Unmarshal(raw, &item) == nil {
			s.WriteString(string(item.Text))
			s.WriteString(string(item.Summary))
		}
	}
	return s.String()
}
