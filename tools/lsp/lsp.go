// Package lsp asks language servers about code: the lsp tool, and what servers
// say about a file after an edit.
//
// A server is started when it is first needed for a project, kept, and stopped
// by [Pool.Close]. Before each question it is told what has changed on disk, so
// that answers are about the files as they are. Where no server can be had, the
// symbols, definitions and references come from a scan of the text, which the
// result says.
//
// It starts no server that [Config.Allowed] refuses, and never one because of
// an edit. Lines of files outside the workspace, or of protected ones, are not
// shown. Only rename changes files: all of them or none, none outside the
// workspace. It does not install servers.
package lsp

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
	"github.com/openharness/oh/workspace/proc"
)

//go:embed lsp.md
var lspDoc string

// Config configures a Pool. The zero value is useful.
type Config struct {
	Servers map[string]Server // by name: added to the built-in table, or changing it; see [Servers]
	Environ proc.Config       // what servers inherit of the environment

	// Allowed is asked before a server is started, with its Root set and Command
	// a full path; an error refuses it, and its text is told the model. A server
	// runs code of the project. Nil allows all.
	Allowed func(Server) error

	Startup time.Duration // limit on a start, unless the server has its own; default 20 s
	Request time.Duration // limit on one request; default 15 s
}

// Pool is the servers of a session. It is safe for concurrent use.
type Pool struct {
	ws  *workspace.Workspace
	cfg Config

	waits waits

	base   context.Context // ends with Close, and with it every start
	cancel context.CancelFunc
	list   func() []Server

	mu     sync.Mutex // guards what follows
	slots  map[string]*slot
	closed bool
}

// waits is how long is waited for what servers find wrong.
type waits struct {
	ask    time.Duration // when a person or model asks for it
	attach time.Duration // all that an edit may take longer
	before time.Duration // of it before the edit
}

// slot is the place of one server for one project.
type slot struct {
	turn    chan struct{} // holds one while the server is looked after; guards crashes
	crashes int

	mu     sync.Mutex // guards client
	client *client    // nil when none was started
}

// ErrClosed says that Close has been called.
var ErrClosed = errors.New("the language servers are closed")

// absence says why no server answers for a file.
type absence struct {
	why string
}

func (a *absence) Error() string { return a.why }

// New makes a Pool. It starts nothing. A nil workspace has no roots.
func New(ws *workspace.Workspace, cfg Config) *Pool {
	cfg.Startup = cmp.Or(cfg.Startup, 20*time.Second)
	cfg.Request = cmp.Or(cfg.Request, 15*time.Second)
	p := &Pool{ws: ws, cfg: cfg, slots: map[string]*slot{}, waits: waits{5 * time.Second, 1500 * time.Millisecond, 500 * time.Millisecond}}
	p.base, p.cancel = context.WithCancel(context.Background())
	p.list = sync.OnceValue(func() []Server { return catalog(cfg.Servers) })
	return p
}

// Tool returns the lsp tool.
func (p *Pool) Tool() oh.Tool {
	return oh.NewTool(oh.ToolDef[input]{Name: "lsp", Doc: lspDoc, SelfLimited: true, Prepare: p.prepare})
}

// Close stops all servers and waits until they are gone, for little more than a
// second at most. Later questions fail with [ErrClosed].
func (p *Pool) Close() {
	p.mu.Lock()
	slots := p.slots
	p.slots = map[string]*slot{}
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	var all sync.WaitGroup
	for _, s := range slots {
		all.Go(func() {
			s.turn <- struct{}{} // a start that is under way ends first
			if c := s.live(); c != nil {
				c.stop()
				s.set(nil)
			}
			<-s.turn
		})
	}
	all.Wait()
}
