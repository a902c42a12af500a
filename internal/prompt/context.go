package prompt

import (
	_ "embed"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

//go:embed issue.md
var issueWords string

//go:embed comments.md
var commentWords string

// contextFiles adds what the project's .openharness folder says about the task
// at hand. It is data, so it never comes from outside of the project.
func (p *page) contextFiles(root string) {
	for _, c := range []struct{ name, file, words string }{
		{"issue", "issue.md", issueWords},
		{"comment", "pr_comments.md", commentWords},
	} {
		path := filepath.Join(root, ".openharness", c.file)
		real := resolve(path)
		if !within(real, resolve(root)) {
			p.warn("%s: not loaded, as it links to %s outside of the project", path, real)
			continue
		}
		s, _, err := readText(real)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		case err != nil:
			p.warn("%s: not loaded: %v", path, bare(err))
		case strings.TrimSpace(s) != "":
			p.add(c.name, path, strings.TrimSpace(c.words)+"\n\n"+fenced(p.fit(path, strings.TrimSpace(s), FileMax)))
		}
	}
}

// fenced puts s into a code block that s itself cannot end.
func fenced(s string) string {
	ticks := "```"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	return ticks + "\n" + s + "\n" + ticks
}
