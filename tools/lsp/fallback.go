package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/tools/lsp/scan"
	"github.com/openharness/oh/workspace"
)

const (
	scanTime  = 15 * time.Second
	scanLimit = 2 << 20 // bytes of a file that is scanned
	maxFound  = 20_000  // hits that are counted
)

// found is what a scan came to.
type found struct {
	mu      sync.Mutex // guards what follows, while the scan runs
	hits    []hit
	large   int
	partial bool
}

func (f *found) add(hits []hit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if room := maxFound - len(f.hits); len(hits) > room {
		hits, f.partial = hits[:room], true
	}
	f.hits = append(f.hits, hits...)
}

// scan answers without a server, as far as the text tells. why says why there
// is none.
func (q *query) scan(ctx context.Context, why *absence) (oh.Result, error) {
	switch q.in.Operation {
	case opDocument, opWorkspace, opDefinition, opReferences:
	default:
		return oh.Result{}, fmt.Errorf("%s needs a language server: %w", q.in.Operation, why)
	}
	q.note(fmt.Sprintf("From a scan of the text, not a language server, so incomplete and inexact: %s.", why.why))
	var res *found
	var err error
	unit := "symbol"
	switch q.in.Operation {
	case opDocument:
		res, err = q.scanFile()
	case opWorkspace:
		res, err = q.scanProject(ctx, strings.ToLower(q.in.Query), contains)
	case opDefinition:
		unit = "definition"
		res, err = q.scanDefinition(ctx)
	case opReferences:
		unit = "reference"
		res, err = q.scanReferences(ctx)
	}
	if err != nil {
		return oh.Result{}, err
	}
	if res.large > 0 {
		q.note(fmt.Sprintf("%s larger than %d MB left out.", text.Plural(res.large, "file"), scanLimit>>20))
	}
	if res.partial {
		q.note("Stopped early: there is more.")
	}
	return q.result(res.hits, unit), nil
}

// contains reports whether a name has a lower-case part.
func contains(have, part string) bool { return strings.Contains(strings.ToLower(have), part) }

func (q *query) scanFile() (*found, error) {
	src, err := q.named()
	if err != nil {
		return nil, err
	}
	list, ok := scan.Symbols(q.place.Real, src.text)
	if !ok {
		return nil, fmt.Errorf("the symbols of %s files are not known to the text scan either; read or search the file", extensionOf(q.place.Real))
	}
	return &found{hits: scanHits(q.place.Real, list)}, nil
}

// named reads the file that was given.
func (q *query) named() (*source, error) {
	data, _, err := q.pool.ws.ReadFile(q.place, docLimit)
	if err != nil {
		return nil, err
	}
	src, ok := newSource(data)
	if !ok {
		return nil, fmt.Errorf("%s is no text file", q.place.Path)
	}
	return src, nil
}

func scanHits(path string, list []scan.Symbol) []hit {
	out := make([]hit, 0, len(list))
	for _, s := range list {
		out = append(out, hit{kind: s.Kind, name: named(s.Name), path: path, line: s.Line, col: s.Column, snippet: snippet(s.Text)})
	}
	return out
}

// word is the name that is asked about, by symbol or position.
func (q *query) word() (string, error) {
	if q.in.Symbol != "" {
		return plainName(q.in.Symbol), nil
	}
	src, err := q.named()
	if err != nil {
		return "", err
	}
	line := src.line(q.in.Line - 1)
	if q.in.Line > len(src.starts) {
		return "", fmt.Errorf("line %d is beyond the end: %s has %s", q.in.Line, q.place.Path, text.Plural(len(src.starts), "line"))
	}
	if q.in.Character > 0 {
		if w := src.wordAt(src.fromColumn(q.in.Line, q.in.Character)); w != "" {
			return w, nil
		}
	}
	if i, ok := firstName(line); ok {
		return src.wordAt(src.at(q.in.Line-1, i)), nil
	}
	return "", fmt.Errorf("line %d of %s has no name; it is: %s", q.in.Line, q.place.Path, snippet(line))
}

