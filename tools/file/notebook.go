package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type notebookInput struct {
	Path   string  `json:"path"`
	Index  *int    `json:"cell_index,omitempty" oh:"min=0"`
	ID     string  `json:"cell_id,omitempty"`
	Source *string `json:"new_source,omitempty"` // nil: not given
	Type   string  `json:"cell_type,omitempty" oh:"enum=code|markdown"`
	Mode   string  `json:"mode,omitempty" oh:"enum=replace|append|insert|delete,default=replace"`
	Create bool    `json:"create_if_missing,omitempty" oh:"default=true"`
}

// maxPadding is how many empty cells are put before one that is written far
// behind the last.
const maxPadding = 100

func (s set) notebook(_ context.Context, call *oh.Call, in notebookInput) (oh.Action, error) {
	if err := halfChar(call.Input); err != nil {
		return oh.Action{}, err
	}
	p, err := s.ws.Locate(call.Env.Dir, in.Path)
	if err != nil {
		return oh.Action{}, err
	}
	if filepath.Ext(p.Path) != ".ipynb" {
		return oh.Action{}, fmt.Errorf("%s is no notebook: its name does not end with .ipynb; use edit_file or write_file", p.Path)
	}
	if in.Index == nil && in.ID == "" {
		return oh.Action{}, errors.New("say which cell: give cell_index or cell_id")
	}
	c := celling{s: s, env: call.Env, p: p, in: in}
	if in.Source != nil {
		c.src = unix(*in.Source)
	} else if in.Mode == "append" || in.Mode == "replace" && in.Type == "" {
		return oh.Action{}, errors.New("new_source is missing, so there is nothing to change: give it, \"\" to empty the cell, or cell_type to change only its type")
	}
	act := oh.Action{Access: oh.Access{Paths: []oh.PathUse{{Path: p.Path, Write: true}}}, Run: c.run}
	if old, _, err := s.ws.ReadFile(p, previewLimit); err == nil {
		if done, err := c.apply(old); err == nil {
			act.Preview = diff(p.Path, []byte(done.before), []byte(done.after))
		}
	} else if errors.Is(err, fs.ErrNotExist) && in.Create {
		act.Preview = diff(p.Path, nil, []byte(c.src))
	}
	return act, nil
}

// celling is one call of notebook_edit.
type celling struct {
	s   set
	env *oh.Env
	p   workspace.Place
	in  notebookInput
	src string // new_source, "" when not given
}

// celled is what became of a notebook: its text, and of the cell its index,
// its source before and after, and a sentence.
type celled struct {
	data          []byte
	index, count  int
	before, after string
	said          string
}

func (c celling) run(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
	if err := ctx.Err(); err != nil {
		return oh.Result{}, err
	}
	defer c.s.ws.Lock(c.p)()
	old, info, err := c.s.ws.ReadFile(c.p, editLimit)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && c.in.Create && c.in.Mode != "delete":
	case missing:
		return oh.Result{}, fmt.Errorf("%w; create_if_missing makes a notebook", c.s.explain(c.p, err))
	case err != nil:
		return oh.Result{}, c.s.explain(c.p, err)
	default:
		if read, same := known(c.env, c.p, old, info); read && !same && c.in.ID == "" {
			return oh.Result{}, fmt.Errorf("%s has changed since it was read, so that cell %d may be another one; read it again, or give cell_id", c.p.Path, *c.in.Index)
		}
	}
	done, err := c.apply(old)
	if err != nil {
		return oh.Result{}, fmt.Errorf("%s was not changed: %w", c.p.Path, err)
	}
	out, err := c.s.ws.WriteFile(c.p, done.data, workspace.WriteOptions{Parents: true, New: missing})
	if errors.Is(err, fs.ErrExist) {
		return oh.Result{}, fmt.Errorf("%s was created by something else just now; read it first", c.p.Path)
	}
	if err != nil {
		return oh.Result{}, err
	}
	emit(seen(c.p, workspace.Hash(done.data)))
	return c.result(done, out), nil
}

func (c celling) result(done celled, out workspace.Written) oh.Result {
	msg := done.said
	if out.Created {
		msg = "Created the notebook. " + msg
	}
	msg += fmt.Sprintf(" %s has %s.", c.p.Path, text.Plural(done.count, "cell"))
	if out.InPlace != "" {
		msg += " Written in place: " + out.InPlace + "."
	}
	d := diff(c.p.Path, []byte(done.before), []byte(done.after))
	res := oh.TextResult(msg)
	res.Display = d
	res.Meta = meta(map[string]any{"path": c.p.Path, "cell_index": done.index, "cells": done.count, "created": out.Created, "added": d.Added, "removed": d.Removed})
	return res
}

