package lsp

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/openharness/oh/workspace"
)

// watchTime bounds a look at all files of a project. One that takes longer is
// not looked at again.
const watchTime = 2 * time.Second

// stamp tells cheaply whether a file may have changed.
type stamp struct {
	size int64
	time time.Time
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }

// The kinds of file events.
const (
	fileCreated = 1
	fileChanged = 2
	fileDeleted = 3
)

type fileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

// watch compares the project's files with how they were the last time.
func (c *client) watch(ctx context.Context) ([]fileEvent, error) {
	if c.unwatched {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	now, err := look(limited, c.ws, c.root, c.concerned)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		c.unwatched, c.files = true, nil
		return nil, nil
	}
	before := c.files
	c.files = now
	if before == nil {
		return nil, nil
	}
	var events []fileEvent
	for path, s := range now {
		if old, ok := before[path]; !ok {
			events = append(events, fileEvent{toURI(path), fileCreated})
		} else if old != s {
			events = append(events, fileEvent{toURI(path), fileChanged})
		}
	}
	for path := range before {
		if _, ok := now[path]; !ok {
			events = append(events, fileEvent{toURI(path), fileDeleted})
		}
	}
	return events, nil
}

// concerned reports whether the server wants to know of changes of a file.
func (c *client) concerned(name string) bool {
	if _, ok := c.spec.language(name); ok {
		return true
	}
	switch name {
	case "go.sum", "package.json", "tsconfig.json", "Cargo.lock":
		return true
	}
	for _, m := range c.spec.Markers {
		if name == m {
			return true
		}
	}
	return false
}

// look takes the stamps of the files below a folder whose names are wanted.
func look(ctx context.Context, ws *workspace.Workspace, root string, wanted func(name string) bool) (map[string]stamp, error) {
	var mu sync.Mutex // guards found
	found := map[string]stamp{}
	_, err := ws.Walk(ctx, workspace.Place{Path: root, Real: root}, workspace.WalkOptions{}, func(_ int, e *workspace.Entry) error {
		if !e.Type.IsRegular() || !wanted(e.Name) {
			return nil
		}
		path := filepath.Join(root, filepath.FromSlash(e.Path))
		info, err := os.Lstat(path)
		if err != nil {
			return nil // gone meanwhile
		}
		mu.Lock()
		defer mu.Unlock()
		found[path] = stampOf(info)
		return nil
	})
	return found, err
}
