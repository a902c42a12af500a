package oh

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

type sampleInput struct {
	Path  string   `json:"path"`
	Limit int      `json:"limit,omitempty" oh:"min=1,max=600,default=30"`
	Mode  string   `json:"mode,omitempty" oh:"enum=a|b"`
	Deep  bool     `json:"deep,omitempty" oh:"default=true"`
	Ratio float64  `json:"ratio,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Items []struct {
		Name string `json:"name"`
		Done bool   `json:"done,omitempty"`
	} `json:"items,omitempty" oh:"maxItems=2"`
}

const sampleDoc = "Does a thing.\n\n## path\nWhere.\n\n## items.name\nWhat it is called.\n"

func sampleTool(got *sampleInput) Tool {
	return NewTool(ToolDef[sampleInput]{Name: "sample", Doc: sampleDoc,
		Prepare: func(_ context.Context, _ *Call, in sampleInput) (Action, error) {
			*got = in
			return Action{Run: func(context.Context, func(Event)) (Result, error) { return TextResult("ok"), nil }}, nil
		}})
}

func TestNewToolSpec(t *testing.T) {
	var in sampleInput
	spec := sampleTool(&in).Spec()
	want := `{"type":"object","properties":{"path":{"type":"string","description":"Where."},` +
		`"limit":{"type":"integer","default":30,"minimum":1,"maximum":600},"mode":{"type":"string","enum":["a","b"]},` +
		`"deep":{"type":"boolean","default":true},"ratio":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},` +
		`"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string","description":"What it is called."},` +
		`"done":{"type":"boolean"}},"required":["name"]},"maxItems":2}},"required":["path"]}`
	var a, b any
	if err := json.Unmarshal(spec.Schema, &a); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(want), &b)
	if d := cmp.Diff(b, a); d != "" {
		t.Errorf("schema (-want +got):\n%s", d)
	}
	if spec.Description != "Does a thing." {
		t.Errorf("description %q", spec.Description)
	}
	if other := sampleTool(&in).Spec(); string(other.Schema) != string(spec.Schema) {
		t.Error("the schema is not stable")
	}
	if i, j := strings.Index(string(spec.Schema), `"path"`), strings.Index(string(spec.Schema), `"tags"`); i < 0 || i > j {
		t.Errorf("fields are not in order: %s", spec.Schema)
	}
}

func TestNewToolFitsInput(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: `{"path":"a"}`, want: `{"path":"a","limit":30,"deep":true}`},
		{in: `{"path":"a","limit":"7","deep":"false","ratio":"1.5"}`, want: `{"path":"a","limit":7,"ratio":1.5}`},
		{in: `{"path":5,"limit":null}`, want: `{"path":"5","limit":30,"deep":true}`},
		{in: `{"path":"a","tags":"[\"x\"]","items":"[{\"name\":\"n\",\"done\":\"true\"}]"}`,
			want: `{"path":"a","limit":30,"deep":true,"tags":["x"],"items":[{"name":"n","done":true}]}`},
		{in: `{"path":"a","limit":3.0}`, want: `{"path":"a","limit":3,"deep":true}`},
		{in: ``, err: "invalid input: path is required"},
		{in: `{}`, err: "invalid input: path is required"},
		{in: `[1]`, err: "the input must be a JSON object, not an array"},
		{in: `{"path":"a","limit":601}`, err: "invalid input: limit is 601, but must be from 1 to 600"},
		{in: `{"path":"a","limit":1.5}`, err: "invalid input: limit must be a whole number, not 1.5"},
		{in: `{"path":"a","limit":"many"}`, err: "invalid input: limit must be an integer, not a string"},
		{in: `{"path":"a","mode":"c"}`, err: `invalid input: mode is "c", but must be one of a, b`},
		{in: `{"path":{},"items":[{"done":true},{"name":"x"},{"name":"y"}]}`,
			err: "invalid input: path must be a string, not an object; items must have at most 2 elements; items[0].name is required"},
	} {
		var got sampleInput
		_, err := sampleTool(&got).Prepare(t.Context(), &Call{Input: json.RawMessage(c.in), Env: &Env{}})
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: error %v, want %s", c.in, err, c.err)
			}
			continue
		}
		raw, _ := Marshal(got)
		if err != nil || string(raw) != c.want && !equalJSON(string(raw), c.want) {
			t.Errorf("%s: got %s, %v, want %s", c.in, raw, err, c.want)
		}
	}
}

// A schema that was read from JSON has no order of fields; it counts all the
// same.
func TestFitInputWithSchemaFromJSON(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["s"]}`), &s); err != nil {
		t.Fatal(err)
	}
	if _, _, err := FitInput(&s, []byte(`{"n":"x"}`)); err == nil || err.Error() != "invalid input: n must be an integer, not a string; s is required" {
		t.Errorf("error %v", err)
	}
}

// A default of null means that the field may be left out, not that null is
// sent, whatever the model writes.
func TestFitInputSendsNoNull(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"a":{"type":"string","default":null},"b":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},
		"c":{"type":"object","properties":{"d":{"type":"string","default":null}}},"e":null,"n":{"type":["string","null"]}},"required":["n"]}`), &s); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"n":"x"}`:                              `{"n":"x"}`,
		`{"a":null,"b":null,"n":null,"e":1}`:     `{"e":1,"n":null}`,
		`{"a":"x","b":2,"c":{"d":null},"n":"y"}`: `{"a":"x","b":2,"c":{},"n":"y"}`,
	} {
		got, _, err := FitInput(&s, []byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
	}
}

func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

func TestNewToolNamesIgnoredFields(t *testing.T) {
	var got sampleInput
	act, err := sampleTool(&got).Prepare(t.Context(), &Call{Input: json.RawMessage(`{"path":"a","zeta":1,"alpha":2}`), Env: &Env{}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := act.Run(t.Context(), nil)
	if err != nil || string(res.Meta) != `{"ignored_fields":["alpha","zeta"]}` {
		t.Errorf("meta %s, %v", res.Meta, err)
	}
}

func FuzzFitInput(f *testing.F) {
	f.Add(`{"path":"a","limit":"7","items":"[{\"name\":1}]"}`)
	f.Add(`{"path":null,"deep":[]}`)
	f.Fuzz(func(t *testing.T, in string) {
		var got sampleInput
		_, _ = sampleTool(&got).Prepare(t.Context(), &Call{Input: json.RawMessage(in), Env: &Env{}})
	})
}
