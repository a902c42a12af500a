package bridge

import (
	"slices"
	"strings"
)

// merge puts src into dst, which is to hold what both demand. Where they
// contradict each other dst stands.
func merge(dst, src *object) {
	for _, name := range src.names {
		v := src.get(name)
		if !dst.has(name) {
			dst.set(name, v)
			continue
		}
		switch name {
		case "description":
			if s, ok := v.(string); ok {
				tell(dst, s)
			}
		case "properties":
			mergeFields(dst, v)
		case "required":
			dst.set("required", anyOf(unite(dst.strings("required"), src.strings("required"))))
		case "type":
			if both := common(kindsOf(dst), kindsOf(src)); len(both) > 0 {
				dst.set("type", oneOrMany(both))
			}
		case "enum":
			mergeEnum(dst, v)
		case "items":
			dst.set("items", both(dst.get("items"), v))
		case "anyOf", "oneOf":
			if !equal(dst.get(name), v) {
				tell(dst, word("alternatives", "list", sketch(v, 3)))
			}
		}
	}
}

func mergeFields(dst *object, v any) {
	add, ok := v.(*object)
	if !ok {
		return
	}
	props := dst.object("properties")
	if props == nil {
		dst.set("properties", add)
		return
	}
	props = props.clone()
	for _, name := range add.names {
		if !props.has(name) {
			props.set(name, add.get(name))
		} else {
			props.set(name, both(props.get(name), add.get(name)))
		}
	}
	dst.set("properties", props)
}

// both returns a schema that demands what a and b do.
func both(a, b any) any {
	if equal(a, b) || !isObject(b) {
		return a
	}
	if !isObject(a) {
		return b
	}
	o := newObject()
	o.set("allOf", []any{a, b})
	return o
}

func isObject(v any) bool { _, ok := v.(*object); return ok }

// maxValues bounds the lists of values that are compared with each other.
const maxValues = 2000

func mergeEnum(dst *object, v any) {
	list, _ := v.([]any)
	var kept []any
	if len(list) > maxValues || len(dst.list("enum")) > maxValues {
		return
	}
	for _, x := range dst.list("enum") {
		if contains(list, x) {
			kept = append(kept, x)
		}
	}
	if len(kept) > 0 {
		dst.set("enum", kept)
	}
}

func contains(list []any, v any) bool {
	return slices.ContainsFunc(list, func(x any) bool { return equal(x, v) })
}

func unite(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func common(a, b []string) []string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) || s == "integer" && slices.Contains(b, "number") {
			out = append(out, s)
		}
	}
	if slices.Contains(a, "number") && slices.Contains(b, "integer") && !slices.Contains(out, "integer") {
		out = append(out, "integer")
	}
	return out
}

// union makes one object of an object's alternatives: it has the fields of all
// and demands what all demand; which belong together is said. It is not ok when
// no alternative is an object.
func (c *converter) union(o *object) (refs []string, ok bool) {
	members := slices.Concat(o.list("anyOf"), o.list("oneOf"))
	o.drop("anyOf", "oneOf")
	if len(members) == 0 {
		return nil, true
	}
	var sets []string
	var always []string
	n := 0
	for _, x := range members {
		if isNever(x) {
			continue
		}
		m, more := c.flatten(x)
		refs = append(refs, more...)
		if !allows(kindsOf(m), "object") {
			continue
		}
		inner, good := c.union(m)
		refs = append(refs, inner...)
		if !good {
			continue
		}
		need := m.strings("required")
		if n == 0 {
			always = need
		} else {
			always = slices.DeleteFunc(slices.Clone(always), func(s string) bool { return !slices.Contains(need, s) })
		}
		n++
		if set := fieldSet(m, need); set != "" && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
		joinFields(o, m)
		if said := m.text("description"); said != "" {
			tell(o, said)
		}
	}
	if n == 0 {
		return refs, false
	}
	if need := unite(o.strings("required"), always); len(need) > 0 {
		o.set("required", anyOf(need))
	}
	if len(sets) > 1 {
		tell(o, word("alternatives", "list", strings.Join(sets, "; ")))
	}
	return refs, true
}

// fieldSet names the fields that one alternative wants.
func fieldSet(m *object, need []string) string {
	var out []string
	props := m.object("properties")
	if len(need) == 0 && props != nil {
		need = props.names
	}
	for _, name := range need {
		if props != nil {
			if p := props.object(name); p != nil && p.has("const") {
				name += "=" + string(write(nil, p.get("const")))
			}
		}
		out = append(out, name)
	}
	if len(out) == 0 {
		return ""
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// joinFields adds the fields of an alternative to an object. A field that
// several have may be what either says.
func joinFields(o, m *object) {
	add := m.object("properties")
	if add == nil {
		return
	}
	props := o.object("properties")
	if props == nil {
		props = newObject()
	} else {
		props = props.clone()
	}
	for _, name := range add.names {
		if !props.has(name) {
			props.set(name, add.get(name))
		} else {
			props.set(name, either(props.get(name), add.get(name)))
		}
	}
	o.set("properties", props)
}

// either returns a schema of what one of two takes.
func either(a, b any) any {
	x, ok := a.(*object)
	y, fine := b.(*object)
	if !ok || !fine || equal(a, b) {
		return a
	}
	if list := unitedEnum(x, y); list != nil {
		x = x.clone()
		x.drop("const")
		x.set("enum", list)
		if s := y.text("description"); s != "" {
			tell(x, s)
		}
		return x
	}
	o := newObject()
	if list := x.list("anyOf"); list != nil && len(x.names) == 1 {
		if contains(list, b) {
			return a
		}
		o.set("anyOf", append(slices.Clone(list), b))
		return o
	}
	o.set("anyOf", []any{a, b})
	return o
}

// unitedEnum returns the values of two lists of values of the same kind.
func unitedEnum(a, b *object) []any {
	x, y := valuesOf(a), valuesOf(b)
	if x == nil || y == nil || len(x) > maxValues || len(y) > maxValues {
		return nil
	}
	out := slices.Clone(x)
	for _, v := range y {
		if !contains(out, v) {
			out = append(out, v)
		}
	}
	if kindOf(out[0]) == "" || slices.ContainsFunc(out, func(v any) bool { return kindOf(v) != kindOf(out[0]) }) {
		return nil
	}
	return out
}

// valuesOf returns the values that a schema allows, if it lists them and says
// nothing further that matters.
func valuesOf(o *object) []any {
	for _, name := range o.names {
		switch name {
		case "const", "enum", "type", "description", "title":
		default:
			return nil
		}
	}
	if o.has("const") {
		return []any{o.get("const")}
	}
	if list := o.list("enum"); len(list) > 0 {
		return list
	}
	return nil
}
