package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type patchInput struct {
	Patch string `json:"patch"`
}

func (s set) patch(_ context.Context, call *oh.Call, in patchInput) (oh.Action, error) {
	if err := halfChar(call.Input); err != nil {
		return oh.Action{}, err
	}
	sections, err := parsePatch(in.Patch)
	if err != nil {
		return oh.Action{}, err
	}
	p := patching{s: s, env: call.Env}
	for _, sec := range sections {
		step := step{section: sec}
		if step.at, err = p.place(sec.path, sec.line); err != nil {
			return oh.Action{}, err
		}
		if sec.move != "" {
			if step.to, err = p.place(sec.move, sec.line+1); err != nil {
				return oh.Action{}, err
			}
		}
		p.steps = append(p.steps, step)
	}
	act := oh.Action{Access: oh.Access{Paths: writes(p.places)}, Run: p.run}
	pre := batch{s: s, tool: "apply_patch", limit: previewLimit, peek: true}
	if p.plan(&pre) == nil {
		act.Preview = pre.diff(call.Env.Dir)
	}
	return act, nil
}

// patching is one call of apply_patch.
type patching struct {
	s      set
	env    *oh.Env
	steps  []step
	places []workspace.Place
}

// step is a section with its places.
type step struct {
	section
	at, to workspace.Place
}

func (p *patching) place(path string, line int) (workspace.Place, error) {
	if err := isFile(path); err != nil {
		return workspace.Place{}, fmt.Errorf("line %d of the patch: %w", line, err)
	}
	at, err := p.s.ws.Locate(p.env.Dir, path)
	if err != nil {
		return at, fmt.Errorf("line %d of the patch: %w", line, err)
	}
	p.places = append(p.places, at)
	return at, nil
}

func (p *patching) run(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
	b := batch{s: p.s, tool: "apply_patch", limit: batchLimit}
	defer b.close()
	if err := p.plan(&b); err != nil {
		return oh.Result{}, fmt.Errorf("%w (nothing was changed)", err)
	}
	if err := b.commit(ctx); err != nil {
		return oh.Result{}, err
	}
	res := p.result(&b)
	emit(b.reads())
	return res, nil
}

// plan works out all files in memory.
func (p *patching) plan(b *batch) error {
	if err := b.open(p.places); err != nil {
		return err
	}
	for _, st := range p.steps {
		d := b.find(st.at)
		var err error
		switch {
		case d.to != nil:
			err = fmt.Errorf("%s was moved away further up in the patch; use its new name", st.path)
		case st.op == addFile:
			err = p.add(d, st.content)
		case !d.exists() && d.info != nil:
			err = fmt.Errorf("%s was deleted further up in the patch", st.path)
		case !d.exists():
			err = p.s.explain(st.at, fs.ErrNotExist)
		case st.op == deleteFile:
			err = drop(d)
		default:
			err = p.update(b, d, st)
		}
		if err != nil {
			return fmt.Errorf("line %d of the patch: %w", st.line, err)
		}
	}
	return nil
}

// add makes a file, or replaces one that the model knows.
func (p *patching) add(d *draft, content string) error {
	if d.exists() && d.info == nil {
		return fmt.Errorf("%s comes from further up in the patch; give its content once", d.place.Path)
	}
	if d.exists() {
		if err := mayReplace(p.env, d.place, d.old, d.info, content); err != nil {
			return fmt.Errorf("%w; to change it use *** Update File:", err)
		}
	}
	data, kept, err := keepForm(d.old, content)
	if err != nil {
		return err
	}
	if kept != "" {
		d.note = append(d.note, "Kept its "+kept+".")
	}
	d.data, d.gone = data, false
	return nil
}

func drop(d *draft) error {
	if d.from != nil || d.info == nil {
		return fmt.Errorf("%s comes from further up in the patch and cannot be deleted in the same one", d.place.Path)
	}
	d.gone = true
	return nil
}

func (p *patching) update(b *batch, d *draft, st step) error {
	out, notes, err := applyHunks(d.data, st.hunks)
	if err != nil {
		return fmt.Errorf("%s: %w", st.at.Path, err)
	}
	d.data = out
	d.note = append(d.note, notes...)
	if st.move == "" || st.to.Real == st.at.Real && st.to.Path == st.at.Path {
		return nil
	}
	return move(d, b.find(st.to))
}

// move makes a draft's file that of another name.
func move(d, to *draft) error {
	switch info, err := os.Lstat(d.place.Path); {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link to %s; move that, or make a new link with a command", d.place.Path, d.place.Real)
	case d == to:
		return fmt.Errorf("%s leads to the file itself", to.place.Path)
	case d.info == nil:
		return fmt.Errorf("%s comes from further up in the patch; give it its name there", d.place.Path)
	case to.exists() && !(to.info != nil && os.SameFile(to.info, d.info) && strings.EqualFold(to.place.Real, d.place.Real)):
		return fmt.Errorf("%s exists already; delete it first, in a patch of its own, if it is to be replaced", to.place.Path)
	case to.gone:
		return errors.New("a file cannot be moved to where one is deleted in the same patch")
	}
	to.from, to.data, to.note = d, d.data, d.note
	d.to, d.gone, d.note = to, true, nil
	return nil
}

func (p *patching) result(b *batch) oh.Result {
	var msg []string
	var files []map[string]any
	for _, d := range b.drafts {
		if d.to != nil || !d.exists() && d.info == nil {
			continue
		}
		line, action, own := d.tell()
		base := d
		if d.from != nil {
			base = d.from
		}
		if s := base.stale(p.env); s != "" {
			d.note = append(d.note, s)
		}
		msg = append(msg, strings.Join(append([]string{line}, d.note...), " "))
		files = append(files, map[string]any{"path": d.place.Path, "action": action, "added": own.Added, "removed": own.Removed})
	}
	res := oh.TextResult(strings.Join(msg, "\n"))
	res.Display = b.diff(p.env.Dir)
	res.Meta = meta(map[string]any{"files": files})
	return res
}

// tell says what became of a file.
func (d *draft) tell() (line, action string, own oh.Diff) {
	path := d.place.Path
	switch {
	case d.gone:
		own = diff(path, d.old, nil)
		return fmt.Sprintf("Deleted %s (%s).", path, text.Plural(lineCount(string(d.old)), "line")), "delete", own
	case d.from != nil:
		own = diff(path, d.from.old, d.data)
		return fmt.Sprintf("Moved %s to %s (+%d -%d lines).", d.from.place.Path, path, own.Added, own.Removed), "move", own
	case d.info == nil:
		own = diff(path, nil, d.data)
		return fmt.Sprintf("Added %s (%s).", path, text.Plural(lineCount(string(d.data)), "line")), "add", own
	case !d.changed():
		return path + " is as it was.", "none", oh.Diff{Path: path}
	}
	own = diff(path, d.old, d.data)
	return fmt.Sprintf("Updated %s (+%d -%d lines).", path, own.Added, own.Removed), "update", own
}
