package ohtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
)

// inspect holds a body to what encoding/json lets pass: it must be valid UTF-8
// without lone surrogates, and no object may have a member twice.
func inspect(body []byte) []Violation {
	var r report
	if !utf8.Valid(body) {
		r.add("utf8", "", "the body is not valid UTF-8")
	}
	if !json.Valid(body) {
		var v any
		r.add("json", "", "the body is not valid JSON: %v", json.Unmarshal(body, &v))
		return r.found
	}
	if s := loneSurrogate(body); s != "" {
		r.add("surrogate", "", "the body holds half of a surrogate pair, %s", s)
	}
	duplicates(&r, body)
	return r.found
}

// loneSurrogate returns the first escaped surrogate of valid JSON that has no
// partner.
func loneSurrogate(body []byte) string {
	for i := 0; i < len(body); i++ {
		n := bytes.IndexByte(body[i:], '\\')
		if n < 0 {
			return ""
		}
		i += n + 1
		if i >= len(body) || body[i] != 'u' {
			continue
		}
		switch unit := hexUnit(body[i+1:]); {
		case unit >= 0xd800 && unit < 0xdc00:
			rest := body[i+5:]
			if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' || hexUnit(rest[2:])&^0x3ff != 0xdc00 {
				return string(body[i-1 : i+5])
			}
			i += 10
		case unit >= 0xdc00 && unit < 0xe000:
			return string(body[i-1 : i+5])
		default:
			i += 4
		}
	}
	return ""
}

// hexUnit reads four hex digits, or gives 0.
func hexUnit(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// duplicates reports members that stand twice in one object of valid JSON.
func duplicates(r *report, body []byte) {
	type level struct {
		keys map[string]bool // nil in an array
		key  bool            // a key comes next
	}
	var stack []level
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return
		}
		top := len(stack) - 1
		switch tok := tok.(type) {
		case json.Delim:
			switch tok {
			case '{':
				stack = append(stack, level{map[string]bool{}, true})
			case '[':
				stack = append(stack, level{})
			default:
				stack = stack[:top]
				top--
				if top >= 0 && stack[top].keys != nil {
					stack[top].key = true
				}
			}
			continue
		case string:
			if top >= 0 && stack[top].keys != nil && stack[top].key {
				if stack[top].keys[tok] {
					r.add("duplicate-key", "", "an object has the member %q twice", tok)
				}
				stack[top].keys[tok] = true
				stack[top].key = false
				continue
			}
		}
		if top >= 0 && stack[top].keys != nil {
			stack[top].key = true
		}
	}
}

// decodeObject decodes a JSON object with numbers kept as they stand.
func decodeObject(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("decode: not a JSON object")
	}
	return m, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// quote returns s as a JSON string.
func quote(s string) string {
	b, err := oh.Marshal(s)
	if err != nil { // a string can always be encoded
		return `""`
	}
	return string(b)
}

// fields reports the members of m that are not in known, a list of names with
// spaces between.
func (r *report) fields(where string, m map[string]any, known string) {
	for _, k := range sortedKeys(m) {
		if !slices.Contains(strings.Fields(known), k) {
			r.add("unknown-field", where, "the field %q is not known", k)
		}
	}
}

// str returns a member that has to be a string.
func (r *report) str(where string, m map[string]any, key string) string {
	s, ok := m[key].(string)
	if !ok {
		r.add("field-type", strings.TrimPrefix(where+"."+key, "."), "a string is required")
	}
	return s
}

// oneOf checks a member that, if it is there, has to be one of some words.
func (r *report) oneOf(rule, where string, m map[string]any, key, words string) {
	v, ok := m[key]
	if !ok || v == nil {
		return
	}
	if s, _ := v.(string); !slices.Contains(strings.Fields(words), s) {
		r.add(rule, strings.TrimPrefix(where+"."+key, "."), "%v is none of %s", v, strings.ReplaceAll(words, " ", ", "))
	}
}

// whole returns a number as an integer.
func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}
