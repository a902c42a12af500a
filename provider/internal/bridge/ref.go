package bridge

import (
	"net/url"
	"strconv"
	"strings"
)

// flatten returns a schema as an object of its own: references followed and
// allOf merged, the children as they were. refs are the references that it
// opened, to be closed by leave when the children are converted.
func (c *converter) flatten(v any) (o *object, refs []string) {
	c.nodes++
	src, ok := v.(*object)
	if !ok || c.spent() {
		return newObject(), nil // true, false, or what is no schema
	}
	c.bytes += len(src.text("description"))
	o = src.clone()
	for _, key := range [...]string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := o.get(key).(string); ok {
			o.drop(key)
			more := c.follow(o, ref)
			refs = append(refs, more...)
		}
		o.drop(key)
	}
	if all := o.list("allOf"); all != nil {
		o.drop("allOf")
		for _, x := range all {
			member, more := c.flatten(x)
			refs = append(refs, more...)
			merge(o, member)
		}
	}
	o.drop("allOf")
	return o, refs
}

func (c *converter) leave(refs []string) {
	for _, ref := range refs {
		c.open[ref]--
	}
}

// follow merges what a reference means into o.
func (c *converter) follow(o *object, ref string) (refs []string) {
	target, ok := c.resolve(ref)
	switch {
	case !ok:
		tell(o, word("elsewhere", "place", ref))
		return nil
	case c.open[ref] >= c.limit.repeat:
		cut, _ := target.(*object)
		if cut != nil {
			merge(o, stub(cut))
		}
		return nil
	}
	c.open[ref]++
	found, refs := c.flatten(target)
	merge(o, found)
	return append(refs, ref)
}

// resolve finds the schema that a reference within the document names.
func (c *converter) resolve(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if ok {
		if p, err := url.PathUnescape(path); err == nil {
			path = p
		}
	}
	if ok && (path == "" || path[0] == '/') {
		return walk(c.top, path)
	}
	if c.anchors == nil {
		c.anchors = map[string]any{}
		c.collect(c.top, 0)
	}
	v, found := c.anchors[ref]
	return v, found
}

// walk follows a JSON pointer.
func walk(at any, path string) (any, bool) {
	if path == "" {
		return at, true
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for name := range strings.SplitSeq(path[1:], "/") {
		name = unescape.Replace(name)
		switch v := at.(type) {
		case *object:
			if !v.has(name) {
				return nil, false
			}
			at = v.get(name)
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}

// collect notes the schemas that have a name of their own.
func (c *converter) collect(v any, depth int) {
	if depth > maxNesting {
		return
	}
	switch v := v.(type) {
	case *object:
		for key, mark := range map[string]string{"$anchor": "#", "$dynamicAnchor": "#", "$id": "", "id": ""} {
			if name := v.text(key); name != "" {
				if _, ok := c.anchors[mark+name]; !ok {
					c.anchors[mark+name] = v
				}
			}
		}
		for _, name := range v.names {
			c.collect(v.get(name), depth+1)
		}
	case []any:
		for _, x := range v {
			c.collect(x, depth+1)
		}
	}
}

// stub stands for a schema where it nests too deep: what kind of value it is,
// and the names of its fields.
func stub(src *object) *object {
	o := newObject()
	kinds := kindsOf(src)
	switch {
	case len(kinds) > 0:
		o.set("type", kinds[0])
	case src.has("properties"):
		o.set("type", "object")
	case src.has("items"):
		o.set("type", "array")
	}
	if s := src.text("description"); s != "" {
		o.set("description", s)
	}
	if props := src.object("properties"); props != nil && len(props.names) > 0 {
		tell(o, word("nested", "schema", strings.Join(props.names, ", ")))
	}
	return o
}
