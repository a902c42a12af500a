package schema

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// Where schemas lie within a schema.
var (
	single = [...]string{"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
		"not", "if", "then", "else", "contains", "propertyNames"}
	several = [...]string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	named   = [...]string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}

	// inPlace are those that look at the same value as the schema they are in.
	inPlace = [...]string{"not", "if", "then", "else"}
)

// most bounds how deep schemas may lie in each other.
const most = 200

// children calls f for each schema directly below one, with its place.
func children(node map[string]any, f func(place string, v any) error) error {
	for _, key := range single {
		v, ok := node[key]
		if _, list := v.([]any); !ok || list && key == "items" {
			continue
		}
		if err := f("/"+key, v); err != nil {
			return err
		}
	}
	for _, key := range several {
		list, _ := node[key].([]any)
		for i, v := range list {
			if err := f("/"+key+"/"+strconv.Itoa(i), v); err != nil {
				return err
			}
		}
	}
	for _, key := range named {
		set, _ := node[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(set)) {
			if _, list := set[name].([]any); list && key == "dependencies" {
				continue // names of fields
			}
			if err := f("/"+key+"/"+escape(name), set[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// each calls f for a schema and all below it.
func each(v any, f func(map[string]any)) {
	node, ok := v.(map[string]any)
	if !ok {
		return
	}
	f(node)
	_ = children(node, func(_ string, v any) error {
		each(v, f)
		return nil
	})
}

// checker finds what a validator would trip over: misspelt types, references to
// nothing or in a circle.
type checker struct {
	root any
	done map[string]bool // places of references that come to an end
}

func (c *checker) all() error {
	c.done = map[string]bool{}
	return c.schema("", c.root, 0)
}

// maxPlace bounds what is said of a place, in code points.
const maxPlace = 200

func at(place string) string {
	if place == "" {
		return "at its root"
	}
	return "at " + text.Cut(place, maxPlace)
}

func (c *checker) schema(place string, v any, depth int) error {
	node, ok := v.(map[string]any)
	if _, yesNo := v.(bool); yesNo {
		return nil
	}
	switch {
	case !ok:
		return fmt.Errorf("%s: must be an object or true or false, not %s", at(place), kind(v))
	case depth > most:
		return fmt.Errorf("%s: is nested more than %d deep", at(place), most)
	}
	if err := c.words(node); err != nil {
		return fmt.Errorf("%s: %w", at(place), err)
	}
	if err := c.ends(node, nil); err != nil {
		return fmt.Errorf("%s: %w", at(place), err)
	}
	return children(node, func(below string, v any) error { return c.schema(place+below, v, depth+1) })
}

var types = [...]string{"object", "array", "string", "number", "integer", "boolean", "null"}

// words checks the keywords of one schema.
func (c *checker) words(node map[string]any) error {
	names := []any{node["type"]}
	if list, ok := node["type"].([]any); ok {
		names = list
	}
	for _, n := range names {
		name, ok := n.(string)
		if n != nil && (!ok || !slices.Contains(types[:], name)) || n == nil && node["type"] != nil {
			return fmt.Errorf("type %v is not one of %s", n, strings.Join(types[:], ", "))
		}
	}
	for _, key := range named {
		if v, there := node[key]; there {
			if _, ok := v.(map[string]any); !ok {
				return fmt.Errorf("%s must be an object, not %s", key, kind(v))
			}
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "enum"} {
		if v, there := node[key]; there {
			if list, ok := v.([]any); !ok || len(list) == 0 {
				return fmt.Errorf("%s must be an array with something in it", key)
			}
		}
	}
	if v, there := node["required"]; there {
		list, ok := v.([]any)
		for _, name := range list {
			_, word := name.(string)
			ok = ok && word
		}
		if !ok {
			return errors.New("required must be an array of names")
		}
	}
	for _, key := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, there := node[key].(string); there {
			return errors.New(key + " is not supported; use $ref")
		}
	}
	return nil
}

// ends follows references and alternatives as long as they look at the same
// value: a circle among them would never end.
func (c *checker) ends(node map[string]any, way []string) error {
	if ref, ok := node["$ref"].(string); ok {
		if slices.Contains(way, ref) {
			return fmt.Errorf("$ref %q leads back to itself", ref)
		}
		if !c.done[ref] {
			target, err := c.find(ref)
			if err != nil {
				return err
			}
			if next, ok := target.(map[string]any); ok {
				if err := c.ends(next, append(way[:len(way):len(way)], ref)); err != nil {
					return err
				}
			}
			c.done[ref] = true
		}
	}
	var below []any
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		list, _ := node[key].([]any)
		below = append(below, list...)
	}
	for _, key := range inPlace {
		below = append(below, node[key])
	}
	for _, key := range [...]string{"dependentSchemas", "dependencies"} {
		set, _ := node[key].(map[string]any)
		for _, v := range set {
			below = append(below, v)
		}
	}
	for _, v := range below {
		if next, ok := v.(map[string]any); ok {
			if err := c.ends(next, way); err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns what a reference points to.
func (c *checker) find(ref string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil, fmt.Errorf("$ref %q leads out of the schema; only references such as #/$defs/name can be followed", ref)
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	v := c.root
	for seg := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		seg = strings.NewReplacer("~1", "/", "~0", "~").Replace(seg)
		switch x := v.(type) {
		case map[string]any:
			v, ok = x[seg]
		case []any:
			i, err := strconv.Atoi(seg)
			if ok = err == nil && i >= 0 && i < len(x); ok {
				v = x[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf("$ref %q points to nothing", ref)
		}
	}
	return v, nil
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case float64:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "true or false"
}
