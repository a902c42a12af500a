package oh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// FitInput checks a call's input against the schema of a [NewTool] definition
// and returns it with defaults filled in, null members of optional fields
// dropped, and numbers and booleans that came as strings made real ones.
// ignored lists unknown top-level fields, sorted. The error is for the model:
// it names each wrong field and what is allowed.
func FitInput(schema *jsonschema.Schema, input []byte) (fit json.RawMessage, ignored []string, err error) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("the input is not valid JSON: %w", err)
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("the input must be a JSON object, not %s", jsonKind(v))
	}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if schema.Properties[name] == nil {
			ignored = append(ignored, name)
		}
	}
	var f fitter
	f.object(schema, obj, "")
	if len(f.problems) > 0 {
		return nil, nil, fmt.Errorf("invalid input: %s", strings.Join(f.problems, "; "))
	}
	raw, err := Marshal(obj)
	return raw, ignored, err
}

type fitter struct {
	problems []string
}

func (f *fitter) wrong(path, format string, args ...any) {
	f.problems = append(f.problems, path+" "+fmt.Sprintf(format, args...))
}

func (f *fitter) object(s *jsonschema.Schema, obj map[string]any, path string) {
	prefix := path
	if prefix != "" {
		prefix += "."
	}
	for _, name := range fieldNames(s) {
		prop := s.Properties[name]
		if prop == nil {
			continue // a schema of null, which says nothing
		}
		v, ok := obj[name]
		required := slices.Contains(s.Required, name)
		if ok && v == nil && !required {
			delete(obj, name)
			ok = false
		}
		if !ok {
			if len(prop.Default) > 0 && string(prop.Default) != "null" {
				obj[name] = json.RawMessage(prop.Default)
			} else if required {
				f.wrong(prefix+name, "is required")
			}
			continue
		}
		obj[name] = f.value(prop, v, prefix+name)
	}
}

// fieldNames lists the fields in their order; those of a schema that was read
// from JSON, which has none, by name.
func fieldNames(s *jsonschema.Schema) []string {
	if len(s.PropertyOrder) == len(s.Properties) {
		return s.PropertyOrder
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// value returns v as the schema wants it, and notes what is wrong with it.
func (f *fitter) value(s *jsonschema.Schema, v any, path string) any {
	switch s.Type {
	case "string":
		if n, ok := v.(json.Number); ok {
			v = n.String()
		}
		text, ok := v.(string)
		if !ok {
			f.wrong(path, "must be a string, not %s", jsonKind(v))
			return v
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)) {
			f.wrong(path, "is %q, but must be one of %s", text, enumText(s.Enum))
		}
	case "integer", "number":
		return f.number(s, v, path)
	case "boolean":
		switch v {
		case "true":
			return true
		case "false":
			return false
		}
		if _, ok := v.(bool); !ok {
			f.wrong(path, "must be true or false, not %s", jsonKind(v))
		}
	case "array":
		return f.array(s, v, path)
	case "object":
		obj, ok := decodeText[map[string]any](v)
		if !ok {
			f.wrong(path, "must be an object, not %s", jsonKind(v))
			return v
		}
		f.object(s, obj, path)
		return obj
	}
	return v
}

func (f *fitter) array(s *jsonschema.Schema, v any, path string) any {
	list, ok := decodeText[[]any](v)
	if !ok {
		f.wrong(path, "must be an array, not %s", jsonKind(v))
		return v
	}
	if s.MinItems != nil && len(list) < *s.MinItems {
		f.wrong(path, "must have at least %d elements", *s.MinItems)
	}
	if s.MaxItems != nil && len(list) > *s.MaxItems {
		f.wrong(path, "must have at most %d elements", *s.MaxItems)
	}
	for i, x := range list {
		if s.Items != nil {
			list[i] = f.value(s.Items, x, path+"["+strconv.Itoa(i)+"]")
		}
	}
	return list
}

func (f *fitter) number(s *jsonschema.Schema, v any, path string) any {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		f.wrong(path, "must be %s, not %s", article(s.Type), jsonKind(v))
		return v
	}
	if s.Type == "integer" && n != math.Trunc(n) {
		f.wrong(path, "must be a whole number, not %s", text)
		return v
	}
	if (s.Minimum != nil && n < *s.Minimum) || (s.Maximum != nil && n > *s.Maximum) {
		f.wrong(path, "is %s, but must be %s", text, rangeText(s.Minimum, s.Maximum))
	}
	if s.Type == "integer" {
		return json.Number(strconv.FormatFloat(n, 'f', 0, 64))
	}
	return json.Number(strconv.FormatFloat(n, 'g', -1, 64))
}

// decodeText returns v as a T. A model may send a list or an object as a
// string that holds its JSON.
func decodeText[T any](v any) (T, bool) {
	if t, ok := v.(T); ok {
		return t, true
	}
	var t T
	text, ok := v.(string)
	if !ok {
		return t, false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return t, dec.Decode(&t) == nil
}

func article(typ string) string {
	if typ == "integer" {
		return "an integer"
	}
	return "a " + typ
}

func rangeText(lo, hi *float64) string {
	switch {
	case lo == nil:
		return "at most " + number(*hi)
	case hi == nil:
		return "at least " + number(*lo)
	}
	return "from " + number(*lo) + " to " + number(*hi)
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func enumText(enum []any) string {
	names := make([]string, len(enum))
	for i, e := range enum {
		names[i] = fmt.Sprint(e)
	}
	return strings.Join(names, ", ")
}

func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}
