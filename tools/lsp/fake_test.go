package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openharness/oh/tools/lsp/rpc"
)

// The variables by which the test binary becomes a language server for .fk
// files: a mode, and a file that gets the methods it was sent.
const (
	fakeMode = "OH_TEST_LSP_MODE"
	fakeLog  = "OH_TEST_LSP_LOG"
)

func TestMain(m *testing.M) {
	if mode, ok := os.LookupEnv(fakeMode); ok {
		(&fake{mode: mode, docs: map[string]string{}, out: os.Stdout}).serve()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fakeServer configures the fake in a mode.
func fakeServer(t *testing.T, mode string) (cfg Config, log string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log = filepath.Join(t.TempDir(), "log")
	return Config{Servers: map[string]Server{"fake": {
		Command: self, Extensions: map[string]string{".fk": "fake"}, Markers: []string{"fake.root"},
		Env:      map[string]string{fakeMode: mode, fakeLog: log, "GORACE": "atexit_sleep_ms=0"},
		Settings: json.RawMessage(`{"fake":{"level":7}}`),
	}}}, log
}

func logged(t *testing.T, log string) []string {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// fake is a language server for files in which "def name" declares, any other
// word uses, and "ERROR words" is an error.
type fake struct {
	mode string
	root string
	docs map[string]string // open documents by path
	vers map[string]int
	out  *os.File
	next int
}

type fakeMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

func (f *fake) has(mode string) bool { return slices.Contains(strings.Split(f.mode, ","), mode) }

func (f *fake) serve() {
	f.vers = map[string]int{}
	if f.has("crash-start") {
		fmt.Fprintln(os.Stderr, "cannot\x1b[31m begin")
		os.Exit(7)
	}
	if f.has("noise") {
		fmt.Fprint(f.out, "Listening on stdio\r\nWelcome: friend\r\n\r\n")
	}
	if f.has("stderr-flood") {
		fmt.Fprint(os.Stderr, strings.Repeat("blah\n", 1<<20))
	}
	if f.has("child") {
		child := exec.Command("sh", "-c", "trap '' TERM; echo $$ > "+os.Getenv(fakeLog)+".child; exec sleep 1000")
		detach(child)
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	in := bufio.NewReader(os.Stdin)
	for {
		body, err := rpc.ReadMessage(in)
		if err != nil {
			if f.has("stubborn") {
				select {}
			}
			return
		}
		var m fakeMessage
		if err := json.Unmarshal(body, &m); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		f.note(m)
		f.handle(m)
	}
}

func (f *fake) note(m fakeMessage) {
	file, err := os.OpenFile(os.Getenv(fakeLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	line := m.Method
	switch m.Method {
	case "":
		line = "answer:" + string(m.Result)
	case "workspace/didChangeWatchedFiles":
		line += ":" + strings.ReplaceAll(string(m.Params), "file://"+f.root, "")
	}
	fmt.Fprintln(file, strings.ReplaceAll(line, " ", ""))
}

func (f *fake) send(v map[string]any) {
	v["jsonrpc"] = "2.0"
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(f.out, "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func (f *fake) ask(method string, params any) {
	f.next++
	f.send(map[string]any{"id": fmt.Sprintf("s%d", f.next), "method": method, "params": params})
}

func (f *fake) handle(m fakeMessage) {
	var p struct {
		RootURI string `json:"rootUri"`
		Doc     struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		Position position `json:"position"`
		Changes  []struct{ Text string }
		Content  []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
		Query   string          `json:"query"`
		NewName string          `json:"newName"`
		Item    json.RawMessage `json:"item"`
	}
	_ = json.Unmarshal(m.Params, &p)
	path, _ := fromURI(p.Doc.URI)
	reply := func(v any) { f.send(map[string]any{"id": m.ID, "result": v}) }
	if f.special(m, reply) {
		return
	}
	switch m.Method {
	case "initialize":
		f.root, _ = fromURI(p.RootURI)
		reply(map[string]any{"capabilities": f.capabilities()})
	case "initialized":
		f.ask("workspace/configuration", map[string]any{"items": []any{map[string]string{"section": "fake.level"}, map[string]string{"section": "other"}}})
		f.ask("client/registerCapability", map[string]any{})
		f.ask("no/such", nil)
	case "textDocument/didOpen", "textDocument/didChange":
		f.docs[path] = p.Doc.Text
		if len(p.Content) > 0 {
			f.docs[path] = p.Content[0].Text
		}
		f.vers[path] = p.Doc.Version
		f.diagnose(path)
	case "textDocument/didClose":
		delete(f.docs, path)
	case "textDocument/documentSymbol":
		reply(f.symbols(path))
	case "workspace/symbol":
		var out []any
		for _, file := range f.files() {
			for _, s := range f.defs(file) {
				if strings.Contains(s.name, p.Query) {
					// Only where the whole line is, as some servers do.
					out = append(out, map[string]any{"name": s.name, "kind": 12, "location": location{toURI(file), span{position{s.line, 0}, position{s.line, 999}}}})
				}
			}
		}
		reply(out)
	case "textDocument/definition":
		reply(f.definition(f.word(path, p.Position)))
	case "textDocument/references":
		reply(f.references(f.word(path, p.Position)))
	case "textDocument/hover":
		reply(map[string]any{"contents": []any{map[string]string{"language": "fake", "value": "def " + f.word(path, p.Position)}, "and\x1b[0m words"}})
	case "textDocument/rename":
		f.rename(m, f.word(path, p.Position), p.NewName)
	case "textDocument/prepareCallHierarchy":
		word := f.word(path, p.Position)
		reply([]any{map[string]any{"name": word, "kind": 12, "uri": p.Doc.URI, "range": span{}, "selectionRange": span{p.Position, p.Position}, "data": map[string]any{"<key>": word}}})
	case "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls":
		if !strings.Contains(string(p.Item), `"\u003ckey\u003e"`) {
			f.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32602, "message": "the item was changed: " + string(p.Item)}})
			return
		}
		side := "from"
		if strings.Contains(m.Method, "outgoing") {
			side = "to"
		}
		var out []any
		for _, file := range f.files() {
			for _, s := range f.defs(file) {
				out = append(out, map[string]any{side: map[string]any{"name": s.name, "kind": 12, "uri": toURI(file), "selectionRange": span{position{s.line, s.col}, position{s.line, s.col}}},
					"fromRanges": []span{{position{s.line, 0}, position{s.line, 1}}, {position{s.line + 1, 0}, position{s.line + 1, 1}}}})
			}
		}
		reply(out)
	case "shutdown":
		if !f.has("stubborn") {
			reply(nil)
		}
	case "exit":
		if !f.has("stubborn") {
			os.Exit(0)
		}
	}
}

func (f *fake) capabilities() any {
	if f.has("incapable") {
		return map[string]any{"textDocumentSync": 1}
	}
	caps := map[string]any{
		"textDocumentSync":       map[string]any{"openClose": true, "change": 2, "save": map[string]any{}},
		"documentSymbolProvider": true, "workspaceSymbolProvider": map[string]any{}, "definitionProvider": true, "referencesProvider": true,
		"hoverProvider": true, "renameProvider": map[string]any{"prepareProvider": true}, "callHierarchyProvider": true,
	}
	if f.has("utf8") {
		caps["positionEncoding"] = "utf-8"
	}
	return caps
}

// special does what the mode wants in place of the usual.
func (f *fake) special(m fakeMessage, reply func(any)) bool {
	definition := m.Method == "textDocument/definition"
	switch {
	case f.has("slow-start") && m.Method == "initialize":
		fmt.Fprintln(os.Stderr, "thinking")
		return true
	case f.has("hang") && definition:
		return true
	case f.has("crash") && definition:
		fmt.Fprintln(os.Stderr, "panic: out of \x1b[1mcheese")
		os.Exit(3)
	case f.has("bad-json") && definition:
		fmt.Fprint(f.out, "Content-Length: 9\r\n\r\n{not json")
		return true
	case f.has("bad-frame") && definition:
		fmt.Fprint(f.out, strings.Repeat("no header at all\r\n", 4096))
		return true
	case f.has("odd-answer") && definition:
		reply("a string")
		return true
	case f.has("refuse") && definition:
		f.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32603, "message": "no \x1b[1mviews"}})
		return true
	case f.has("modified") && definition:
		f.mode = strings.Replace(f.mode, "modified", "", 1)
		f.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32801, "message": "content modified"}})
		return true
	case f.has("flood") && definition:
		for i := range 3000 {
			f.send(map[string]any{"method": "window/logMessage", "params": map[string]any{"type": 3, "message": strings.Repeat("x", 1000)}})
			f.ask("workspace/configuration", map[string]any{"items": []any{map[string]string{"section": fmt.Sprint(i)}}})
			f.send(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": toURI(fmt.Sprintf("%s/f%d.fk", f.root, i)), "diagnostics": []any{}}})
		}
	case f.has("loading") && definition:
		f.mode = strings.Replace(f.mode, "loading", "", 1)
		f.send(map[string]any{"method": "$/progress", "params": map[string]any{"token": 1, "value": map[string]any{"kind": "begin", "title": "Indexing"}}})
		reply(nil)
		f.send(map[string]any{"method": "$/progress", "params": map[string]any{"token": 1, "value": map[string]any{"kind": "end"}}})
		return true
	}
	return false
}

