package file

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/workspace"
)

// bench is a workspace with its tools and a memory of what was read.
type bench struct {
	t     *testing.T
	dir   string
	env   *oh.Env
	reads reads
	tools map[string]oh.Tool
	space *workspace.Workspace
}

func (b *bench) ws() *workspace.Workspace { return b.space }

type reads map[string]string

func (r reads) ReadHash(path string) (string, bool) {
	h, ok := r[path]
	return h, ok
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "ws")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New(workspace.Config{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: root, reads: reads{}, tools: map[string]oh.Tool{}, space: ws}
	b.env = &oh.Env{Dir: root, Reads: b.reads}
	for _, tool := range append(Tools(ws), More(ws)...) {
		b.tools[tool.Spec().Name] = tool
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) put(name, content string) string {
	b.t.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) get(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// prepare prepares a call with fields given as key, value pairs.
func (b *bench) prepare(tool string, fields ...any) (oh.Action, error) {
	b.t.Helper()
	in := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		in[fields[i].(string)] = fields[i+1]
	}
	raw, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tools[tool].Prepare(b.t.Context(), &oh.Call{ID: "1", Name: tool, Input: raw, Env: b.env})
}

// call runs a call and remembers what it read.
func (b *bench) call(tool string, fields ...any) (oh.Result, error) {
	b.t.Helper()
	act, err := b.prepare(tool, fields...)
	if err != nil {
		return oh.Result{}, err
	}
	return b.run(act)
}

func (b *bench) run(act oh.Action) (oh.Result, error) {
	return act.Run(b.t.Context(), func(e oh.Event) {
		if s, ok := e.(oh.StateChanged); ok {
			for k, v := range s.Read {
				b.reads[k] = v
			}
		}
	})
}

// ok is the text of a call that must succeed.
func (b *bench) ok(tool string, fields ...any) string {
	b.t.Helper()
	res, err := b.call(tool, fields...)
	if err != nil || res.IsError {
		b.t.Fatalf("%s %v: %v %s", tool, fields, err, res.Content.Text())
	}
	return res.Content.Text()
}

// fails is the text of a call that must fail.
func (b *bench) fails(tool string, fields ...any) string {
	b.t.Helper()
	res, err := b.call(tool, fields...)
	if err == nil {
		b.t.Fatalf("%s %v succeeded: %s", tool, fields, res.Content.Text())
	}
	return err.Error()
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

func TestSpecs(t *testing.T) {
	for _, tool := range append(Tools(nil), More(nil)...) {
		s := tool.Spec()
		for _, v := range ohtest.CheckSpec(s) {
			t.Errorf("%s: %v", s.Name, v)
		}
		if n := len(s.Description) + len(s.Schema); n > 800 {
			t.Errorf("%s takes %d bytes", s.Name, n)
		}
		if !s.SelfLimited {
			t.Errorf("%s is not self-limited", s.Name)
		}
	}
}

func TestReadText(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("é", 2500)
	for _, c := range []struct {
		name, content string
		offset, limit int
		want          string
	}{
		{"plain", "a\nb\n", 0, 2000, "     1\ta\n     2\tb"},
		{"open end", "a\nb", 0, 2000, "     1\ta\n     2\tb"},
		{"crlf", "a\r\nb\r\n", 0, 2000, "     1\ta\n     2\tb"},
		{"lone cr stays", "a\rb\n", 0, 2000, "     1\ta\rb"},
		{"bom", "\xef\xbb\xbfa\n", 0, 2000, "     1\ta"},
		{"utf16", "\xff\xfea\x00\n\x00\xac\x20", 0, 2000, "     1\ta\n     2\t€\n[The file is UTF-16LE.]"},
		{"cp1252", "ok\ncaf\xe9 \x99\n", 0, 2000, "     1\tok\n     2\tcafé ™\n[1 line not UTF-8, shown as Windows-1252.]"},
		{"empty", "", 0, 2000, "[The file is empty.]"},
		{"past the end", "a\nb\n", 5, 10, "[The file has 2 lines; offset 5 is past its end.]"},
		{"middle", "a\nb\nc\nd", 1, 2, "     2\tb\n     3\tc\n[Lines 2-3 of 4. Go on with offset=3.]"},
		{"to the end", "a\nb\nc\n", 1, 2, "     2\tb\n     3\tc"},
		{"blank lines", "\n\n", 0, 1, "     1\t\n[Lines 1-1 of 2. Go on with offset=1.]"},
		{"long", long + "\nz", 0, 2, "     1\t" + strings.Repeat("é", 2000) + "… (+500 characters)\n     2\tz\n[1 line longer than 2,000 characters cut; grep shows text around a match.]"},
	} {
		b.put("f", c.content)
		got := b.ok("read_file", "path", "f", "offset", c.offset, "limit", c.limit)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if b.reads[b.path("f")] != workspace.Hash([]byte(c.content)) {
			t.Errorf("%s: the content was not remembered", c.name)
		}
	}
}

// TestReadWholeCharacters lets the limit on a line fall at each byte of a
// character.
func TestReadWholeCharacters(t *testing.T) {
	b := newBench(t)
	for shift := range 5 {
		b.put("f", strings.Repeat("x", shift)+strings.Repeat("\U0001F600", 2100)+"\n")
		got := b.ok("read_file", "path", "f")
		if !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("shift %d: a character was cut", shift)
		}
		has(t, got, fmt.Sprintf("… (+%d characters)", 100+shift))
	}
}

func TestReadCaps(t *testing.T) {
	b := newBench(t)
	b.put("f", strings.Repeat(strings.Repeat("x", 1000)+"\n", 100))
	got := b.ok("read_file", "path", "f")
	has(t, got, "[Lines 1-49 of 100. Go on with offset=49. The page ends at 50,000 characters.]")
	b.put("wide", strings.Repeat("x", 300_000)+"\nend\n")
	has(t, b.ok("read_file", "path", "wide"), "(+298,000 characters)", "     2\tend")
}

func TestReadHuge(t *testing.T) {
	b := newBench(t)
	path := b.put("huge", "first\nsecond\n")
	if err := os.Truncate(path, 13); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, strings.Repeat("x", headSize))
	f.Close()
	if err := os.Truncate(path, 2<<30); err != nil {
		t.Skipf("no sparse file: %v", err)
	}
	got := b.ok("read_file", "path", "huge", "limit", 2)
	if want := "     1\tfirst\n     2\tsecond\n[Lines 1-2; the file has 2,147,483,648 bytes and its lines were not counted. Go on with offset=2.]"; got != want {
		t.Errorf("got %q", got)
	}
	if h := b.reads[path]; !strings.HasPrefix(h, "stat:2147483648-") {
		t.Errorf("remembered as %q", h)
	}
}

