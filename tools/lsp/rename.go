package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

const (
	maxRenamed   = 2000 // files that one rename may change
	listedFiles  = 50
	listedInFile = 10
)

// change is the new content of one file.
type change struct {
	place    workspace.Place
	old, new []byte
	lines    []int // from 1, of the edits
}

// rename answers rename: all files are changed, or none.
func (q *query) rename(ctx context.Context, t target, emit func(oh.Event)) (oh.Result, error) {
	if !t.client.caps.Rename {
		return oh.Result{}, q.can(t.client, false)
	}
	var raw json.RawMessage
	err := t.client.call(ctx, "textDocument/rename", struct {
		docPosition
		NewName string `json:"newName"`
	}{t.params(), q.in.NewName}, &raw)
	var edit workspaceEdit
	if err == nil {
		edit, err = decodeEdit(raw)
	}
	if err != nil {
		return oh.Result{}, fmt.Errorf("nothing was renamed: %w", err)
	}
	places, byPlace, err := q.places(edit)
	if err != nil {
		return oh.Result{}, fmt.Errorf("nothing was renamed: %w", err)
	}
	for _, p := range places { // in one order, so that two renames cannot wait for each other
		defer q.pool.ws.Lock(p)()
	}
	changes, err := q.changes(ctx, t.client, places, byPlace)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return oh.Result{}, fmt.Errorf("nothing was renamed: %w", err)
	}
	if err := q.write(changes); err != nil {
		return oh.Result{}, err
	}
	if seen := q.seen(changes); len(seen) > 0 {
		emit(oh.StateChanged{Read: seen})
	}
	return q.renamed(cmp.Or(t.view.wordAt(t.at), t.name), changes), nil
}

// places checks and orders the files of an edit, by their resolved paths.
func (q *query) places(edit workspaceEdit) ([]workspace.Place, map[string][]textEdit, error) {
	byPlace := map[string][]textEdit{}
	var places []workspace.Place
	for _, uri := range slices.Sorted(maps.Keys(edit)) {
		if len(edit[uri]) == 0 {
			continue
		}
		path, ok := fromURI(uri)
		if !ok {
			return nil, nil, fmt.Errorf("the server wants to change %q, which is no file", named(uri))
		}
		p, err := q.pool.ws.Locate(q.dir, path)
		if err != nil {
			return nil, nil, err
		}
		if err := q.mayChange(p); err != nil {
			return nil, nil, err
		}
		if _, ok := byPlace[p.Real]; !ok {
			places = append(places, p)
		}
		byPlace[p.Real] = append(byPlace[p.Real], edit[uri]...)
	}
	switch {
	case len(places) == 0:
		return nil, nil, errors.New("the server has nothing to change")
	case len(places) > maxRenamed:
		return nil, nil, fmt.Errorf("%d files would change, more than the %d that are allowed", len(places), maxRenamed)
	}
	slices.SortFunc(places, func(a, b workspace.Place) int { return cmp.Compare(a.Real, b.Real) })
	return places, byPlace, nil
}

// mayChange refuses files that the declaration of the call does not cover.
func (q *query) mayChange(p workspace.Place) error {
	inside := slices.ContainsFunc(q.folders(), func(root string) bool { return workspace.Below(root, p.Real) })
	switch {
	case !inside && p.Real != q.place.Real:
		return fmt.Errorf("%s would change too, and it lies outside the workspace", p.Path)
	case q.pool.ws.Secret(p.Real), q.pool.ws.Secret(p.Path):
		return fmt.Errorf("%s would change too, and it is protected", p.Path)
	case slices.Contains(strings.Split(filepath.ToSlash(p.Real), "/"), ".git"):
		return fmt.Errorf("%s would change too, and it belongs to git", p.Path)
	}
	return nil
}

// changes computes the new contents, from files that are still as the server
// knows them.
func (q *query) changes(ctx context.Context, c *client, places []workspace.Place, edits map[string][]textEdit) ([]change, error) {
	out := make([]change, 0, len(places))
	for _, p := range places {
		data, info, err := q.pool.ws.ReadFile(p, docLimit)
		if err != nil {
			return nil, err
		}
		same, err := c.knows(ctx, p.Real, workspace.Hash(data), stampOf(info))
		if err != nil {
			return nil, err
		}
		if !same {
			return nil, fmt.Errorf("%s changed while the server was asked; try again", p.Path)
		}
		next, lines, err := apply(data, edits[p.Real])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Path, err)
		}
		out = append(out, change{p, data, next, lines})
	}
	return out, nil
}

