package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

const (
	maxAttached = 10
	maxWatched  = 20 // files of one edit that are looked at
)

// Attach returns a tool that does what t does, and appends to the result of a
// successful edit what errors it brought, at most 10, in the edited files and
// in others. Only servers that run already are asked, for 1.5 seconds at most:
// an edit starts none.
func (p *Pool) Attach(t oh.Tool) oh.Tool { return &attached{t, p} }

type attached struct {
	tool oh.Tool
	pool *Pool
}

// Name is the name of the tool; see [oh.ToolName].
func (a *attached) Name() string { return oh.ToolName(a.tool) }

// Spec implements [oh.Tool].
func (a *attached) Spec() oh.ToolSpec { return a.tool.Spec() }

// Prepare implements [oh.Tool].
func (a *attached) Prepare(ctx context.Context, call *oh.Call) (oh.Action, error) {
	act, err := a.tool.Prepare(ctx, call)
	if err != nil || act.Access.ReadOnly {
		return act, err
	}
	run, q := act.Run, &query{dir: call.Env.Dir, real: call.Env.Dir}
	if real, err := workspace.Resolve(q.dir); err == nil {
		q.real = real
	}
	act.Run = func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
		edits := a.pool.edits(act.Access.Paths)
		if len(edits) == 0 {
			return run(ctx, emit)
		}
		spent := edits.before(ctx, a.pool.waits.before)
		res, err := run(ctx, emit)
		if err != nil || res.IsError || ctx.Err() != nil {
			return res, err
		}
		if list := edits.after(ctx, a.pool.waits.attach-spent); len(list) > 0 {
			res = withErrors(res, q.show, list)
		}
		return res, nil
	}
	return act, nil
}

// edits is the files of one edit by their servers.
type edits map[*client]*watched

// watched is what one server said before the edit.
type watched struct {
	places []workspace.Place
	before map[string]report
}

// edits finds the files that would be written and whose server runs.
func (p *Pool) edits(paths []oh.PathUse) edits {
	out := edits{}
	if len(p.living()) == 0 {
		return out
	}
	for _, use := range paths[:min(len(paths), maxWatched)] {
		if !use.Write || use.Tree {
			continue
		}
		place, err := p.ws.Locate("", use.Path)
		if err != nil {
			continue // the edit will say so
		}
		c := p.running(place.Real)
		if c == nil {
			continue
		}
		if out[c] == nil {
			out[c] = &watched{}
		}
		out[c].places = append(out[c].places, place)
	}
	return out
}

// before notes what is wrong already, and returns how long that took.
func (e edits) before(ctx context.Context, wait time.Duration) time.Duration {
	begun := time.Now()
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for c, w := range e {
		for _, p := range w.places {
			v, err := c.open(limited, p)
			if err == nil && v.fresh {
				_, _ = c.report(limited, p.Real, v) // what was not said in time is not known
			}
		}
		w.before = c.allReports()
	}
	return time.Since(begun)
}

// after waits for the servers' word on the new contents and returns the errors
// that were not there before, those of the edited files first.
func (e edits) after(ctx context.Context, wait time.Duration) []Diagnostic {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var own, other []Diagnostic
	for c, w := range e {
		views := map[string]view{}
		for _, p := range w.places {
			if v, err := c.open(limited, p); err == nil {
				views[p.Real] = v
			}
		}
		for path, v := range views {
			if r, err := c.report(limited, path, v); err == nil {
				own = append(own, newErrors(path, v.source, w.before[path].items, r.items)...)
			}
		}
		for path, r := range c.allReports() {
			if _, edited := views[path]; !edited && workspace.Below(c.root, path) && r.number > w.before[path].number {
				other = append(other, newErrors(path, nil, w.before[path].items, r.items)...)
			}
		}
	}
	for _, list := range [][]Diagnostic{own, other} {
		slices.SortFunc(list, func(a, b Diagnostic) int {
			if a.Path != b.Path {
				return strings.Compare(a.Path, b.Path)
			}
			return a.Line - b.Line
		})
	}
	return append(own, other...)
}

// newErrors returns the errors in now that are not in before. An edit moves
// lines: what says the same elsewhere is old, but the one that stands where it
// stood is matched first.
func newErrors(path string, src *source, before, now []protocolDiagnostic) []Diagnostic {
	left := map[string][]int{} // lines of old errors by what they say
	for _, d := range readable(path, nil, before) {
		if d.Severity == Error {
			left[d.says()] = append(left[d.says()], d.Line)
		}
	}
	var rest, out []Diagnostic
	for _, d := range readable(path, src, now) {
		if d.Severity != Error {
			continue
		}
		if i := slices.Index(left[d.says()], d.Line); i >= 0 {
			left[d.says()] = slices.Delete(left[d.says()], i, i+1)
			continue
		}
		rest = append(rest, d)
	}
	for _, d := range rest {
		if old := left[d.says()]; len(old) > 0 {
			left[d.says()] = old[1:]
			continue
		}
		out = append(out, d)
	}
	return out
}

// says is a diagnostic without its place.
func (d Diagnostic) says() string { return d.Source + "\x00" + d.Code + "\x00" + d.Message }

// withErrors appends errors to a result.
func withErrors(res oh.Result, show func(string) string, list []Diagnostic) oh.Result {
	var b strings.Builder
	b.WriteString("New errors after this edit:")
	for _, d := range list[:min(len(list), maxAttached)] {
		fmt.Fprintf(&b, "\n%s:%d:%d: %s%s", show(d.Path), d.Line, d.Column, d.Message, d.label())
	}
	if more := len(list) - maxAttached; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	res.Content = slices.Clone(res.Content)
	if n := len(res.Content); n > 0 {
		if t, ok := res.Content[n-1].(oh.Text); ok {
			t.Text += "\n" + b.String()
			res.Content[n-1] = t
			return withCount(res, len(list))
		}
	}
	res.Content = append(res.Content, oh.Text{Text: b.String()})
	return withCount(res, len(list))
}

// withCount notes the number of new errors in the metadata.
func withCount(res oh.Result, n int) oh.Result {
	m := map[string]any{}
	if len(res.Meta) > 0 && json.Unmarshal(res.Meta, &m) != nil {
		return res
	}
	m["new_errors"] = n
	res.Meta = meta(m)
	return res
}