func TestReadRefuses(t *testing.T) {
	b := newBench(t)
	b.put("sub/README.md", "x")
	b.put("bin", "\x7fELF\x00\x00")
	b.put("late", strings.Repeat("text\n", headSize/5+10)+"\x00\n")
	b.put("broken.png", "\x89PNG\r\n\x1a\nxx")
	for _, c := range []struct {
		path  string
		limit int
		want  []string
	}{
		{"sub", 1, []string{"is a folder", "ls or glob"}},
		{"bin", 1, []string{"ELF program", "6 bytes"}},
		{"late", 2000, nil},
		{"sub/readme.md", 1, []string{"does not exist", "README.md"}},
		{"sub/REEDME.md", 1, []string{"near names in its folder: README.md"}},
		{"sub/none/deep", 1, []string{"the nearest folder that exists is " + b.path("sub")}},
		{"broken.png", 1, []string{"image/png", "broken"}},
	} {
		if c.want == nil {
			has(t, b.ok("read_file", "path", c.path, "limit", c.limit), "Go on with offset=2000")
			has(t, b.fails("read_file", "path", c.path, "offset", headSize/5), "not text")
			continue
		}
		has(t, b.fails("read_file", "path", c.path, "limit", c.limit), c.want...)
	}
	if _, err := b.prepare("read_file", "path", "x", "limit", 0); err == nil || !strings.Contains(err.Error(), "from 1 to 2000") {
		t.Errorf("limit 0: %v", err)
	}
}

func TestReadImage(t *testing.T) {
	b := newBench(t)
	png := func(w, h uint16) string {
		return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + string([]byte{0, 0, byte(w >> 8), byte(w), 0, 0, byte(h >> 8), byte(h)}) + "\x08\x02"
	}
	for name, c := range map[string]struct {
		data, kind string
	}{
		"png":  {png(300, 2), "image/png"},
		"gif":  {"GIF89a\x05\x00\x06\x00", "image/gif"},
		"jpeg": {"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x10\x00\x20\x01", "image/jpeg"},
		"webp": {"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x0f\x00\x00\x1f\x00\x00", "image/webp"},
	} {
		b.put(name, c.data)
		res, err := b.call("read_file", "path", name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := oh.Blocks{oh.Image{MediaType: c.kind, Data: []byte(c.data)}}
		if diff := cmp.Diff(want, res.Content); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	b.put("wide.png", png(8001, 1))
	has(t, b.fails("read_file", "path", "wide.png"), "8001 x 1 pixels", "cannot be decoded")
	b.put("vast.png", png(60000, 60000))
	has(t, b.fails("read_file", "path", "vast.png"), "60000 x 60000 pixels, too many")
	b.put("fat.png", png(1, 1)+strings.Repeat("\x00", maxSourceBytes))
	has(t, b.fails("read_file", "path", "fat.png"), "67,108,890 bytes", "at most 67,108,864")
}

func TestAccess(t *testing.T) {
	b := newBench(t)
	b.put("f", "old\n")
	for _, c := range []struct {
		tool   string
		fields []any
		want   oh.Access
	}{
		{"read_file", []any{"path", "./x/../f"}, oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: b.path("f")}}}},
		{"write_file", []any{"path", "f", "content", "new\n"}, oh.Access{Paths: []oh.PathUse{{Path: b.path("f"), Write: true}}}},
		{"edit_file", []any{"path", "f", "old_str", "old", "new_str", "new"}, oh.Access{Paths: []oh.PathUse{{Path: b.path("f"), Write: true}}}},
	} {
		act, err := b.prepare(c.tool, c.fields...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, act.Access); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.tool, diff)
		}
		if c.tool == "read_file" {
			continue
		}
		want := oh.Diff{Path: b.path("f"), Unified: "@@ -1 +1 @@\n-old\n+new\n", Added: 1, Removed: 1}
		if diff := cmp.Diff(oh.Display(want), act.Preview); diff != "" {
			t.Errorf("%s preview (-want +got):\n%s", c.tool, diff)
		}
		if got := b.get("f"); got != "old\n" {
			t.Errorf("%s: Prepare changed the file to %q", c.tool, got)
		}
	}
}

