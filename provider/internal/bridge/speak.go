package bridge

import (
	"encoding/json"
	"slices"
	"strings"

	cut "github.com/openharness/oh/internal/text"
)

// The keywords that the lesser dialects keep.
var (
	flatKeys = [...]string{
		"type", "description", "properties", "required", "items", "anyOf", "enum", "default", "minimum",
		"maximum", "additionalProperties",
	}
	geminiKeys = [...]string{
		"type", "description", "nullable", "properties", "required", "items", "anyOf", "enum", "format",
		"minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems",
	}
)

// facts are the keywords that a description tells where they are left out.
var facts = [...]string{
	"format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contentMediaType", "contentEncoding", "default", "examples",
	"example", "deprecated",
}

// keys are the keywords that the dialect keeps, one of the lesser ones.
func (c *converter) keys() []string {
	if c.dialect == Gemini {
		return geminiKeys[:]
	}
	return flatKeys[:]
}

// speak gives a schema, whose fields and elements are converted, the form of a
// lesser dialect: one type or a list of alternatives, and few keywords.
func (c *converter) speak(o *object, depth int) *object {
	null := o.get("nullable") == true
	if o.text("description") == "" && o.text("title") != "" {
		o.set("description", o.text("title"))
	}
	c.values(o, &null)
	c.others(o)
	c.choose(o, depth, &null)
	c.leaveOut(o)
	if c.dialect == Gemini {
		return alone(o, null)
	}
	if null {
		return orNull(o)
	}
	return o
}

// values makes one enum of the values that a schema lists, or tells them where
// the dialect has no such enum.
func (c *converter) values(o *object, null *bool) {
	list := o.list("enum")
	if o.has("const") {
		list = []any{o.get("const")}
	}
	if list == nil {
		return
	}
	if i := slices.IndexFunc(list, func(v any) bool { return v == nil }); i >= 0 && len(list) > 1 {
		list = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == nil })
		*null = true
	}
	kinds := kindsOfValues(list)
	kind := ""
	if len(kinds) == 1 {
		kind = kinds[0]
	}
	declared := kindsOf(o)
	fits := len(declared) == 0 || slices.Contains(declared, kind) || kind == "integer" && slices.Contains(declared, "number")
	o.drop("const")
	switch {
	case kind == "null":
		o.drop("enum")
		*null = true
		return
	case kind == "" || c.dialect == Gemini && (kind != "string" || !fits || contains(list, "")):
		o.drop("enum")
		if len(list) == 1 {
			tell(o, word("always", "value", values(list)))
		} else {
			tell(o, word("values", "values", values(list)))
		}
	default:
		o.set("enum", list)
	}
	*null = *null || slices.Contains(declared, "null")
	switch {
	case kind == "" && len(declared) == 0:
		o.setFirst("type", oneOrMany(kinds))
	case kind != "" && (len(declared) != 1 || !fits):
		o.setFirst("type", kind)
	}
}

// kindsOfValues returns the types of values, "integer" for numbers that are
// all whole.
func kindsOfValues(list []any) []string {
	var out []string
	whole := true
	for _, v := range list {
		out = unite(out, []string{kindOf(v)})
		n, ok := v.(json.Number)
		whole = whole && (!ok || !strings.ContainsAny(string(n), ".eE"))
	}
	if i := slices.Index(out, "number"); i >= 0 && whole {
		out[i] = "integer"
	}
	return out
}

// others tells of the fields of other names where the dialect has no word for
// them.
func (c *converter) others(o *object) {
	if named := o.object("patternProperties"); named != nil {
		for _, pattern := range named.names {
			tell(o, word("named like", "pattern", pattern, "schema", sketch(named.get(pattern), 4)))
		}
		if len(named.names) > 0 && o.get("additionalProperties") == false {
			o.drop("additionalProperties")
		}
		o.drop("patternProperties")
	}
	if rest := o.object("additionalProperties"); rest != nil && c.dialect == Gemini && len(rest.names) > 0 {
		if !equal(rest, c.anything(0)) {
			tell(o, word("other fields", "schema", sketch(rest, 4)))
		}
		o.drop("additionalProperties")
	}
}

