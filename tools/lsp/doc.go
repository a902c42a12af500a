package lsp

import (
	"context"
	"fmt"

	"github.com/openharness/oh/workspace"
)

const (
	maxDocs  = 64       // documents that are held open in a server
	docLimit = 16 << 20 // bytes of a file that a server is asked about
)

// doc is a document that is open in a server.
type doc struct {
	place   workspace.Place
	version int
	hash    string
	src     *source
	stamp   stamp
	used    int
	mark    uint64 // how many reports there were when it last changed
}

// view is a document as it was brought up to date.
type view struct {
	*source
	hash    string
	version int
	mark    uint64 // a report with a higher number is about this content
	fresh   bool   // the content is new to the server
	moved   bool   // other files have changed
}

// open brings all documents up to date with the disk, the one at p with them,
// which it opens if need be.
func (c *client) open(ctx context.Context, p workspace.Place) (view, error) {
	if err := c.enter(ctx); err != nil {
		return view{}, err
	}
	defer c.leave()
	moved, err := c.refresh(ctx)
	if err != nil {
		return view{}, err
	}
	d, fresh, err := c.load(p)
	if err != nil {
		return view{}, err
	}
	return view{d.src, d.hash, d.version, d.mark, fresh, moved}, nil
}

// update brings all open documents up to date with the disk.
func (c *client) update(ctx context.Context) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.leave()
	_, err := c.refresh(ctx)
	return err
}

// opened reports whether any document is open.
func (c *client) opened(ctx context.Context) (bool, error) {
	if err := c.enter(ctx); err != nil {
		return false, err
	}
	defer c.leave()
	return len(c.docs) > 0, nil
}

func (c *client) enter(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *client) leave() { <-c.turn }

// refresh tells the server what has changed on disk since the last time.
func (c *client) refresh(ctx context.Context) (moved bool, err error) {
	events, err := c.watch(ctx)
	if err != nil {
		return false, err
	}
	if len(events) > 0 {
		if err := c.conn.Notify("workspace/didChangeWatchedFiles", map[string]any{"changes": events}); err != nil {
			return false, c.wording(err)
		}
	}
	for path, d := range c.docs {
		info, err := c.ws.Stat(d.place)
		switch {
		case err != nil || !info.Mode().IsRegular():
			if err := c.shut(path); err != nil {
				return false, err
			}
		case stampOf(info) != d.stamp:
			if _, _, err := c.load(d.place); err != nil {
				if err := c.shut(path); err != nil { // no text any more, or not to be read
					return false, err
				}
			}
		default:
			continue
		}
		moved = true
	}
	return moved || len(events) > 0, nil
}

// load reads a file and tells the server its content, if that is new.
func (c *client) load(p workspace.Place) (d *doc, fresh bool, err error) {
	data, info, err := c.ws.ReadFile(p, docLimit)
	if err != nil {
		return nil, false, err
	}
	hash := workspace.Hash(data)
	c.uses++
	d = c.docs[p.Real]
	if d != nil && d.hash == hash {
		d.stamp, d.used = stampOf(info), c.uses
		return d, false, nil
	}
	src, ok := newSource(data)
	if !ok {
		return nil, false, fmt.Errorf("%s is no text file", p.Path)
	}
	version := 1
	if d != nil {
		version = d.version + 1
	}
	next := &doc{place: p, version: version, hash: hash, src: src, stamp: stampOf(info), used: c.uses, mark: c.reported()}
	if err := c.tell(next, d != nil); err != nil {
		return nil, false, err
	}
	c.docs[p.Real] = next
	return next, true, c.trim()
}

// tell sends the content of a document.
func (c *client) tell(d *doc, known bool) error {
	id := docID{toURI(d.place.Real), d.version}
	if !known {
		lang, ok := c.spec.language(d.place.Real)
		if !ok {
			lang = "plaintext"
		}
		return c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": id.URI, "version": id.Version, "languageId": lang, "text": d.src.text,
		}})
	}
	err := c.notify("textDocument/didChange", map[string]any{
		"textDocument": id, "contentChanges": []map[string]string{{"text": d.src.text}},
	})
	if err == nil && c.caps.saves() {
		err = c.notify("textDocument/didSave", map[string]any{"textDocument": docID{URI: id.URI}, "text": d.src.text})
	}
	return err
}

func (c *client) notify(method string, params any) error {
	if err := c.conn.Notify(method, params); err != nil {
		return c.wording(err)
	}
	return nil
}

// trim closes the documents that were not used for longest.
func (c *client) trim() error {
	for len(c.docs) > maxDocs {
		oldest, used := "", c.uses+1
		for path, d := range c.docs {
			if d.used < used {
				oldest, used = path, d.used
			}
		}
		if err := c.shut(oldest); err != nil {
			return err
		}
	}
	return nil
}

// shut closes a document in the server.
func (c *client) shut(path string) error {
	delete(c.docs, path)
	c.mu.Lock()
	delete(c.reports, path)
	c.mu.Unlock()
	return c.notify("textDocument/didClose", map[string]any{"textDocument": docID{URI: toURI(path)}})
}
