package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

const (
	quietFresh = 150 * time.Millisecond // after a report, until it counts as the last
	quietMoved = 400 * time.Millisecond // the same, when only other files have changed
	maxMessage = 500                    // code points
)

// ErrLate says that a server did not speak about a file in time.
var ErrLate = errors.New("the language server has not checked the file in time")

// Severity is how bad a Diagnostic is, as the protocol counts it.
type Severity int

// The severities.
const (
	Error       Severity = 1
	Warning     Severity = 2
	Information Severity = 3
	Hint        Severity = 4
)

// String names the severity. One that a server leaves out counts as an error.
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Information:
		return "info"
	case Hint:
		return "hint"
	default:
		return "error"
	}
}

// Diagnostic is what a server found wrong at a place.
type Diagnostic struct {
	Path         string // absolute, links resolved
	Line, Column int    // from 1; the column in characters
	Severity     Severity
	Code         string // "" when there is none
	Source       string // who found it, such as compiler; "" when it is not said
	Message      string // clean, at most 500 characters
}

// Diagnostics returns what the server for a file says about it as it is now on
// disk, worst first. It starts the server if need be and waits for its word at
// most for wait; then the error is [ErrLate], and what was known is returned.
// The path is absolute.
func (p *Pool) Diagnostics(ctx context.Context, path string, wait time.Duration) ([]Diagnostic, error) {
	place, err := p.ws.Locate("", path)
	if err != nil {
		return nil, err
	}
	c, err := p.client(ctx, place.Real)
	if err != nil {
		return nil, err
	}
	return c.diagnostics(ctx, place, wait)
}

func (c *client) diagnostics(ctx context.Context, p workspace.Place, wait time.Duration) ([]Diagnostic, error) {
	v, err := c.open(ctx, p)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if c.caps.Diagnostic {
		var res struct {
			Items []protocolDiagnostic `json:"items"`
		}
		if err := c.call(limited, "textDocument/diagnostic", map[string]any{"textDocument": docID{URI: toURI(p.Real)}}, &res); err != nil {
			return nil, lateness(ctx, err)
		}
		return readable(p.Real, v.source, res.Items), nil
	}
	r, err := c.report(limited, p.Real, v)
	return readable(p.Real, v.source, r.items), lateness(ctx, err)
}

// lateness tells the end of a wait from the end of the caller's context.
func lateness(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return ErrLate
	}
	return err
}

// report waits until the server has spoken about a document as it is, and then
// for a little silence: servers report syntax first and types later.
func (c *client) report(ctx context.Context, real string, v view) (report, error) {
	quiet := time.Duration(0)
	switch {
	case v.fresh:
		quiet = quietFresh
	case v.moved:
		quiet = quietMoved
	}
	for {
		r, changed := c.lastReport(real)
		var silence <-chan time.Time
		if r.number > v.mark && (r.version == 0 || r.version >= v.version) {
			if quiet == 0 {
				return r, nil
			}
			timer := time.NewTimer(quiet)
			defer timer.Stop()
			silence = timer.C
		}
		select {
		case <-silence:
			return r, nil
		case <-changed:
		case <-c.conn.Done():
			return r, c.wording(c.conn.Err())
		case <-ctx.Done():
			if silence != nil {
				return r, nil // it has spoken, if not to the end
			}
			return r, ctx.Err()
		}
	}
}

func (c *client) lastReport(real string) (report, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reports[real], c.changed
}

// allReports returns what the server last said about every file.
func (c *client) allReports() map[string]report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.reports)
}

// publish notes what the server says about a file.
func (c *client) publish(params []byte) {
	in, ok := decodeReport(params)
	if !ok {
		return
	}
	path, ok := fromURI(in.URI)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told++
	if _, known := c.reports[path]; known || len(c.reports) < maxReports {
		c.reports[path] = report{c.told, in.Version, in.Diagnostics[:min(len(in.Diagnostics), maxPerReport)]}
	}
	c.announce()
}

// reported is how many reports there were.
func (c *client) reported() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told
}

type publication struct {
	URI         string               `json:"uri"`
	Version     int                  `json:"version"`
	Diagnostics []protocolDiagnostic `json:"diagnostics"`
}

func decodeReport(params []byte) (publication, bool) {
	var in publication
	err := json.Unmarshal(params, &in)
	return in, err == nil
}

// readable turns the server's words into ours. src is the file's text, or nil
// when it is not known.
func readable(path string, src *source, items []protocolDiagnostic) []Diagnostic {
	out := make([]Diagnostic, 0, len(items))
	for _, d := range items {
		g := Diagnostic{
			Path: path, Line: d.Range.Start.Line + 1, Column: d.Range.Start.Character + 1,
			Severity: d.Severity, Code: code(d.Code), Source: named(d.Source),
			Message: text.OneLine(text.Clean(d.Message), maxMessage),
		}
		if g.Severity < Error || g.Severity > Hint {
			g.Severity = Error
		}
		if src != nil {
			g.Column = src.column(d.Range.Start)
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		if a.Severity != b.Severity {
			return int(a.Severity - b.Severity)
		}
		return a.Line - b.Line
	})
	return out
}

// code is a diagnostic's code, which may be a string or a number.
func code(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return text.OneLine(text.Clean(s), 60)
}

// label is who found it and under which code.
func (d Diagnostic) label() string {
	s := strings.TrimSpace(d.Source + " " + d.Code)
	if s == "" {
		return ""
	}
	return " [" + s + "]"
}

// diagnostics answers the operation of that name.
func (q *query) diagnostics(ctx context.Context) (oh.Result, error) {
	c, err := q.pool.client(ctx, q.place.Real)
	if err != nil {
		return oh.Result{}, err
	}
	limit := q.pool.waits.ask
	busy := c.idle(ctx, c.spec.startup(q.pool.cfg.Startup))
	list, err := c.diagnostics(ctx, q.place, limit)
	switch {
	case errors.Is(err, ErrLate) && len(list) == 0:
		q.note(fmt.Sprintf("%s said nothing about the file within %s.", c.spec.Name, limit))
	case errors.Is(err, ErrLate):
		q.note(fmt.Sprintf("%s did not finish within %s: this may be out of date.", c.spec.Name, limit))
	case err != nil:
		return oh.Result{}, err
	}
	if busy {
		q.note(c.spec.Name + " is still reading the project: results may be incomplete.")
	}
	var b strings.Builder
	for _, d := range list[:min(len(list), maxHits)] {
		fmt.Fprintf(&b, "%s - %s:%d:%d: %s%s\n", d.Severity, q.show(d.Path), d.Line, d.Column, d.Message, d.label())
	}
	if len(list) > maxHits {
		q.note(fmt.Sprintf("%d of %d shown.", maxHits, len(list)))
	}
	body := strings.TrimSuffix(b.String(), "\n")
	if body == "" {
		body = "(no diagnostics)"
	}
	res := q.finish(body)
	res.Display = oh.Count{N: len(list), Unit: "diagnostic", In: filepath.Base(q.place.Path)}
	res.Meta = meta(map[string]any{"count": len(list)})
	return res, nil
}
