package archtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/session"
)

// read returns the content of a file, by its path below the module.
func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// found returns the first group of all matches in a source file; none at all
// means that the pattern no longer fits the source.
func found(t *testing.T, path, pattern string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, path), -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("%s has nothing that matches %s", path, pattern)
	}
	return out
}

// names reports what a document does not name in backquotes.
func names(t *testing.T, doc string, what string, list []string) {
	t.Helper()
	text := read(t, doc)
	for _, name := range list {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s does not name the %s `%s`", doc, what, name)
		}
	}
}

func TestDocsNameEvents(t *testing.T) {
	text := read(t, "docs/events.md")
	types := append(found(t, "eventjson.go", `case "([a-z_]+)":`), "sub")
	for _, name := range types {
		if !strings.Contains(text, "\n| `"+name+"` |") {
			t.Errorf("docs/events.md has no row for the event `%s`", name)
		}
	}
	names(t, "docs/events.md", "reason", found(t, "event.go", `Reason\w+ +Reason = "(\w+)"`))
	names(t, "docs/events.md", "cause", found(t, "event.go", `Cause\w+ +Cause = "(\w+)"`))
	names(t, "docs/events.md", "kind", found(t, "error.go", `Kind\w+ +Kind = "(\w+)"`))
	names(t, "docs/events.md", "stop reason", found(t, "message.go", `Stop\w+ +StopReason = "(\w+)"`))
}

// TestDocsEventExamples reads the examples as a program would and writes them
// again: they must come out as they are.
func TestDocsEventExamples(t *testing.T) {
	ours, _, ok := strings.Cut(read(t, "docs/events.md"), "## The frames")
	if !ok {
		t.Fatal("docs/events.md has lost its section on frames")
	}
	n := 0
	for line := range strings.Lines(ours) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, `{"`) {
			continue
		}
		n++
		if got := again(t, line); got != line {
			t.Errorf("the example\n%s\ncomes out as\n%s", line, got)
		}
	}
	if n < 10 {
		t.Errorf("only %d examples", n)
	}
}

func again(t *testing.T, line string) string {
	t.Helper()
	var value any
	switch {
	case strings.HasPrefix(line, `{"type"`):
		ev, err := oh.DecodeEvent([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, unknown := ev.(oh.UnknownEvent); unknown {
			t.Errorf("an event of unknown type: %s", line)
		}
		out, err := oh.AppendEvent(nil, ev)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return string(out)
	case strings.HasPrefix(line, `{"seq"`):
		value = new(oh.Envelope)
	case strings.Contains(line, `"role"`) && !strings.Contains(line, `"event"`):
		value = new(oh.Message)
	default:
		value = new(oh.Entry)
	}
	if err := json.Unmarshal([]byte(line), value); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	out, err := oh.Marshal(value)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out)
}

func TestDocsNameSettings(t *testing.T) {
	const row = "internal/config/row.go"
	names(t, "docs/settings.md", "setting", found(t, row, `\{key: "([\w.]+)"`))
	names(t, "docs/settings.md", "variable", found(t, row, `\{"(OPENHARNESS_\w+)"`))
	names(t, "docs/settings.md", "folder variable", found(t, "internal/config/path.go", `place\("(\w+)"`))
	names(t, "docs/services.md", "fact about a model", catalog.FieldNames())
	names(t, "docs/services.md", "field of a profile", found(t, "internal/config/member.go", `\{key: "([\w.]+)"`))
	names(t, "docs/services.md", "wire", catalog.Wires())
}

func TestDocsNameFlags(t *testing.T) {
	for _, name := range found(t, "internal/cli/flags.go", `\bs\.(?:Bool|String|Int|Float64)\w*\((?:&f\.\w+, )?"([\w-]+)"`) {
		names(t, "docs/settings.md", "flag", []string{"--" + name})
	}
}

func TestDocsNameModesAndFormats(t *testing.T) {
	for _, m := range oh.Modes {
		names(t, "docs/permissions.md", "mode", []string{string(m)})
	}
	names(t, "docs/sessions.md", "export format", session.Formats())
}

// TestDocsLinks follows the links between the documents, to the heading that
// they name.
func TestDocsLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range append(docs, filepath.Join(root, "README.md"), filepath.Join(root, "AGENTS.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		raw, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`).FindAllStringSubmatch(string(raw), -1) {
			path, text := doc, raw
			if m[1] != "" {
				path = filepath.Join(filepath.Dir(doc), filepath.FromSlash(m[1]))
				if info, err := os.Stat(path); err != nil {
					t.Errorf("%s links to %s, which is not there", filepath.Base(doc), m[1])
					continue
				} else if info.IsDir() {
					continue
				}
				if text, err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
			}
			if m[2] != "" && !slices.Contains(anchors(string(text)), m[2]) {
				t.Errorf("%s links to the heading #%s of %s, which is not there", filepath.Base(doc), m[2], filepath.Base(path))
			}
		}
	}
}

// anchors are the names by which the headings of a document can be linked to.
func anchors(doc string) (names []string) {
	odd := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(doc) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			names = append(names, strings.ReplaceAll(odd.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-"))
		}
	}
	return names
}
