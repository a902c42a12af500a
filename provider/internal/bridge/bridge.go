// Package bridge carries the input schema of a tool, as foreign servers write
// it, into the dialects of JSON Schema that model services take.
//
// What a dialect lacks is said in descriptions, so that the names and
// descriptions of all fields stay visible to the model. A schema that a dialect
// takes passes byte for byte. The result is the same for the same schema at any
// time, is at most [MaxSize] long, nests at most 32 deep, and is what it is when
// it is carried once more. It does no validation of inputs.
package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Dialect is what a service understands of JSON Schema. An unknown one counts
// as [Flat].
type Dialect string

// The dialects. All want an object without alternatives at the top, arrays that
// say what they hold, and no references.
const (
	// Plain is JSON Schema 2020-12: Anthropic, OpenAI.
	Plain Dialect = ""

	// Flat is what small servers understand as well (llama.cpp, Moonshot, xAI):
	// one type for each schema and few keywords.
	Flat Dialect = "flat"

	// Bedrock is Flat with nothing but properties at the top (Nova).
	Bedrock Dialect = "bedrock"

	// Gemini is the subset of OpenAPI in parameters of function declarations.
	Gemini Dialect = "gemini"
)

const (
	// MaxSize is the length of the longest result in bytes.
	MaxSize = 64 << 10

	maxRaw     = 1 << 20 // bytes of what is read at all
	maxNesting = 500     // of what is read
	maxNodes   = 6000    // schemas that one conversion visits
)

// limits are tried in order until the result is small enough.
var limits = [...]limit{{depth: 32, repeat: 2}, {depth: 16, repeat: 1}, {depth: 8, repeat: 1}, {depth: 5, repeat: 1}, {depth: 3, repeat: 1}}

type limit struct {
	depth  int // how deep the result may nest
	repeat int // how often a reference is followed within itself
}

// Empty is the schema of a tool that takes nothing.
const Empty = `{"type":"object","properties":{}}`

// Convert returns a schema in a dialect. A schema that is missing, null or true
// is that of a tool that takes nothing. In the Gemini dialect such a tool has no
// schema: the result is empty. The error says why there is no way to offer the
// tool: the schema is no JSON, does not describe an object, or is too large.
func Convert(raw json.RawMessage, d Dialect) (json.RawMessage, error) {
	for range maxRounds {
		out, err := once(raw, d)
		if err != nil || len(out) == 0 || bytes.Equal(out, raw) {
			return out, err
		}
		raw = out
	}
	return raw, nil
}

// maxRounds bounds how often a result is carried again until it stays.
const maxRounds = 8

func once(raw json.RawMessage, d Dialect) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = []byte("true")
	}
	if len(raw) > maxRaw {
		return nil, fmt.Errorf("the input schema has %d bytes, more than %d", len(raw), maxRaw)
	}
	v, twice, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the input schema cannot be read: %w", err)
	}
	top, ok := v.(*object)
	switch {
	case v == nil || v == true:
		top = newObject()
	case !ok:
		return nil, fmt.Errorf("the input schema is no object but %.40s", raw)
	}
	for _, lim := range limits {
		c := converter{top: top, dialect: d, limit: lim, open: map[string]int{}}
		o, err := c.root()
		if err != nil {
			return nil, err
		}
		if c.spent() {
			continue
		}
		if d == Gemini && len(o.object("properties").names) == 0 {
			return nil, nil
		}
		if !twice && equal(o, v) && len(raw) <= MaxSize && clean(raw) {
			return raw, nil
		}
		if out := write(nil, o); len(out) <= MaxSize {
			return out, nil
		}
	}
	return nil, errTooLarge
}

var errTooLarge = errors.New("the input schema is too large")

// clean reports whether raw JSON holds no broken character, nor an escape that
// may be half of one.
func clean(raw []byte) bool {
	return utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`))
}

// converter is one conversion.
type converter struct {
	top     *object // where references lead into
	dialect Dialect
	limit   limit
	open    map[string]int // references that are being followed
	nodes   int
	bytes   int            // of text in schemas that were visited
	anchors map[string]any // by name; nil until one is asked for
}

// spent reports that the conversion visited too much to be of use.
func (c *converter) spent() bool { return c.nodes > maxNodes || c.bytes > 8*MaxSize }

// plain reports whether the dialect knows all of JSON Schema.
func (c *converter) plain() bool { return c.dialect == Plain }

// root converts the schema as a whole.
func (c *converter) root() (*object, error) {
	o, refs := c.flatten(c.top)
	defer c.leave(refs)
	kinds := kindsOf(o)
	if !allows(kinds, "object") {
		return nil, fmt.Errorf("the input schema describes %s, not an object", describe(kinds))
	}
	more, ok := c.union(o)
	defer c.leave(more)
	if !ok {
		return nil, errors.New("none of the alternatives of the input schema is an object")
	}
	if len(kinds) == 0 && !o.has("properties") && (o.has("enum") || o.has("const") || o.has("items")) {
		return nil, errors.New("the input schema does not describe an object")
	}
	o.drop("enum", "const", "default", "nullable", "items", "prefixItems")
	if !c.plain() {
		o.drop("title")
	}
	o.setFirst("type", "object")
	if o.object("properties") == nil {
		o.set("properties", newObject())
	}
	if len(o.object("properties").names) > MaxSize/16 {
		return nil, errTooLarge
	}
	o = c.finish(o, 0)
	if c.dialect == Bedrock {
		bare(o)
	}
	return o, nil
}

// bare leaves nothing but type, properties and required. What the schema says
// of itself goes to its first field.
func bare(o *object) {
	props := o.object("properties")
	if said := o.text("description"); said != "" && len(props.names) > 0 {
		if first := props.object(props.names[0]); first != nil {
			first = first.clone()
			tell(first, said)
			props = props.clone()
			props.set(props.names[0], first)
			o.set("properties", props)
		}
	}
	for _, name := range append([]string(nil), o.names...) {
		if name != "type" && name != "properties" && name != "required" {
			o.drop(name)
		}
	}
}

func describe(kinds []string) string {
	if len(kinds) == 1 {
		return "a value of type " + kinds[0]
	}
	return fmt.Sprint("a value of types ", kinds)
}