// apply makes the change in the content of a notebook; none, or an empty one,
// stands for a new notebook.
func (c celling) apply(data []byte) (celled, error) {
	mark := workspace.UTF8BOM.Mark()
	if !strings.HasPrefix(string(data), string(mark)) {
		mark = nil
	}
	data = data[len(mark):]
	if len(strings.TrimSpace(string(data))) == 0 {
		data = []byte(emptyNotebook)
	}
	n, err := parseNotebook(data)
	if err != nil {
		return celled{}, err
	}
	at, err := c.which(n)
	if err != nil {
		return celled{}, err
	}
	done, err := c.change(n, at)
	if err != nil {
		return celled{}, err
	}
	if n, err = parseNotebook(done.data); err != nil {
		return celled{}, fmt.Errorf("the outcome would be broken: %w", err)
	}
	done.count = n.count()
	done.data = concat(mark, done.data)
	return done, nil
}

// which returns the index that is meant; it may lie behind the last cell.
func (c celling) which(n *ipynb) (int, error) {
	if c.in.ID == "" {
		return *c.in.Index, nil
	}
	at := -1
	for i := range n.count() {
		if n.id(i) == c.in.ID {
			at = i
			break
		}
	}
	if at < 0 {
		num, ok := strings.CutPrefix(c.in.ID, "cell-")
		if i, err := strconv.Atoi(num); ok && err == nil && i >= 0 && i < n.count() {
			at = i
		}
	}
	if at < 0 {
		return 0, fmt.Errorf("there is no cell with the id %q among its %s", c.in.ID, text.Plural(n.count(), "cell"))
	}
	if c.in.Mode == "insert" {
		return at + 1, nil
	}
	if c.in.Index != nil && *c.in.Index != at {
		return 0, fmt.Errorf("cell_id %q is cell %d, but cell_index says %d: give one of them", c.in.ID, at, *c.in.Index)
	}
	return at, nil
}

func (c celling) change(n *ipynb, at int) (celled, error) {
	count := n.count()
	if at < count && c.in.Mode != "insert" {
		if c.in.Mode == "delete" {
			src, _ := n.source(at)
			kind := n.cellType(at)
			return celled{data: n.deleteCell(at), index: at, before: src, said: fmt.Sprintf("Deleted cell %d (%s).", at, kind)}, nil
		}
		return c.rewrite(n, at)
	}
	if at > count && c.in.Mode == "insert" || at >= count && c.in.Mode == "delete" {
		return celled{}, fmt.Errorf("there is no cell %d: the notebook has %s, counted from 0", at, text.Plural(count, "cell"))
	}
	if c.in.Mode == "replace" && c.in.Source == nil {
		return celled{}, fmt.Errorf("there is no cell %d whose type could be changed: the notebook has %s, counted from 0; give new_source for a new cell", at, text.Plural(count, "cell"))
	}
	return c.grow(n, at)
}

// rewrite gives a cell another source.
func (c celling) rewrite(n *ipynb, at int) (celled, error) {
	kind, src := n.cellType(at), c.src
	if c.in.Type != "" {
		kind = c.in.Type
	}
	if kind == "" {
		kind = codeCell
	}
	before, _ := n.source(at)
	verb := "Replaced"
	switch {
	case c.in.Source == nil && kind == n.cellType(at):
		return celled{}, fmt.Errorf("cell %d is of the type %s already; give new_source to change what it holds", at, kind)
	case c.in.Source == nil:
		src, verb = before, "Changed the type of"
	case c.in.Mode == "append":
		src, verb = before+src, "Appended to"
	}
	data, err := n.setCell(at, kind, src)
	if err != nil {
		return celled{}, err
	}
	said := fmt.Sprintf("%s cell %d (%s)", verb, at, kind)
	if out, ok := n.cells.kids[at].member("outputs"); ok && len(out.kids) > 0 {
		said += "; its outputs were cleared"
	}
	return celled{data: data, index: at, before: before, after: src, said: said + "."}, nil
}

// grow puts a new cell at an index, with empty ones before it where it lies
// behind the end.
func (c celling) grow(n *ipynb, at int) (celled, error) {
	kind := c.in.Type
	if kind == "" {
		kind = codeCell
	}
	pad := max(0, at-n.count())
	if pad > maxPadding {
		return celled{}, fmt.Errorf("cell %d lies too far behind the last: the notebook has %s, counted from 0", at, text.Plural(n.count(), "cell"))
	}
	for i := n.count(); i < at; i++ {
		data, err := n.insertCell(i, codeCell, "")
		if err != nil {
			return celled{}, err
		}
		if n, err = parseNotebook(data); err != nil {
			return celled{}, err
		}
	}
	data, err := n.insertCell(at, kind, c.src)
	said := fmt.Sprintf("Inserted cell %d (%s).", at, kind)
	if pad > 0 {
		said += fmt.Sprintf(" Before it %s added.", text.Plural(pad, "empty cell"))
	}
	return celled{data: data, index: at, after: c.src, said: said}, err
}
