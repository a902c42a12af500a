package lsp

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/workspace"
)

// project has the name "ant" declared once and used twice, behind characters
// of two UTF-16 units, in a line with CR LF.
func project() map[string]string {
	return map[string]string{
		"fake.root": "", "a.fk": "# 😀\n😀 def ant\r\nuse bee, ant\n", "sub/b.fk": "def bee\n  ant ERROR no good\nWARN hm\n", "sub/c.fk": "def cat\ndef cat\n",
	}
}

func TestOperations(t *testing.T) {
	const ref = "reference ant - a.fk:2:7\n    😀 def ant\nreference ant - a.fk:3:10\n    use bee, ant\nreference ant - sub/b.fk:2:3\n    ant ERROR no good"
	const calls = "function ant - a.fk:2:7 (calls on lines 2, 3)\n    😀 def ant\nfunction bee - sub/b.fk:1:5 (calls on lines 1, 2)\n    def bee\n" +
		"function cat - sub/c.fk:1:5 (calls on lines 1, 2)\n    def cat\nfunction cat - sub/c.fk:2:5 (calls on lines 2, 3)\n    def cat"
	const symbols = "function ant - a.fk:2:7\n    😀 def ant\nvariable ant.inner - a.fk:2:7\n    😀 def ant"
	const definition = "definition ant - a.fk:2:7\n    😀 def ant"
	tests := []struct {
		name, mode, op string
		in             map[string]any
		want           string
	}{
		{"symbols of a file", "", opDocument, map[string]any{"file_path": "a.fk"}, symbols},
		{"symbols in the flat form", "flat", opDocument, map[string]any{"file_path": "sub/b.fk"}, "function box.bee - sub/b.fk:1:1\n    def bee"},
		{"symbols of the project", "", opWorkspace, map[string]any{"query": "an"}, "function ant - a.fk:2:7\n    😀 def ant"},
		{"symbols by the field symbol", "", opWorkspace, map[string]any{"symbol": "bee"}, "function bee - sub/b.fk:1:5\n    def bee"},
		{"no symbols", "", opWorkspace, map[string]any{"query": "zebra"}, "(no results)"},
		{"definition by position", "", opDefinition, map[string]any{"file_path": "a.fk", "line": 3, "character": 10}, definition},
		{"definition by the end of the name", "", opDefinition, map[string]any{"file_path": "a.fk", "line": 3, "character": 13}, definition},
		{"definition by name", "", opDefinition, map[string]any{"symbol": "ant"}, definition},
		{"definition by line and name", "", opDefinition, map[string]any{"file_path": "a.fk", "line": "3", "symbol": "ant"}, definition},
		{"definition by file and name", "", opDefinition, map[string]any{"file_path": "sub/b.fk", "symbol": "ant"}, definition},
		{"definition by line alone: what it declares", "", opDefinition, map[string]any{"file_path": "a.fk", "line": 2}, definition},
		{"definition by line alone: its first name", "", opDefinition, map[string]any{"file_path": "sub/b.fk", "line": 2}, definition},
		{"definition as one location", "one", opDefinition, map[string]any{"symbol": "ant"}, definition},
		{"definition as links", "links", opDefinition, map[string]any{"symbol": "ant"}, definition},
		{"two of a name", "", opDefinition, map[string]any{"symbol": "cat"}, "definition cat - sub/c.fk:1:5\n    def cat\ndefinition cat - sub/c.fk:2:5\n    def cat"},
		{"asked again after a change", "modified", opDefinition, map[string]any{"symbol": "ant"}, definition},
		{"asked again after loading", "loading", opDefinition, map[string]any{"symbol": "ant"}, definition},
		{"noise before the first message", "noise,stderr-flood", opDefinition, map[string]any{"symbol": "ant"}, definition},
		{"a flood before the answer", "flood", opDefinition, map[string]any{"symbol": "ant"}, definition},
		{"references", "", opReferences, map[string]any{"symbol": "ant"}, ref},
		{"hover", "", opHover, map[string]any{"file_path": "a.fk", "line": 3, "character": 11}, "ant - a.fk:3:11\ndef ant\n\nand words"},
		{"incoming calls", "", opIncoming, map[string]any{"symbol": "ant"}, calls},
		{"outgoing calls", "", opOutgoing, map[string]any{"symbol": "ant"}, calls},
		{"diagnostics", "", opDiagnostics, map[string]any{"file_path": "sub/b.fk"}, "error - sub/b.fk:2:7: no good [fk 42]\nwarning - sub/b.fk:3:1: hm"},
		{"no diagnostics", "", opDiagnostics, map[string]any{"file_path": "a.fk"}, "(no diagnostics)"},
		{"ambiguous", "", opReferences, map[string]any{"symbol": "cat"},
			"error: \"cat\" names several symbols; give file_path with line and character of one:\ncat - sub/c.fk:1:5\ncat - sub/c.fk:2:5"},
		{"no such name", "", opHover, map[string]any{"symbol": "zebra"},
			"error: no symbol \"zebra\" was found; give file_path with line and character of a place that uses it"},
		{"not on that line", "", opHover, map[string]any{"file_path": "a.fk", "line": 1, "symbol": "ant"}, "error: line 1 of DIR/a.fk has no \"ant\"; it is: # 😀"},
		{"no name on the line", "", opHover, map[string]any{"file_path": "a.fk", "line": 1}, "error: line 1 of DIR/a.fk has no name; it is: # 😀"},
		{"beyond the end", "", opHover, map[string]any{"file_path": "a.fk", "line": 9}, "error: line 9 is beyond the end: DIR/a.fk has 4 lines"},
		{"not in the file", "", opHover, map[string]any{"file_path": "a.fk", "symbol": "zebra"}, "error: DIR/a.fk has no \"zebra\""},
		{"no file", "", opDocument, map[string]any{"file_path": "x.fk"}, "error: DIR/x.fk does not exist: file does not exist"},
		{"needs a file", "", opDocument, nil, "error: invalid input: document_symbol needs file_path"},
		{"needs a query", "", opWorkspace, nil, "error: invalid input: workspace_symbol needs query"},
		{"needs a place", "", opHover, map[string]any{"file_path": "a.fk"}, "error: invalid input: hover needs file_path with line and character, or symbol"},
		{"needs a name", "", opRename, map[string]any{"symbol": "ant", "new_name": " "}, "error: invalid input: rename needs new_name"},
		{"needs the file of the line", "", opHover, map[string]any{"symbol": "ant", "line": 2}, "error: invalid input: line needs file_path"},
		{"the server refuses", "refuse", opDefinition, map[string]any{"symbol": "ant"}, "error: fake: no views"},
		{"an answer of another form", "odd-answer", opDefinition, map[string]any{"symbol": "ant"},
			"error: locations: json: cannot unmarshal string into Go value of type []lsp.anyLocation"},
		{"places in no file and outside", "virtual", opDefinition, map[string]any{"symbol": "ant"},
			definition + "\ndefinition ? - PARENT/outside.fk:1:1\n[1 more place in no file.]"},
		{"cannot rename", "incapable", opRename, map[string]any{"file_path": "a.fk", "line": 2, "new_name": "x"},
			"error: rename needs a language server: the language server fake does not do rename"},
		{"cannot find references", "incapable", opReferences, map[string]any{"file_path": "a.fk", "line": 3, "character": 10}, ref +
			"\n[From a scan of the text, not a language server, so incomplete and inexact: the language server fake does not do find_references.]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, _ := fakeServer(t, tt.mode)
			w := newWorld(t, cfg, project())
			got := w.ask(tt.op, tt.in)
			got = strings.ReplaceAll(strings.ReplaceAll(got, w.dir, "DIR"), strings.TrimSuffix(w.dir, "/"+lastOf(w.dir)), "PARENT")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func lastOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func TestManyResultsAreCut(t *testing.T) {
	cfg, _ := fakeServer(t, "")
	w := newWorld(t, cfg, map[string]string{"a.fk": "def ant\n" + strings.Repeat("ant\n", 300)})
	got := w.ask(opReferences, map[string]any{"symbol": "ant"})
	if n := strings.Count(got, "reference ant"); n != 200 {
		t.Errorf("%d lines", n)
	}
	if !strings.HasSuffix(got, "\n[200 of 301 shown: ask more narrowly.]") {
		t.Errorf("it does not say that it is cut: %s", got[len(got)-100:])
	}
}

func TestOneServerForAllQuestions(t *testing.T) {
	cfg, log := fakeServer(t, "")
	w := newWorld(t, cfg, project())
	w.ask(opDefinition, map[string]any{"symbol": "ant"})
	w.ask(opDocument, map[string]any{"file_path": "sub/b.fk"})
	w.put("sub/b.fk", "def bees\n")
	w.put("new.fk", "def gnu\n")
	if err := os.Remove(w.path("sub/c.fk")); err != nil {
		t.Fatal(err)
	}
	want := "function bees - sub/b.fk:1:5\n    def bees\nvariable bees.inner - sub/b.fk:1:5\n    def bees"
	if got := w.ask(opDocument, map[string]any{"file_path": "sub/b.fk"}); got != want {
		t.Errorf("after a change on disk:\n%s", got)
	}
	w.pool.Close()
	got := logged(t, log)
	for method, n := range map[string]int{
		"initialize": 1, "initialized": 1, "textDocument/didOpen": 2, "textDocument/didChange": 1, "textDocument/didSave": 1, "shutdown": 1, "exit": 1,
		"answer:[7,null]": 1, "answer:null": 1, "workspace/didChangeConfiguration": 1,
	} {
		if have := count(got, method); have != n {
			t.Errorf("%s was sent %d times, not %d: %q", method, have, n, got)
		}
	}
	events := ""
	for _, line := range got {
		if rest, ok := strings.CutPrefix(line, "workspace/didChangeWatchedFiles:"); ok {
			events += rest
		}
	}
	for _, want := range []string{`{"uri":"/sub/b.fk","type":2}`, `{"uri":"/new.fk","type":1}`, `{"uri":"/sub/c.fk","type":3}`} {
		if !strings.Contains(events, want) {
			t.Errorf("the server was not told %s: %s", want, events)
		}
	}
}

func count(list []string, s string) int {
	n := 0
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

func TestAServerForEachRoot(t *testing.T) {
	cfg, log := fakeServer(t, "")
	w := newWorld(t, cfg, map[string]string{"one/fake.root": "", "one/a.fk": "def ant\n", "two/fake.root": "", "two/b.fk": "def antler\n"})
	got := w.ask(opWorkspace, map[string]any{"query": "ant"})
	want := []string{"function ant - one/a.fk:1:5", "    def ant", "function antler - two/b.fk:1:5", "    def antler"}
	if diff := cmp.Diff(want, strings.Split(got, "\n")); diff != "" {
		t.Error(diff)
	}
	if n := count(logged(t, log), "initialize"); n != 2 {
		t.Errorf("%d servers were started", n)
	}
}

// A server that fails does not keep the others from answering.
func TestOneOfTwoServersFails(t *testing.T) {
	cfg, _ := fakeServer(t, "")
	broken, _ := fakeServer(t, "crash-start")
	s := broken.Servers["fake"]
	s.Extensions = map[string]string{".brk": "broken"}
	cfg.Servers["broken"] = s
	files := project()
	files["x.brk"] = "def ant\n"
	w := newWorld(t, cfg, files)
	want := "definition ant - a.fk:2:7\n    😀 def ant\n[Not asked: start broken: broken ended unexpectedly: exit status 7; its last words: cannot begin.]"
	if got := w.ask(opDefinition, map[string]any{"symbol": "ant"}); got != want {
		t.Errorf("got %q", got)
	}
}

func TestRefusedServer(t *testing.T) {
	cfg, log := fakeServer(t, "")
	var asked []Server
	cfg.Allowed = func(s Server) error {
		asked = append(asked, s)
		return errors.New("the folder is not trusted")
	}
	w := newWorld(t, cfg, project())
	want := "reference ant - a.fk:2:7\n    😀 def ant\nreference ant - a.fk:3:10\n    use bee, ant\nreference ant - sub/b.fk:2:3\n    ant ERROR no good\n" +
		"[From a scan of the text, not a language server, so incomplete and inexact: fake may not be started: the folder is not trusted.]"
	if diff := cmp.Diff(want, w.ask(opReferences, map[string]any{"symbol": "ant"})); diff != "" {
		t.Error(diff)
	}
	if got := w.ask(opHover, map[string]any{"symbol": "ant"}); got != "error: hover needs a language server: fake may not be started: the folder is not trusted" {
		t.Error(got)
	}
	if len(asked) != 2 || asked[0].Name != "fake" || asked[0].Root != w.dir {
		t.Errorf("asked about %+v", asked)
	}
	if got := logged(t, log); len(got) > 0 {
		t.Errorf("it was started: %q", got)
	}
}

func TestAccess(t *testing.T) {
	w := newWorld(t, Config{}, project())
	tests := []struct {
		in   string
		want oh.Access
	}{
		{`{"operation":"document_symbol","file_path":"a.fk"}`, oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: w.path("a.fk")}}}},
		{`{"operation":"hover","file_path":"a.fk","line":1}`, oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: w.path("a.fk")}, {Path: w.dir, Tree: true}}}},
		{`{"operation":"workspace_symbol","query":"x"}`, oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: w.dir, Tree: true}}}},
		{`{"operation":"rename","file_path":"a.fk","line":1,"new_name":"x"}`, oh.Access{Paths: []oh.PathUse{{Path: w.path("a.fk"), Write: true}, {Path: w.dir, Write: true, Tree: true}}}},
	}
	for _, tt := range tests {
		act, err := w.pool.Tool().Prepare(t.Context(), &oh.Call{ID: "1", Name: "lsp", Input: []byte(tt.in), Env: &oh.Env{Dir: w.dir}})
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, act.Access); diff != "" {
			t.Errorf("%s: %s", tt.in, diff)
		}
	}
	if list := w.pool.living(); len(list) > 0 {
		t.Error("Prepare started a server")
	}
}

