package prompt

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed environment.md
var environmentWords string

//go:embed mode.md
var modeWords string

// environment describes where the session begins. A line whose value is not
// known is left out.
func environment(cfg Config) string {
	date := cfg.Date
	if date.IsZero() {
		date = time.Now()
	}
	git := "no git repository"
	if branch, repo := Branch(cfg.Dir); repo {
		git = "git repository"
		if branch != "" {
			git += ", branch " + value(branch)
		}
	}
	words := environmentWords
	if cfg.Model == "" {
		words = strings.Replace(words, "- Model: {model}\n", "", 1)
	}
	return strings.NewReplacer(
		"{dir}", value(cfg.Dir), "{root}", value(cfg.Root), "{git}", git,
		"{os}", value(cmp.Or(cfg.OS, runtime.GOOS)), "{arch}", value(cmp.Or(cfg.Arch, runtime.GOARCH)),
		"{shell}", value(cmp.Or(cfg.Shell, shell())), "{date}", date.Format(DateLayout), "{model}", value(cfg.Model),
	).Replace(words)
}

// value makes a value fit for one line. Its spaces stay: it may be a path.
func value(s string) string {
	return text.Cut(strings.NewReplacer("\n", " ", "\t", " ").Replace(text.Clean(s)), ValueMax)
}

// shell names the person's shell.
func shell() string {
	for _, name := range []string{"SHELL", "COMSPEC"} {
		if path := os.Getenv(name); path != "" {
			return strings.TrimSuffix(filepath.Base(path), ".exe")
		}
	}
	for _, name := range []string{"bash", "zsh", "fish", "sh"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return "unknown"
}

// gitRoot is the nearest folder from dir upwards that holds .git, else dir.
func gitRoot(dir string) string {
	if root, ok := findGit(dir); ok {
		return root
	}
	return filepath.Clean(dir)
}

func findGit(dir string) (string, bool) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		if parent := filepath.Dir(dir); parent == dir {
			return "", false
		}
	}
}

// Branch tells the git branch of a folder by reading the repository's files:
// the name, the first 12 digits of the commit when none is checked out, or ""
// when it is not known. repo tells whether the folder is in a repository.
func Branch(dir string) (branch string, repo bool) {
	root, ok := findGit(dir)
	if !ok {
		return "", false
	}
	git := filepath.Join(root, ".git")
	if line, err := firstLine(git); err == nil { // a worktree or submodule
		to, ok := strings.CutPrefix(line, "gitdir:")
		if !ok {
			return "", false
		}
		if git = strings.TrimSpace(to); !filepath.IsAbs(git) {
			git = filepath.Join(root, git)
		}
	}
	line, err := firstLine(filepath.Join(git, "HEAD"))
	if err != nil {
		return "", !errors.Is(err, fs.ErrNotExist)
	}
	if ref, ok := strings.CutPrefix(line, "ref:"); ok {
		ref = strings.TrimPrefix(strings.TrimSpace(ref), "refs/heads/")
		if !legalRef(ref) {
			return "", true
		}
		if ref == ".invalid" { // stands in HEAD when references are kept in tables
			ref = ""
		}
		return ref, true
	}
	if len(line) < 40 || strings.Trim(line, "0123456789abcdef") != "" {
		return "", true // no commit: whatever stands there is not for the model
	}
	return line[:12], true
}

// legalRef reports whether git would take it for the name of a branch.
func legalRef(ref string) bool {
	return len(ref) <= 250 && !strings.ContainsAny(ref, " ~^:?*[\\\x7f") && !strings.Contains(ref, "..") &&
		strings.IndexFunc(ref, func(r rune) bool { return r < ' ' }) < 0
}

// firstLine reads the first line of a regular file, at most 4 kB.
func firstLine(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 4<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// Turn is what may change between two turns of a session.
type Turn struct {
	Date   time.Time // of it, only the day is told
	Branch string
	Dir    string
	Mode   oh.Mode
}

// Context says in short lines what is different from the turn before; "" when
// nothing is. Zero fields of now say nothing. For the first turn, before holds
// what the system prompt tells (date, branch, directory), so that only the mode
// is said.
func Context(before, now Turn) string {
	var lines []string
	if d := now.Date.Format(DateLayout); !now.Date.IsZero() && d != before.Date.Format(DateLayout) {
		lines = append(lines, "Date: "+d)
	}
	if now.Dir != "" && now.Dir != before.Dir {
		lines = append(lines, "Directory: "+value(now.Dir))
	}
	if now.Branch != "" && now.Branch != before.Branch {
		lines = append(lines, "Git branch: "+value(now.Branch))
	}
	if now.Mode != "" && now.Mode != before.Mode {
		lines = append(lines, "Permission mode: "+modeLine(now.Mode))
	}
	return strings.Join(lines, "\n")
}

// modeLine is the mode with what it means.
func modeLine(m oh.Mode) string {
	for line := range strings.Lines(modeWords) {
		if strings.HasPrefix(line, string(m)+":") {
			return strings.TrimSpace(line)
		}
	}
	return value(string(m))
}
