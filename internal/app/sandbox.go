package app

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/sandbox"
)

// cell confines what a session starts: commands, and more tightly those of plan
// mode, and language servers. Without a sandbox it starts them as they are.
type cell struct {
	cfg  sandbox.Config
	work *sandbox.Policy
	off  bool   // nothing is confined
	why  string // a sentence without its full stop, when off
	mode func() oh.Mode

	mu     sync.Mutex // guards what follows
	plan   *sandbox.Policy
	closed bool
}

// makeCell makes the confinement that the settings ask for. Where it cannot be
// had that is said, or an error.
func (r *Runtime) makeCell() error {
	s := r.loaded.Settings.Sandbox
	cfg := sandbox.Configure(sandbox.Config{
		Dir: r.paths.Dir, Home: r.paths.Home, Write: r.roots(),
		Private:   []string{r.paths.Config, r.paths.Data, r.paths.Logs},
		AllowRead: []string{r.artifactDir()}, LookupEnv: r.opts.LookupEnv, Session: r.Session(),
	}, s)
	work, err := sandbox.New(cfg)
	if err != nil {
		return &config.Error{File: "sandbox settings", Problem: err.Error()}
	}
	c := &cell{cfg: cfg, work: work, mode: r.modeNow}
	r.cell = c
	switch {
	case !s.Enabled:
		c.off, c.why = true, "the sandbox is off ("+r.loaded.Origin("sandbox.enabled").String()+")"
	case work.Mode() == sandbox.Off:
		c.off, c.why = true, "sandbox.enabled_platforms does not name this system"
	case r.opts.DryRun: // nothing will run
	default:
		return r.tryCell(c, s.Strict)
	}
	return nil
}

// tryCell finds out whether the confinement can be had. The kernel's own is
// only asked for: it is made for the first command.
func (r *Runtime) tryCell(c *cell, strict bool) error {
	st := sandbox.Probe()
	if c.cfg.Backend != "" && (c.cfg.Backend != st.Backend || !st.Active) {
		st = c.work.Status()
	}
	if st.Active {
		return nil
	}
	if strict {
		o := r.loaded.Origin("sandbox.fail_if_unavailable")
		return &config.Error{File: o.File, Line: o.Line, Key: "sandbox.fail_if_unavailable",
			Problem: st.String() + ", so nothing may run; allow that with --sandbox=off"}
	}
	c.off, c.why = true, st.String()
	r.note(oh.Warning, "The sandbox cannot be had: "+strings.TrimRight(st.String(), ".?")+".")
	return nil
}

// modeNow is the session's mode, from any goroutine.
func (r *Runtime) modeNow() oh.Mode {
	r.swap.Lock()
	conv := r.conv
	r.swap.Unlock()
	return conv.State().Mode
}

// start starts a command in place of [exec.Cmd.Start].
func (c *cell) start(cmd *exec.Cmd) error {
	if c.off {
		return cmd.Start()
	}
	p, err := c.policy()
	if err != nil {
		return err
	}
	return p.Start(cmd)
}

// serve starts a program that outlives a mode, such as a language server.
func (c *cell) serve(cmd *exec.Cmd) error {
	if c.off {
		return cmd.Start()
	}
	return c.work.Start(cmd)
}

// policy is what holds commands in the mode of now. Plan mode writes nowhere
// but in the temporary folder, which is one for all.
func (c *cell) policy() (*sandbox.Policy, error) {
	if c.mode() != oh.ModePlan {
		return c.work, nil
	}
	temp, err := c.work.Temp()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, sandbox.ErrClosed
	}
	if c.plan == nil {
		cfg := c.cfg
		cfg.Mode, cfg.Temp = sandbox.ReadOnly, temp
		if c.plan, err = sandbox.New(cfg); err != nil {
			return nil, err
		}
	}
	return c.plan, nil
}

// confined reports whether commands can write in the workspace only.
func (c *cell) confined() bool {
	if c.off {
		return false
	}
	st := c.work.Status()
	return st.Active && st.Files
}

// blocked says what of a command that failed was held, or "".
func (c *cell) blocked(output string, code int) string {
	if c.off {
		return ""
	}
	p, err := c.policy()
	if err != nil {
		return ""
	}
	hosts := p.Refused() // also of commands that managed without: they are old news afterwards
	switch line := p.Blocked(output, code); {
	case code == 0:
		return ""
	case len(hosts) > 0:
		return "no connection to " + strings.Join(hosts, ", ")
	default:
		return line
	}
}

// String says what is held, for a person.
func (c *cell) String() string {
	if c.off {
		return c.why
	}
	return c.work.Status().String()
}

// close ends the confinement, when what it held has ended.
func (c *cell) close() error {
	c.mu.Lock()
	c.closed = true
	plan := c.plan
	c.mu.Unlock()
	var err error
	if plan != nil {
		err = plan.Close()
	}
	return errors.Join(err, c.work.Close())
}

// final says why nobody is asked whether a command may run again unconfined, or
// "" when that can be asked: what no mode runs unasked is not run twice.
func (r *Runtime) final(command, dir string) string {
	switch r.modeNow() {
	case oh.ModePlan:
		return "in plan mode nothing runs unconfined"
	case oh.ModeDontAsk:
		return "in the mode dontAsk nobody is asked"
	}
	v := r.policy.Check(context.Background(), oh.GateRequest{Tool: "bash", Mode: oh.ModeFullAuto, Dir: dir, Access: oh.Access{Command: command, Dir: dir}})
	if v.Guarded || v.Decision == oh.Deny {
		return "a command like this one does not run unconfined"
	}
	return ""
}