func TestWords(t *testing.T) {
	tool := New(nil, Config{}).Tool()
	if v := ohtest.CheckSpec(tool.Spec()); len(v) > 0 {
		t.Error(v)
	}
	if n := len(lspDoc); n > 700 {
		t.Errorf("the words for the model take %d bytes", n)
	}
}

func TestWithoutWorkspace(t *testing.T) {
	cfg, _ := fakeServer(t, "")
	w := newWorld(t, cfg, project())
	w.pool = New(nil, cfg)
	t.Cleanup(w.pool.Close)
	if got, want := w.ask(opDefinition, map[string]any{"file_path": "a.fk", "line": 3, "symbol": "ant"}), "definition ant - a.fk:2:7\n    😀 def ant"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := w.ask(opDefinition, map[string]any{"symbol": "ant"}), "definition ant - a.fk:2:7\n    😀 def ant"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestTwoFolders(t *testing.T) {
	cfg, _ := fakeServer(t, "")
	w := newWorld(t, cfg, project())
	extra := newWorld(t, Config{}, map[string]string{"fake.root": "", "z.fk": "def antelope\n"})
	if err := w.ws.Add(extra.dir); err != nil {
		t.Fatal(err)
	}
	got := w.ask(opWorkspace, map[string]any{"query": "antelope"})
	if want := "function antelope - " + workspace.Show("", extra.path("z.fk")) + ":1:5\n    def antelope"; got != want {
		t.Errorf("got %q", got)
	}
	if !slices.Contains(w.ws.Roots(), extra.dir) {
		t.Error("the folder was not added")
	}
}
