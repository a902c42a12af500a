// Package archtest holds the import directions of docs/design.md and what must
// not be linked into the binary.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/openharness/oh"

var root = filepath.Join("..", "..")

// sources calls f for each Go file of this module that is no test.
func sources(t *testing.T, f func(path string) error) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "devtools"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		return f(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// packages maps each package of this module, by its path below the module, to
// what its non-test files import.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	sources(t, func(path string) error {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		out[rel] = out[rel][:len(out[rel]):len(out[rel])]
		for _, imp := range f.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(out[rel], p) {
				out[rel] = append(out[rel], p)
			}
		}
		return nil
	})
	if len(out) < 10 {
		t.Fatalf("only %d packages found", len(out))
	}
	return out
}

// small are the rooms below all features.
var small = []string{"internal/text", "internal/link", "internal/shell", "internal/claude", "internal/catalog", "internal/slash", "internal/config", "internal/config/disk", "internal/gist"}

// faces show events and answer questions.
var faces = []string{"internal/print", "internal/plain"}

// allowed lists, for a package (or everything below one ending in /), which
// packages of this module it may import. The first match counts.
var allowed = []struct {
	pkg string
	may []string
}{
	{".", nil},
	{"cmd/oh", []string{"internal/cli"}},
	{"internal/text", nil},
	{"engine", []string{".", "internal/text"}},
	{"provider/", []string{".", "internal/text", "provider", "provider/internal/"}},
	{"provider", []string{".", "internal/text", "provider/internal/bridge"}},
	{"workspace/", []string{".", "internal/text", "workspace"}},
	{"workspace", []string{".", "internal/text", "internal/link"}},
	{"internal/link", nil},
	{"internal/shell", []string{".", "internal/text"}},
	{"tools/", []string{".", "internal/text", "workspace", "workspace/"}},
	{"ohtest/", []string{".", "internal/text", "ohtest"}},
	{"ohtest", []string{".", "internal/text"}},
	{"examples/", []string{".", "engine", "provider/", "provider", "tools/", "workspace", "workspace/", "ohtest"}},
	{"bench/", []string{".", "engine", "ohtest", "bench/"}},
	{"internal/claude", []string{".", "internal/text"}},
	{"internal/catalog", []string{".", "internal/text", "internal/config/disk", "provider"}},
	{"internal/config/disk", []string{"internal/text"}},
	{"internal/config", []string{".", "internal/text", "internal/claude", "internal/catalog", "internal/config/disk", "internal/gist"}},
	{"internal/slash", []string{".", "internal/text"}},
	{"internal/gist", []string{".", "internal/text", "internal/claude"}},
	{"internal/print", append([]string{"."}, small...)},
	{"internal/plain", append([]string{"."}, small...)},
	{"internal/sandbox", []string{".", "internal/text", "internal/config"}},
	{"internal/demo", []string{".", "internal/text"}},
	{"internal/archtest", nil},
	{"internal/cloud/", []string{".", "internal/text", "internal/cloud"}},
	{"internal/cloud", []string{".", "internal/text"}},
	{"internal/app", []string{"*"}},
	{"internal/cli", []string{"*"}},
	{"internal/", append([]string{".", "engine"}, small...)}, // features
}

func matches(pattern, pkg string) bool {
	return pattern == "*" || pattern == pkg || strings.HasSuffix(pattern, "/") && strings.HasPrefix(pkg, pattern)
}

func TestImportDirections(t *testing.T) {
	for pkg, imports := range packages(t) {
		var may []string
		known := false
		for _, rule := range allowed {
			if matches(rule.pkg, pkg) {
				may, known = rule.may, true
				break
			}
		}
		if !known {
			t.Errorf("package %s has no rule: say in internal/archtest where it belongs", pkg)
			continue
		}
		for _, imp := range imports {
			ours, ok := strings.CutPrefix(imp, module)
			if !ok {
				continue
			}
			ours = strings.TrimPrefix(ours, "/")
			if ours == "" {
				ours = "."
			}
			// A package may import what is below itself.
			below := strings.HasPrefix(ours, pkg+"/")
			if !below && !slices.ContainsFunc(may, func(m string) bool { return matches(m, ours) }) {
				t.Errorf("%s may not import %s", pkg, ours)
			}
			if ours == "internal/app" && pkg != "internal/cli" {
				t.Errorf("%s imports internal/app: only internal/cli may", pkg)
			}
		}
	}
}

func TestFacesKnowNoFeature(t *testing.T) {
	all := packages(t)
	for _, face := range faces {
		for _, imp := range all[face] {
			for _, bad := range []string{"/provider", "/tools", "/engine", "/internal/app", "/internal/auth", "/internal/permit", "/internal/session"} {
				if strings.HasPrefix(imp, module+bad) {
					t.Errorf("%s imports %s", face, imp)
				}
			}
		}
	}
}

// notImported must not be imported by any package of ours.
var notImported = map[string]string{
	"text/template":  "defeats dead-code removal: 4.9 MB",
	"html/template":  "defeats dead-code removal, and escapes text meant for models",
	"log":            "use log/slog",
	"testing":        "registers flags in the program",
	"net/http/pprof": "registers handlers in init",
}

func TestNotImported(t *testing.T) {
	for pkg, imports := range packages(t) {
		for _, imp := range imports {
			if why, bad := notImported[imp]; bad && !(imp == "log" && pkg == "internal/cli") { // which silences it
				t.Errorf("%s imports %s: %s", pkg, imp, why)
			}
		}
	}
}

// notCalled are functions of cobra that link the executor of text/template, which
// finds methods by name: the linker then keeps every exported method there is.
var notCalled = []string{"SetVersionTemplate", "SetHelpTemplate", "SetUsageTemplate", "AddTemplateFunc", "AddTemplateFuncs"}

func TestNotCalled(t *testing.T) {
	sources(t, func(path string) error {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(notCalled, sel.Sel.Name) {
				t.Errorf("%s uses %s: 4 MB of binary; set a function instead", path, sel.Sel.Name)
			}
			return true
		})
		return nil
	})
}

// notLinked must not be in the binary at all.
var notLinked = map[string]string{
	"testing":                                "",
	"github.com/openharness/oh/ohtest":       "for tests only: 0.5 MB of checks",
	"net/http/httptest":                      "registers a flag",
	"github.com/alecthomas/chroma/v2/lexers": "20 ms at every start",
	"github.com/charmbracelet/glamour":       "28 ms at every start",
	"github.com/google/go-cmp/cmp":           "for tests only",
	"golang.org/x/tools/txtar":               "for tests only",
	"github.com/creack/pty":                  "for tests only",
}

func TestNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/oh").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if why, bad := notLinked[dep]; bad {
			t.Errorf("%s is linked into oh %s", dep, why)
		}
	}
}

func TestNoUtilPackages(t *testing.T) {
	for pkg := range packages(t) {
		switch name := pkg[strings.LastIndex(pkg, "/")+1:]; name {
		case "util", "utils", "common", "helper", "helpers", "types", "models", "base", "shared", "manager", "service":
			t.Errorf("package %s says nothing by its name", pkg)
		}
	}
}
