package lsp

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sourceOf(t *testing.T, s string) *source {
	t.Helper()
	src, ok := newSource([]byte(s))
	if !ok {
		t.Fatalf("%q is no text", s)
	}
	return src
}

func TestPositions(t *testing.T) {
	src := sourceOf(t, "\ufeffa😀b\r\né\rz\n")
	tests := []struct {
		line, units, offset, column int
	}{
		{0, 0, 0, 1}, {0, 1, 1, 2}, {0, 3, 5, 3}, {0, 4, 6, 4}, {0, 99, 6, 4}, {1, 0, 8, 1}, {1, 1, 10, 2}, {2, 0, 11, 1}, {3, 0, 13, 1},
	}
	for _, tt := range tests {
		p := position{tt.line, tt.units}
		offset, ok := src.offset(p)
		if !ok || offset != tt.offset || src.column(p) != tt.column {
			t.Errorf("%v: offset %d, column %d", p, offset, src.column(p))
		}
		if back := src.fromColumn(tt.line+1, tt.column); tt.units < 99 && back != p {
			t.Errorf("%v came back as %v", p, back)
		}
	}
	for _, p := range []position{{-1, 0}, {0, -1}, {5, 0}, {4, 1}} {
		if n, ok := src.offset(p); ok {
			t.Errorf("%v is at %d", p, n)
		}
	}
}

func TestURI(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other paths")
	}
	for _, path := range []string{"/a/b.go", "/a b/ü%20#?.go", "/c:/x", "/"} {
		if back, ok := fromURI(toURI(path)); !ok || back != path {
			t.Errorf("%s became %s, %s", path, toURI(path), back)
		}
	}
	for uri, want := range map[string]string{
		"file:///a/../b": "/b", "file://localhost/a": "/a", "file:///c%3A/x": "/c:/x",
		"http://x/a": "", "jdt:/a": "", "file:": "", "file://host/a": "", "%zz": "", "untitled:1": "", "file:///a%00b": "",
	} {
		if got, _ := fromURI(uri); got != want {
			t.Errorf("%s became %q", uri, got)
		}
	}
}

