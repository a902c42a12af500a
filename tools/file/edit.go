package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type editInput struct {
	Path string `json:"path"`
	Old  string `json:"old_str"`
	New  string `json:"new_str"`
	All  bool   `json:"replace_all,omitempty" oh:"default=false"`
}

func (s set) edit(_ context.Context, call *oh.Call, in editInput) (oh.Action, error) {
	if err := halfChar(call.Input); err != nil {
		return oh.Action{}, err
	}
	p, err := s.ws.Locate(call.Env.Dir, in.Path)
	if err != nil {
		return oh.Action{}, err
	}
	ed := edit{in.Old, in.New, in.All}
	if err := ed.validate(); err != nil {
		return oh.Action{}, err
	}
	act := oh.Action{
		Access: oh.Access{Paths: []oh.PathUse{{Path: p.Path, Write: true}}},
		Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
			if err := ctx.Err(); err != nil {
				return oh.Result{}, err
			}
			res, hash, err := s.editFile(call.Env, p, ed)
			if err == nil {
				emit(seen(p, hash))
			}
			return res, err
		},
	}
	if old, _, err := s.ws.ReadFile(p, previewLimit); err == nil {
		if out, err := ed.apply(old); err == nil {
			act.Preview = diff(p.Path, old, out.data)
		}
	}
	return act, nil
}

func (s set) editFile(env *oh.Env, p workspace.Place, ed edit) (oh.Result, string, error) {
	defer s.ws.Lock(p)()
	old, info, err := s.ws.ReadFile(p, editLimit)
	var large *workspace.SizeError
	switch {
	case errors.As(err, &large):
		return oh.Result{}, "", fmt.Errorf("%s has %s bytes; edit_file takes at most %s: use a command such as sed",
			p.Path, text.Number(int(large.Size)), text.Number(editLimit))
	case errors.Is(err, fs.ErrNotExist):
		return oh.Result{}, "", fmt.Errorf("%w; write_file creates files", s.explain(p, err))
	case err != nil:
		return oh.Result{}, "", s.explain(p, err)
	}
	out, err := ed.apply(old)
	if err != nil {
		return oh.Result{}, "", fmt.Errorf("%s was not changed: %w", p.Path, err)
	}
	done, err := s.ws.WriteFile(p, out.data, workspace.WriteOptions{})
	if err != nil {
		return oh.Result{}, "", err
	}
	d := diff(p.Path, old, out.data)
	msg := fmt.Sprintf("Edited %s: %s at line %s (+%d -%d lines).", p.Path, text.Plural(out.n, "replacement"), lineList(out.lines, out.n), d.Added, d.Removed)
	if out.loose != "" {
		msg += " old_str matched only " + out.loose + "."
	}
	if read, same := known(env, p, old, info); read && !same {
		msg += " The file had changed since it was read; the edit was applied to what is there now."
	}
	if done.InPlace != "" {
		msg += " Written in place: " + done.InPlace + "."
	}
	res := oh.TextResult(msg)
	res.Display = d
	res.Meta = meta(map[string]any{"path": p.Path, "replacements": out.n, "added": d.Added, "removed": d.Removed})
	return res, workspace.Hash(out.data), nil
}

// edit replaces old by new, once or everywhere.
type edit struct {
	old, new string
	all      bool
}

// edited is the outcome of an edit.
type edited struct {
	data  []byte
	n     int    // replacements
	lines []int  // where the first of them begin, from 1, in the old content
	loose string // how the match differed, "" when it was exact
}

func (e edit) validate() error {
	switch {
	case e.old == "":
		return errors.New("old_str is empty: give the text to replace; write_file creates files")
	case e.old == e.new:
		return errors.New("old_str and new_str are the same, so there is nothing to change")
	case unix(e.old) == unix(e.new):
		return errors.New("old_str and new_str differ only in line endings, which edit_file keeps as they are in the file; convert a file with a command")
	}
	return noNUL("new_str", e.new)
}

// apply makes the edit in the content of a file. Bytes outside of what changes
// are kept whatever they are.
func (e edit) apply(data []byte) (edited, error) {
	if err := e.validate(); err != nil {
		return edited{}, err
	}
	set := workspace.Sniff(data, true)
	mark := set.Mark()
	e.old, e.new = strings.TrimPrefix(e.old, "\ufeff"), strings.TrimPrefix(e.new, "\ufeff")
	if e.old == "" {
		return edited{}, errors.New("old_str is nothing but a byte order mark")
	}
	switch set {
	case workspace.Binary:
		return edited{}, errors.New("it is a binary file")
	case workspace.UTF16LE, workspace.UTF16BE:
		s, ok := workspace.DecodeUTF16(data, set)
		if !ok {
			return edited{}, fmt.Errorf("it is %s with broken characters, which an edit would lose", set)
		}
		out, err := e.replace(s)
		if err != nil {
			return edited{}, err
		}
		enc, ok := set.Encode(string(out.data))
		if !ok {
			return edited{}, errors.New("new_str is not valid text")
		}
		out.data = concat(mark, enc)
		return out, nil
	case workspace.CP1252:
		if err := e.encode(set); err != nil {
			return edited{}, err
		}
	}
	out, err := e.replace(string(data[len(mark):]))
	out.data = concat(mark, out.data)
	return out, err
}

// encode turns the texts into the bytes of a one-byte charset.
func (e *edit) encode(set workspace.Charset) error {
	old, ok := set.Encode(e.old)
	if !ok {
		return fmt.Errorf("the file is not UTF-8 but %s, which lacks some characters of old_str, so that it cannot occur", set)
	}
	repl, ok := set.Encode(e.new)
	if !ok {
		return fmt.Errorf("the file is not UTF-8 but %s, which lacks some characters of new_str; convert the file first", set)
	}
	e.old, e.new = string(old), string(repl)
	return nil
}

func concat(a, b []byte) []byte {
	out := make([]byte, 0, len(a)+len(b))
	return append(append(out, a...), b...)
}

// listed is how many line numbers a message names.
const listed = 10

// lineList writes line numbers, the first of so many in all.
func lineList(lines []int, of int) string {
	var b strings.Builder
	for i, n := range lines[:min(len(lines), listed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if of > listed {
		fmt.Fprintf(&b, " and %d more", of-listed)
	}
	return b.String()
}