// scanDefinition finds what is declared under a name, in the given file first.
func (q *query) scanDefinition(ctx context.Context) (*found, error) {
	want, err := q.word()
	if err != nil {
		return nil, err
	}
	res, err := q.scanProject(ctx, want, means)
	if err != nil || q.in.Path == "" {
		return res, err
	}
	var own, other []hit
	for _, h := range res.hits {
		if h.path == q.place.Real {
			own = append(own, h)
		} else if sameFamily(h.path, q.place.Real) {
			other = append(other, h)
		}
	}
	res.hits = append(own, other...)
	return res, nil
}

// sameFamily reports whether two files are of one language, as far as a scan
// is concerned.
func sameFamily(a, b string) bool { return scan.Language(a) == scan.Language(b) }

// scanProject finds declarations in all files of the project. fits compares a
// dotted name with want, whose last part is in the text of each file that is
// looked at.
func (q *query) scanProject(ctx context.Context, want string, fits func(have, want string) bool) (*found, error) {
	part := strings.ToLower(bare(want))
	return q.sweep(ctx, func(path string) bool { return scan.Language(path) != "" }, func(path, content string) []hit {
		if !strings.Contains(strings.ToLower(content), part) {
			return nil
		}
		list, _ := scan.Symbols(path, content)
		kept := list[:0]
		for _, s := range list {
			if fits(plainName(s.Name), want) {
				kept = append(kept, s)
			}
		}
		return scanHits(path, kept)
	})
}

// scanReferences finds a name as a whole word. With a file given, only files of
// its language count.
func (q *query) scanReferences(ctx context.Context) (*found, error) {
	want, err := q.word()
	if err != nil {
		return nil, err
	}
	want = bare(want)
	wanted := func(path string) bool { return q.in.Path == "" || sameFamily(path, q.place.Real) }
	return q.sweep(ctx, wanted, func(path, content string) []hit {
		var hits []hit
		if !strings.Contains(content, want) {
			return nil
		}
		src := &source{text: content, starts: lineStarts(content)}
		for n := range src.starts {
			line := src.line(n)
			for i := findWord(line, want, 0); i >= 0; i = findWord(line, want, i+len(want)) {
				hits = append(hits, hit{
					kind: "reference", name: named(want), path: path,
					line: n + 1, col: src.column(src.at(n, i)), snippet: snippet(line),
				})
			}
		}
		return hits
	})
}

// sweep looks at the text of all wanted files of the project.
func (q *query) sweep(ctx context.Context, wanted func(path string) bool, look func(path, content string) []hit) (*found, error) {
	limited, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	res := &found{}
	for _, root := range q.folders() {
		_, err := q.pool.ws.Walk(limited, workspace.Place{Path: root, Real: root}, workspace.WalkOptions{}, func(_ int, e *workspace.Entry) error {
			path := filepath.Join(root, filepath.FromSlash(e.Path))
			if !e.Type.IsRegular() || !wanted(path) {
				return nil
			}
			content, err := entryText(e)
			switch {
			case errors.Is(err, errLarge):
				res.mu.Lock()
				res.large++
				res.mu.Unlock()
			case err == nil && content != "":
				res.add(look(path, content))
			}
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case limited.Err() != nil:
			res.partial = true
		case errors.Is(err, os.ErrNotExist): // a root that is gone has no files
		case err != nil:
			return nil, err
		}
	}
	sortHits(res.hits)
	return res, nil
}

var errLarge = errors.New("too large to scan")

// entryText reads a found file; "" when it is no text.
func entryText(e *workspace.Entry) (string, error) {
	f, size, err := e.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	if size > scanLimit {
		return "", errLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, scanLimit))
	if err != nil {
		return "", err
	}
	src, ok := newSource(data)
	if !ok {
		return "", nil
	}
	return src.text, nil
}
