package image

import (
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

// save writes the images and tells what became of each. What cannot be written
// where it belongs is kept among the artifacts: it is paid for.
func (d drawing) save(m made) (oh.Result, error) {
	var lines, paths []string
	failed := false
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i, data := range m.images {
		if i >= len(d.outputs) {
			say("The service sent %s more than were asked for; they were dropped.", text.Plural(len(m.images)-i, "image"))
			break
		}
		p := d.outputs[i]
		path, err := p.Path, d.write(p, data)
		if err != nil {
			failed = true
			if path = d.keep(data); path == "" {
				say("%v; the image is lost", err)
				continue
			}
			say("%v; the image is kept in %s", err, path)
		} else {
			say("Wrote %s%s", path, oddity(data, d.in.Format))
		}
		paths = append(paths, path)
	}
	for _, link := range m.links {
		failed = true
		say("The service sent an address instead of an image; it can be fetched there for a while: %s", link)
	}
	if n := len(m.images) + len(m.links); n < d.in.N {
		say("The service made only %d of %d images.", n, d.in.N)
	}
	if m.words != "" {
		say("The service changed the prompt to: %s", m.words)
	}
	head := fmt.Sprintf("%s made %s.\n", d.in.Model, text.Plural(len(m.images)+len(m.links), "image"))
	res := oh.Result{Content: oh.Blocks{oh.Text{Text: head + strings.Join(lines, "\n")}}, IsError: failed, Display: oh.Tree{Paths: paths}}
	meta, err := oh.Marshal(map[string]any{"model": d.in.Model, "paths": append([]string{}, paths...)})
	if err != nil {
		return oh.Result{}, err
	}
	res.Meta = meta
	return res, nil
}

func (d drawing) write(p workspace.Place, data []byte) error {
	defer d.cfg.Workspace.Lock(p)()
	_, err := d.cfg.Workspace.WriteFile(p, data, workspace.WriteOptions{Parents: true, New: !d.in.Overwrite})
	if err != nil {
		return fmt.Errorf("%s could not be written: %w", p.Path, err)
	}
	return nil
}

// keep puts an image among the artifacts and returns its path, "" when that
// cannot be done.
func (d drawing) keep(data []byte) string {
	if d.env.Artifacts == nil {
		return ""
	}
	a, err := d.env.Artifacts.Create(drawName)
	if err != nil {
		return ""
	}
	_, err = a.Write(data)
	if closed := a.Close(); err != nil || closed != nil {
		return ""
	}
	return a.Path()
}

// oddity says what is strange about an image that is not of its format.
func oddity(data []byte, format string) string {
	switch kind := strings.TrimPrefix(kindOf(data), "image/"); kind {
	case format:
		return ""
	case "":
		return " (it does not begin like an image)"
	default:
		return " (the service sent " + kind + " all the same)"
	}
}
