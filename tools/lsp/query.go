package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type input struct {
	Operation string `json:"operation" oh:"enum=document_symbol|workspace_symbol|go_to_definition|find_references|hover|rename|incoming_calls|outgoing_calls|diagnostics"`
	Path      string `json:"file_path,omitempty"`
	Symbol    string `json:"symbol,omitempty"`
	Line      int    `json:"line,omitempty" oh:"min=1"`
	Character int    `json:"character,omitempty" oh:"min=1"`
	Query     string `json:"query,omitempty"`
	NewName   string `json:"new_name,omitempty"`
}

// The operations.
const (
	opDocument    = "document_symbol"
	opWorkspace   = "workspace_symbol"
	opDefinition  = "go_to_definition"
	opReferences  = "find_references"
	opHover       = "hover"
	opRename      = "rename"
	opIncoming    = "incoming_calls"
	opOutgoing    = "outgoing_calls"
	opDiagnostics = "diagnostics"
)

// query is one call of the tool.
type query struct {
	pool  *Pool
	in    input
	dir   string          // of the conversation, absolute
	real  string          // the same, links resolved
	reads oh.ReadLog      // may be nil
	place workspace.Place // of file_path; zero without
	text  *reader
	notes []string
	fresh *opening // the last document that was new to its server
}

// opening is a document whose content a server has just been told.
type opening struct {
	client *client
	real   string
	view   view
}

// digestWait is how long a server may take to read a document that it said
// nothing about.
const digestWait = time.Second

// open brings a document up to date in a server.
func (q *query) open(ctx context.Context, c *client, p workspace.Place) (view, error) {
	v, err := c.open(ctx, p)
	if err == nil && v.fresh {
		q.fresh = &opening{c, p.Real, v}
	}
	return v, err
}

// digested waits until a server has read what it was just told; false when
// there was nothing.
func (q *query) digested(ctx context.Context, c *client) bool {
	f := q.fresh
	if f == nil || f.client != c {
		return false
	}
	q.fresh = nil
	limited, cancel := context.WithTimeout(ctx, digestWait)
	defer cancel()
	_, _ = c.report(limited, f.real, f.view) // its word on the document is the sign, not what it says
	return ctx.Err() == nil
}

// prepare does not ask a server what a rename would change, since starting one
// has effects: a rename declares all of the workspace.
func (p *Pool) prepare(_ context.Context, call *oh.Call, in input) (oh.Action, error) {
	in.Symbol, in.Query, in.NewName = strings.TrimSpace(in.Symbol), strings.TrimSpace(in.Query), strings.TrimSpace(in.NewName)
	if err := in.check(); err != nil {
		return oh.Action{}, err
	}
	q := &query{pool: p, in: in, dir: call.Env.Dir, real: call.Env.Dir, reads: call.Env.Reads, text: newReader(p.ws)}
	if real, err := workspace.Resolve(q.dir); err == nil {
		q.real = real
	}
	var err error
	if in.Path != "" {
		if q.place, err = p.ws.Locate(q.dir, in.Path); err != nil {
			return oh.Action{}, err
		}
	}
	act := oh.Action{Access: q.access(), Run: q.run}
	if in.Operation == opRename {
		act.Preview = oh.Markdown{Text: fmt.Sprintf("Rename %s to `%s` in all files of the project.", q.subject(), text.OneLine(in.NewName, 100))}
	}
	return act, nil
}

// check refuses what lacks a field that its operation needs.
func (in *input) check() error {
	switch in.Operation {
	case opDocument, opDiagnostics:
		if in.Path == "" {
			return fmt.Errorf("invalid input: %s needs file_path", in.Operation)
		}
		return nil
	case opWorkspace:
		if in.Query == "" {
			in.Query = in.Symbol
		}
		if in.Query == "" {
			return errors.New("invalid input: workspace_symbol needs query")
		}
		return nil
	case opRename:
		if in.NewName == "" {
			return errors.New("invalid input: rename needs new_name")
		}
	}
	switch {
	case in.Symbol == "" && (in.Path == "" || in.Line == 0):
		return fmt.Errorf("invalid input: %s needs file_path with line and character, or symbol", in.Operation)
	case in.Path == "" && in.Line > 0:
		return errors.New("invalid input: line needs file_path")
	}
	return nil
}

func (q *query) access() oh.Access {
	write := q.in.Operation == opRename
	a := oh.Access{ReadOnly: !write}
	if q.in.Path != "" {
		a.Paths = append(a.Paths, oh.PathUse{Path: q.place.Path, Write: write})
	}
	if q.in.Operation == opDocument || q.in.Operation == opDiagnostics {
		return a
	}
	for _, root := range q.folders() {
		a.Paths = append(a.Paths, oh.PathUse{Path: root, Write: write, Tree: true})
	}
	return a
}

