package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

// BenchmarkGrep searches 20,000 files of 4 kB.
func BenchmarkGrep(b *testing.B) {
	dir := b.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		b.Fatal(err)
	}
	body := strings.Repeat("func example(x int) error { return nil }\n\tif err != nil {\n", 70)
	for d := range 400 {
		sub := filepath.Join(dir, fmt.Sprint("d", d%20), fmt.Sprint("e", d))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 50 {
			text := body
			if f == 7 {
				text += fmt.Sprintf("needle%d\n", d)
			}
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprint("file", f, ".go")), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	ws, err := workspace.New(workspace.Config{Root: dir})
	if err != nil {
		b.Fatal(err)
	}
	grep := Tools(ws)[1]
	for _, pat := range []string{"needle", "(?i)NEEDLE[0-9]+", "n..dle[0-9]", "[m-o]e{2}d"} {
		b.Run(pat, func(b *testing.B) {
			in, err := json.Marshal(map[string]any{"pattern": pat, "limit": 2000})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				act, err := grep.Prepare(b.Context(), &oh.Call{Name: "grep", Input: in, Env: &oh.Env{Dir: dir}})
				if err != nil {
					b.Fatal(err)
				}
				res, err := act.Run(b.Context(), func(oh.Event) {})
				if err != nil || strings.Count(res.Content.Text(), "needle") != 400 {
					b.Fatal(err, res.Content.Text())
				}
			}
		})
	}
}
