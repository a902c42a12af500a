package file

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

const sample = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "aa",
   "metadata": {"odd":  [1, 2e3]},
   "source": [
    "# Title\n",
    "<b>text</b>"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "bb",
   "metadata": {},
   "outputs": [
    {"output_type": "stream", "name": "stdout", "text": ["hi\n"]}
   ],
   "source": "print('hi')"
  }
 ],
 "metadata": {"language_info": {"name": "python"}, "zeta": null},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestNotebookEdit(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []any
		old    string // of sample
		repl   string
		said   string
	}{
		{"replace markdown, list stays", []any{"cell_index", 0, "new_source", "a\nb\n"},
			"[\n    \"# Title\\n\",\n    \"<b>text</b>\"\n   ]", "[\n    \"a\\n\",\n    \"b\\n\"\n   ]", "Replaced cell 0 (markdown)."},
		{"replace code, string stays", []any{"cell_index", 1, "new_source", "x < 1 & y\n"},
			"\"execution_count\": 7,\n   \"id\": \"bb\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": [\"hi\\n\"]}\n   ],\n   \"source\": \"print('hi')\"",
			"\"execution_count\": null,\n   \"id\": \"bb\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": \"x < 1 & y\\n\"", "Replaced cell 1 (code); its outputs were cleared."},
		{"by id", []any{"cell_id", "aa", "new_source", ""},
			"[\n    \"# Title\\n\",\n    \"<b>text</b>\"\n   ]", "[]", "Replaced cell 0"},
		{"by the name of an index", []any{"cell_id", "cell-0", "new_source", ""},
			"[\n    \"# Title\\n\",\n    \"<b>text</b>\"\n   ]", "[]", "Replaced cell 0"},
		{"append", []any{"cell_index", 0, "mode", "append", "new_source", "\nmore"},
			"\"<b>text</b>\"", "\"<b>text</b>\\n\",\n    \"more\"", "Appended to cell 0"},
		{"code becomes markdown", []any{"cell_index", 1, "new_source", "x", "cell_type", "markdown"},
			"\"cell_type\": \"code\",\n   \"execution_count\": 7,\n   \"id\": \"bb\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": [\"hi\\n\"]}\n   ],\n   \"source\": \"print('hi')\"",
			"\"cell_type\": \"markdown\",\n   \"id\": \"bb\",\n   \"metadata\": {},\n   \"source\": \"x\"", "Replaced cell 1 (markdown)"},
		{"markdown becomes code", []any{"cell_index", 0, "new_source", "x", "cell_type", "code"},
			"\"cell_type\": \"markdown\",\n   \"id\": \"aa\",\n   \"metadata\": {\"odd\":  [1, 2e3]},\n   \"source\": [\n    \"# Title\\n\",\n    \"<b>text</b>\"\n   ]",
			"\"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"aa\",\n   \"metadata\": {\"odd\":  [1, 2e3]},\n   \"outputs\": [],\n   \"source\": [\n    \"x\"\n   ]", "Replaced cell 0 (code)"},
		{"delete the last", []any{"cell_index", 1, "mode", "delete"}, "", "", "Deleted cell 1 (code)."},
		{"delete the first", []any{"cell_index", 0, "mode", "delete"}, "", "", "Deleted cell 0 (markdown)."},
		{"crlf in the call", []any{"cell_index", 0, "new_source", "a\r\nb"},
			"[\n    \"# Title\\n\",\n    \"<b>text</b>\"\n   ]", "[\n    \"a\\n\",\n    \"b\"\n   ]", "Replaced"},
	} {
		b := newBench(t)
		b.put("n.ipynb", sample)
		got := b.ok("notebook_edit", append([]any{"path", "n.ipynb"}, c.fields...)...)
		has(t, got, c.said)
		want := strings.Replace(sample, c.old, c.repl, 1)
		switch c.name {
		case "delete the last":
			want = sample[:strings.Index(sample, ",\n  {\n   \"cell_type\": \"code\"")] + sample[strings.Index(sample, "\n ],\n \"metadata\""):]
		case "delete the first":
			want = sample[:strings.Index(sample, "{\n   \"cell_type\": \"mark")] + sample[strings.Index(sample, "{\n   \"cell_type\": \"code"):]
		}
		if diff := cmp.Diff(want, b.get("n.ipynb")); diff != "" || want == sample {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// cells is a notebook's cells as type: source.
func cells(t *testing.T, text string) []string {
	t.Helper()
	n, err := parseNotebook([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ids := map[string]bool{}
	for i := range n.count() {
		src, _ := n.source(i)
		out = append(out, n.cellType(i)+": "+src)
		if id := n.id(i); id == "" || ids[id] {
			t.Errorf("cell %d has the id %q", i, id)
		} else {
			ids[id] = true
		}
	}
	return out
}

func TestNotebookGrow(t *testing.T) {
	b := newBench(t)
	has(t, b.ok("notebook_edit", "path", "new/n.ipynb", "cell_index", 0, "new_source", "import os\nprint(1)"), "Created the notebook. Inserted cell 0 (code).", "has 1 cell")
	b.ok("notebook_edit", "path", "new/n.ipynb", "cell_index", 0, "mode", "insert", "cell_type", "markdown", "new_source", "# T")
	has(t, b.ok("notebook_edit", "path", "new/n.ipynb", "cell_index", 4, "new_source", "far"), "Before it 2 empty cells added")
	var raw struct {
		Cells []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(b.get("new/n.ipynb")), &raw); err != nil {
		t.Fatal(err)
	}
	b.ok("notebook_edit", "path", "new/n.ipynb", "cell_id", raw.Cells[0].ID, "mode", "insert", "new_source", "second")
	want := []string{"markdown: # T", "code: second", "code: import os\nprint(1)", "code: ", "code: ", "code: far"}
	if diff := cmp.Diff(want, cells(t, b.get("new/n.ipynb"))); diff != "" {
		t.Error(diff)
	}
	var again map[string]any
	if err := json.Unmarshal([]byte(b.get("new/n.ipynb")), &again); err != nil {
		t.Fatal(err)
	}
	// What was written is what Jupyter writes: sorted keys, one blank a step.
	re, err := json.MarshalIndent(again, "", " ")
	if err != nil || string(re)+"\n" != b.get("new/n.ipynb") {
		t.Errorf("not in Jupyter's form:\n%s", b.get("new/n.ipynb"))
	}
	for range 6 {
		b.ok("notebook_edit", "path", "new/n.ipynb", "cell_index", 0, "mode", "delete")
	}
	if got := cells(t, b.get("new/n.ipynb")); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	b.put("one.ipynb", `{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}`)
	b.ok("notebook_edit", "path", "one.ipynb", "cell_index", 0, "new_source", "x")
	if got, want := b.get("one.ipynb"), `{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["x"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}`; got != want {
		t.Errorf("on one line: %s", got)
	}
	b.put("crlf.ipynb", strings.ReplaceAll(sample, "\n", "\r\n"))
	b.ok("notebook_edit", "path", "crlf.ipynb", "cell_index", 0, "new_source", "a\nb")
	if got := b.get("crlf.ipynb"); strings.Count(got, "\n") != strings.Count(got, "\r\n") {
		t.Errorf("mixed endings: %q", got)
	}
	b.put("wide.ipynb", strings.ReplaceAll(sample, "\n ", "\n    "))
	b.ok("notebook_edit", "path", "wide.ipynb", "cell_index", 2, "new_source", "x")
	has(t, b.get("wide.ipynb"), "\n     {\n         \"cell_type\": \"code\",\n         \"execution_count\": null,")
}

func TestNotebookRefuses(t *testing.T) {
	b := newBench(t)
	b.put("n.ipynb", sample)
	b.put("bad.ipynb", "{\n \"cells\": [,]\n}")
	b.put("old.ipynb", `{"worksheets": [], "nbformat": 3}`)
	b.put("list.ipynb", `[]`)
	b.put("odd.ipynb", `{"cells": [1], "nbformat": 4}`)
	b.put("n.txt", sample)
	before := b.tree()
	for _, c := range []struct {
		name   string
		fields []any
		want   []string
	}{
		{"no cell", []any{"path", "n.ipynb", "new_source", "x"}, []string{"cell_index or cell_id"}},
		{"bad json", []any{"path", "bad.ipynb", "cell_index", 0}, []string{"was not changed", "not valid JSON", "line 2, column 12"}},
		{"old format", []any{"path", "old.ipynb", "cell_index", 0}, []string{"nbformat: 3", "nbconvert"}},
		{"no object", []any{"path", "list.ipynb", "cell_index", 0}, []string{"not an object"}},
		{"odd cell", []any{"path", "odd.ipynb", "cell_index", 0}, []string{"cell 0 is not an object"}},
		{"other name", []any{"path", "n.txt", "cell_index", 0}, []string{".ipynb"}},
		{"unknown id", []any{"path", "n.ipynb", "cell_id", "zz"}, []string{`"zz"`, "2 cells"}},
		{"id and index", []any{"path", "n.ipynb", "cell_id", "aa", "cell_index", 1}, []string{`"aa" is cell 0`}},
		{"delete none", []any{"path", "n.ipynb", "cell_index", 2, "mode", "delete"}, []string{"no cell 2", "2 cells"}},
		{"insert far", []any{"path", "n.ipynb", "cell_index", 3, "mode", "insert"}, []string{"no cell 3"}},
		{"too far", []any{"path", "n.ipynb", "cell_index", 1000}, []string{"too far"}},
		{"missing", []any{"path", "m.ipynb", "cell_index", 0, "create_if_missing", false}, []string{"does not exist"}},
		{"negative", []any{"path", "n.ipynb", "cell_index", -1}, []string{"cell_index"}},
	} {
		has(t, b.fails("notebook_edit", append([]any{"new_source", ""}, c.fields...)...), c.want...)
		if diff := cmp.Diff(before, b.tree()); diff != "" {
			t.Fatalf("%s changed something:\n%s", c.name, diff)
		}
	}
	b.ok("read_file", "path", "n.ipynb")
	b.put("n.ipynb", strings.Replace(sample, "Title", "Other", 1))
	has(t, b.fails("notebook_edit", "path", "n.ipynb", "cell_index", 0, "new_source", "x"), "has changed since it was read", "cell_id")
	b.ok("notebook_edit", "path", "n.ipynb", "cell_id", "aa", "new_source", "x")
	if err := os.Chmod(b.path("n.ipynb"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.ok("notebook_edit", "path", "n.ipynb", "cell_index", 0, "new_source", "y")
	if info, err := os.Stat(b.path("n.ipynb")); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestReadNotebook(t *testing.T) {
	b := newBench(t)
	b.put("n.ipynb", sample)
	want := "[Notebook of 2 cells, nbformat 4.5, python. Change cells with notebook_edit.]\n--- cell 0, markdown, id aa\n# Title\n<b>text</b>\n--- cell 1, code, id bb\nprint('hi')\n--- output of cell 1, stdout\nhi"
	if diff := cmp.Diff(want, b.ok("read_file", "path", "n.ipynb")); diff != "" {
		t.Error(diff)
	}
	has(t, b.ok("read_file", "path", "n.ipynb", "offset", 2, "limit", 2), "# Title\n<b>text</b>\n[Lines 3-4 of 8 of this view. Go on with offset=4.]")
	has(t, b.ok("read_file", "path", "n.ipynb", "offset", 50), "past its end")
	b.put("bad.ipynb", "{\n  broken\n")
	has(t, b.ok("read_file", "path", "bad.ipynb"), "     1\t{\n     2\t  broken", "Shown as text: it is not valid JSON: line 2")

	pic := string(testPNG(t, 3, 2))
	outs := fmt.Sprintf(`[{"output_type":"display_data","data":{"image/png":%q,"text/plain":["<Figure>"]}},
{"output_type":"error","ename":"ValueError","evalue":"bad","traceback":["\u001b[31mline\u001b[0m"]},
{"output_type":"execute_result","data":{"text/html":"<p>","text/plain":"%s"}},
{"output_type":"display_data","data":{"image/png":"!!"}}]`, b64(pic), strings.Repeat("x", 5000))
	b.put("rich.ipynb", `{"nbformat":4,"nbformat_minor":2,"metadata":{},"cells":[{"cell_type":"code","source":[],"outputs":`+outs+`}]}`)
	res, err := b.call("read_file", "path", "rich.ipynb")
	if err != nil || len(res.Content) != 3 {
		t.Fatalf("%v, %v", res.Content, err)
	}
	if diff := cmp.Diff(oh.Block(oh.Image{MediaType: "image/png", Data: []byte(pic)}), res.Content[1]); diff != "" {
		t.Error(diff)
	}
	has(t, res.Content.Text(), "[also: text/plain (12 bytes)]", "ValueError: bad\nline\n", "(3,000 characters left out)", "[also: text/html (5 bytes)]", "broken")
}

func TestNotebookWithoutSource(t *testing.T) {
	b := newBench(t)
	b.put("n.ipynb", sample)
	for _, c := range []struct {
		fields []any
		want   []string
	}{
		{[]any{"cell_index", 0}, []string{"new_source is missing"}},
		{[]any{"cell_index", 0, "mode", "append", "cell_type", "code"}, []string{"new_source is missing"}},
		{[]any{"cell_index", 7}, []string{"new_source is missing"}},
		{[]any{"cell_index", 7, "cell_type", "markdown"}, []string{"no cell 7", "2 cells"}},
		{[]any{"cell_index", 1, "cell_type", "code"}, []string{"cell 1 is of the type code already"}},
	} {
		has(t, b.fails("notebook_edit", append([]any{"path", "n.ipynb"}, c.fields...)...), c.want...)
		if got := b.get("n.ipynb"); got != sample {
			t.Fatalf("%v changed the notebook:\n%s", c.fields, got)
		}
	}
	has(t, b.ok("notebook_edit", "path", "n.ipynb", "cell_index", 0, "cell_type", "code"), "Changed the type of cell 0 (code)")
	b.ok("notebook_edit", "path", "n.ipynb", "cell_id", "bb", "new_source", "")
	if diff := cmp.Diff([]string{"code: # Title\n<b>text</b>", "code: "}, cells(t, b.get("n.ipynb"))); diff != "" {
		t.Error(diff)
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add([]byte(sample), 0, "x\ny", "replace", "")
	f.Add([]byte(sample), 1, "", "delete", "code")
	f.Add([]byte(`{"cells":[{"source":"a","source":[]}],"nbformat":4}`), 1, "é", "insert", "markdown")
	f.Add([]byte(emptyNotebook), 3, "z", "append", "markdown")
	f.Fuzz(func(t *testing.T, data []byte, at int, src, mode, kind string) {
		if _, err := renderNotebook(data); err != nil {
			return
		}
		if at < 0 || mode != "replace" && mode != "append" && mode != "insert" && mode != "delete" || kind != "" && kind != codeCell && kind != markdownCell {
			return
		}
		src = strings.ToValidUTF8(src, "")
		before, err := parseNotebook(data)
		if err != nil {
			t.Fatal(err)
		}
		done, err := celling{src: src, in: notebookInput{Index: &at, Source: &src, Mode: mode, Type: kind}}.apply(data)
		if err != nil {
			return
		}
		after, err := parseNotebook(done.data)
		if err != nil {
			t.Fatalf("the outcome is broken: %v\n%s", err, done.data)
		}
		if mode != "delete" {
			if got, _ := after.source(at); mode != "append" && got != src {
				t.Fatalf("the source became %q, want %q", got, src)
			}
		}
		if want := before.count() - 1; mode == "delete" && after.count() != want {
			t.Fatalf("%d cells, want %d", after.count(), want)
		}
		for i := range min(at, before.count()) {
			if a, b := before.cells.kids[i].raw(data), after.cells.kids[i].raw(done.data); string(a) != string(b) {
				t.Fatalf("cell %d changed from %s to %s", i, a, b)
			}
		}
	})
}