func TestApply(t *testing.T) {
	edit := func(l1, c1, l2, c2 int, s string) textEdit {
		return textEdit{span{position{l1, c1}, position{l2, c2}}, s}
	}
	tests := []struct {
		name, in string
		edits    []textEdit
		want     string
	}{
		{"behind an emoji", "😀 a\r\nb", []textEdit{edit(0, 3, 0, 4, "xyz")}, "😀 xyz\r\nb"},
		{"in any order", "a b c", []textEdit{edit(0, 4, 0, 5, "3"), edit(0, 0, 0, 1, "1")}, "1 b 3"},
		{"over lines", "a\nb\nc\n", []textEdit{edit(0, 1, 2, 0, "-")}, "a-c\n"},
		{"two at one place", "ab", []textEdit{edit(0, 1, 0, 1, "1"), edit(0, 1, 0, 1, "2")}, "a12b"},
		{"the same twice", "ab", []textEdit{edit(0, 0, 0, 1, "x"), edit(0, 0, 0, 1, "x")}, "xb"},
		{"at the end", "a\n", []textEdit{edit(1, 0, 1, 0, "b")}, "a\nb"},
		{"after the last line", "a", []textEdit{edit(1, 0, 1, 0, "b")}, "ab"},
		{"keeps the mark", "\ufeffa", []textEdit{edit(0, 0, 0, 1, "b")}, "\ufeffb"},
		{"keeps Latin-1", "caf\xe9 a", []textEdit{edit(0, 5, 0, 6, "ü")}, "caf\xe9 \xfc"},
		{"keeps UTF-16", "\xff\xfea\x00b\x00", []textEdit{edit(0, 1, 0, 2, "é")}, "\xff\xfea\x00\xe9\x00"},
		{"overlap", "abc", []textEdit{edit(0, 0, 0, 2, ""), edit(0, 1, 0, 3, "")}, "the server's changes of line 1 overlap"},
		{"backwards", "abc", []textEdit{edit(0, 2, 0, 1, "")}, "the server wants to change line 1, which is not there"},
		{"not in the charset", "caf\xe9", []textEdit{edit(0, 0, 0, 1, "😀")}, "it is Windows-1252, which lacks characters of the new name"},
		{"binary", "a\x00\x00\x00b", []textEdit{edit(0, 0, 0, 1, "x")}, "it is no text file"},
	}
	for _, tt := range tests {
		got, _, err := apply([]byte(tt.in), tt.edits)
		out := string(got)
		if err != nil {
			out = err.Error()
		}
		if tt.name == "not in the charset" { // the charset's own name may differ
			out = strings.Replace(out, sourceOf(t, tt.in).charset.String(), "Windows-1252", 1)
		}
		if out != tt.want {
			t.Errorf("%s: got %q", tt.name, out)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add("a😀b\r\nc", 0, 1, 0, 3, "x")
	f.Add("", 0, 0, 1, 0, "x")
	f.Fuzz(func(t *testing.T, text string, l1, c1, l2, c2 int, next string) {
		got, lines, err := apply([]byte(text), []textEdit{{span{position{l1, c1}, position{l2, c2}}, next}})
		if err != nil {
			return
		}
		if len(lines) != 1 || len(got) > 3*(len(text)+len(next))+3 {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// FuzzAnswers reads what a server may send.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`[{"uri":"file:///a","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}]`))
	f.Add([]byte(`{"targetUri":"file:///a","targetRange":{},"targetSelectionRange":null}`))
	f.Add([]byte(`{"documentChanges":[{"kind":"create","uri":"file:///a"}],"changes":{"file:///b":[{"range":{},"newText":"x"}]}}`))
	f.Add([]byte(`{"uri":"file:///a","version":1,"diagnostics":[{"code":{"a":1},"message":"\u0000x","severity":9}]}`))
	f.Add([]byte(`["a",{"language":"go","value":"func"},[{"kind":"markdown","value":"*b*"}]]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := locations(raw); err == nil && len(raw) > 2 && raw[0] == '"' {
			t.Error("a string is no location")
		}
		_, _ = decodeEdit(raw)
		_ = hoverText(raw)
		if in, ok := decodeReport(raw); ok {
			for _, d := range readable("/x", nil, in.Diagnostics) {
				if d.Severity < Error || d.Severity > Hint {
					t.Errorf("%+v", d)
				}
			}
		}
		var list []symbol
		if json.Unmarshal(raw, &list) == nil {
			_ = flatten(nil, list, "/x", "", maxDepth)
		}
		var caps capabilities
		if json.Unmarshal(raw, &caps) == nil {
			_ = caps.saves()
		}
		_, _ = Servers(raw)
	})
}

func TestPlainName(t *testing.T) {
	for in, want := range map[string]string{
		"(*T).M": "T.M", "(T).M": "T.M", "T.M": "T.M", "ns::T::M(int) const": "ns.T.M", "T#m": "T.m", "foo(int, String)": "foo",
		"Box<T>": "Box", "T[P].M": "T.M", "(*T[P]).M": "T.M", " x ": "x", "": "", "<anonymous>": "<anonymous>",
	} {
		if got := plainName(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestServers(t *testing.T) {
	tests := []struct{ in, err string }{
		{`{"x":{"command":"x","args":["-a"],"extensionToLanguage":{".x":"ex"},"env":{"A":"b"},"unknown":1}}`, ""},
		{`{"gopls":{"args":["-remote=auto"]}}`, ""},
		{`{"gopls":{"disabled":true}}`, ""},
		{``, ""},
		{`[]`, "lspServers must be an object of servers by name: json: cannot unmarshal array into Go value of type map[string]json.RawMessage"},
		{`{"x":{}}`, "lspServers.x: command is missing: give the program to start"},
		{`{"x":{"command":"./x","extensionToLanguage":{".x":"x"}}}`, `lspServers.x: command "./x" must be a name in PATH or an absolute path`},
		{`{"x":{"command":"x"}}`, `lspServers.x: extensionToLanguage is missing: give the files it is for, such as {".go": "go"}`},
		{`{"x":{"command":"x","extensionToLanguage":{"x":"x"}}}`, `lspServers.x: extensionToLanguage: "x" must be an extension with its dot, such as .go`},
		{`{"x":{"command":"x","extensionToLanguage":{".x":"x"},"transport":"socket"}}`, `lspServers.x: transport "socket" is not supported: only stdio is`},
		{`{"x":{"command":"x","extensionToLanguage":{".x":"x"},"env":{"A=B":"c"}}}`, `lspServers.x: env: "A=B" cannot be the name of a variable`},
		{`{"x":{"command":1}}`, "lspServers.x: command cannot be a number"},
	}
	for _, tt := range tests {
		_, err := Servers(json.RawMessage(tt.in))
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if msg != tt.err {
			t.Errorf("%s: got %q", tt.in, msg)
		}
	}
}

func TestCatalog(t *testing.T) {
	set, err := Servers(json.RawMessage(`{"x":{"command":"x","extensionToLanguage":{".GO":"go"}},"gopls":{"args":["-v"],"settings":{"a":{"b":1}},"env":{"B":"2","A":"1"}},"pyright":{"disabled":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range catalog(set) {
		if lang, ok := s.language("/a.Go"); ok {
			got = append(got, fmt.Sprintf("%s %s %v %s %s %v", s.Name, s.Command, s.Args, lang, s.setting("a.b"), s.environ()))
		}
		if s.Name == "pyright" {
			t.Error("a server that is disabled is listed")
		}
	}
	if diff := cmp.Diff([]string{"gopls gopls [-v] go 1 [A=1 B=2]", "x x [] go null []"}, got); diff != "" {
		t.Error(diff)
	}
	names := map[string]bool{}
	for _, s := range table() {
		if names[s.Name] || s.Command == "" || len(s.Extensions) == 0 || s.Install == "" || s.check(false) != nil {
			t.Errorf("the row %+v is not right", s)
		}
		names[s.Name] = true
	}
}
