package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openharness/oh"
)

// member is where an answer lies that is no object by itself.
const member = "value"

// wrap makes the schema one of a tool's input: an object whose schema says so,
// without alternatives at its root, which services refuse there.
func (s *Schema) wrap() error {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(s.raw, &top); err != nil {
		return fmt.Errorf("is no JSON Schema: %w", err)
	}
	plain := true
	for _, key := range []string{"$ref", "anyOf", "oneOf", "allOf", "not", "if", "enum", "const"} {
		plain = plain && top[key] == nil
	}
	_, typed := top["type"]
	switch {
	case plain && string(top["type"]) == `"object"`:
		return nil
	case plain && !typed && top["properties"] != nil:
		s.raw = append([]byte(`{"type":"object",`), s.raw[1:]...)
		return nil
	}
	return s.enclose(top)
}

// enclose puts the schema below the member. Definitions stay at the root, where
// references look for them; other references are moved.
func (s *Schema) enclose(top map[string]json.RawMessage) error {
	inner := s.raw
	outer := map[string]json.RawMessage{}
	for _, key := range []string{"$defs", "definitions", "$schema"} {
		if top[key] != nil {
			outer[key] = top[key]
			delete(top, key)
		}
	}
	delete(top, "$id")
	moved := len(outer) > 0
	if strings.Contains(string(s.raw), `"$ref"`) {
		moved = true
	}
	if moved {
		var err error
		if inner, err = oh.Marshal(top); err == nil {
			inner, err = moveRefs(inner)
		}
		for _, key := range []string{"$defs", "definitions"} {
			if err == nil && outer[key] != nil {
				outer[key], err = moveRefsOfMap(outer[key])
			}
		}
		if err != nil {
			return fmt.Errorf("cannot be used: %w", err)
		}
	}
	outer["type"] = json.RawMessage(`"object"`)
	outer["properties"] = append(append([]byte(`{"`+member+`":`), inner...), '}')
	outer["required"] = json.RawMessage(`["` + member + `"]`)
	outer["additionalProperties"] = json.RawMessage("false")
	raw, err := oh.Marshal(outer)
	if err != nil {
		return fmt.Errorf("cannot be used: %w", err)
	}
	s.raw, s.wrapped = raw, true
	return nil
}

func moveRefs(raw json.RawMessage) (json.RawMessage, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	each(v, move)
	return oh.Marshal(v)
}

func moveRefsOfMap(raw json.RawMessage) (json.RawMessage, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if defs, ok := v.(map[string]any); ok {
		for _, d := range defs {
			each(d, move)
		}
	}
	return oh.Marshal(v)
}

// decode reads JSON with numbers as they are written.
func decode(raw json.RawMessage) (v any, err error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// move points a reference to where its target lies after wrapping.
func move(node map[string]any) {
	ref, ok := node["$ref"].(string)
	if !ok || strings.HasPrefix(ref, "#/$defs/") || strings.HasPrefix(ref, "#/definitions/") {
		return
	}
	if rest, ok := strings.CutPrefix(ref, "#"); ok {
		node["$ref"] = "#/properties/" + member + rest
	}
}
