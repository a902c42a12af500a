package bridge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

var dialects = []Dialect{Plain, Flat, Bedrock, Gemini}

type sample struct{ name, raw string }

func corpus(t testing.TB) []sample {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/corpus.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for _, f := range ar.Files {
		out = append(out, sample{f.Name, strings.TrimSpace(string(f.Data))})
	}
	return out
}

// Each schema of the corpus is taken by the services of each dialect, keeps the
// names and descriptions of its fields, and stays what it is when it is carried
// once more.
func TestCorpus(t *testing.T) {
	for _, s := range corpus(t) {
		for _, d := range dialects {
			t.Run(s.name+"/"+string(d), func(t *testing.T) {
				out, err := Convert([]byte(s.raw), d)
				if strings.HasPrefix(s.name, "hopeless") {
					if err == nil {
						t.Errorf("it was taken: %s", out)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if d == Plain && strings.HasPrefix(s.name, "fine") && string(out) != s.raw {
					t.Errorf("it was changed: %s", out)
				}
				checkAccepted(t, out, d)
				checkVisible(t, []byte(s.raw), out)
				again, err := Convert(out, d)
				if err != nil || string(again) != string(out) {
					t.Errorf("carried once more: %v\n%s\n%s", err, out, again)
				}
			})
		}
	}
}

// checkAccepted holds a schema to the rules of a dialect.
func checkAccepted(t *testing.T, raw []byte, d Dialect) {
	t.Helper()
	if d == Gemini && len(raw) == 0 {
		return
	}
	for _, bad := range ohtest.CheckSpec(oh.ToolSpec{Name: "x", Description: "x", Schema: raw}) {
		t.Errorf("%v\n%s", bad, raw)
	}
	v, twice, err := parse(raw)
	o, ok := v.(*object)
	if err != nil || twice || !ok || o.object("properties") == nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if d != Plain {
		checkNode(t, o, d, "")
	}
	for _, name := range o.names {
		if d == Bedrock && name != "type" && name != "properties" && name != "required" {
			t.Errorf("%q at the top: %s", name, raw)
		}
	}
}

// checkNode holds a schema of a lesser dialect to its rules, all the way down.
func checkNode(t *testing.T, o *object, d Dialect, at string) {
	t.Helper()
	keys := (&converter{dialect: d}).keys()
	for _, name := range o.names {
		if !slices.Contains(keys, name) {
			t.Errorf("%s has %q", at, name)
		}
	}
	_, one := o.get("type").(string)
	if one == o.has("anyOf") {
		t.Errorf("%s has %s", at, write(nil, o))
	}
	if d == Gemini {
		checkGemini(t, o, at)
	}
	if props := o.object("properties"); props != nil {
		for _, name := range props.names {
			checkNode(t, props.object(name), d, at+"."+name)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child := o.object(key); child != nil {
			checkNode(t, child, d, at+"."+key)
		}
	}
	for i, x := range o.list("anyOf") {
		checkNode(t, x.(*object), d, fmt.Sprint(at, ".anyOf", i))
	}
}

func checkGemini(t *testing.T, o *object, at string) {
	t.Helper()
	if o.has("anyOf") && len(o.names) > 1 {
		t.Errorf("%s has more than anyOf: %s", at, write(nil, o))
	}
	if o.has("format") && !geminiFormat(o.text("type"), o.get("format")) {
		t.Errorf("%s has the format %v", at, o.get("format"))
	}
	for _, v := range o.list("enum") {
		if s, ok := v.(string); !ok || s == "" || o.text("type") != "string" {
			t.Errorf("%s has the value %v of %v", at, v, o.get("type"))
		}
	}
}

// hidden are words that need not stay: those of fields that must not be given,
// and of what the standard makes void.
var hidden = []string{"none"}

// checkVisible looks for the names and descriptions of raw in out.
func checkVisible(t *testing.T, raw, out []byte) {
	t.Helper()
	v, _, err := parse(raw)
	if err != nil {
		return // nothing was there
	}
	seen, _, _ := parse(out)
	var all strings.Builder
	gather(&all, seen)
	for _, w := range wordsOf(v, false) {
		if !slices.Contains(hidden, w) && !strings.Contains(all.String(), w) {
			t.Errorf("%q is not to be seen in %s", w, out)
		}
	}
}

// gather writes all strings of a value, and names of members.
func gather(to *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		to.WriteString(v + "\n")
	case []any:
		for _, x := range v {
			gather(to, x)
		}
	case *object:
		for _, name := range v.names {
			to.WriteString(name + "\n")
			gather(to, v.get(name))
		}
	}
}

// wordsOf returns the names of fields and the descriptions of a schema.
func wordsOf(v any, fields bool) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, wordsOf(x, false)...)
		}
	case *object:
		for _, name := range v.names {
			if fields {
				out = append(out, name)
			}
			if said, ok := v.get(name).(string); ok && name == "description" && !fields {
				out = append(out, said)
			}
			out = append(out, wordsOf(v.get(name), name == "properties" && !fields)...)
		}
	}
	return out
}

