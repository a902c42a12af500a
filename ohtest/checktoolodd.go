package ohtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openharness/oh"
)

// oddInputs are inputs that no tool should fall over, some of them no objects
// or no JSON.
func oddInputs() []string {
	return []string{
		``, ` `, `null`, `true`, `0`, `-1e999`, `"text"`, `[]`, `[{}]`, `{}`, `{"":""}`, `{"unknown":1}`, `{`, `{"a":}`, "\x00", "{\"a\":\"\xff\"}",
		`{"a":1,"a":2}`, `{"__proto__":{}}`, `{} {}`,
		strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200),
		strings.Repeat("[", 20_000),
	}
}

// oddValues are values, in JSON, for any field.
func oddValues() []string {
	return []string{
		`null`, `true`, `"true"`, `0`, `-1`, `1e308`, `9223372036854775808`, `0.5`, `"NaN"`, `[]`, `[null]`, `[[]]`, `[{}]`, `["",""]`, `{}`, `{"a":null}`,
		`""`, `" "`, `"\u0000"`, `"\ud800"`, `"a\u0000b"`, `"\u001b[31m"`, `"\u202e"`, `"/"`, `"//"`, `"."`, `".."`, `"../../../../../.."`, `"~"`, `"~nobody/x"`,
		`"$HOME"`, `"*"`, `"**/["`, `"("`, `"(?P<"`, `"http://"`, `"://"`, `"http://[::1"`, `"file:///etc/passwd"`, `"C:\\"`, `"\\\\host\\share"`, `"CON"`,
		`"` + strings.Repeat("x", 5000) + `"`, `"` + strings.Repeat("a/", 500) + `"`, `"\ud83d\ude00"`, `"e\u0301"`, "\"\xff\xfe\"", `"-rf"`, `"a\nb"`,
	}
}

// odd prepares calls with odd inputs: the fixed ones, and the good ones with each
// field in turn replaced. None is run.
func (c *toolCheck) odd(inputs []string) {
	const where = "odd input"
	before := c.look(where)
	for _, in := range append(oddInputs(), c.spoilt(inputs)...) {
		if act, err, ok := c.prepare(where, in, c.env); ok && err == nil {
			c.access(where+" "+sample(in), act.Access)
		}
		c.prepare(where+", empty Env", in, oh.Env{})
		if len(c.found) >= maxViolations {
			return
		}
	}
	c.compare("prepare-changes", where, before, c.look(where), oh.Access{})
}

// spoilt returns good inputs (the first three, and the empty one) with one field
// replaced by each odd value.
func (c *toolCheck) spoilt(inputs []string) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(c.spec.Schema, &schema) != nil {
		return nil // CheckSpec has said so
	}
	var out []string
	for _, in := range append([]string{"{}"}, inputs[:min(len(inputs), 3)]...) {
		var good map[string]json.RawMessage
		if json.Unmarshal([]byte(in), &good) != nil {
			continue // its run has said so
		}
		for _, name := range sortedKeys(schema.Properties) {
			for _, odd := range oddValues() {
				out = append(out, withField(good, name, odd))
			}
		}
	}
	return out
}

// withField is an object with one field replaced. It is put together as text
// because the value need not be JSON.
func withField(obj map[string]json.RawMessage, name, value string) string {
	parts := []string{fmt.Sprintf("%s:%s", quote(name), value)}
	for _, key := range sortedKeys(obj) {
		if key != name {
			parts = append(parts, fmt.Sprintf("%s:%s", quote(key), obj[key]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
