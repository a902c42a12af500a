package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
)

// partial is a piece of the arguments of a call, as Vertex AI streams them to
// those who ask for it.
type partial struct {
	Path   delta.Text      `json:"jsonPath"`
	String json.RawMessage `json:"stringValue"`
	Number json.RawMessage `json:"numberValue"`
	Bool   json.RawMessage `json:"boolValue"`
	Null   json.RawMessage `json:"nullValue"`
}

// maxDepth is how deep the arguments of a call may be nested.
const maxDepth = 64

// tree puts the arguments of a call together. A node is a map[string]any, a
// []any, a *said, or a json.RawMessage.
type tree struct{ root any }

// said is a string that may still grow.
type said struct {
	text strings.Builder
	seam delta.Seam
}

// add puts a piece where its path says.
func (t *tree) add(p *partial) error {
	steps, err := parsePath(string(p.Path))
	if err == nil {
		t.root, err = put(t.root, steps, p)
	}
	if err != nil {
		return fmt.Errorf("arguments of a call: %q: %w", p.Path, err)
	}
	return nil
}

// JSON returns the arguments as far as they came.
func (t *tree) JSON() string {
	if t.root == nil {
		return ""
	}
	raw, err := oh.Marshal(plain(t.root))
	if err != nil {
		return ""
	}
	return string(oh.Compact(raw))
}

func plain(node any) any {
	switch n := node.(type) {
	case map[string]any:
		out := make(map[string]any, len(n))
		for k, v := range n {
			out[k] = plain(v)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i, v := range n {
			out[i] = plain(v)
		}
		return out
	case *said:
		return n.text.String() + n.seam.Flush()
	}
	return node
}

var errShape = errors.New("the pieces do not fit together")

// put returns the node with a piece put into it.
func put(node any, steps []step, p *partial) (any, error) {
	if len(steps) == 0 {
		return p.value(node)
	}
	s, rest := steps[0], steps[1:]
	if s.name != nil {
		m, ok := node.(map[string]any)
		if node == nil {
			m, ok = map[string]any{}, true
		}
		if !ok {
			return node, errShape
		}
		child, err := put(m[*s.name], rest, p)
		if err == nil {
			m[*s.name] = child
		}
		return m, err
	}
	list, ok := node.([]any)
	if node != nil && !ok || s.index > len(list) {
		return node, errShape
	}
	if s.index == len(list) {
		list = append(list, nil)
	}
	child, err := put(list[s.index], rest, p)
	list[s.index] = child
	return list, err
}

// value returns the leaf that a piece makes of what was there.
func (p *partial) value(old any) (any, error) {
	switch {
	case p.String != nil:
		s, ok := old.(*said)
		if !ok {
			s = &said{}
		}
		piece, _ := delta.Piece(p.String)
		s.text.WriteString(s.seam.Join(piece))
		return s, nil
	case loose.Present(p.Number):
		return p.Number, nil
	case len(p.Bool) > 0:
		return p.Bool, nil
	case len(p.Null) > 0:
		return json.RawMessage("null"), nil
	case old == nil:
		return json.RawMessage("null"), nil
	}
	return old, nil
}

// step is one step of a path: a member, or an element.
type step struct {
	name  *string
	index int
}

// parsePath reads a JSON path that names one value, such as $.a['b c'][0].
func parsePath(path string) ([]step, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, errors.New("not a path from the root")
	}
	var out []step
	for rest != "" {
		if len(out) == maxDepth {
			return nil, errors.New("nested too deeply")
		}
		var s step
		var err error
		if s, rest, err = parseStep(rest); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(out) == 0 || out[0].name == nil {
		return nil, errors.New("no member is named")
	}
	return out, nil
}

func parseStep(s string) (step, string, error) {
	bad := errors.New("not a path to one value")
	switch {
	case s[0] == '.':
		name := s[1:]
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		name, rest := name[:end], name[end:]
		if name == "" || name == "*" {
			return step{}, "", bad
		}
		return step{name: &name}, rest, nil
	case len(s) > 1 && s[0] == '[' && (s[1] == '\'' || s[1] == '"'):
		return parseQuoted(s[2:], s[1])
	case s[0] == '[':
		digits, rest, ok := strings.Cut(s[1:], "]")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || n < 0 {
			return step{}, "", bad
		}
		return step{index: n}, rest, nil
	}
	return step{}, "", bad
}

// parseQuoted reads a member's name up to its quote and the bracket after it.
func parseQuoted(s string, quote byte) (step, string, error) {
	var name strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			name.WriteByte(s[i])
		case s[i] == quote:
			rest, ok := strings.CutPrefix(s[i+1:], "]")
			if !ok {
				return step{}, "", errors.New("a bracket is missing")
			}
			n := name.String()
			return step{name: &n}, rest, nil
		default:
			name.WriteByte(s[i])
		}
	}
	return step{}, "", errors.New("a quote is missing")
}
