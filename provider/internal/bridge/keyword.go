package bridge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// normalize mends the keywords of one schema, not of its children: what is not
// valid JSON Schema is mended where its meaning is plain, else left out.
func normalize(o *object) {
	normalizeType(o)
	for _, name := range slices.Clone(o.names) {
		v, ok := mended(name, o.get(name))
		switch {
		case !ok:
			o.drop(name)
		case !equal(v, o.get(name)):
			o.set(name, v)
		}
	}
	draft4Bounds(o)
	if kinds := kindsOf(o); o.has("default") && o.get("default") == nil && len(kinds) > 0 && !slices.Contains(kinds, "null") {
		o.drop("default")
	}
}

// mended returns the value of a keyword as the standard wants it; not ok where
// there is none.
func mended(name string, v any) (any, bool) {
	switch name {
	case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return mendedNumber(name, v)
	case "title", "pattern", "format", "$comment", "contentEncoding", "contentMediaType", "$schema":
		_, ok := v.(string)
		return v, ok
	case "description":
		if _, ok := v.(string); ok || v == nil {
			return v, v != nil
		}
		return string(write(nil, v)), true
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		_, ok := v.(bool)
		return v, ok
	case "examples":
		if _, ok := v.(string); ok {
			return []any{v}, true
		}
		_, ok := v.([]any)
		return v, ok
	case "enum":
		list, ok := v.([]any)
		return unique(list), ok && len(list) > 0
	case "required":
		list, ok := v.([]any)
		return onlyText(list), ok
	case "properties", "patternProperties":
		return v, isObject(v)
	case "additionalProperties":
		if _, ok := v.(bool); ok {
			return v, true
		}
		return v, isObject(v)
	case "$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary":
		return nil, false // references were followed
	}
	return v, true
}

func mendedNumber(name string, v any) (any, bool) {
	if s, ok := v.(string); ok {
		v = json.Number(strings.TrimSpace(s))
	}
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	f, err := strconv.ParseFloat(string(n), 64)
	switch {
	case err != nil || !json.Valid([]byte(n)):
		return nil, false
	case name == "multipleOf":
		return n, f > 0
	case name == "minimum" || name == "maximum":
		return n, true
	}
	return n, f >= 0 && f == float64(int64(f))
}

func onlyText(list []any) []any {
	out := []any{}
	for _, x := range unique(list) {
		if _, ok := x.(string); ok {
			out = append(out, x)
		}
	}
	return out
}

// draft4Bounds turns exclusive bounds that are booleans, as they once were,
// into numbers.
func draft4Bounds(o *object) {
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		switch v := o.get(exclusive).(type) {
		case json.Number:
		case bool:
			n := o.get(bound)
			o.drop(exclusive)
			if v && n != nil {
				o.rename(bound, exclusive)
			}
		default:
			o.drop(exclusive)
		}
	}
}

// normalizeType mends the names of types as programs in several languages
// write them. What is no type is said.
func normalizeType(o *object) {
	v := o.get("type")
	if !o.has("type") {
		return
	}
	list, many := v.([]any)
	if !many {
		list = []any{v}
	}
	var kinds []string
	for _, x := range list {
		s, _ := x.(string)
		if kind := typeName(s); kind != "" {
			kinds = unite(kinds, []string{kind})
		} else if s != "" && !strings.EqualFold(s, "any") {
			tell(o, word("detail", "key", "type", "value", s))
		}
	}
	switch {
	case len(kinds) == 0:
		o.drop("type")
	case !many || len(kinds) == 1 || len(kinds) != len(list):
		o.set("type", oneOrMany(kinds))
	default:
		o.set("type", anyOf(kinds))
	}
}

// typeName returns the name of a type, "" when there is none.
func typeName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "", "object", "array", "string", "number", "integer", "boolean", "null":
		return s
	case "str", "text", "uuid", "date", "datetime", "date-time", "uri", "url":
		return "string"
	case "int", "int32", "int64", "long":
		return "integer"
	case "float", "double", "decimal":
		return "number"
	case "bool":
		return "boolean"
	case "list", "tuple", "set":
		return "array"
	case "dict", "map", "record":
		return "object"
	case "none":
		return "null"
	}
	return ""
}

// kindsOf returns the types that a schema names.
func kindsOf(o *object) []string {
	switch v := o.get("type").(type) {
	case string:
		if kind := typeName(v); kind != "" {
			return []string{kind}
		}
	case []any:
		var out []string
		for _, x := range v {
			s, _ := x.(string)
			if kind := typeName(s); kind != "" {
				out = unite(out, []string{kind})
			}
		}
		return out
	}
	return nil
}

// allows reports whether a value of a type may be meant.
func allows(kinds []string, kind string) bool { return len(kinds) == 0 || slices.Contains(kinds, kind) }

func oneOrMany(kinds []string) any {
	if len(kinds) == 1 {
		return kinds[0]
	}
	return anyOf(kinds)
}

// kindOf returns the type of a value, "number" also for whole ones.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// legalField reports whether services take the name of a field.
func legalField(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