func TestWrite(t *testing.T) {
	b := newBench(t)
	has(t, b.ok("write_file", "path", "a/b/c.txt", "content", "1\n2"), "Created", "(2 lines)")
	has(t, b.ok("write_file", "path", "a/b/c.txt", "content", "3\n"), "Overwrote", "(1 line)")
	b.put("a/b/c.txt", "changed by someone\n")
	has(t, b.fails("write_file", "path", "a/b/c.txt", "content", "4\n"), "has changed since it was read")
	b.ok("read_file", "path", "a/b/c.txt")
	b.ok("write_file", "path", "a/b/c.txt", "content", "4\n")
	b.put("unread", "x\n")
	has(t, b.fails("write_file", "path", "unread", "content", "y\n"), "has not been read")
	if got := b.get("unread"); got != "x\n" {
		t.Errorf("unread became %q", got)
	}
	b.ok("write_file", "path", "unread", "content", "x\n") // the same content harms nothing
	has(t, b.fails("write_file", "path", "no/f", "content", "", "create_directories", false), "does not exist")
	has(t, b.fails("write_file", "path", ".", "content", ""), "is a folder")
}

func TestWriteKeepsForm(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ name, old, content, want, said string }{
		{"crlf", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", "Kept its CRLF line endings."},
		{"mixed", "a\r\nb\n", "x\ny\n", "x\ny\n", ""},
		{"bom", "\xef\xbb\xbfa\n", "x\n", "\xef\xbb\xbfx\n", "Kept its encoding (UTF-8 with BOM)."},
		{"utf16", "\xff\xfea\x00", "é", "\xff\xfe\xe9\x00", "Kept its encoding (UTF-16LE)."},
		{"cp1252", "caf\xe9\n", "thé €\n", "th\xe9 \x80\n", "Kept its encoding (Windows-1252)."},
	} {
		b.put(c.name, c.old)
		b.ok("read_file", "path", c.name)
		has(t, b.ok("write_file", "path", c.name, "content", c.content), c.said)
		if got := b.get(c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	b.put("cp1252", "caf\xe9\n")
	b.ok("read_file", "path", "cp1252")
	has(t, b.fails("write_file", "path", "cp1252", "content", "漢"), "lacks some of the new characters")
}

func TestCancelled(t *testing.T) {
	b := newBench(t)
	act, err := b.prepare("write_file", "path", "f", "content", "x")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := act.Run(ctx, func(oh.Event) {}); err == nil {
		t.Error("a cancelled write ran")
	}
	if _, err := os.Stat(b.path("f")); err == nil {
		t.Error("a cancelled write made the file")
	}
}

func TestDiff(t *testing.T) {
	var a, b strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&a, i)
		if i == 500 {
			fmt.Fprintln(&b, "new")
			continue
		}
		fmt.Fprintln(&b, i)
	}
	for _, c := range []struct {
		name, a, b string
		want       oh.Diff
	}{
		{"middle", a.String(), b.String(), oh.Diff{Unified: "@@ -498,7 +498,7 @@\n 497\n 498\n 499\n-500\n+new\n 501\n 502\n 503\n", Added: 1, Removed: 1}},
		{"same", "a\n", "a\n", oh.Diff{}},
		{"new", "", "a\nb\n", oh.Diff{Unified: "@@ -0,0 +1,2 @@\n+a\n+b\n", Added: 2}},
		{"repeat", "a\na\n", "a\na\na\n", oh.Diff{Unified: "@@ -1,2 +1,3 @@\n+a\n a\n a\n", Added: 1}},
		{"open end", "a", "a\n", oh.Diff{Unified: "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", Added: 1, Removed: 1}},
	} {
		if diff := cmp.Diff(c.want, diff("", []byte(c.a), []byte(c.b))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\n")
	f.Add("x\nx\n", "x\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		d := diff("p", []byte(a), []byte(b))
		if a != b && strings.ToValidUTF8(a, "") == a && strings.ToValidUTF8(b, "") == b && d.Added+d.Removed == 0 {
			t.Errorf("%q and %q: no change", a, b)
		}
	})
}
