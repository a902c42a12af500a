// Package shell has the tools by which a model runs command lines: bash, and
// task_output and task_stop for those that it runs in the background.
//
// The rule of the working directory: a command starts in the conversation's
// directory, and the directory in which its shell ends, whatever the exit
// code, becomes the conversation's. One that is outside the allowed roots or no
// longer exists does not: the conversation stays where it was (or goes to the
// first root, when that is gone too), and the model is told. A command with a
// cwd of its own changes nothing, whether it changes directory or not. When
// the conversation's directory no longer exists, nothing is run: the
// conversation goes back to the first root, and the model is told.
//
// A command in the background belongs to the session, has no time limit and
// changes no directory. It runs until its shell has exited and nobody holds its
// output any more. What it prints goes to a file, up to 1 GB, and up to 100 kB
// at its beginning and its end are kept for the next look. When it ends by
// itself the conversation that started it is told, by its queue: that starts no
// run.
//
// Commands that are known to be read-only run side by side. The tool judges no
// command otherwise (a gate does) and bounds its output itself. What
// commands leave behind is stopped by [proc.Runner.CloseAll].
package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace/proc"
)

//go:embed bash.md
var doc string

const name = "bash"

// Config configures the tool.
type Config struct {
	Runner *proc.Runner // required

	// Tasks are further tasks that task_output and task_stop serve, such as
	// those that outlive the session. Nil: there are none.
	Tasks Tasks

	// Roots returns the directories, absolute, that the conversation may go to,
	// with all below them; the first is the workspace's own. It is asked at each
	// command. Nil, or an empty list, allows all directories.
	Roots func() []string

	// ReadOnly reports whether a command line that starts in a directory changes
	// nothing, that of the conversation included: then it may run beside other
	// reads. It must be safe for concurrent use. Nil: no line counts as one.
	ReadOnly func(command, dir string) bool

	// Blocked says what of a command that failed the confinement of Runner
	// seems to be the reason for, as one line, from its output and exit code; ""
	// when nothing. A person is then asked whether it may run again without.
	// Nil: there is no confinement.
	Blocked func(output string, code int) string

	// Final says why a command may not run without confinement, whoever
	// agrees; "" when it may. Nil: all may.
	Final func(command, dir string) string
}

type input struct {
	Command     string `json:"command"`
	CWD         string `json:"cwd,omitempty"`
	Timeout     int    `json:"timeout_seconds,omitempty" oh:"min=1,max=600,default=600"`
	Background  bool   `json:"run_in_background,omitempty"`
	Description string `json:"description,omitempty"`
}

// Tools makes the tools bash, task_output and task_stop, which share the
// commands that run in the background.
func Tools(cfg Config) []oh.Tool { return toolsOn(cfg, &store{runner: cfg.Runner}) }

func toolsOn(cfg Config, own *store) []oh.Tool {
	all := shelf{own}
	if cfg.Tasks != nil {
		all = append(all, cfg.Tasks)
	}
	return []oh.Tool{newBash(cfg, own), newOutput(all), newStop(all)}
}

// New makes the tool bash alone. What it runs in the background can be followed
// by its file only; see [Tools].
func New(cfg Config) oh.Tool { return newBash(cfg, &store{runner: cfg.Runner}) }

// newBash makes the tool bash. It looks for the shell, because the description
// names it; when there is none each call says so.
func newBash(cfg Config, own *store) oh.Tool {
	t := &tool{cfg, own}
	return oh.NewTool(oh.ToolDef[input]{
		Name:        name,
		Doc:         describe(cfg.Runner),
		SelfLimited: true,
		Prepare:     t.prepare,
	})
}

// describe words the tool for the shell that was found.
func describe(r *proc.Runner) string {
	shell, err := r.Shell()
	kind := cmp.Or(shell.Kind, proc.Bash)
	dir := "`cd` lasts: the next command starts where this one ended, if inside the workspace."
	if err == nil && !shell.Tracks() {
		dir = "`cd` does not last on this system: each command starts in the same directory."
	}
	return strings.NewReplacer("{shell}", string(kind), "{dir}", dir).Replace(doc)
}

