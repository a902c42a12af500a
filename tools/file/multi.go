package file

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type multiInput struct {
	Path  string      `json:"path,omitempty"`
	Edits []multiEdit `json:"edits" oh:"minItems=1"`
}

type multiEdit struct {
	Path string `json:"path,omitempty"`
	Old  string `json:"old_str"`
	New  string `json:"new_str"`
	All  bool   `json:"replace_all,omitempty"`
}

// batchLimit bounds the files of one call together, in bytes.
const batchLimit = 256 << 20

func (s set) multi(_ context.Context, call *oh.Call, in multiInput) (oh.Action, error) {
	if err := halfChar(call.Input); err != nil {
		return oh.Action{}, err
	}
	m := multi{s: s, env: call.Env}
	for i, e := range in.Edits {
		path := e.Path
		if path == "" {
			path = in.Path
		}
		if path == "" {
			return oh.Action{}, fmt.Errorf("edits[%d] has no path, and the call gives none for all: set path", i)
		}
		p, err := s.ws.Locate(call.Env.Dir, path)
		if err != nil {
			return oh.Action{}, fmt.Errorf("edits[%d]: %w", i, err)
		}
		ed := edit{e.Old, e.New, e.All}
		if err := ed.validate(); err != nil {
			return oh.Action{}, fmt.Errorf("edits[%d]: %w", i, err)
		}
		m.places = append(m.places, p)
		m.edits = append(m.edits, ed)
	}
	act := oh.Action{Access: oh.Access{Paths: writes(m.places)}, Run: m.run}
	pre := batch{s: s, tool: "multi_edit", limit: previewLimit, peek: true}
	if _, err := m.apply(&pre); err == nil {
		act.Preview = pre.diff(call.Env.Dir)
	}
	return act, nil
}

// writes declares places as written, each once.
func writes(places []workspace.Place) []oh.PathUse {
	var list []oh.PathUse
	seen := map[string]bool{}
	for _, p := range places {
		if !seen[p.Path] {
			seen[p.Path] = true
			list = append(list, oh.PathUse{Path: p.Path, Write: true})
		}
	}
	return list
}

// multi is one call of multi_edit: edits, and the place of each.
type multi struct {
	s      set
	env    *oh.Env
	places []workspace.Place
	edits  []edit
}

// tally counts what edits did in one file.
type tally struct {
	n     int
	lines []int
}

func (m multi) run(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
	b := batch{s: m.s, tool: "multi_edit", limit: batchLimit}
	defer b.close()
	counts, err := m.apply(&b)
	if err != nil {
		return oh.Result{}, fmt.Errorf("%w (nothing was changed)", err)
	}
	if err := b.commit(ctx); err != nil {
		return oh.Result{}, err
	}
	res := m.result(&b, counts)
	emit(b.reads())
	return res, nil
}

// apply makes the edits in memory.
func (m multi) apply(b *batch) (map[*draft]*tally, error) {
	if err := b.open(m.places); err != nil {
		return nil, err
	}
	counts := map[*draft]*tally{}
	for i, ed := range m.edits {
		d := b.find(m.places[i])
		if d.info == nil {
			err := m.s.explain(d.place, fs.ErrNotExist)
			return nil, fmt.Errorf("edits[%d]: %w; write_file creates files", i, err)
		}
		out, err := ed.apply(d.data)
		if err != nil {
			after := ""
			if counts[d] != nil {
				after = " as the edits before leave it"
			}
			return nil, fmt.Errorf("edits[%d] in %s%s: %w", i, d.place.Path, after, err)
		}
		d.data = out.data
		if counts[d] == nil {
			counts[d] = &tally{}
		}
		counts[d].n += out.n
		counts[d].lines = append(counts[d].lines, out.lines...)
		if out.loose != "" {
			d.note = append(d.note, fmt.Sprintf("edits[%d] matched only %s.", i, out.loose))
		}
	}
	return counts, nil
}

func (m multi) result(b *batch, counts map[*draft]*tally) oh.Result {
	var msg []string
	var files []map[string]any
	for _, d := range b.drafts {
		c, own := counts[d], diff(d.place.Path, d.old, d.data)
		line := fmt.Sprintf("Edited %s: %s at line %s (+%d -%d lines).", d.place.Path, text.Plural(c.n, "replacement"), lineList(c.lines, c.n), own.Added, own.Removed)
		if !d.changed() {
			line = fmt.Sprintf("%s is as it was: the edits cancel each other.", d.place.Path)
		}
		if s := d.stale(m.env); s != "" {
			d.note = append(d.note, s)
		}
		msg = append(msg, strings.Join(append([]string{line}, d.note...), " "))
		files = append(files, map[string]any{"path": d.place.Path, "replacements": c.n, "added": own.Added, "removed": own.Removed})
	}
	res := oh.TextResult(strings.Join(msg, "\n"))
	res.Display = b.diff(m.env.Dir)
	res.Meta = meta(map[string]any{"files": files})
	return res
}
