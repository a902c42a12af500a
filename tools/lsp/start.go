package lsp

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/openharness/oh/workspace"
	"github.com/openharness/oh/workspace/proc"
)

// find returns the first installed server for a file, with Root and the full
// path of its command. The error is an *absence.
func (p *Pool) find(real string) (Server, error) {
	ext := filepath.Ext(real)
	hint, known := "", false
	for _, s := range p.list() {
		if _, ok := s.language(real); !ok {
			continue
		}
		path, err := exec.LookPath(s.Command)
		if err != nil {
			if !known {
				hint, known = s.missing(), true
			}
			continue
		}
		s.Command, s.Root = path, p.root(s, real)
		return s, nil
	}
	if !known {
		return Server{}, &absence{fmt.Sprintf("no language server is known for %s files; settings can add one under lspServers", cmp.Or(ext, "such"))}
	}
	return Server{}, &absence{hint}
}

// missing says that a server is not installed.
func (s *Server) missing() string {
	if s.Install == "" {
		return fmt.Sprintf("the language server %s is not installed (no %s in PATH)", s.Name, s.Command)
	}
	return fmt.Sprintf("the language server %s is not installed; to install it: %s", s.Command, s.Install)
}

// root is the folder of the project that holds a file: the nearest above it
// with the most telling marker, but not above the workspace; else the root of
// the workspace, else the file's folder.
func (p *Pool) root(s Server, real string) string {
	top := ""
	for _, r := range p.ws.Roots() {
		if workspace.Below(r, real) && len(r) > len(top) {
			top = r
		}
	}
	for _, marker := range s.Markers {
		for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(filepath.Join(dir, marker)); err == nil {
				return dir
			}
			if dir == top || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return cmp.Or(top, filepath.Dir(real))
}

// client returns the running server for a file, and starts it if need be.
func (p *Pool) client(ctx context.Context, real string) (*client, error) {
	if c := p.guest(real); c != nil {
		return c, nil
	}
	s, err := p.find(real)
	if err != nil {
		return nil, err
	}
	return p.start(ctx, s)
}

// guest returns a running server that may answer for a file outside of the
// workspace, such as a library that the project uses.
func (p *Pool) guest(real string) *client {
	if len(p.ws.Roots()) == 0 || p.ws.Inside(real, false) {
		return nil
	}
	for _, c := range p.living() {
		if _, ok := c.spec.language(real); ok && p.ws.Inside(c.root, false) {
			return c
		}
	}
	return nil
}

// running returns the server for a file if it runs already.
func (p *Pool) running(real string) *client {
	var best *client
	for _, c := range p.living() {
		if _, ok := c.spec.language(real); !ok || !workspace.Below(c.root, real) {
			continue
		}
		if best == nil || len(c.root) > len(best.root) {
			best = c
		}
	}
	return best
}

// living lists the servers that run.
func (p *Pool) living() []*client {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*client
	for _, s := range p.slots {
		if c := s.live(); c != nil && c.alive() {
			out = append(out, c)
		}
	}
	return out
}

func (p *Pool) slot(s Server) (*slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	key := s.Name + "\x00" + s.Root
	if p.slots[key] == nil {
		p.slots[key] = &slot{turn: make(chan struct{}, 1)}
	}
	return p.slots[key], nil
}

// start returns the server, started if it does not run. Who comes while it is
// started waits for it.
func (p *Pool) start(ctx context.Context, s Server) (*client, error) {
	slot, err := p.slot(s)
	if err != nil {
		return nil, err
	}
	select {
	case slot.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.base.Done():
		return nil, ErrClosed
	}
	defer func() { <-slot.turn }()
	if p.base.Err() != nil {
		return nil, ErrClosed
	}
	if c := slot.live(); c != nil {
		if c.alive() {
			return c, nil
		}
		slot.set(nil)
		slot.crashes++
		c.kill()
	}
	if most := s.restarts(); slot.crashes > most {
		return nil, &absence{fmt.Sprintf("%s has failed %d times and is not started again in this session", s.Name, slot.crashes)}
	}
	if p.cfg.Allowed != nil {
		if err := p.cfg.Allowed(s); err != nil {
			return nil, &absence{fmt.Sprintf("%s may not be started: %v", s.Name, err)}
		}
	}
	c, err := p.launch(ctx, s)
	if err != nil {
		if ctx.Err() == nil && p.base.Err() == nil {
			slot.crashes++
		}
		return nil, err
	}
	slot.set(c)
	return c, nil
}

// launch starts a server, within the limit of a start.
func (p *Pool) launch(ctx context.Context, s Server) (*client, error) {
	// Each server has a marker of its own: what carries it is killed with it.
	marker := "lsp" + strconv.FormatUint(rand.Uint64(), 36)
	env := append(p.cfg.Environ.Environ(os.Environ()), s.environ()...)
	tree := marker
	if outer := os.Getenv(proc.Marker); outer != "" {
		tree = outer + ":" + marker
	}
	env = append(env, "PWD="+s.Root, proc.Marker+"="+tree)
	program, err := spawn(p.cfg.Environ, s.Command, s.Args, env, s.Root, marker)
	if err != nil {
		return nil, fmt.Errorf("start %s in %s: %w", s.Name, s.Root, err)
	}
	limit := s.startup(p.cfg.Startup)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(p.base, cancel)()
	c, err := dial(limited, s, p.ws, program, p.cfg.Request)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.base.Err() != nil:
		return nil, ErrClosed
	case limited.Err() != nil:
		return nil, fmt.Errorf("%s was not ready within %s (%s)", s.Name, limit, cmp.Or(program.said.text(), "it said nothing"))
	}
	return nil, fmt.Errorf("start %s: %w", s.Name, err)
}

func (s *slot) live() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

func (s *slot) set(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = c
}
