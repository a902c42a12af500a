package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type globInput struct {
	Pattern string `json:"pattern,omitempty"`
	Root    string `json:"root,omitempty"`
	Path    string `json:"path,omitempty"`
	Limit   int    `json:"limit,omitempty" oh:"min=1,max=5000,default=200"`
}

func (s set) glob(_ context.Context, call *oh.Call, in globInput) (oh.Action, error) {
	if in.Pattern == "" {
		in.Pattern, in.Path = in.Path, ""
	}
	if in.Pattern == "" {
		return oh.Action{}, errors.New("invalid input: pattern is required")
	}
	base, pat, err := splitGlob(in.Pattern)
	if err != nil {
		return oh.Action{}, err
	}
	root, err := s.ws.Locate(call.Env.Dir, first(in.Root, in.Path, "."))
	if err != nil {
		return oh.Action{}, err
	}
	if base != "" {
		if root, err = s.ws.Locate(root.Path, base); err != nil {
			return oh.Action{}, err
		}
	}
	g := &globbing{ws: s.ws, dir: call.Env.Dir, root: root, pattern: pat, limit: in.Limit, named: base != ""}
	return oh.Action{
		Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: root.Path, Tree: true}}},
		Run:    func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) { return g.run(ctx) },
	}, nil
}

// splitGlob parts a pattern into the folder it names without wildcards, "" for
// none, and the rest.
func splitGlob(pattern string) (base, rest string, err error) {
	pattern = filepath.ToSlash(pattern)
	if err := validGlob(pattern); err != nil {
		return "", "", fmt.Errorf("invalid input: pattern %w", err)
	}
	if !strings.ContainsAny(pattern, `*?[{\`) {
		pattern = strings.TrimSuffix(pattern, "/")
	} else if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	base, rest = doublestar.SplitPattern(pattern)
	if base == "." && !strings.HasPrefix(pattern, "./") {
		base = ""
	}
	if rest == "" {
		return "", "", fmt.Errorf("the pattern %q names no file", pattern)
	}
	return base, rest, nil
}

// maxChoices bounds the ways to expand a pattern: the time of matching grows
// with it.
const maxChoices = 1000

func validGlob(pattern string) error {
	if !doublestar.ValidatePattern(pattern) {
		return fmt.Errorf("%q is not valid: a bracket or brace is not closed, or it ends with a backslash", pattern)
	}
	ways := 1
	var open []int // alternatives of the braces around
	for i := 0; i < len(pattern) && ways <= maxChoices; i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			open = append(open, 1)
		case c == ',' && len(open) > 0:
			open[len(open)-1]++
		case c == '}' && len(open) > 0:
			ways *= open[len(open)-1]
			open = open[:len(open)-1]
		}
	}
	if ways > maxChoices {
		return fmt.Errorf("%q has too many alternatives; search for less at once", text.Cut(pattern, 100))
	}
	return nil
}

// globbing is one call of glob.
type globbing struct {
	ws      *workspace.Workspace
	dir     string
	root    workspace.Place
	pattern string // below root
	limit   int
	named   bool // root comes from the pattern, so that it need not exist

	mu    sync.Mutex // guards what follows
	found []string   // paths below root
	total int
}

func (g *globbing) run(ctx context.Context) (oh.Result, error) {
	info, err := g.ws.Stat(g.root)
	if g.named && errors.Is(err, fs.ErrNotExist) {
		return oh.TextResult(fmt.Sprintf("No files match: the folder %s does not exist.", g.root.Path)), nil
	}
	if err != nil {
		return oh.Result{}, err
	}
	if !info.IsDir() {
		return oh.Result{}, fmt.Errorf("%s is a %s, not a folder to search", g.root.Path, workspace.Kind(info.Mode()))
	}
	parts := strings.Split(g.pattern, "/")
	opt := workspace.WalkOptions{Keep: g.keep(parts)}
	if !strings.Contains(g.pattern, "**") && !strings.Contains(g.pattern, "{") {
		opt.Depth = len(parts)
	}
	skipped, err := g.ws.Walk(ctx, g.root, opt, func(_ int, e *workspace.Entry) error {
		if doublestar.MatchUnvalidated(g.pattern, e.Path) {
			g.add(e.Path)
		}
		return nil
	})
	if err != nil {
		return oh.Result{}, err
	}
	return g.result(skipped), nil
}

// keep lets an ignored file be found when the pattern ends with its very name,
// and an ignored folder be entered when the pattern names it.
func (g *globbing) keep(parts []string) func(*workspace.Entry) bool {
	named := map[string]bool{}
	last := ""
	for i, p := range parts {
		if strings.ContainsAny(p, `*?[{}\`) {
			continue
		}
		if i == len(parts)-1 {
			last = p
		} else {
			named[p] = true
		}
	}
	return func(e *workspace.Entry) bool {
		if e.Type.IsDir() {
			return named[e.Name]
		}
		return last != "" && e.Name == last
	}
}

// add remembers a path, but no more than are needed.
func (g *globbing) add(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total++
	g.found = append(g.found, path)
	if len(g.found) > 4*g.limit+1000 {
		slices.Sort(g.found)
		g.found = g.found[:g.limit]
	}
}

func (g *globbing) result(skipped workspace.Skipped) oh.Result {
	slices.Sort(g.found)
	paths := g.found[:min(len(g.found), g.limit)]
	for i, p := range paths {
		paths[i] = shownPath(g.dir, g.root.Path, p)
	}
	body, n := bounded(paths)
	var remarks []string
	if g.total == 0 {
		body = "No files match.\n"
	} else if n < g.total {
		remarks = append(remarks, fmt.Sprintf("The first %s of %s; narrow the pattern or raise limit.", text.Number(n), text.Plural(g.total, "file")))
	}
	remarks = append(remarks, leftOut(skipped))
	res := oh.TextResult(strings.TrimSuffix(body+notes(remarks), "\n"))
	res.Display = oh.Tree{Paths: append([]string{}, paths[:n]...)}
	res.Meta = meta(map[string]any{"files": g.total, "shown": n, "ignored": skipped.Ignored})
	return res
}
