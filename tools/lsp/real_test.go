package lsp

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestRealServers asks the servers of some languages, where they are
// installed.
func TestRealServers(t *testing.T) {
	type question struct {
		op   string
		in   map[string]any
		want []string
	}
	tests := []struct {
		command string
		files   map[string]string
		ask     []question
	}{
		{"pyright-langserver", map[string]string{
			"pyproject.toml": "", "a.py": "class Ant:\n    def bite(self) -> int:\n        return 1\n", "b.py": "from a import Ant\n\ndef use():\n    return Ant().bite() + \"x\"\n",
		}, []question{
			{opDocument, map[string]any{"file_path": "a.py"}, []string{"class Ant - a.py:1:7", "method Ant.bite - a.py:2:9"}},
			{opWorkspace, map[string]any{"query": "bite"}, []string{"Ant.bite - a.py:2:9"}},
			{opDefinition, map[string]any{"symbol": "bite"}, []string{"definition bite - a.py:2:9\n    def bite"}},
			{opReferences, map[string]any{"symbol": "Ant.bite"}, []string{"reference bite - a.py:2:9", "reference bite - b.py:4:18"}},
			{opHover, map[string]any{"file_path": "b.py", "line": 4, "symbol": "bite"}, []string{"def bite() -> int"}},
			{opIncoming, map[string]any{"symbol": "bite"}, []string{"function use - b.py:3:5 (call on line 4)"}},
			{opDiagnostics, map[string]any{"file_path": "b.py"}, []string{"error - b.py:4:12: ", "[Pyright reportOperatorIssue]"}},
			{opRename, map[string]any{"symbol": "Ant.bite", "new_name": "sting"}, []string{"Renamed bite to sting: 2 places in 2 files.\na.py: line 2\nb.py: line 4"}},
			{opDefinition, map[string]any{"symbol": "sting"}, []string{"definition sting - a.py:2:9"}},
		}},
		{"typescript-language-server", map[string]string{
			"tsconfig.json": "{}", "a.ts": "export class Ant {\n  bite(): number { return 1 }\n}\n", "b.ts": "import { Ant } from './a'\nexport function use() {\n  const s: string = new Ant().bite()\n  return s\n}\n",
		}, []question{
			{opDocument, map[string]any{"file_path": "a.ts"}, []string{"class Ant - a.ts:1:14", "method Ant.bite - a.ts:2:3"}},
			{opWorkspace, map[string]any{"query": "bite"}, []string{"bite - a.ts:2:3"}},
			{opDefinition, map[string]any{"symbol": "bite"}, []string{"definition bite - a.ts:2:3\n    bite(): number"}},
			{opReferences, map[string]any{"symbol": "Ant"}, []string{"reference Ant - a.ts:1:14", "reference Ant - b.ts:3:25"}},
			{opDiagnostics, map[string]any{"file_path": "b.ts"}, []string{"error - b.ts:3:9: Type 'number' is not assignable to type 'string'. [typescript 2322]"}},
			{opOutgoing, map[string]any{"symbol": "use"}, []string{"method bite - a.ts:2:3"}},
			{opRename, map[string]any{"symbol": "bite", "new_name": "sting"}, []string{"2 places in 2 files.\na.ts: line 2\nb.ts: line 3"}},
		}},
		{"bash-language-server", map[string]string{"a.sh": "greet() {\n  echo hi\n}\ngreet\n"}, []question{
			{opDocument, map[string]any{"file_path": "a.sh"}, []string{"function greet - a.sh:1:1"}},
			{opDefinition, map[string]any{"file_path": "a.sh", "line": 4, "character": 2}, []string{"definition greet - a.sh:1:1"}},
			{opReferences, map[string]any{"symbol": "greet"}, []string{"a.sh:1:1", "a.sh:4:1"}},
		}},
		{"yaml-language-server", map[string]string{"a.yaml": "top:\n  inner: 1\n bad\n"}, []question{
			{opDiagnostics, map[string]any{"file_path": "a.yaml"}, []string{"error - a.yaml:"}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			if _, err := exec.LookPath(tt.command); err != nil {
				t.Skip("it is not in PATH")
			}
			if testing.Short() {
				t.Skip("it takes seconds")
			}
			w := newWorld(t, Config{Startup: time.Minute, Request: time.Minute}, tt.files)
			for _, q := range tt.ask {
				got := w.ask(q.op, q.in)
				for _, want := range q.want {
					if !strings.Contains(got, want) {
						t.Errorf("%s %v lacks %q:\n%s", q.op, q.in, want, got)
					}
				}
			}
		})
	}
}