// choose leaves one type, or none and a list of alternatives that have one
// each.
func (c *converter) choose(o *object, depth int, null *bool) {
	members := c.members(o, depth, null)
	switch {
	case len(members) == 1:
		only := members[0]
		*null = *null || only.get("nullable") == true
		only.drop("nullable")
		merge(o, only)
	case len(members) > 1:
		if list := sameValues(members); list != nil {
			o.setFirst("type", "string")
			o.set("enum", list)
			for _, m := range members {
				tell(o, m.text("description"))
			}
			break
		}
		o.drop("type", "enum")
		o.set("anyOf", objects(members))
		return
	}
	c.settle(o, null)
}

// members returns the alternatives of a schema, converted, without null and
// without doubles.
func (c *converter) members(o *object, depth int, null *bool) []*object {
	list := slices.Concat(o.list("anyOf"), o.list("oneOf"))
	o.drop("anyOf", "oneOf")
	var out []*object
	for _, x := range list {
		if isNever(x) {
			continue
		}
		if isNull(x) {
			*null = true
			continue
		}
		m, refs := c.flatten(x)
		if kinds := kindsOf(o); len(kindsOf(m)) == 0 && len(kinds) > 0 && !m.has("anyOf") && !m.has("oneOf") && len(valuesOf(m)) == 0 {
			m.setFirst("type", oneOrMany(kinds))
		}
		if depth+1 >= c.limit.depth && tall(m, 3) {
			m = stub(m)
		}
		m = c.finish(m, depth+1)
		c.leave(refs)
		for _, part := range spread(m, null) {
			if !slices.ContainsFunc(out, func(have *object) bool { return equal(have, part) }) {
				out = append(out, part)
			}
		}
	}
	return out
}

// spread returns the alternatives of an alternative in its place.
func spread(m *object, null *bool) []*object {
	list := m.list("anyOf")
	if list == nil {
		return []*object{m}
	}
	var out []*object
	for _, x := range list {
		if isNull(x) {
			*null = true
		} else if part, ok := x.(*object); ok {
			out = append(out, part.clone())
		}
	}
	if said := m.text("description"); said != "" && len(out) > 0 {
		before(out[0], said)
	}
	return out
}

// before puts a text in front of a description.
func before(o *object, said string) {
	if own := o.text("description"); own != "" && !strings.Contains(said, own) {
		said = sentence(said) + " " + own
	}
	o.set("description", said)
}

// sameValues returns the values of alternatives that are all lists of values
// of one type.
func sameValues(members []*object) []any {
	list := valuesOf(members[0])
	for _, m := range members[1:] {
		one := newObject()
		one.set("enum", list)
		if list == nil {
			return nil
		}
		list = unitedEnum(one, m)
	}
	if list != nil && kindOf(list[0]) == "string" {
		return list
	}
	return nil
}

func objects(list []*object) []any {
	out := make([]any, len(list))
	for i, o := range list {
		out[i] = o
	}
	return out
}

// settle gives a schema without alternatives its one type, or alternatives.
func (c *converter) settle(o *object, null *bool) {
	kinds := kindsOf(o)
	if slices.Contains(kinds, "null") && len(kinds) > 1 {
		kinds = without(kinds, "null")
		*null = true
	}
	if len(kinds) == 0 {
		kinds = inferred(o)
	}
	switch {
	case len(kinds) == 1:
		o.setFirst("type", kinds[0])
		if kinds[0] == "array" && !o.has("items") {
			o.set("items", c.anything(1))
		}
	case len(kinds) == 0:
		for _, name := range c.anything(0).names {
			o.set(name, c.anything(0).get(name))
		}
	default:
		c.split(o, kinds)
	}
}

// inferred guesses the type of a schema that names none.
func inferred(o *object) []string {
	for _, g := range [...]struct{ kind, keys string }{
		{"object", "properties additionalProperties required minProperties maxProperties"},
		{"array", "items minItems maxItems uniqueItems"},
		{"string", "pattern minLength maxLength format contentEncoding contentMediaType"},
		{"number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"},
	} {
		if slices.ContainsFunc(strings.Fields(g.keys), o.has) {
			return []string{g.kind}
		}
	}
	return nil
}