type tool struct {
	cfg   Config
	store *store
}

func (t *tool) roots() []string {
	if t.cfg.Roots == nil {
		return nil
	}
	return t.cfg.Roots()
}

func (t *tool) prepare(_ context.Context, call *oh.Call, in input) (oh.Action, error) {
	if strings.TrimSpace(in.Command) == "" {
		return oh.Action{}, errors.New("command is empty: give a command line to run")
	}
	at, err := t.place(call.Env.Dir, in.CWD)
	if err != nil {
		return oh.Action{}, err
	}
	reads := t.cfg.ReadOnly != nil && !in.Background && t.cfg.ReadOnly(in.Command, at.dir)
	return oh.Action{
		Access: oh.Access{ReadOnly: reads, Command: in.Command, Dir: at.dir},
		Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
			if !at.once && !isDir(at.dir) {
				return t.lostDir(at.dir, emit), nil
			}
			if in.Background {
				return t.background(ctx, call, in, at)
			}
			return t.run(ctx, call, in, at, emit)
		},
	}, nil
}

// place is where a command runs.
type place struct {
	dir  string
	once bool // given by the call: the conversation stays where it is
}

func (t *tool) place(dir, cwd string) (place, error) {
	if dir == "" {
		if roots := t.roots(); len(roots) > 0 {
			dir = roots[0]
		} else if wd, err := os.Getwd(); err == nil {
			dir = wd
		} else {
			return place{}, fmt.Errorf("find the working directory: %w", err)
		}
	}
	if cwd == "" {
		return place{dir: filepath.Clean(dir)}, nil
	}
	if !filepath.IsAbs(cwd) {
		cwd = filepath.Join(dir, cwd)
	}
	cwd = filepath.Clean(cwd)
	info, err := os.Stat(cwd)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return place{}, fmt.Errorf("cwd %s does not exist", cwd)
	case err != nil:
		return place{}, fmt.Errorf("cwd: %w", err)
	case !info.IsDir():
		return place{}, fmt.Errorf("cwd %s is not a directory", cwd)
	}
	return place{cwd, true}, nil
}

func (t *tool) run(ctx context.Context, call *oh.Call, in input, at place, emit func(oh.Event)) (oh.Result, error) {
	rep, err := t.attempt(ctx, call, in, at, emit, false)
	if err != nil {
		return oh.Result{}, err
	}
	if held := t.held(rep); held != "" {
		again, note, err := t.escalate(ctx, call, in, at, held)
		if err != nil {
			return oh.Result{}, err
		}
		if again {
			if rep, err = t.attempt(ctx, call, in, at, emit, true); err != nil {
				return oh.Result{}, err
			}
		}
		rep.held, rep.free = note, again
	}
	if !at.once {
		rep.dir, rep.moved = t.settle(at.dir, rep.exit)
		if rep.dir != at.dir {
			emit(oh.StateChanged{Dir: rep.dir})
		}
	}
	return rep.result()
}

// attempt runs a command, without its confinement if it is free.
func (t *tool) attempt(ctx context.Context, call *oh.Call, in input, at place, emit func(oh.Event), free bool) (report, error) {
	out := &proc.Output{
		Limits: call.Env.Limits,
		Live:   func(s string) { emit(oh.ToolOutput{ID: call.ID, Text: s}) },
	}
	if store := call.Env.Artifacts; store != nil {
		out.Create = func() (text.File, error) { return store.Create(name) }
	}
	exit, err := t.cfg.Runner.Run(ctx, proc.Job{
		Command: in.Command,
		Dir:     at.dir,
		Timeout: time.Duration(in.Timeout) * time.Second,
		Out:     out,
		Track:   !at.once,
		Free:    free,
	})
	if err != nil {
		return report{}, err
	}
	sum, _ := out.Finish(name, call.ID) // a failure is told in the text
	return report{in: in, exit: exit, sum: sum, dir: at.dir}, nil
}
