package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

// draft is a file as a call wants to leave it, worked out in memory.
type draft struct {
	place workspace.Place
	info  fs.FileInfo // nil when there was nothing
	old   []byte      // content on disk
	data  []byte      // content to be
	gone  bool        // there is to be nothing
	from  *draft      // the file moved here
	to    *draft      // where the file is moved
	note  []string    // sentences for the result
}

// exists reports whether the draft stands for a file at this point of a call.
func (d *draft) exists() bool {
	return !d.gone && (d.info != nil || d.from != nil || d.data != nil)
}

// changed reports whether anything has to be done on disk.
func (d *draft) changed() bool {
	switch {
	case d.from != nil:
		return true
	case d.info == nil:
		return d.exists()
	}
	return d.gone || string(d.old) != string(d.data)
}

// batch is the files of one call, changed all or not at all.
type batch struct {
	s      set
	tool   string
	drafts []*draft // in the order of the call
	bytes  int64    // read so far
	limit  int64    // bytes that may be read
	peek   bool     // only to look at: nothing is locked
	unlock []func()
}

// open locks the files at places and reads them. What is locked stays so until
// close; the order of locking is the same for all calls, so that two of them
// never wait for each other.
func (b *batch) open(places []workspace.Place) error {
	if !b.peek {
		b.lock(places)
	}
	for _, p := range places {
		if b.find(p) != nil {
			continue
		}
		d := &draft{place: p}
		data, info, err := b.s.ws.ReadFile(p, min(editLimit, b.limit-b.bytes))
		var large *workspace.SizeError
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.As(err, &large):
			return fmt.Errorf("%s has %s bytes; %s takes at most %s in one file and %s in all: use a command such as sed",
				p.Path, text.Number(int(large.Size)), b.tool, text.Number(editLimit), text.Number(int(b.limit)))
		case err != nil:
			return b.s.explain(p, err)
		default:
			if other := b.twin(p, info); other != nil {
				return fmt.Errorf("%s and %s are two names of one file (a hard link); change it by one of them", other.place.Path, p.Path)
			}
			d.info, d.old, d.data = info, data, data
			b.bytes += int64(len(data))
		}
		b.drafts = append(b.drafts, d)
	}
	return nil
}

func (b *batch) lock(places []workspace.Place) {
	sorted := slices.Clone(places)
	slices.SortFunc(sorted, func(a, b workspace.Place) int { return strings.Compare(a.Real, b.Real) })
	for i, p := range sorted {
		if i == 0 || p.Real != sorted[i-1].Real {
			b.unlock = append(b.unlock, b.s.ws.Lock(p))
		}
	}
}

func (b *batch) close() {
	for _, f := range b.unlock {
		f()
	}
	b.unlock = nil
}

// find returns the draft of a file, by whatever links it is named.
func (b *batch) find(p workspace.Place) *draft {
	for _, d := range b.drafts {
		if d.place.Real == p.Real {
			return d
		}
	}
	return nil
}

// twin returns the draft of the same file under another name. The same name in
// another case is none: that is how such a name is changed.
func (b *batch) twin(p workspace.Place, info fs.FileInfo) *draft {
	for _, d := range b.drafts {
		if d.info != nil && os.SameFile(d.info, info) && !strings.EqualFold(d.place.Real, p.Real) {
			return d
		}
	}
	return nil
}

// commit writes what has changed. When one file fails, those before it are put
// back, and the error says whether that worked.
func (b *batch) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := journal{ws: b.s.ws}
	for _, d := range b.drafts {
		if !d.changed() || d.gone {
			continue
		}
		if err := j.put(d); err != nil {
			return j.back(err)
		}
	}
	for _, d := range b.drafts {
		if d.gone && d.to == nil && d.info != nil {
			if err := j.remove(d); err != nil {
				return j.back(err)
			}
		}
	}
	if left := j.finish(); left != "" {
		last := b.drafts[len(b.drafts)-1]
		last.note = append(last.note, left)
	}
	return nil
}

// reads is the change of state that says the model knows the new contents.
func (b *batch) reads() oh.StateChanged {
	read := map[string]string{}
	for _, d := range b.drafts {
		if d.exists() {
			read[d.place.Real] = workspace.Hash(d.data)
		}
	}
	return oh.StateChanged{Read: read}
}

// diff shows all changes: of one file without a header, of several as one text
// with the two lines that name each file.
func (b *batch) diff(dir string) oh.Diff {
	var list []oh.Diff
	var heads []string
	for _, d := range b.drafts {
		if !d.changed() || d.gone && d.to != nil {
			continue
		}
		before, after := d.old, d.data
		from, to := d.place.Path, d.place.Path
		if d.from != nil {
			before, from = d.from.old, d.from.place.Path
		}
		from, to = workspace.Show(dir, from), workspace.Show(dir, to)
		if d.gone {
			after, to = nil, "/dev/null"
		} else if d.info == nil && d.from == nil {
			from = "/dev/null"
		}
		list = append(list, diff(d.place.Path, before, after))
		heads = append(heads, "--- "+from+"\n+++ "+to+"\n")
	}
	if len(list) == 1 {
		return list[0]
	}
	sum := oh.Diff{Path: text.Plural(len(list), "file")}
	var all strings.Builder
	for i, d := range list {
		sum.Added += d.Added
		sum.Removed += d.Removed
		if all.Len()+len(d.Unified) > 2*diffLimit {
			d.Unified = fmt.Sprintf("(too large to show: +%d -%d lines)\n", d.Added, d.Removed)
		}
		all.WriteString(heads[i] + d.Unified)
	}
	sum.Unified = all.String()
	return sum
}

// stale is a sentence about a file that is not as the model saw it last; "".
func (d *draft) stale(env *oh.Env) string {
	if d.info == nil {
		return ""
	}
	if read, same := known(env, d.place, d.old, d.info); read && !same {
		return "The file had changed since it was read; the change was applied to what is there now."
	}
	return ""
}
