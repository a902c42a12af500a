package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
)

// search compares grep and glob, whole processes in a tree of 20,000 files and
// 100 MB, with ripgrep. Without ripgrep there is nothing to compare.
func search(l *lab) ([]row, error) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		fmt.Fprintln(os.Stderr, "report: rg is not installed, so searches are not measured")
		return nil, nil
	}
	if err := plant(filepath.Join(l.work, "tree")); err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range []struct {
		name, tool string
		input      map[string]any
		rg         []string
		most       float64
	}{
		{"grep, a rare literal", "grep", map[string]any{"pattern": "rare_needle_7"}, []string{"rare_needle_7"}, 1.5},
		{"grep, a regexp with a literal", "grep", map[string]any{"pattern": `Needle1[0-9]+\(`}, []string{`Needle1[0-9]+\(`}, 1.5},
		{"grep, no case", "grep", map[string]any{"pattern": "RARE_needle_7", "case_sensitive": false}, []string{"-i", "RARE_needle_7"}, 3},
		{"grep, classes around a word", "grep", map[string]any{"pattern": `[a-z]+_in_hay[a-z]+`}, []string{`[a-z]+_in_hay[a-z]+`}, 3},
		{"glob **/*.go", "glob", map[string]any{"pattern": "**/*.go"}, []string{"--files", "-g", "**/*.go"}, 1.5},
	} {
		c.input["root"] = "tree"
		raw, err := json.Marshal(c.input)
		if err != nil {
			return nil, err
		}
		var ours, theirs []sample
		for range l.runs(21) {
			for _, p := range []struct {
				to   *[]sample
				args []string
			}{{&ours, []string{l.oh, "tool", "run", c.tool, string(raw)}}, {&theirs, append(append([]string{rg}, c.rg...), "tree")}} {
				s, err := l.run(p.args)
				if err != nil {
					return nil, err
				}
				*p.to = append(*p.to, s)
			}
		}
		rows = append(rows, times(c.name+" (floor: ripgrep)", ours, theirs, wall, c.most),
			row{name: "the same, peak memory", unit: megabytes, oh: median(ours, memory), floor: median(theirs, memory), most: 25e6})
	}
	return rows, nil
}

// plant makes the tree: files of 5 kB with made-up source, needles in a few.
func plant(root string) error {
	words := []string{"func", "return", "err", "nil", "context", "request", "handler", "buffer", "length", "value", "if", "for", "range", "string", "index"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for d := range 200 {
		dir := filepath.Join(root, fmt.Sprintf("p%d", d%20), fmt.Sprintf("d%d", d))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for f := range 100 {
			var b bytes.Buffer
			for b.Len() < 5<<10 {
				for range 8 {
					b.WriteString(words[rnd.IntN(len(words))] + " ")
				}
				fmt.Fprintf(&b, "x%d\n", rnd.IntN(1000))
			}
			if f == 7 && d%50 == 0 {
				fmt.Fprintf(&b, "rare_needle_7\nfunc Needle1%d() {}\na needle_in_haystack\n", d)
			}
			name := filepath.Join(dir, fmt.Sprintf("f%d.%s", f, []string{"go", "txt", "md", "go"}[f%4]))
			if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
