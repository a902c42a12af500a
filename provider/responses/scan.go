package responses

import (
	"bytes"

	"github.com/openharness/oh/provider/internal/delta"
)

// run is what the last delta was about. One that differs from it in nothing
// but its text and what numbers it is not decoded in full: deltas come by the
// ten thousand.
type run struct {
	slot                     *slot
	from                     source
	kind, id                 string // in quotes, as they come
	output, content, summary place
	members                  uint // that a delta of the run has
}

func newRun(s *slot, from source, ev *event) run {
	quoted := scanner{data: []byte(`"` + ev.ItemID + `"`)}
	if _, plain := quoted.text(); !plain || !quoted.blank() {
		return run{}
	}
	r := run{slot: s, from: from, kind: `"` + ev.Type + `"`, id: `"` + ev.ItemID + `"`,
		output: ev.Output, content: ev.Content, summary: ev.Summary, members: memberType | memberDelta}
	if ev.ItemID != "" {
		r.members |= memberID
	}
	if ev.Output.ok {
		r.members |= memberOutput
	}
	if ev.Content.ok {
		r.members |= memberContent
	}
	if ev.Summary.ok {
		r.members |= memberSummary
	}
	return r
}

// next reads a delta that has nothing but the plain members of one, each once,
// and is about the same as the run. It is not ok for any other event; for what
// it reads, the full decoding gives the same.
func (r *run) next(data []byte) (piece string, ok bool) {
	s := scanner{data: data}
	if !s.take('{') {
		return "", false
	}
	seen := uint(0)
	for first := true; ; first = false {
		if s.take('}') {
			return piece, seen&^memberExtra == r.members && s.blank()
		}
		if !first && !s.take(',') {
			return "", false
		}
		key, plain := s.text()
		if !plain || !s.take(':') {
			return "", false
		}
		m := member(key)
		if m == 0 || seen&m != 0 || !r.value(&s, m, &piece) {
			return "", false
		}
		seen |= m
	}
}

// The members of a delta.
const (
	memberType uint = 1 << iota
	memberID
	memberOutput
	memberContent
	memberSummary
	memberDelta
	memberNumber
	memberNoise
	memberLogs

	memberExtra = memberNumber | memberNoise | memberLogs
)

func member(key []byte) uint {
	switch string(key) {
	case "type":
		return memberType
	case "item_id":
		return memberID
	case "output_index":
		return memberOutput
	case "content_index":
		return memberContent
	case "summary_index":
		return memberSummary
	case "delta":
		return memberDelta
	case "sequence_number":
		return memberNumber
	case "obfuscation":
		return memberNoise
	case "logprobs":
		return memberLogs
	}
	return 0
}

// value reads the value of a member, if it is that of the run.
func (r *run) value(s *scanner, member uint, piece *string) (ok bool) {
	switch member {
	case memberType:
		return s.same(r.kind)
	case memberID:
		return s.same(r.id)
	case memberOutput:
		return s.at(r.output)
	case memberContent:
		return s.at(r.content)
	case memberSummary:
		return s.at(r.summary)
	case memberDelta:
		*piece, ok = s.piece()
	case memberNumber:
		_, ok = s.number()
	case memberNoise:
		_, ok = s.text()
	case memberLogs:
		ok = s.take('[') && s.take(']')
	}
	return ok
}

// scanner reads JSON from the front of data.
type scanner struct{ data []byte }

func (s *scanner) space() {
	for len(s.data) > 0 && s.data[0] <= ' ' {
		switch s.data[0] {
		case ' ', '\t', '\r', '\n':
			s.data = s.data[1:]
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	s.space()
	if len(s.data) > 0 && s.data[0] == c {
		s.data = s.data[1:]
		return true
	}
	return false
}

func (s *scanner) blank() bool {
	s.space()
	return len(s.data) == 0
}

// same takes a string that is written just so.
func (s *scanner) same(quoted string) bool {
	s.space()
	n := len(quoted)
	if len(s.data) < n || string(s.data[:n]) != quoted {
		return false
	}
	s.data = s.data[n:]
	return true
}

// text reads a string of plain ASCII without escapes.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	n := bytes.IndexByte(s.data, '"')
	if n < 0 {
		return nil, false
	}
	out := s.data[:n]
	for _, c := range out {
		if c == '\\' || c < ' ' || c > '~' {
			return nil, false
		}
	}
	s.data = s.data[n+1:]
	return out, true
}

// piece reads any string.
func (s *scanner) piece() (string, bool) {
	s.space()
	if len(s.data) == 0 || s.data[0] != '"' {
		return "", false
	}
	for end := 1; ; {
		n := bytes.IndexByte(s.data[end:], '"')
		if n < 0 {
			return "", false
		}
		end += n
		escapes := 0
		for s.data[end-1-escapes] == '\\' {
			escapes++
		}
		end++
		if escapes%2 == 0 {
			raw := s.data[:end]
			s.data = s.data[end:]
			return delta.Piece(raw)
		}
	}
}

// number reads a small number without a sign.
func (s *scanner) number() (n int, ok bool) {
	s.space()
	digits := 0
	for digits < len(s.data) && s.data[digits] >= '0' && s.data[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > 9 || s.data[0] == '0' && digits > 1 {
		return 0, false
	}
	for _, c := range s.data[:digits] {
		n = n*10 + int(c-'0')
	}
	s.data = s.data[digits:]
	return n, true
}

// at reads the index that p is.
func (s *scanner) at(p place) bool {
	n, ok := s.number()
	return ok && p.ok && n == p.n
}