func TestConvert(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		d         Dialect
		want      string
	}{
		{"white space is kept where nothing is wrong", ` { "type" : "object" , "properties" : { } } `, Plain, `{ "type" : "object" , "properties" : { } }`},
		{"null for an optional field is not asked for", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`, Plain, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"null for a needed field is", `{"type":"object","properties":{"a":{"type":["string","null"],"default":null}},"required":["a"]}`, Flat, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"]}`},
		{"null without a default is kept", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, Gemini, `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`},
		{"whole numbers", `{"type":"object","properties":{"a":{"enum":[1,2]}}}`, Flat, `{"type":"object","properties":{"a":{"type":"integer","enum":[1,2]}}}`},
		{"values that Gemini has no word for", `{"type":"object","properties":{"a":{"type":"integer","enum":[1,2]}}}`, Gemini, `{"type":"object","properties":{"a":{"type":"integer","description":"One of: 1, 2."}}}`},
		{"values of several types", `{"type":"object","properties":{"a":{"enum":["x",1]}}}`, Flat, `{"type":"object","properties":{"a":{"description":"One of: \"x\", 1.","anyOf":[{"type":"string"},{"type":"integer"}]}}}`},
		{"the top for Nova", `{"type":"object","description":"Finds.","properties":{"a":{"type":"string","description":"What"}},"additionalProperties":false}`, Bedrock, `{"type":"object","properties":{"a":{"type":"string","description":"What. Finds."}}}`},
		{"titles that say nothing", `{"type":"object","title":"Args","properties":{"user_name":{"title":"User Name","type":"string"},"x":{"title":"Where to","type":"string"}}}`, Flat, `{"type":"object","properties":{"user_name":{"type":"string"},"x":{"type":"string","description":"Where to"}}}`},
		{"half a character", `{"type":"object","properties":{"a":{"type":"str","description":"\ud83d"}}}`, Plain, `{"type":"object","properties":{"a":{"type":"string","description":"` + "\ufffd" + `"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Convert([]byte(tt.raw), tt.d)
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

// However much a schema would become, what is sent is bounded and the names
// near the top are seen; what cannot be made small enough is refused soon.
func TestSizeIsBounded(t *testing.T) {
	var wide, bomb, chain strings.Builder
	for i := range 40 {
		fmt.Fprintf(&bomb, `,"d%d":{"type":"object","properties":{"a%d":{"$ref":"#/$defs/d%d"},"b%d":{"$ref":"#/$defs/d%d"},"c%d":{"$ref":"#/$defs/d%d"}}}`, i, i, i+1, i, i+1, i, i+1)
	}
	for i := range 20000 {
		fmt.Fprintf(&wide, `,"field%d":{"type":"string"}`, i)
	}
	for range 200 {
		chain.WriteString(`{"type":"object","properties":{"deep":`)
	}
	deep := chain.String() + `{}` + strings.Repeat("}}", 200)
	for _, tt := range []struct {
		name, raw, see string
		fine           bool
	}{
		{"bomb", `{"type":"object","properties":{"top":{"$ref":"#/$defs/d0"}},"$defs":{"x":{}` + bomb.String() + `}}`, "a0", true},
		{"deep", deep, "deep", true},
		{"wide", `{"type":"object","properties":{"first":{}` + wide.String() + `}}`, "", false},
		{"too deep to read", strings.Repeat(`{"not":`, 100_000) + `{}` + strings.Repeat("}", 100_000), "", false},
		{"long list", `{"type":"object","properties":{"a":{"enum":["x"` + strings.Repeat(`,"value"`, 100_000) + `]}}}`, "a", true},
		{"too long to read", `{"type":"object","description":"` + strings.Repeat("x", maxRaw) + `"}`, "", false},
	} {
		for _, d := range dialects {
			out, err := Convert([]byte(tt.raw), d)
			if (err == nil) != tt.fine || len(out) > MaxSize || !strings.Contains(string(out), tt.see) {
				t.Errorf("%s, %q: %d bytes, %v", tt.name, d, len(out), err)
			}
			if err == nil {
				checkAccepted(t, out, d)
			}
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add([]byte(s.raw))
	}
	legal := regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, d := range dialects {
			out, err := Convert(raw, d)
			if err != nil || d == Gemini && len(out) == 0 {
				continue
			}
			if len(out) > MaxSize || !json.Valid(out) {
				t.Fatalf("%q: %d bytes: %.300s", d, len(out), out)
			}
			again, err := Convert(out, d)
			if err != nil || string(again) != string(out) {
				t.Errorf("%q carried once more: %v\n%s\n%s\n%s", d, err, raw, out, again)
			}
			v, _, _ := parse(out)
			for _, name := range v.(*object).object("properties").names {
				if !legal.MatchString(name) {
					t.Errorf("%q: the field %q", d, name)
				}
			}
			checkAccepted(t, out, d)
		}
	})
}
