package bridge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// node converts a schema below the top.
func (c *converter) node(v any, depth int) *object { return c.field("", v, depth, false) }

// field converts the schema of a field. An optional one whose default is null
// need not be null: it can be left out.
func (c *converter) field(name string, v any, depth int, optional bool) *object {
	o, refs := c.flatten(v)
	if title := o.text("title"); title != "" && !c.plain() && strings.EqualFold(letters(title), letters(name)) {
		o.drop("title") // it would become a description that says nothing
	}
	if optional && o.has("default") && o.get("default") == nil {
		withoutNull(o)
		again, more := c.flatten(o)
		o, refs = again, append(refs, more...)
	}
	defer c.leave(refs)
	if depth >= c.limit.depth && tall(o, 3) {
		o = stub(o)
	}
	return c.finish(o, depth)
}

// letters are a name without what parts its words.
func letters(s string) string { return strings.NewReplacer("_", "", "-", "", " ", "").Replace(s) }

// tall reports whether a schema holds fields, or nests deeper than n without.
func tall(v any, n int) bool {
	o, ok := v.(*object)
	if !ok {
		return false
	}
	if n == 0 {
		return true
	}
	if p := o.object("properties"); p != nil && len(p.names) > 0 || o.has("$ref") || o.has("allOf") || o.has("patternProperties") {
		return true
	}
	below := slices.Concat(o.list("anyOf"), o.list("oneOf"), o.list("prefixItems"), o.list("items"), []any{o.get("items"), o.get("additionalProperties")})
	return slices.ContainsFunc(below, func(x any) bool { return tall(x, n-1) })
}

// withoutNull takes null from what a schema allows.
func withoutNull(o *object) {
	o.drop("default", "nullable")
	if kinds := kindsOf(o); len(kinds) > 1 && slices.Contains(kinds, "null") {
		kinds = slices.DeleteFunc(kinds, func(s string) bool { return s == "null" })
		o.set("type", oneOrMany(kinds))
	}
	if list := o.list("enum"); len(list) > 1 && contains(list, nil) {
		o.set("enum", slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == nil }))
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		list := slices.DeleteFunc(slices.Clone(o.list(key)), isNull)
		if len(list) == 0 || len(list) == len(o.list(key)) {
			continue
		}
		if len(list) == 1 {
			o.drop(key)
			o.set("allOf", append(slices.Clone(o.list("allOf")), list[0]))
			continue
		}
		o.set(key, list)
	}
}

// isNever reports a schema that no value fits.
func isNever(v any) bool {
	o, ok := v.(*object)
	if !ok || len(o.names) != 1 || !o.has("not") {
		return v == false
	}
	not, ok := o.get("not").(*object)
	return ok && len(not.names) == 0 || o.get("not") == true
}

// isNull reports a schema of nothing but null.
func isNull(v any) bool {
	o, ok := v.(*object)
	if !ok {
		return false
	}
	kinds := kindsOf(o)
	values := valuesOf(o)
	return len(kinds) == 1 && kinds[0] == "null" || len(kinds) == 0 && len(values) == 1 && values[0] == nil
}

// finish converts what was flattened: its own keywords, then its children.
func (c *converter) finish(o *object, depth int) *object {
	normalize(o)
	refs := c.conditions(o)
	if o.has("properties") && c.splits(o) {
		more, _ := c.union(o)
		refs = append(refs, more...)
	}
	defer c.leave(refs)
	c.fields(o, depth)
	c.elements(o, depth)
	if c.plain() {
		c.alternatives(o, depth)
		return o
	}
	return c.speak(o, depth)
}

// splits reports whether the alternatives of an object have to be made one
// with it: they want fields that stand beside them, or the dialect has no such
// form.
func (c *converter) splits(o *object) bool {
	members := slices.Concat(o.list("anyOf"), o.list("oneOf"))
	if !c.plain() {
		return len(members) > 0
	}
	return slices.ContainsFunc(members, func(x any) bool {
		m, ok := x.(*object)
		if !ok {
			return true
		}
		props := m.object("properties")
		return slices.ContainsFunc(m.strings("required"), func(s string) bool { return props == nil || !props.has(s) })
	})
}

// conditions turns rules between fields into words, and the fields that they
// bring into optional ones.
func (c *converter) conditions(o *object) (refs []string) {
	join := func(v any) {
		if isObject(v) {
			m, more := c.flatten(v)
			refs = append(refs, more...)
			joinFields(o, m)
		}
	}
	if o.has("if") || o.has("then") || o.has("else") {
		rule := "if " + sketch(o.get("if"), 3)
		for _, key := range [...]string{"then", "else"} {
			if o.has(key) {
				rule += ", " + key + " " + sketch(o.get(key), 3)
				join(o.get(key))
			}
		}
		tell(o, word("rule", "rule", rule))
	}
	for _, key := range [...]string{"dependentRequired", "dependentSchemas", "dependencies"} {
		deps := o.object(key)
		if deps == nil {
			continue
		}
		for _, name := range deps.names {
			if list, ok := deps.get(name).([]any); ok {
				tell(o, word("with", "field", name, "fields", listed(list)))
				continue
			}
			tell(o, word("with", "field", name, "fields", sketch(deps.get(name), 3)))
			join(deps.get(name))
		}
	}
	if isObject(o.get("not")) {
		tell(o, word("not", "schema", sketch(o.get("not"), 3)))
	}
	if names := o.object("propertyNames"); names != nil && (names.has("pattern") || names.has("enum")) {
		tell(o, word("key names", "schema", sketch(names, 2)))
	}
	if isObject(o.get("contains")) {
		tell(o, word("detail", "key", "contains", "value", sketch(o.get("contains"), 3)))
	}
	o.drop("if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "not", "propertyNames", "contains",
		"minContains", "maxContains", "additionalItems", "contentSchema")
	for _, key := range [...]string{"unevaluatedProperties", "unevaluatedItems"} {
		if _, ok := o.get(key).(bool); !ok {
			o.drop(key)
		}
	}
	return refs
}