// folders are where the project's files lie.
func (q *query) folders() []string {
	if roots := q.pool.ws.Roots(); len(roots) > 0 {
		return roots
	}
	return []string{q.real}
}

// subject names what is asked about, for people.
func (q *query) subject() string {
	switch {
	case q.in.Symbol != "":
		return "`" + text.OneLine(q.in.Symbol, 100) + "`"
	case q.in.Character > 0:
		return fmt.Sprintf("what is at %s:%d:%d", q.show(q.place.Real), q.in.Line, q.in.Character)
	}
	return fmt.Sprintf("what is at %s:%d", q.show(q.place.Real), q.in.Line)
}

func (q *query) run(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
	if err := ctx.Err(); err != nil {
		return oh.Result{}, err
	}
	if q.place.Real != "" {
		if _, _, err := q.pool.ws.ReadFile(q.place, docLimit); err != nil {
			return oh.Result{}, err
		}
	}
	res, err := q.ask(ctx, emit)
	var absent *absence
	if errors.As(err, &absent) {
		if ctx.Err() != nil {
			return oh.Result{}, ctx.Err()
		}
		return q.scan(ctx, absent)
	}
	return res, err
}

// ask takes the question to a server.
func (q *query) ask(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
	switch q.in.Operation {
	case opDocument:
		return q.document(ctx)
	case opWorkspace:
		return q.workspaceSymbols(ctx)
	case opDiagnostics:
		return q.diagnostics(ctx)
	case opDefinition:
		return q.definition(ctx)
	}
	t, err := q.target(ctx)
	if err != nil {
		return oh.Result{}, err
	}
	switch q.in.Operation {
	case opReferences:
		return q.references(ctx, t)
	case opHover:
		return q.hover(ctx, t)
	case opRename:
		return q.rename(ctx, t, emit)
	}
	return q.calls(ctx, t)
}

// patient asks a server that may still be reading the project: it is given the
// time of a start, and asked again when it had nothing to say while it read the
// project or the document. ask returns how much it found.
func (q *query) patient(ctx context.Context, c *client, ask func() (int, error)) error {
	limit := c.spec.startup(q.pool.cfg.Startup)
	busy := c.idle(ctx, limit)
	works := c.worked()
	n, err := ask()
	if err == nil && n == 0 && !busy && c.worked() != works {
		busy = c.idle(ctx, limit)
		n, err = ask()
	}
	if err == nil && n == 0 && q.digested(ctx, c) {
		_, err = ask()
	}
	if err == nil && busy {
		q.note(c.spec.Name + " is still reading the project: results may be incomplete.")
	}
	return err
}

// can returns an error when the server lacks an ability.
func (q *query) can(c *client, able flag) error {
	if able {
		return nil
	}
	return &absence{fmt.Sprintf("the language server %s does not do %s", c.spec.Name, q.in.Operation)}
}

// note adds a remark to the result, once.
func (q *query) note(s string) {
	for _, n := range q.notes {
		if n == s {
			return
		}
	}
	q.notes = append(q.notes, s)
}

// show writes a resolved path relative to the conversation's directory.
func (q *query) show(path string) string {
	if workspace.Below(q.real, path) {
		return text.Clean(workspace.Show(q.real, path))
	}
	return text.Clean(workspace.Show(q.dir, path))
}

// reader reads files whose lines may be shown.
type reader struct {
	ws    *workspace.Workspace
	cache map[string]*source
}

const maxCached = 500 // files of one result

func newReader(ws *workspace.Workspace) *reader { return &reader{ws, map[string]*source{}} }

// source returns the text of a file; nil when it cannot be read or must not be
// shown.
func (r *reader) source(path string) *source {
	if s, ok := r.cache[path]; ok {
		return s
	}
	if len(r.cache) >= maxCached {
		return nil
	}
	r.cache[path] = r.load(path)
	return r.cache[path]
}

func (r *reader) load(path string) *source {
	p, err := r.ws.Locate(filepath.Dir(path), path)
	if err != nil || r.ws.Secret(p.Real) || r.ws.Secret(p.Path) || len(r.ws.Roots()) > 0 && !r.ws.Inside(p.Real, true) {
		return nil
	}
	data, _, err := r.ws.ReadFile(p, docLimit)
	if err != nil {
		return nil
	}
	s, _ := newSource(data)
	return s
}