// knows reports whether a file is as the server was last told.
func (c *client) knows(ctx context.Context, real, hash string, s stamp) (bool, error) {
	if err := c.enter(ctx); err != nil {
		return false, err
	}
	defer c.leave()
	if d := c.docs[real]; d != nil {
		return d.hash == hash, nil
	}
	if old, ok := c.files[real]; ok {
		return old == s, nil
	}
	return true, nil
}

// piece is an edit by byte offsets.
type piece struct {
	start, end int
	text       string
	line       int // from 1
}

// pieces returns edits in the order of the text.
func (s *source) pieces(edits []textEdit) ([]piece, error) {
	out := make([]piece, 0, len(edits))
	for _, e := range edits {
		start, ok1 := s.offset(e.Range.Start)
		end, ok2 := s.offset(e.Range.End)
		if !ok1 || !ok2 || end < start {
			return nil, fmt.Errorf("the server wants to change line %d, which is not there", e.Range.Start.Line+1)
		}
		out = append(out, piece{start, end, e.NewText, e.Range.Start.Line + 1})
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	return out, nil
}

// apply makes edits in the content of a file and returns the lines of the
// edits, too; those of one document are all about its content before any of
// them.
func apply(data []byte, edits []textEdit) ([]byte, []int, error) {
	src, ok := newSource(data)
	if !ok {
		return nil, nil, errors.New("it is no text file")
	}
	if whole, ok := src.encode(src.text); !ok || string(whole) != string(data) {
		return nil, nil, fmt.Errorf("it is %s with characters that a change would lose", src.charset)
	}
	pieces, err := src.pieces(edits)
	if err != nil {
		return nil, nil, err
	}
	var b strings.Builder
	var lines []int
	at := 0
	for i, p := range pieces {
		if i > 0 && p == pieces[i-1] && p.end > p.start {
			continue // some servers name an edit twice, once for each way to a file
		}
		if p.start < at {
			return nil, nil, fmt.Errorf("the server's changes of line %d overlap", p.line)
		}
		b.WriteString(src.text[at:p.start])
		b.WriteString(p.text)
		at = p.end
		lines = append(lines, p.line)
	}
	b.WriteString(src.text[at:])
	out, ok := src.encode(b.String())
	if !ok {
		return nil, nil, fmt.Errorf("it is %s, which lacks characters of the new name", src.charset)
	}
	return out, lines, nil
}

// write puts the new contents in place. When one cannot be written, those
// before it are put back.
func (q *query) write(changes []change) error {
	for i, ch := range changes {
		_, err := q.pool.ws.WriteFile(ch.place, ch.new, workspace.WriteOptions{})
		if err == nil {
			continue
		}
		for _, done := range changes[:i] {
			if _, undo := q.pool.ws.WriteFile(done.place, done.old, workspace.WriteOptions{}); undo != nil {
				return fmt.Errorf("the rename failed (%w), and %s could not be put back: %w", err, done.place.Path, undo)
			}
		}
		return fmt.Errorf("nothing was renamed: %w", err)
	}
	return nil
}

// seen lists the new hashes of files whose old content the model had read.
func (q *query) seen(changes []change) map[string]string {
	out := map[string]string{}
	if q.reads == nil {
		return out
	}
	for _, ch := range changes {
		if hash, ok := q.reads.ReadHash(ch.place.Real); ok && hash == workspace.Hash(ch.old) {
			out[ch.place.Real] = workspace.Hash(ch.new)
		}
	}
	return out
}

// renamed tells what was done.
func (q *query) renamed(old string, changes []change) oh.Result {
	n := 0
	for _, ch := range changes {
		n += len(ch.lines)
	}
	files := text.Plural(len(changes), "file")
	var b strings.Builder
	fmt.Fprintf(&b, "Renamed %s to %s: %s in %s.", named(old), named(q.in.NewName), text.Plural(n, "place"), files)
	var paths []string
	for i, ch := range changes {
		paths = append(paths, ch.place.Path)
		if i < listedFiles {
			fmt.Fprintf(&b, "\n%s: %s", q.show(ch.place.Real), lineList(ch.lines))
		}
	}
	if more := len(changes) - listedFiles; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	res := q.finish(b.String())
	res.Display = oh.Tree{Paths: paths}
	res.Meta = meta(map[string]any{"count": n, "files": paths})
	return res
}

// lineList writes the first of some line numbers.
func lineList(lines []int) string {
	word := "line "
	if len(lines) != 1 {
		word = "lines "
	}
	var out []string
	for _, n := range lines[:min(len(lines), listedInFile)] {
		out = append(out, fmt.Sprint(n))
	}
	if more := len(lines) - listedInFile; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return word + strings.Join(out, ", ")
}
