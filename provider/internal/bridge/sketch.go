package bridge

import (
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// maxSketch is the length of what a description says of a schema, in code
// points.
const maxSketch = 1500

// sketch says in short what a schema, or one of several, describes: in the
// form {path: string (where it is), depth?: integer}.
func sketch(v any, depth int) string {
	return text.Cut(sketched(v, depth), maxSketch)
}

func sketched(v any, depth int) string {
	switch v := v.(type) {
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, sketched(x, depth))
		}
		return strings.Join(out, " or ")
	case *object:
		s := shape(v, depth)
		if said := strings.TrimSpace(v.text("description")); said != "" {
			s = strings.TrimSpace(s + " (" + said + ")")
		}
		return s
	case bool:
		if !v {
			return "nothing"
		}
	}
	return "any value"
}

func shape(o *object, depth int) string {
	kind := strings.Join(kindsOf(o), "|")
	switch {
	case o.has("const"):
		return string(write(nil, o.get("const")))
	case len(o.list("enum")) > 0:
		return values(o.list("enum"))
	case o.text("$ref") != "":
		ref := o.text("$ref")
		return ref[strings.LastIndexByte(ref, '/')+1:]
	case o.has("properties") || len(o.strings("required")) > 0:
		if depth <= 0 {
			return "object"
		}
		return "{" + strings.Join(fieldSketches(o, depth-1), ", ") + "}"
	case isObject(o.get("items")) && depth > 0:
		return "[" + sketched(o.get("items"), depth-1) + "]"
	case len(o.list("anyOf")) > 0 && depth > 0:
		return sketched(o.get("anyOf"), depth-1)
	case len(o.list("oneOf")) > 0 && depth > 0:
		return sketched(o.get("oneOf"), depth-1)
	case len(o.list("allOf")) > 0 && depth > 0:
		return sketched(o.list("allOf")[0], depth-1)
	case kind == "":
		kind = "any value"
	}
	if p := o.text("pattern"); p != "" {
		kind += " like " + p
	}
	return kind
}

func fieldSketches(o *object, depth int) []string {
	required := o.strings("required")
	props := o.object("properties")
	if props == nil {
		return required
	}
	var out []string
	for _, name := range props.names {
		opt := "?"
		if len(required) == 0 || slices.Contains(required, name) {
			opt = ""
		}
		out = append(out, name+opt+": "+sketched(props.get(name), depth))
	}
	for _, name := range required {
		if !props.has(name) {
			out = append(out, name)
		}
	}
	return out
}

// values lists values as JSON.
func values(list []any) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(write(nil, v))
	}
	return text.Cut(strings.Join(out, ", "), maxSketch)
}