type fakeDef struct {
	name      string
	line, col int
}

func (f *fake) text(path string) string {
	if s, ok := f.docs[path]; ok {
		return s
	}
	data, _ := os.ReadFile(path)
	return string(data)
}

func (f *fake) files() []string {
	var out []string
	_ = filepath.WalkDir(f.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".fk") {
			out = append(out, path)
		}
		return nil
	})
	return out
}

var defLine = regexp.MustCompile(`def (\pL+)`)

func (f *fake) defs(path string) []fakeDef {
	var out []fakeDef
	for n, line := range strings.Split(f.text(path), "\n") {
		for _, m := range defLine.FindAllStringSubmatchIndex(line, -1) {
			out = append(out, fakeDef{line[m[2]:m[3]], n, unitsIn(line[:m[2]])})
		}
	}
	return out
}

func (f *fake) symbols(path string) any {
	var out []any
	for _, s := range f.defs(path) {
		at := span{position{s.line, s.col}, position{s.line, s.col + unitsIn(s.name)}}
		if f.has("flat") {
			out = append(out, map[string]any{"name": s.name, "kind": 12, "containerName": "box", "location": location{toURI(path), span{position{s.line, 0}, position{s.line, 999}}}})
			continue
		}
		out = append(out, map[string]any{"name": s.name + "(int)", "kind": 12, "range": at, "selectionRange": at,
			"children": []any{map[string]any{"name": "inner", "kind": 13, "range": at, "selectionRange": at}}})
	}
	return out
}

