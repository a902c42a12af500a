package ohtest

import (
	"fmt"
	"slices"
	"strings"
)

// geminiSchemaFields are what the subset of OpenAPI has that Gemini takes.
const geminiSchemaFields = "type format title description nullable enum maxItems minItems properties required minProperties maxProperties " +
	"minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"

// checkGeminiSchema holds the schema of a function's parameters to the subset of
// OpenAPI that Gemini takes: no other keywords, every schema with one type, an
// array with items, enums of strings only, and at the top an object with
// properties; closed demands them of all objects.
func checkGeminiSchema(r *report, where string, schema any, closed bool) {
	if m, ok := schema.(map[string]any); ok && !strings.EqualFold(fmt.Sprint(m["type"]), "object") {
		r.add("schema", where, "the schema is not of type object")
	}
	s := &geminiSchema{report: r, closed: closed}
	s.node(where, schema, 0)
}

type geminiSchema struct {
	*report
	closed bool
}

func (s *geminiSchema) node(where string, schema any, depth int) {
	m, ok := schema.(map[string]any)
	if !ok {
		s.add("schema", where, "a schema has to be an object, not %T", schema)
		return
	}
	if depth > maxSchemaDepth {
		s.add("schema", where, "the schema nests deeper than %d", maxSchemaDepth)
		return
	}
	for _, k := range sortedKeys(m) {
		if !slices.Contains(strings.Fields(geminiSchemaFields), k) {
			s.add("schema", where, "unknown name %q", k)
		}
	}
	kind, _ := m["type"].(string)
	kind = strings.ToLower(kind)
	alternatives, _ := m["anyOf"].([]any)
	if _, ok := m["anyOf"]; ok && len(alternatives) == 0 {
		s.add("schema", where+".anyOf", "anyOf has to be a list that is not empty")
	}
	if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, kind) && (m["type"] != nil || len(alternatives) == 0) {
		s.add("schema", where+".type", "%v is no type: one has to be specified", m["type"])
	}
	if len(alternatives) > 0 && len(m) > 1 {
		s.add("schema", where, "when using anyOf, it must be the only field set")
	}
	s.values(where, kind, m, depth)
	for i, x := range alternatives {
		s.node(fmt.Sprintf("%s.anyOf[%d]", where, i), x, depth+1)
	}
	props, _ := m["properties"].(map[string]any)
	for _, name := range sortedKeys(props) {
		s.node(where+".properties."+name, props[name], depth+1)
	}
	if v, ok := m["items"]; ok {
		s.node(where+".items", v, depth+1)
	}
}

// values checks what belongs to a type.
func (s *geminiSchema) values(where, kind string, m map[string]any, depth int) {
	props, isObject := m["properties"].(map[string]any)
	switch {
	case kind == "object" && len(props) == 0 && (s.closed || depth == 0):
		s.add("schema", where+".properties", "should be non-empty for OBJECT type")
	case kind != "object" && isObject:
		s.add("schema", where+".properties", "only allowed for OBJECT type")
	case kind == "array" && m["items"] == nil:
		s.add("schema", where+".items", "missing field")
	}
	formats := map[string]string{"string": "enum date-time", "number": "float double", "integer": "int32 int64"}
	if f, ok := m["format"]; ok {
		if name, _ := f.(string); !slices.Contains(strings.Fields(formats[kind]), name) {
			s.add("schema", where+".format", "the format %v is not supported for the type %q", f, kind)
		}
	}
	if v, ok := m["enum"]; ok {
		list, _ := v.([]any)
		bad := slices.ContainsFunc(list, func(x any) bool { text, ok := x.(string); return !ok || text == "" })
		if len(list) == 0 || bad || kind != "string" {
			s.add("schema", where+".enum", "an enum is a list of strings that are not empty, for the type string only")
		}
	}
	for _, x := range texts(m["required"]) {
		if _, ok := props[x]; !ok {
			s.add("schema", where+".required", "%s: property is not defined", x)
		}
	}
	if v, ok := m["nullable"]; ok && v != true && v != false {
		s.add("schema", where+".nullable", "a boolean is required")
	}
	if v, ok := m["description"]; ok {
		if _, ok := v.(string); !ok {
			s.add("schema", where+".description", "a string is required")
		}
	}
}

// texts returns the members of a list as texts.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprint(x))
	}
	return out
}
