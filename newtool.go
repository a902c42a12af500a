package oh

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// ToolDef defines a tool whose input is the struct In.
//
// The input schema is made from In by reflection: fields by their json names,
// optional when tagged omitempty. A tag `oh:"min=1,max=600,default=30"` or
// `oh:"enum=a|b|c"` bounds a field; a default makes it optional and is filled
// in before Prepare.
//
// Doc holds the words for the model: the text before the first "## " heading
// describes the tool, and a section "## name" describes the field of that
// name (dotted for fields of nested objects and of array elements).
type ToolDef[In any] struct {
	Name        string
	Doc         string
	SelfLimited bool

	// Prepare gets input that fits the schema, coerced where a model sent a
	// number or boolean as a string. See [Tool].
	Prepare func(ctx context.Context, call *Call, in In) (Action, error)
}

// NewTool makes a [Tool] of a definition. Input that does not fit the schema
// is refused with an error that names the field and what is allowed; unknown
// fields are ignored and named in the result's metadata as ignored_fields.
// Spec panics when In cannot be described, or Doc describes a field that does
// not exist: both are mistakes of the program.
func NewTool[In any](def ToolDef[In]) Tool {
	t := &tool[In]{def: def}
	t.schema = sync.OnceValue(t.describe)
	return t
}

type tool[In any] struct {
	def    ToolDef[In]
	schema func() described
}

type described struct {
	schema *jsonschema.Schema
	spec   ToolSpec
}

// Name is the tool's name without the cost of its schema; see [ToolName].
func (t *tool[In]) Name() string { return t.def.Name }

// ToolName returns the name of a tool. A tool with a method Name() string is not
// asked for its schema.
func ToolName(t Tool) string {
	if n, ok := t.(interface{ Name() string }); ok {
		return n.Name()
	}
	return t.Spec().Name
}

func (t *tool[In]) Spec() ToolSpec { return t.schema().spec }

func (t *tool[In]) Prepare(ctx context.Context, call *Call) (Action, error) {
	input, ignored, err := FitInput(t.schema().schema, call.Input)
	if err != nil {
		return Action{}, err
	}
	var in In
	if err := json.Unmarshal(input, &in); err != nil {
		return Action{}, fmt.Errorf("input: %w", err)
	}
	act, err := t.def.Prepare(ctx, call, in)
	if err != nil || len(ignored) == 0 {
		return act, err
	}
	run := act.Run
	act.Run = func(ctx context.Context, emit func(Event)) (Result, error) {
		res, err := run(ctx, emit)
		res.Meta = withMeta(res.Meta, "ignored_fields", ignored)
		return res, err
	}
	return act, nil
}

// withMeta adds a member to a result's metadata.
func withMeta(meta json.RawMessage, key string, value any) json.RawMessage {
	m := map[string]any{}
	if len(meta) > 0 && json.Unmarshal(meta, &m) != nil {
		return meta
	}
	m[key] = value
	out, err := Marshal(m)
	if err != nil {
		return meta
	}
	return out
}

func (t *tool[In]) describe() described {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: input schema: %v", t.def.Name, err))
	}
	bound(schema, reflect.TypeFor[In]())
	text, fields := splitDoc(t.def.Doc)
	for name, doc := range fields {
		f := fieldAt(schema, strings.Split(name, "."))
		if f == nil {
			panic(fmt.Sprintf("tool %s: the text describes a field %q that does not exist", t.def.Name, name))
		}
		f.Description = doc
	}
	raw, err := Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("tool %s: input schema: %v", t.def.Name, err))
	}
	return described{schema, ToolSpec{Name: t.def.Name, Description: text, Schema: raw, SelfLimited: t.def.SelfLimited}}
}

// splitDoc takes the text for the model apart into the tool's description and
// those of its fields.
func splitDoc(doc string) (text string, fields map[string]string) {
	parts := strings.Split("\n"+doc, "\n## ")
	fields = map[string]string{}
	for _, p := range parts[1:] {
		name, body, _ := strings.Cut(p, "\n")
		fields[strings.TrimSpace(name)] = strings.TrimSpace(body)
	}
	return strings.TrimSpace(parts[0]), fields
}

func fieldAt(s *jsonschema.Schema, path []string) *jsonschema.Schema {
	for _, name := range path {
		for s != nil && s.Items != nil {
			s = s.Items
		}
		if s == nil {
			return nil
		}
		s = s.Properties[name]
	}
	return s
}

// bound applies the oh tags of a struct type to its schema, and drops what a
// model does not need (unknown fields are ignored, and null stands for absent).
func bound(s *jsonschema.Schema, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	switch typ.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			bound(s.Items, typ.Elem())
		}
		return
	case reflect.Struct:
	default:
		return
	}
	s.AdditionalProperties = nil
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		prop := s.Properties[name]
		if prop == nil {
			continue
		}
		bound(prop, f.Type)
		if boundField(prop, f.Tag.Get("oh")) {
			s.Required = without(s.Required, name)
		}
	}
}

// boundField applies one tag and reports whether it holds a default.
func boundField(s *jsonschema.Schema, tag string) (optional bool) {
	for _, part := range strings.Split(tag, ",") {
		key, val, _ := strings.Cut(part, "=")
		switch key {
		case "":
		case "min", "max":
			n, err := strconv.ParseFloat(val, 64)
			if err != nil {
				panic(fmt.Sprintf("oh tag %q: %v", tag, err))
			}
			if key == "min" {
				s.Minimum = &n
			} else {
				s.Maximum = &n
			}
		case "minItems", "maxItems":
			n, err := strconv.Atoi(val)
			if err != nil {
				panic(fmt.Sprintf("oh tag %q: %v", tag, err))
			}
			if key == "minItems" {
				s.MinItems = &n
			} else {
				s.MaxItems = &n
			}
		case "enum":
			for _, e := range strings.Split(val, "|") {
				s.Enum = append(s.Enum, e)
			}
		case "default":
			s.Default = defaultValue(s.Type, val)
			optional = true
		default:
			panic(fmt.Sprintf("oh tag %q: unknown key %q", tag, key))
		}
	}
	return optional
}

func defaultValue(typ, val string) json.RawMessage {
	if typ == "string" {
		raw, _ := Marshal(val)
		return raw
	}
	return json.RawMessage(val)
}

func without(list []string, name string) []string {
	out := list[:0:0]
	for _, x := range list {
		if x != name {
			out = append(out, x)
		}
	}
	return out
}