func (f *fake) word(path string, p position) string {
	src := &source{text: f.text(path)}
	src.starts = lineStarts(src.text)
	return src.wordAt(p)
}

func (f *fake) definition(word string) any {
	var out []any
	for _, file := range f.files() {
		for _, s := range f.defs(file) {
			at := span{position{s.line, s.col}, position{s.line, s.col + unitsIn(s.name)}}
			switch {
			case s.name != word:
			case f.has("one"):
				return location{toURI(file), at}
			case f.has("links"):
				out = append(out, map[string]any{"targetUri": toURI(file), "targetRange": span{}, "targetSelectionRange": at})
			default:
				out = append(out, location{toURI(file), at})
			}
		}
	}
	if f.has("virtual") {
		out = append(out, location{"jdt://contents/x.class", span{}}, location{toURI(filepath.Join(filepath.Dir(f.root), "outside.fk")), span{}})
	}
	return out
}

func (f *fake) references(word string) []location {
	out := []location{}
	for _, file := range f.files() {
		for n, line := range strings.Split(f.text(file), "\n") {
			for i := findWord(line, word, 0); i >= 0; i = findWord(line, word, i+len(word)) {
				out = append(out, location{toURI(file), span{position{n, unitsIn(line[:i])}, position{n, unitsIn(line[:i+len(word)])}}})
			}
		}
	}
	return out
}

func (f *fake) rename(m fakeMessage, old, next string) {
	changes := map[string][]textEdit{}
	for _, l := range f.references(old) {
		changes[l.URI] = append(changes[l.URI], textEdit{l.Range, next})
	}
	edit := map[string]any{"changes": changes}
	var docs []any
	switch {
	case f.has("documentChanges"):
		for uri, edits := range changes {
			docs = append(docs, map[string]any{"textDocument": map[string]any{"uri": uri, "version": nil}, "edits": edits})
		}
	case f.has("moves"):
		docs = append(docs, map[string]any{"kind": "rename", "oldUri": "file:///a", "newUri": "file:///b"})
	case f.has("outside"):
		changes[toURI(filepath.Join(filepath.Dir(f.root), "outside.fk"))] = []textEdit{{span{}, next}}
	case f.has("secret"):
		changes[toURI(filepath.Join(f.root, "x.secret.fk"))] = []textEdit{{span{}, next}}
	case f.has("overlap"):
		for uri := range changes {
			changes[uri] = append(changes[uri], textEdit{span{position{1, 0}, position{1, 999}}, "x"})
		}
	case f.has("beyond"):
		for uri := range changes {
			changes[uri] = append(changes[uri], textEdit{span{position{4000, 0}, position{4000, 1}}, "x"})
		}
	case f.has("racing"):
		for uri := range changes {
			path, _ := fromURI(uri)
			_ = os.WriteFile(path, []byte("changed meanwhile\n"), 0o666)
		}
	}
	if docs != nil {
		edit = map[string]any{"documentChanges": docs}
	}
	f.send(map[string]any{"id": m.ID, "result": edit})
}

func (f *fake) diagnose(path string) {
	if f.has("silent") {
		return
	}
	list := []any{}
	for n, line := range strings.Split(f.text(path), "\n") {
		if i := strings.Index(line, "ERROR "); i >= 0 {
			list = append(list, map[string]any{"range": span{position{n, unitsIn(line[:i])}, position{n, unitsIn(line)}}, "severity": 1, "code": 42, "source": "fk", "message": line[i+6:]})
		}
		if i := strings.Index(line, "WARN "); i >= 0 {
			list = append(list, map[string]any{"range": span{position{n, 0}, position{n, 1}}, "severity": 2, "message": line[i+5:]})
		}
	}
	params := map[string]any{"uri": toURI(path), "version": f.vers[path], "diagnostics": list}
	f.send(map[string]any{"method": "textDocument/publishDiagnostics", "params": params})
}
