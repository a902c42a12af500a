//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

const person = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"],"additionalProperties":false}`

func delivers(id, input string) ohtest.Turn {
	return ohtest.Reply(ohtest.Call(id, "structured_output", input))
}

// TestSchema: the answer is what the schema describes, in every format.
func TestSchema(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		answer := `{"name":"Zoë \"<&>\"","age":12345678901234567890}`
		b := newBox(t, wire)
		for i, tt := range []struct {
			args []string
			want func(r result) bool
		}{
			{[]string{"--output-format", "text"}, func(r result) bool { return r.out == answer+"\n" }},
			{[]string{"--output-format", "json"}, func(r result) bool {
				f := r.frame(t)
				return string(f.Output) == answer && f.Result == answer && f.Subtype == "success" && !f.IsError
			}},
			{[]string{"--output-format", "stream-json", "--include-partial-messages", "--verbose"}, func(r result) bool {
				return string(r.frame(t).Output) == answer && strings.Contains(r.out, `"name":"StructuredOutput"`)
			}},
			{[]string{"--output-format", "events"}, func(r result) bool { return strings.Contains(r.out, `"structured_output":`+answer) }},
			{[]string{"--tools", ""}, func(r result) bool { return r.out == answer+"\n" }},
			{[]string{"--tools", "StructuredOutput"}, func(r result) bool { return r.out == answer+"\n" }},
			{[]string{"--permission-mode", "plan"}, func(r result) bool { return r.out == answer+"\n" }},
			{[]string{"--permission-mode", "dontAsk"}, func(r result) bool { return r.out == answer+"\n" }},
			{[]string{"-c"}, func(r result) bool { return r.out == answer+"\n" }},
		} {
			turn := ohtest.Reply(ohtest.Text("Here it is."), ohtest.Call("c", "structured_output", answer))
			turn.Cut = ohtest.Cut{Delta: 5, Bytes: 7, Seed: uint64(i) + 1}
			b.srv.Add(turn)
			r := b.oh(append(append([]string{"-p", "--json-schema", person}, tt.args...), "who?")...)
			r.wantCode(t, 0)
			if !tt.want(r) {
				t.Errorf("%v: %v", tt.args, r)
			}
		}
		reqs := b.done(9)
		if tools := reqs[4].Tools(); len(tools) != 1 || tools[0].Name != "structured_output" {
			t.Errorf("tools %v", tools)
		}
	})
}

// TestSchemaCorrected: what does not fit is refused with the reason, and a
// model that forgets the form is reminded.
func TestSchemaCorrected(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(ohtest.Text("Ann, 7.")), delivers("1", `{"age":7}`), delivers("2", `{"name":"Ann","age":"7"}`),
			delivers("3", `{"name":"Ann","age":7}`))
		b.file("form.json", person)
		r := b.oh("-p", "--json-schema", "form.json", "who?")
		r.wantCode(t, 0)
		if r.out != `{"name":"Ann","age":7}`+"\n" {
			t.Errorf("%v", r)
		}
		reqs := b.done(4)
		if got := resultOf(t, reqs[2], "1"); !got.isErr || !strings.Contains(got.text, "name") {
			t.Errorf("%+v", got)
		}
		if got := resultOf(t, reqs[3], "2"); !got.isErr || !strings.Contains(got.text, "age") {
			t.Errorf("%+v", got)
		}
	})
}

// TestSchemaNever: a model that gives no such answer fails the run.
func TestSchemaNever(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		prose := ohtest.Reply(ohtest.Text("No."))
		b := newBox(t, wire, prose, prose, prose)
		r := b.oh("-p", "--output-format", "json", "--json-schema", person, "who?")
		r.wantCode(t, 1)
		f := r.frame(t)
		if f.Subtype != "error_max_structured_output_retries" || !f.IsError || len(f.Errors) != 1 || f.Output != nil {
			t.Errorf("%+v", f)
		}
		b.done(3)
		wrong := func(id string) ohtest.Turn { return delivers(id, `{"name":`+id+`}`) }
		b.srv.Add(wrong("1"), wrong("2"), wrong("3"), wrong("4"))
		r = b.oh("-p", "--json-schema", person, "who?")
		r.wantCode(t, 1)
		r.wantErr(t, "4 times")
		if r.out != "" {
			t.Errorf("%v", r)
		}
	})
}

// TestSchemaOfAnArray: a root that is no object is wrapped for the model only.
func TestSchemaOfAnArray(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, delivers("1", `{"value":[1, 2.50]}`))
		r := b.oh("-p", "--json-schema", `{"type":"array","items":{"type":"number"}}`, "which?")
		r.wantCode(t, 0)
		if r.out != "[1,2.50]\n" {
			t.Errorf("%v", r)
		}
	})
}

func TestSchemaFlag(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.file("bad.json", "{\n  \"type\": \"objekt\"\n}")
	for give, want := range map[string]string{
		"": "--json-schema is empty", "none.json": "no such file", "bad.json": "bad.json: at its root: type objekt is not one of", `{"type":`: "line 1, column",
		`{"$ref":"#/$defs/x"}`: "points to nothing",
	} {
		r := b.oh("-p", "--json-schema", give, "who?")
		r.wantCode(t, 2)
		r.wantErr(t, want)
	}
	r := b.oh("-p", "--json-schema", "{}", "--disallowed-tools", "*", "who?")
	r.wantCode(t, 2)
	r.wantErr(t, "--json-schema: the answer is given by calling the tool structured_output, which may not run: denied by the rule *")
	b.done(0)
}

// TestSchemaOnAllWires: a correction, a reminder and a wrapped answer on every
// wire.
func TestSchemaOnAllWires(t *testing.T) {
	allVoices(t, func(t *testing.T, v voice) {
		b := v.box(t, ohtest.Config{Turns: []ohtest.Turn{
			ohtest.Reply(ohtest.Text("Three numbers.")), delivers("1", `{"value":["one"]}`), delivers("2", `{"value":[1,2.50]}`),
			ohtest.Reply(ohtest.Text("Not asked for a form.")),
		}})
		form := `{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]},"$defs":{"n":{"type":"number","description":"one of them"}}}`
		r := b.oh(v.args(b, "--json-schema", form, "--tools", "", "which?")...)
		r.wantCode(t, 0)
		if r.out != "[1,2.50]\n" {
			t.Errorf("%v", r)
		}
		b.oh(v.args(b, "-c", "and now?")...).wantCode(t, 0)
		reqs := b.done(4)
		if got := resultOf(t, reqs[2], "1"); !got.isErr && !strings.Contains(got.text, "does not fit") {
			t.Errorf("%+v", got)
		}
		if !strings.Contains(string(reqs[0].Body), "one of them") {
			t.Error("the description is not sent")
		}
	})
}
