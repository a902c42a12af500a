package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

type grepInput struct {
	Pattern    string `json:"pattern"`
	Root       string `json:"root,omitempty"`
	Path       string `json:"path,omitempty"`
	FileGlob   string `json:"file_glob,omitempty"`
	Type       string `json:"type,omitempty"`
	Mode       string `json:"output_mode,omitempty" oh:"enum=content|files_with_matches|count,default=content"`
	Case       bool   `json:"case_sensitive,omitempty" oh:"default=true"`
	Literal    bool   `json:"literal,omitempty"`
	Multiline  bool   `json:"multiline,omitempty"`
	Before     int    `json:"before,omitempty" oh:"min=0,max=100"`
	After      int    `json:"after,omitempty" oh:"min=0,max=100"`
	Context    int    `json:"context,omitempty" oh:"min=0,max=100"`
	Limit      int    `json:"limit,omitempty" oh:"min=1,max=2000,default=200"`
	Offset     int    `json:"offset,omitempty" oh:"min=0,max=1000000"`
	TimeoutSec int    `json:"timeout_seconds,omitempty" oh:"min=1,max=120,default=20"`
}

// The output modes.
const (
	modeContent = "content"
	modeFiles   = "files_with_matches"
	modeCount   = "count"
)

func (s set) grep(_ context.Context, call *oh.Call, in grepInput) (oh.Action, error) {
	if in.Pattern == "" {
		return oh.Action{}, errors.New("invalid input: pattern is empty")
	}
	m, err := newMatcher(in.Pattern, in.Literal, !in.Case, in.Multiline)
	if err != nil {
		return oh.Action{}, err
	}
	only, err := newFilter(in.Type, in.FileGlob)
	if err != nil {
		return oh.Action{}, err
	}
	root, err := s.ws.Locate(call.Env.Dir, first(in.Root, in.Path, "."))
	if err != nil {
		return oh.Action{}, err
	}
	if in.Mode != modeContent {
		in.Before, in.After, in.Context = 0, 0, 0
	}
	g := &grepping{ws: s.ws, dir: call.Env.Dir, root: root, in: in, m: m, only: only}
	g.in.Before, g.in.After = max(in.Before, in.Context), max(in.After, in.Context)
	g.best.need = in.Offset + in.Limit + 1
	return oh.Action{
		Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: root.Path, Tree: true}}},
		Run:    func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) { return g.run(ctx) },
	}, nil
}

// grepping is one call of grep.
type grepping struct {
	ws   *workspace.Workspace
	dir  string
	root workspace.Place
	in   grepInput
	m    *matcher
	only filter
	best ordered

	mu       sync.Mutex // guards what follows
	searched int
	binary   int
	large    int
	links    int
	failed   int
	partial  int
	bare     int
}

func (g *grepping) run(ctx context.Context) (oh.Result, error) {
	info, err := g.ws.Stat(g.root)
	if err != nil {
		return oh.Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(g.in.TimeoutSec)*time.Second)
	defer cancel()
	var skipped workspace.Skipped
	if info.IsDir() {
		skipped, err = g.tree(limited)
	} else {
		err = g.single(limited)
	}
	late := err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)
	if err != nil && !late {
		return oh.Result{}, err
	}
	skipped.Unreadable += g.failed
	return g.result(skipped, late), nil
}

// tree searches the files of a folder.
func (g *grepping) tree(ctx context.Context) (workspace.Skipped, error) {
	scanners := make([]*scanner, workspace.Workers())
	for i := range scanners {
		scanners[i] = g.scanner()
	}
	return g.ws.Walk(ctx, g.root, workspace.WalkOptions{}, func(worker int, e *workspace.Entry) error {
		if !g.only.wants(e.Path) || !g.best.wants(e.Path) {
			return nil
		}
		if !e.Type.IsRegular() {
			if e.Type&os.ModeSymlink != 0 {
				g.count(&g.links)
			}
			return nil
		}
		f, _, err := e.Open()
		if err != nil {
			g.count(&g.failed)
			return nil
		}
		defer f.Close()
		return g.file(ctx, scanners[worker], e.Path, f)
	})
}

// single searches one file that was named.
func (g *grepping) single(ctx context.Context) error {
	if g.ws.Secret(g.root.Real) {
		return fmt.Errorf("%s is protected and is not searched", g.root.Path)
	}
	f, _, err := g.ws.Open(g.root)
	if err != nil {
		return err
	}
	defer f.Close()
	return g.file(ctx, g.scanner(), "", f)
}

func (g *grepping) scanner() *scanner {
	return &scanner{m: g.m, before: g.in.Before, after: g.in.After, mode: g.in.Mode, multiline: g.in.Multiline, keep: g.best.need, longest: maxLine}
}

// file searches one file and counts what came of it.
func (g *grepping) file(ctx context.Context, s *scanner, path string, f io.Reader) error {
	res, ok, err := s.scan(ctx, path, f)
	switch {
	case errors.Is(err, errBinary):
		g.count(&g.binary)
		return nil
	case errors.Is(err, errLarge):
		g.count(&g.large)
		return nil
	case err != nil && ctx.Err() == nil:
		g.count(&g.failed)
		return nil
	}
	if ok {
		g.best.add(res, g.in.Mode)
	}
	if ok || err == nil {
		g.count(&g.searched)
	}
	if res.part {
		g.count(&g.partial)
	}
	if ok && res.bare {
		g.count(&g.bare)
	}
	if err != nil {
		return ctx.Err()
	}
	return nil
}

func (g *grepping) count(n *int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*n++
}
