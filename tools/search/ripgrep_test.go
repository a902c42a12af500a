package search

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

// repositories are source trees of this machine: this module, a part of Go's own,
// and those of OH_SEARCH_REPOS, a list as PATH is one.
func repositories(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	std := filepath.Join(strings.TrimSpace(string(out)), "src")
	return append([]string{here, filepath.Join(std, "net"), filepath.Join(std, "cmd", "go")}, filepath.SplitList(os.Getenv("OH_SEARCH_REPOS"))...)
}

// TestRepositories compares which files grep and glob find in real repositories,
// and how many lines of each match, with rg where it is installed.
func TestRepositories(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil || runtime.GOOS == "windows" {
		t.Skip("rg is not installed")
	}
	for _, dir := range repositories(t) {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		ws, err := workspace.New(workspace.Config{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		tools := Tools(ws)
		rg := func(args ...string) []string {
			cmd := exec.Command("rg", append([]string{"--no-config", "--hidden", "-g", "!.git", "--sort", "path"}, args...)...)
			cmd.Dir = dir
			out, _ := cmd.Output() // it exits with 1 when nothing is found
			list := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			return slices.DeleteFunc(list, func(line string) bool {
				path, _, _ := strings.Cut(line, ":")
				return line == "" || ws.Secret(filepath.Join(dir, path))
			})
		}
		for _, pat := range []string{"TODO", `func \(\w+ \*?\w+\) [A-Z]\w+\(`, "(?i)ERROR", `[a-z]+_[a-z]+`, "^}"} {
			want, got := rg("-c", "-e", pat), allPages(t, tools[1], dir, map[string]any{"pattern": pat, "output_mode": "count"})
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %q (-rg +grep):\n%.2000s", dir, pat, diff)
			}
		}
		for _, pat := range []string{"**/*.go", "**/*_test.{go,txt}", "**/[a-c]*"} {
			want, got := rg("--files", "-g", pat), allPages(t, tools[0], dir, map[string]any{"pattern": pat, "limit": 5000})
			slices.Sort(want)
			if n := len(got); n >= 200 && n < len(want) { // a result has an end, and says so
				want = slices.DeleteFunc(want, func(path string) bool { return !slices.Contains(got, path) })
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %q (-rg +glob):\n%.2000s", dir, pat, diff)
			}
		}
	}
}

// allPages is the lines of all pages of a result, sorted, without what is said
// about them.
func allPages(t *testing.T, tool oh.Tool, dir string, in map[string]any) []string {
	t.Helper()
	all := []string{}
	for {
		if in["output_mode"] != nil {
			in["offset"], in["limit"] = len(all), 2000
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		act, err := tool.Prepare(t.Context(), &oh.Call{Input: raw, Env: &oh.Env{Dir: dir}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := act.Run(t.Context(), func(oh.Event) {})
		if err != nil || res.IsError {
			t.Fatal(err, res.Content.Text())
		}
		page := strings.Split(res.Content.Text(), "\n")
		page = slices.DeleteFunc(page, func(line string) bool {
			return line == "" || line[0] == '[' || strings.HasPrefix(line, "No ")
		})
		all = append(all, page...)
		if len(page) == 0 || in["output_mode"] == nil {
			slices.Sort(all)
			return all
		}
		if len(all) > 100_000 {
			t.Fatal(fmt.Sprint("no end of pages: ", len(all)))
		}
	}
}