// split makes an alternative of each type, with the keywords that are about it.
func (c *converter) split(o *object, kinds []string) {
	about := map[string]string{
		"object": "properties required additionalProperties", "array": "items minItems maxItems uniqueItems",
		"string": "pattern minLength maxLength format", "number": "minimum maximum", "integer": "minimum maximum",
	}
	var list []any
	for _, kind := range kinds {
		m := newObject()
		m.set("type", kind)
		for _, key := range strings.Fields(about[kind]) {
			if o.has(key) {
				m.set(key, o.get(key))
			}
		}
		if kind == "array" && !m.has("items") {
			m.set("items", c.anything(1))
		}
		c.leaveOut(m)
		list = append(list, m)
	}
	for _, keys := range about {
		o.drop(strings.Fields(keys)...)
	}
	o.drop("type")
	o.set("anyOf", list)
}

// anything is the schema of any value, inside of which deeper levels of lists
// end.
func (c *converter) anything(level int) *object {
	var list []any
	for _, kind := range [...]string{"string", "number", "boolean", "object"} {
		m := newObject()
		m.set("type", kind)
		list = append(list, m)
	}
	if level == 0 {
		m := newObject()
		m.set("type", "array")
		m.set("items", c.anything(1))
		list = append(list, m)
	}
	o := newObject()
	o.set("anyOf", list)
	return o
}

// leaveOut drops the keywords that the dialect lacks and tells those that say
// something.
func (c *converter) leaveOut(o *object) {
	keep := c.keys()
	for _, key := range facts {
		v := o.get(key)
		if o.has(key) && (!slices.Contains(keep, key) || key == "format" && !geminiFormat(o.text("type"), v)) {
			if worthTelling(key, v) {
				tell(o, word("detail", "key", key, "value", cut.Cut(plainValue(v), maxSketch)))
			}
			o.drop(key)
		}
	}
	for _, key := range [...]string{"minimum", "maximum"} {
		if n, ok := o.get(key).(json.Number); ok && strings.TrimPrefix(string(n), "-") == "9007199254740991" {
			o.drop(key) // the largest whole number of JavaScript says nothing
		}
	}
	if o.get("default") == nil {
		o.drop("default")
	}
	for _, name := range slices.Clone(o.names) {
		if !slices.Contains(keep, name) {
			o.drop(name)
		}
	}
}

// geminiFormat reports whether Gemini takes a format for a type.
func geminiFormat(kind string, v any) bool {
	switch v {
	case "enum", "date-time":
		return kind == "string"
	case "float", "double":
		return kind == "number"
	case "int32", "int64":
		return kind == "integer"
	}
	return false
}

func worthTelling(key string, v any) bool {
	switch v {
	case nil, false, "", json.Number("0"):
		return key == "default" && v != nil || strings.HasPrefix(key, "exclusive") || key == "minimum" || key == "maximum"
	}
	if s, ok := v.(json.Number); ok && (strings.HasPrefix(key, "min") && key != "minimum") {
		return s != "1" || key == "minItems"
	}
	return true
}

// plainValue is a value as a description says it.
func plainValue(v any) string {
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	return string(write(nil, v))
}

// alone makes anyOf the only member of a schema, as Gemini wants it, and says
// whether null is allowed.
func alone(o *object, null bool) *object {
	list := o.list("anyOf")
	if list == nil {
		if null {
			o.set("nullable", true)
		} else {
			o.drop("nullable")
		}
		return o
	}
	first, _ := list[0].(*object)
	first = first.clone()
	if said := o.text("description"); said != "" {
		before(first, said)
	}
	if null {
		first.set("nullable", true)
	}
	out := newObject()
	out.set("anyOf", append([]any{first}, list[1:]...))
	return out
}

// orNull adds null to what a schema allows.
func orNull(o *object) *object {
	null := newObject()
	null.set("type", "null")
	if list := o.list("anyOf"); list != nil {
		o.set("anyOf", append(slices.Clone(list), null))
		return o
	}
	if o.text("type") == "null" {
		return o
	}
	inner := o.clone()
	out := newObject()
	for _, key := range [...]string{"description", "default"} {
		if o.has(key) {
			out.set(key, o.get(key))
			inner.drop(key)
		}
	}
	out.set("anyOf", []any{inner, null})
	return out
}
