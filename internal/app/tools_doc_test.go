package app

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/claude"
	"github.com/openharness/oh/workspace/proc"
)

var update = flag.Bool("update", false, "rewrite docs/tools.md below its mark")

// generatedMark divides docs/tools.md: what stands before it is written by
// hand, what follows comes from the tools.
const generatedMark = "<!-- What follows is made from the tools: go test ./internal/app -run TestToolsDoc -update -->\n"

func TestToolsDoc(t *testing.T) {
	if shell, err := proc.New(proc.Config{}).Shell(); err != nil || shell.Kind != proc.Bash || !shell.Tracks() {
		t.Skip("the words of the tool bash depend on the shell; the document shows those for bash")
	}
	r, err := Build(context.Background(), Options{Dir: t.TempDir(), Home: t.TempDir(), DryRun: true,
		LookupEnv: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join("..", "..", "docs", "tools.md")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, have, ok := strings.Cut(string(old), generatedMark)
	if !ok {
		t.Fatalf("docs/tools.md has lost the line %q", generatedMark)
	}
	want := toolsDoc(t, r.tools) + "\n# Rarely used tools\n\nThese are listed by name to the model, described by `tool_search` and run through\n`call_tool`; permissions, hooks and what is shown speak of the tool itself.\n" + toolsDoc(t, r.deferred)
	if *update {
		if err := os.WriteFile(path, []byte(head+generatedMark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(have, want); diff != "" {
		t.Errorf("docs/tools.md is not true; go test ./internal/app -run TestToolsDoc -update (-it says +the tools say):\n%s", diff)
	}
}

func toolsDoc(t *testing.T, tools []oh.Tool) string {
	var b strings.Builder
	for _, tool := range tools {
		spec := tool.Spec()
		fmt.Fprintf(&b, "\n## %s\n\n", spec.Name)
		if name := claude.ToolName(spec.Name); name != spec.Name {
			fmt.Fprintf(&b, "In Claude Code's vocabulary: `%s`.\n\n", name)
		}
		for line := range strings.Lines(spec.Description) {
			fmt.Fprintf(&b, "> %s\n", strings.TrimSpace(line))
		}
		b.WriteString("\n| field | type | default | words for the model |\n|---|---|---|---|\n")
		fieldRows(t, &b, spec.Name, "", spec.Schema)
	}
	return b.String()
}

// fieldSchema is the part of a JSON Schema that the tools use.
type fieldSchema struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Minimum     json.RawMessage `json:"minimum"`
	Maximum     json.RawMessage `json:"maximum"`
	MaxItems    json.RawMessage `json:"maxItems"`
	Enum        []string        `json:"enum"`
	Items       json.RawMessage `json:"items"`
	Properties  json.RawMessage `json:"properties"`
	Required    []string        `json:"required"`
}

func decodeSchema(t *testing.T, raw json.RawMessage) (s fieldSchema) {
	t.Helper()
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("schema %s: %v", raw, err)
	}
	return s
}

func fieldRows(t *testing.T, b *strings.Builder, tool, prefix string, raw json.RawMessage) {
	object := decodeSchema(t, raw)
	for name, raw := range members(t, object.Properties) {
		f := decodeSchema(t, raw)
		field := "`" + prefix + name + "`"
		if prefix == "" {
			if theirs := claudeField(t, tool, name); theirs != name {
				field += " (`" + theirs + "`)"
			}
		}
		value := "required"
		switch {
		case f.Default != nil:
			value = "`" + string(f.Default) + "`"
		case !slices.Contains(object.Required, name):
			value = "–"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", field, typeWords(t, f), value, strings.ReplaceAll(f.Description, "|", `\|`))
		if f.Items != nil {
			fieldRows(t, b, tool, prefix+name+"[].", f.Items)
		}
	}
}

// typeWords names a field's type with its bounds.
func typeWords(t *testing.T, f fieldSchema) string {
	words := f.Type
	if f.Items != nil {
		words = "list of " + decodeSchema(t, f.Items).Type + "s"
	}
	switch {
	case len(f.Enum) > 0:
		words = strings.Join(f.Enum, ", ")
	case f.MaxItems != nil:
		words += ", at most " + string(f.MaxItems)
	case f.Minimum != nil && f.Maximum != nil:
		words += fmt.Sprintf(", %s to %s", f.Minimum, f.Maximum)
	case f.Minimum != nil:
		words += ", at least " + string(f.Minimum)
	}
	return words
}

// members yields the members of an object in their order.
func members(t *testing.T, object json.RawMessage) func(func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		if object == nil {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(object))
		if _, err := dec.Token(); err != nil {
			t.Fatal(err)
		}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				t.Fatal(err)
			}
			if !yield(name.(string), value) {
				return
			}
		}
	}
}

// claudeField is what Claude Code calls a field of our tool.
func claudeField(t *testing.T, tool, name string) string {
	input, err := oh.Marshal(map[string]any{name: nil})
	if err != nil {
		t.Fatal(err)
	}
	for theirs := range members(t, claude.Input(tool, input)) {
		return theirs
	}
	return name
}
