package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, give string
		want       string // of the tool's input
		good, bad  string // inputs
		answer     string // of good
	}{
		{
			"an object stays as it is", `{ "type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}, "a": {"type": "string"}} }`,
			`{"type":"object","required":["b"],"properties":{"b":{"type":"integer"},"a":{"type":"string"}}}`,
			`{"b":12345678901234567890123,"a":"é"}`, `{"a":"x"}`, `{"b":12345678901234567890123,"a":"é"}`,
		},
		{
			"properties make an object", `{"properties":{"a":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, `{"a":1}`, `{"a":"x"}`,
		},
		{
			"an array is wrapped", `{"type":"array","items":{"type":"number"}}`,
			`{"additionalProperties":false,"properties":{"value":{"type":"array","items":{"type":"number"}}},"required":["value"],"type":"object"}`,
			`{"value":[1,2.50]}`, `{"value":["x"]}`, `[1,2.50]`,
		},
		{
			"alternatives are wrapped", `{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}`,
			`{"additionalProperties":false,"properties":{"value":{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}},"required":["value"],"type":"object"}`,
			`{"value":null}`, `{"value":1}`, `null`,
		},
		{
			"definitions stay at the root", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["next"]}}}`,
			`{"$defs":{"n":{"properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["next"],"type":"object"}},"additionalProperties":false,"properties":{"value":{"$ref":"#/$defs/n"}},"required":["value"],"type":"object"}`,
			`{"value":{"next":{"next":null}}}`, `{"value":{"next":{}}}`, `{"next":{"next":null}}`,
		},
		{
			"a reference to the whole is moved", `{"type":"array","items":{"$ref":"#"},"maxItems":1}`,
			`{"additionalProperties":false,"properties":{"value":{"items":{"$ref":"#/properties/value"},"maxItems":1,"type":"array"}},"required":["value"],"type":"object"}`,
			`{"value":[[[]]]}`, `{"value":[[1]]}`, `[[[]]]`,
		},
		{
			"fields may be named as keywords", `{"type":"object","properties":{"$ref":{"type":"string"},"type":{"type":"string"},"enum":{"enum":[{"$ref":"x"}]}}}`,
			`{"type":"object","properties":{"$ref":{"type":"string"},"type":{"type":"string"},"enum":{"enum":[{"$ref":"x"}]}}}`,
			`{"$ref":"a","type":"b","enum":{"$ref":"x"}}`, `{"type":1}`, `{"$ref":"a","type":"b","enum":{"$ref":"x"}}`,
		},
		{
			"true takes anything", `true`,
			`{"additionalProperties":false,"properties":{"value":{}},"required":["value"],"type":"object"}`, `{"value":"x"}`, `{}`, `"x"`,
		},
		{
			"a reference with escapes", `{"type":"object","properties":{"a":{"$ref":"#/$defs/a~1b%20c"}},"$defs":{"a/b c":{"type":"integer"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/a~1b%20c"}},"$defs":{"a/b c":{"type":"integer"}}}`,
			`{"a":1}`, `{"a":"x"}`, `{"a":1}`,
		},
		{
			"an unknown draft", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","type":"object","properties":{"a":{"type":["string","null"]}}}`,
			`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","type":"object","properties":{"a":{"type":["string","null"]}}}`,
			`{"a":null}`, `{"a":1}`, `{"a":null}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse([]byte(tt.give))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(s.Tool().Spec().Schema)); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
			if err := s.Validate([]byte(tt.good)); err != nil {
				t.Errorf("%s: %v", tt.good, err)
			}
			if s.Validate([]byte(tt.bad)) == nil {
				t.Errorf("%s fits", tt.bad)
			}
			if got := string(s.Answer([]byte(tt.good))); got != tt.answer {
				t.Errorf("answer %s, want %s", got, tt.answer)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ give, want string }{
		{`{"type":`, "line 1, column"},
		{"{\n  \"type\": x}", "line 2, column 11"},
		{`[1]`, "must be an object"},
		{`false`, "no answer fits"},
		{`{"type":"strnig"}`, "at its root: type strnig is not one of object, array"},
		{`{"type":"object","properties":{"a/b":{"type":["string",1]}}}`, "at /properties/a~1b: type 1 is not one of"},
		{`{"type":"object","properties":[]}`, "properties must be an object, not an array"},
		{`{"type":"object","properties":{"a":"string"}}`, "at /properties/a: must be an object or true or false, not text"},
		{`{"type":"object","required":"a"}`, "required must be an array of names"},
		{`{"anyOf":[]}`, "anyOf must be an array"},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`, `at /properties/a: $ref "#/$defs/x" points to nothing`},
		{`{"$ref":"https://example.com/s.json"}`, "leads out of the schema"},
		{`{"$ref":"#"}`, "leads back to itself"},
		{`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/properties/a"}]}}}`, "leads back to itself"},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"if":{"$ref":"#/$defs/a"}}}}`, "leads back to itself"},
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"(?=x)"}}}`, "pattern"},
		{`{"type":"string","minLength":"3"}`, "is no JSON Schema"},
		{`{"type":"object","properties":{"a":{"minimum":0,"exclusiveMinimum":true}}}`, "is no JSON Schema: exclusiveMinimum cannot be true or false"},
		{`{"$dynamicRef":"#x"}`, "$dynamicRef is not supported"},
		{`{"type":"object","x":"` + strings.Repeat("x", maxBytes) + `"}`, "at most 262,144 are allowed"},
		{strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300), "is nested more than 200 deep"},
	}
	for _, tt := range tests {
		_, err := Parse([]byte(tt.give))
		if err == nil || len(err.Error()) > 400 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.80s: %v, want it to say %q", tt.give, err, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte("\xef\xbb\xbf{\"type\":\"string\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, give := range []string{` {"type":"string"}`, "s.json", filepath.Join(dir, "s.json")} {
		if _, err := Read(give, dir); err != nil {
			t.Errorf("%s: %v", give, err)
		}
	}
	for give, want := range map[string]string{"": "is empty", "none.json": "cannot be read", ".": "no regular file", `{"type":"x"}`: "not one of"} {
		if _, err := Read(give, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", give, err, want)
		}
	}
}

