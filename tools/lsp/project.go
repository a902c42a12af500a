package lsp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/openharness/oh/workspace"
)

const (
	maxClients = 3 // servers that are asked about a whole project
	surveyTime = 5 * time.Second
	maxSamples = 2000 // folders with files of one kind that are looked at
	goodPart   = 4    // a lacking server is told of when it is for a quarter as many files as another
)

// candidate is a server that a project needs, with one of the files it is for.
type candidate struct {
	server Server
	sample string
	files  int
}

// clients returns the servers for the languages that the project has most files
// of. What cannot be had is noted; the error is an *absence when that is all.
func (q *query) clients(ctx context.Context) ([]*client, error) {
	if q.place.Real != "" {
		c, err := q.pool.client(ctx, q.place.Real)
		if err == nil {
			err = q.can(c, c.caps.WorkspaceSymbol)
		}
		if err != nil {
			return nil, err
		}
		return []*client{c}, q.warm(ctx, c, q.place.Real)
	}
	list, lacking, err := q.candidates(ctx)
	if err != nil {
		return nil, err
	}
	var out []*client
	var failed error
	for _, k := range list[:min(len(list), maxClients)] {
		c, err := q.ready(ctx, k)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var absent *absence
		switch {
		case err == nil:
			out = append(out, c)
		case !errors.As(err, &absent) && failed == nil:
			failed = err
			fallthrough
		default:
			lacking = cmp.Or(lacking, err.Error())
		}
	}
	switch {
	case len(out) == 0 && failed != nil:
		return nil, failed
	case len(out) == 0:
		return nil, &absence{cmp.Or(lacking, "there is no file here that a language server is known for")}
	case lacking != "":
		q.note("Not asked: " + lacking + ".")
	}
	return out, nil
}

// ready starts a server for questions about the whole project.
func (q *query) ready(ctx context.Context, k candidate) (*client, error) {
	c, err := q.pool.start(ctx, k.server)
	if err == nil {
		err = q.can(c, c.caps.WorkspaceSymbol)
	}
	if err == nil {
		err = q.warm(ctx, c, k.sample)
	}
	return c, err
}

// warm opens a file in a server that has none open: some load a project only
// then.
func (q *query) warm(ctx context.Context, c *client, path string) error {
	open, err := c.opened(ctx)
	if err != nil {
		return err
	}
	if open {
		return c.update(ctx)
	}
	p, err := q.pool.ws.Locate(filepath.Dir(path), path)
	if err != nil {
		return err
	}
	_, err = q.open(ctx, c, p)
	return err
}

// candidates lists the installed servers for the project's files, those for
// most files first. lacking tells of one that is not installed, when a good
// part of the files would be its.
func (q *query) candidates(ctx context.Context) (list []candidate, lacking string, err error) {
	kinds, err := q.survey(ctx)
	if err != nil {
		return nil, "", err
	}
	byKey := map[string]*candidate{}
	missing := map[string]int{}
	for _, k := range kinds {
		s, err := q.pool.find(k.sample)
		if err != nil {
			missing[err.Error()] += k.files
			continue
		}
		key := s.Name + "\x00" + s.Root
		if byKey[key] == nil {
			byKey[key] = &candidate{server: s, sample: k.sample}
		}
		byKey[key].files += k.files
	}
	for _, k := range byKey {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.files, a.files), cmp.Compare(a.server.Name, b.server.Name), cmp.Compare(a.server.Root, b.server.Root))
	})
	most := 0
	if len(list) > 0 {
		most = list[0].files / goodPart
	}
	for _, why := range slices.Sorted(maps.Keys(missing)) {
		if missing[why] > most {
			most, lacking = missing[why], why
		}
	}
	return list, lacking, nil
}

// survey counts the project's files by folder and extension, with a sample of
// each.
func (q *query) survey(ctx context.Context) ([]candidate, error) {
	known := map[string]bool{}
	for _, s := range q.pool.list() {
		for ext, lang := range s.Extensions {
			known[ext] = known[ext] || !isData(lang)
		}
	}
	var mu sync.Mutex // guards found
	found := map[string]candidate{}
	limited, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	for _, root := range q.folders() {
		_, err := q.pool.ws.Walk(limited, workspace.Place{Path: root, Real: root}, workspace.WalkOptions{}, func(_ int, e *workspace.Entry) error {
			ext := extensionOf(e.Name)
			if !e.Type.IsRegular() || !known[ext] {
				return nil
			}
			path := filepath.Join(root, filepath.FromSlash(e.Path))
			key := filepath.Dir(path) + "\x00" + ext
			mu.Lock()
			defer mu.Unlock()
			k, ok := found[key]
			if !ok && len(found) >= maxSamples {
				return nil
			}
			if !ok || path < k.sample {
				k.sample = path
			}
			k.files++
			found[key] = k
			return nil
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && limited.Err() == nil {
			return nil, err
		}
	}
	out := make([]candidate, 0, len(found))
	for _, k := range found {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Compare(a.sample, b.sample) })
	return out, nil
}

// isData reports whether a language holds data rather than symbols that are
// looked for by name.
func isData(lang string) bool {
	switch lang {
	case "json", "jsonc", "yaml", "toml", "css", "scss", "less", "html", "bibtex":
		return true
	}
	return false
}
