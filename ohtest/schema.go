package ohtest

import (
	"fmt"
	"slices"
	"strings"
)

// maxSchemaDepth bounds how deep a schema may nest.
const maxSchemaDepth = 64

// checkSchema holds the schema of a tool's input to what all services take:
// an object at the top without alternatives, every array with items, schemas
// that are objects and not booleans, references that lead somewhere. full asks
// for properties at the top, even if there are none.
func checkSchema(r *report, where string, schema any, full bool) {
	top, ok := schema.(map[string]any)
	if !ok {
		r.add("schema", where, "the schema is not an object")
		return
	}
	if top["type"] != "object" {
		r.add("schema", where, `the schema is not of "type": "object"`)
	}
	if _, ok := top["properties"].(map[string]any); !ok && full {
		r.add("schema", where, "the schema has no properties")
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "$ref"} {
		if _, ok := top[key]; ok {
			r.add("schema", where, "%s is not allowed at the top", key)
		}
	}
	s := &schemaWalk{r, top}
	s.node(where, top, 0)
}

type schemaWalk struct {
	*report
	root map[string]any
}

func (s *schemaWalk) node(where string, schema any, depth int) {
	m, ok := schema.(map[string]any)
	if !ok {
		s.add("schema", where, "a schema has to be an object, not %T", schema)
		return
	}
	if depth > maxSchemaDepth {
		s.add("schema", where, "the schema nests deeper than %d", maxSchemaDepth)
		return
	}
	kinds := s.kinds(where, m)
	if slices.Contains(kinds, "array") {
		if _, ok := m["items"]; !ok {
			s.add("schema", where, "an array has no items")
		}
	}
	if v, ok := m["default"]; ok && v == nil && len(kinds) > 0 && !slices.Contains(kinds, "null") {
		s.add("schema", where, "the default is null, which the type does not allow")
	}
	s.values(where, m)
	s.children(where, m, depth)
}

// kinds returns the types that a schema allows.
func (s *schemaWalk) kinds(where string, m map[string]any) []string {
	v, ok := m["type"]
	if !ok {
		return nil
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	if len(list) == 0 {
		s.add("schema", where+".type", "the list of types is empty")
	}
	var out []string
	for _, x := range list {
		name, _ := x.(string)
		if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, name) {
			s.add("schema", where+".type", "%v is no type", x)
		}
		out = append(out, name)
	}
	return out
}

// values checks the members that hold no schemas.
func (s *schemaWalk) values(where string, m map[string]any) {
	if v, ok := m["enum"]; ok {
		if list, ok := v.([]any); !ok || len(list) == 0 {
			s.add("schema", where+".enum", "an enum has to be a list that is not empty")
		}
	}
	if v, ok := m["description"]; ok {
		if _, ok := v.(string); !ok {
			s.add("schema", where+".description", "a description has to be a string")
		}
	}
	if v, ok := m["$ref"]; ok {
		if ref, _ := v.(string); !s.resolves(ref) {
			s.add("schema", where+".$ref", "the reference %v leads nowhere in this schema", v)
		}
	}
	props, _ := m["properties"].(map[string]any)
	if v, ok := m["required"]; ok {
		list, ok := v.([]any)
		if !ok {
			s.add("schema", where+".required", "required has to be a list")
		}
		for _, x := range list {
			name, _ := x.(string)
			if _, ok := props[name]; !ok {
				s.add("schema", where+".required", "%v is required but is not among the properties", x)
			}
		}
	}
}

func (s *schemaWalk) children(where string, m map[string]any, depth int) {
	for _, key := range []string{"properties", "$defs", "definitions", "patternProperties"} {
		v, ok := m[key]
		if !ok {
			continue
		}
		named, ok := v.(map[string]any)
		if !ok {
			s.add("schema", where+"."+key, "%s has to be an object", key)
		}
		for _, name := range sortedKeys(named) {
			if key == "properties" && !legalProperty(name) {
				s.add("schema", where+"."+key, "the name %q does not match ^[a-zA-Z0-9_.-]{1,64}$", name)
			}
			s.node(where+"."+key+"."+name, named[name], depth+1)
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		v, ok := m[key]
		if !ok {
			continue
		}
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			s.add("schema", where+"."+key, "%s has to be a list that is not empty", key)
		}
		for i, x := range list {
			s.node(fmt.Sprintf("%s.%s[%d]", where, key, i), x, depth+1)
		}
	}
	for _, key := range []string{"items", "not"} {
		if v, ok := m[key]; ok {
			s.node(where+"."+key, v, depth+1)
		}
	}
	if v, ok := m["additionalProperties"]; ok {
		if _, ok := v.(bool); !ok {
			s.node(where+".additionalProperties", v, depth+1)
		}
	}
}

func legalProperty(s string) bool {
	return len(s) <= 64 && legalID(strings.ReplaceAll(s, ".", "_"))
}

// resolves reports whether a reference leads to a place in the schema.
func (s *schemaWalk) resolves(ref string) bool {
	if ref == "#" {
		return true
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	var at any = s.root
	for _, name := range strings.Split(path, "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return false
		}
		if at, ok = m[unescape.Replace(name)]; !ok {
			return false
		}
	}
	return true
}

// checkStrict holds a schema to what OpenAI's strict mode demands: every object
// is closed and requires all its properties.
func checkStrict(r *report, where string, schema any, depth int) {
	m, ok := schema.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return // told by checkSchema
	}
	if props, ok := m["properties"].(map[string]any); ok || m["type"] == "object" {
		if m["additionalProperties"] != false {
			r.add("schema", where, "strict mode demands additionalProperties false")
		}
		required, _ := m["required"].([]any)
		for _, name := range sortedKeys(props) {
			if !slices.Contains(required, any(name)) {
				r.add("schema", where, "strict mode demands that %q is required", name)
			}
		}
	}
	for _, key := range []string{"properties", "$defs", "definitions"} {
		named, _ := m[key].(map[string]any)
		for _, name := range sortedKeys(named) {
			checkStrict(r, where+"."+key+"."+name, named[name], depth+1)
		}
	}
	list, _ := m["anyOf"].([]any)
	for i, x := range list {
		checkStrict(r, fmt.Sprintf("%s.anyOf[%d]", where, i), x, depth+1)
	}
	checkStrict(r, where+".items", m["items"], depth+1)
}