func TestTool(t *testing.T) {
	s, err := Parse([]byte(`{"type":"array","items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	act, err := s.Tool().Prepare(t.Context(), &oh.Call{Input: []byte(`{"value":["<a>"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oh.Access{ReadOnly: true}, act.Access); diff != "" {
		t.Error(diff)
	}
	res, err := act.Run(t.Context(), func(oh.Event) {})
	if err != nil || string(res.Meta) != `{"structured_output":["<a>"]}` {
		t.Errorf("%s, %v", res.Meta, err)
	}
	_, err = s.Tool().Prepare(t.Context(), &oh.Call{Input: []byte(`{"values":[]}`)})
	if err == nil || !strings.Contains(err.Error(), "value") || strings.Contains(err.Error(), "{problem}") {
		t.Errorf("%v", err)
	}
}

// FuzzParse holds that no schema and no answer breaks the check.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{}`, `true`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"not":{}}}}`,
		`{"type":["string","null"],"items":[{}],"dependencies":{"a":["b"],"c":{}}}`, `{"properties":{"~/":{"$ref":"#/properties/~0~1"}}}`} {
		f.Add(s, `{"value":[{"a":1}]}`)
	}
	f.Fuzz(func(t *testing.T, give, input string) {
		s, err := Parse([]byte(give))
		if err != nil {
			return
		}
		if !strings.Contains(string(s.raw), `"object"`) {
			t.Errorf("%s is no schema of an object", s.raw)
		}
		if len(input) < 1000 && s.Validate([]byte(input)) == nil {
			s.Answer([]byte(input))
		}
	})
}
