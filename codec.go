package oh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Marshal encodes v as compact JSON without HTML escaping, so that raw
// messages inside it are kept byte for byte and prefixes do not move.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Compact returns raw without insignificant white space, or raw itself when it
// is no valid JSON. Nothing is escaped or reordered.
func Compact(raw []byte) json.RawMessage {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}

// appendTagged appends v, which must encode as an object, with a leading
// "type" member.
func appendTagged(out []byte, kind string, v any) ([]byte, error) {
	body, err := Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	if len(body) < 2 || body[0] != '{' {
		return nil, fmt.Errorf("encode %s: not an object", kind)
	}
	out = append(out, `{"type":"`...)
	out = append(out, kind...)
	out = append(out, '"')
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

var errNoType = errors.New(`no "type"`)

// typeOf reads the "type" member of an object.
func typeOf(raw []byte) (string, error) {
	if name, ok := leadingType(raw); ok {
		return name, nil
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return "", err
	}
	if head.Type == "" {
		return "", errNoType
	}
	return head.Type, nil
}

// leadingType reads the type where we write it, without parsing the whole.
func leadingType(raw []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(raw, []byte(`{"type":"`))
	if !ok {
		return "", false
	}
	for i, c := range rest {
		if c == '"' {
			return string(rest[:i]), i > 0
		}
		if (c < 'a' || c > 'z') && c != '_' {
			break
		}
	}
	return "", false
}