func listed(list []any) string {
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// fields converts the fields of an object.
func (c *converter) fields(o *object, depth int) {
	if props := o.object("properties"); props != nil {
		required := o.strings("required")
		for _, name := range props.names { // draft 3 says so in the field
			if p := props.object(name); p != nil && p.get("required") == true {
				required = unite(required, []string{name})
			}
		}
		o.set("properties", c.named(o, props, &required, depth))
		c.require(o, required)
	} else if required := o.strings("required"); len(required) > 0 {
		o.set("properties", c.named(o, newObject(), &required, depth))
		c.require(o, required)
	} else {
		o.drop("required")
	}
	if rest := o.object("additionalProperties"); rest != nil {
		o.set("additionalProperties", c.node(rest, depth+1))
	}
	if named := o.object("patternProperties"); named != nil {
		out := newObject()
		for _, pattern := range named.names {
			if named.get(pattern) != false {
				out.set(pattern, c.node(named.get(pattern), depth+1))
			}
		}
		o.set("patternProperties", out)
	}
}

func (c *converter) require(o *object, required []string) {
	if len(required) == 0 && len(o.list("required")) > 0 {
		o.drop("required")
	} else if !slices.Equal(required, o.strings("required")) {
		o.set("required", anyOf(required))
	}
}

// named converts fields. One whose name no service takes is told of instead.
func (c *converter) named(o, props *object, required *[]string, depth int) *object {
	out := newObject()
	all := map[string]bool{}
	for _, name := range *required {
		all[name] = true
	}
	for _, name := range props.names {
		if c.spent() {
			break
		}
		v, needed := props.get(name), all[name]
		if isNever(v) {
			*required = without(*required, name)
			continue
		}
		f := c.field(name, v, depth+1, !needed)
		if legalField(name) {
			out.set(name, f)
			continue
		}
		*required = without(*required, name)
		said := strconv.Quote(name) + ": " + sketch(f, 4)
		if needed {
			said += ", " + word("required")
		}
		tell(o, word("field", "field", said))
		if o.get("additionalProperties") == false {
			o.drop("additionalProperties")
		}
	}
	for _, name := range slices.Clone(*required) {
		switch {
		case out.has(name) || c.spent():
		case legalField(name):
			out.set(name, c.node(nil, depth+1))
		default:
			*required = without(*required, name)
		}
	}
	return out
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

// elements converts what an array holds.
func (c *converter) elements(o *object, depth int) {
	tuple := o.list("prefixItems")
	if list, ok := o.get("items").([]any); ok { // as tuples once were written
		o.drop("items", "prefixItems")
		if tuple = list; len(tuple) > 0 {
			o.set("prefixItems", tuple)
		}
	}
	if len(tuple) > 0 {
		c.tuple(o, tuple, depth)
	} else {
		o.drop("prefixItems")
	}
	switch v := o.get("items").(type) {
	case *object:
		o.set("items", c.node(v, depth+1))
	default:
		if o.has("items") || slices.Contains(kindsOf(o), "array") {
			o.set("items", c.node(nil, depth+1))
		}
	}
}

// tuple converts the schemas of an array's first elements.
func (c *converter) tuple(o *object, list []any, depth int) {
	if o.get("items") == false {
		o.drop("items")
		if !o.has("maxItems") {
			o.set("maxItems", json.Number(strconv.Itoa(len(list))))
		}
	}
	if c.plain() {
		out := make([]any, len(list))
		for i, x := range list {
			out[i] = c.node(x, depth+1)
		}
		o.set("prefixItems", out)
		return
	}
	o.drop("prefixItems")
	tell(o, word("order", "list", strings.ReplaceAll(sketch(list, 3), " or ", ", ")))
	var kept []any
	for _, x := range list {
		if !contains(kept, x) {
			kept = append(kept, x)
		}
	}
	item := newObject()
	item.set("anyOf", kept)
	if len(kept) == 1 {
		item, _ = kept[0].(*object)
	}
	if !o.has("items") && item != nil {
		o.set("items", item)
	}
}

// alternatives converts anyOf and oneOf.
func (c *converter) alternatives(o *object, depth int) {
	for _, key := range [...]string{"anyOf", "oneOf"} {
		if !o.has(key) {
			continue
		}
		var out []any
		for _, x := range o.list(key) {
			if !isNever(x) {
				out = append(out, c.node(x, depth+1))
			}
		}
		if len(out) == 0 {
			o.drop(key)
			continue
		}
		o.set(key, out)
	}
}
