package lsp

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openharness/oh/tools/file"
)

// TestGopls asks the real server of Go, where it is installed.
func TestGopls(t *testing.T) {
	if _, err := exec.LookPath("gopls"); err != nil {
		t.Skip("gopls is not in PATH")
	}
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	w := newWorld(t, Config{Startup: time.Minute, Request: time.Minute}, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.21\n",
		"a.go": "package m\n\n// Greeter greets.\ntype Greeter struct{ Name string }\n\n" +
			"// Greet says 😀 hello.\nfunc (g *Greeter) Greet() string { /* 😀 */ return \"hello \" + g.Name }\n",
		"b/b.go": "package b\n\nimport \"example.com/m\"\n\nfunc Use() string {\n\tg := &m.Greeter{Name: \"x\"}\n\treturn g.Greet()\n}\n",
	})
	check := func(name, got string, want ...string) {
		t.Helper()
		for _, s := range want {
			if !strings.Contains(got, s) {
				t.Errorf("%s lacks %q:\n%s", name, s, got)
			}
		}
	}
	check("document_symbol", w.ask(opDocument, map[string]any{"file_path": "a.go"}),
		"struct Greeter - a.go:4:6\n    type Greeter struct{ Name string }\n", "field Greeter.Name - a.go:4:22", "method Greeter.Greet - a.go:7:19")
	check("workspace_symbol", w.ask(opWorkspace, map[string]any{"query": "Greet"}), "Greeter - a.go:4:6", "Greet - a.go:7:19")
	check("definition by bare method name", w.ask(opDefinition, map[string]any{"symbol": "Greet"}), "definition Greet - a.go:7:19\n    func (g *Greeter) Greet()")
	check("definition behind an emoji", w.ask(opDefinition, map[string]any{"file_path": "a.go", "line": 7, "symbol": "Name"}), "definition Name - a.go:4:22")
	check("references", w.ask(opReferences, map[string]any{"symbol": "Greeter.Greet"}), "reference Greet - a.go:7:19", "reference Greet - b/b.go:7:11\n    return g.Greet()")
	check("hover", w.ask(opHover, map[string]any{"file_path": "b/b.go", "line": 7, "character": 12}), "Greet - b/b.go:7:12", "Greet says 😀 hello.")
	check("incoming_calls", w.ask(opIncoming, map[string]any{"symbol": "Greet"}), "function Use - b/b.go:5:6 (call on line 7)")
	check("outgoing_calls", w.ask(opOutgoing, map[string]any{"symbol": "Use"}), "Greet - a.go:7:19 (call on line 7)")
	check("diagnostics", w.ask(opDiagnostics, map[string]any{"file_path": "b/b.go"}), "(no diagnostics)")

	// A change on disk that nobody told of.
	w.put("c.go", "package m\n\nfunc Late() {}\n")
	check("a new file", w.ask(opDefinition, map[string]any{"symbol": "Late"}), "definition Late - c.go:3:6")

	edit := w.pool.Attach(file.Tools(w.ws)[2])
	res, err := w.call(edit, map[string]any{"path": "a.go", "old_str": "Greet() string {", "new_str": "Greet() int {"})
	if err != nil {
		t.Fatal(err)
	}
	check("edit", textOf(res), "Edited ", "New errors after this edit:\na.go:7:")
	res, err = w.call(edit, map[string]any{"path": "a.go", "old_str": "Greet() int {", "new_str": "Greet() string {"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(textOf(res), "errors") {
		t.Errorf("an edit that mends reports errors: %s", textOf(res))
	}

	check("rename", w.ask(opRename, map[string]any{"symbol": "Greeter.Greet", "new_name": "Welcome"}),
		"Renamed Greet to Welcome: 3 places in 2 files.\na.go: lines 6, 7\nb/b.go: line 7")
	check("a.go", w.get("a.go"), "// Welcome says 😀 hello.\nfunc (g *Greeter) Welcome() string")
	check("b.go", w.get("b/b.go"), "g.Welcome()")
	check("definition after rename", w.ask(opDefinition, map[string]any{"symbol": "Welcome"}), "definition Welcome - a.go:7:19")
}
