// Package proc runs command lines in a shell of the system and keeps track of
// the processes they leave behind.
//
// What it guarantees, on Linux and macOS unless said otherwise:
//
//   - A command gets no terminal: a session of its own (where there is a
//     terminal; else a process group), standard input at its end, no pager, no
//     editor, no password prompt.
//   - Its output is read all the time, in the order of writing, in bounded
//     memory. [Runner.Run] returns soon after the shell exits, whoever still
//     holds the output; children that live on can go on printing, unheard.
//   - On a timeout or a cancelled context the whole tree gets SIGTERM, and
//     SIGKILL after the grace. [Runner.CloseAll] does that to everything any
//     command left behind, and to what [Runner.Start] has started.
//   - On Linux children are found even when they left that, by a marker
//     in their environment (or by their parents). On macOS those that changed
//     their process group and lost their parent escape. On Windows the tree is
//     a job object, which nothing leaves; it is ended at once.
//
// It does not judge commands, knows no workspace and shortens nothing but by
// an [Output] that a caller asks for.
package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Config configures a Runner. The zero value is useful.
type Config struct {
	// Deny names variables that children do not inherit, such as keys of model
	// services. DenyFunc, when set, refuses more of them.
	Deny     []string
	DenyFunc func(name string) bool

	Env   []string      // more variables, NAME=value; they win over all others but the marker
	Shell string        // path of a bash or POSIX shell; "" finds one
	Grace time.Duration // between SIGTERM and SIGKILL; default 500 ms

	// Start starts a command in place of [exec.Cmd.Start]: the place to confine
	// it. It may change the command's path, arguments and environment, and
	// leaves its attributes as they are. It is called from many goroutines. Nil
	// is cmd.Start.
	Start func(cmd *exec.Cmd) error
}

// Marker is the variable by which processes are found that belong to a
// command. Its value lists ids, outermost first, with colons between.
const Marker = "OPENHARNESS_TREE"

const (
	defaultGrace = 500 * time.Millisecond

	// linger is how long output is still taken after the shell has exited,
	// while a child holds the pipe: a filter behind a process substitution
	// prints its last lines just after the shell.
	linger = 100 * time.Millisecond

	// giveUp is how long a killed shell may take to be gone.
	giveUp = 2 * time.Second
)

// ErrClosed says that CloseAll has been called.
var ErrClosed = errors.New("the process runner is closed")

// Runner runs commands. It is safe for concurrent use.
type Runner struct {
	cfg   Config
	id    string
	shell func() (Shell, error)
	env   func() []string

	bufs    sync.Pool      // for the taps
	drains  sync.WaitGroup // of the taps that outlive their command
	jobsEnd sync.WaitGroup // of what Start has started

	mu     sync.Mutex // guards what follows
	count  int
	live   map[int]*tree // running, or with children left behind
	taps   map[*tap]bool // still draining
	jobs   map[*Running]bool
	closed bool
}

// New makes a Runner. It starts nothing and looks at nothing yet.
func New(cfg Config) *Runner {
	cfg.Grace = cmp.Or(cfg.Grace, defaultGrace)
	r := &Runner{
		cfg:  cfg,
		id:   strconv.FormatUint(rand.Uint64(), 36),
		live: map[int]*tree{},
		taps: map[*tap]bool{},
		jobs: map[*Running]bool{},
	}
	r.shell = sync.OnceValues(func() (Shell, error) { return findShell(cfg.Shell) })
	r.env = sync.OnceValue(func() []string { return cfg.Environ(os.Environ()) })
	return r
}

// Shell returns the shell that commands run in. The error says that there is
// none and what was looked for.
func (r *Runner) Shell() (Shell, error) { return r.shell() }

// Job is one command line to run.
type Job struct {
	Command string
	Dir     string        // absolute; "" is the program's own
	Env     []string      // more variables, NAME=value
	Timeout time.Duration // 0: none
	Out     io.Writer     // gets standard output and error, merged; nil: nobody
	Track   bool          // find out in which directory the shell ends
	Free    bool          // start it as it is, without Config.Start: somebody has agreed
}

// Process is a process that a command left behind.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // on one line, cut
}

// Exit says how a command ended.
type Exit struct {
	Code      int    // -1 when a signal ended the shell
	Signal    string // "killed", "terminated", ...; "" when it exited
	TimedOut  bool   // stopped because of Job.Timeout
	Cancelled bool   // stopped because the context ended
	Duration  time.Duration

	// Dir is the directory the shell ended in, links resolved, when Job.Track
	// asks for it; "" when it is unknown: after exec, SIGKILL, an explicit exit
	// under the command's own EXIT trap, and on Windows. DirGone says that the
	// shell ended in a directory that no longer exists.
	Dir     string
	DirGone bool

	// Left are the processes that live on, at most 20 (none on a command that
	// was stopped).
	Left []Process
}

// Run runs a command and waits for its shell. A command that fails, times out
// or is cancelled is no error: see [Exit]. The error says that it could not
// be started.
func (r *Runner) Run(ctx context.Context, job Job) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	run, err := r.start(job)
	if err != nil {
		return Exit{}, err
	}
	return run.wait(ctx, job.Timeout), nil
}

// CloseAll stops everything that is still running of any command, with the
// usual grace, and waits until it is gone. Later runs fail with [ErrClosed].
func (r *Runner) CloseAll() {
	r.mu.Lock()
	r.closed = true
	count, live := r.count, r.live
	r.live = map[int]*tree{}
	r.mu.Unlock()
	if count > 0 {
		stopAll(r.id, live, r.cfg.Grace)
	}
	r.mu.Lock()
	for p := range r.jobs {
		p.stop() // its output may be held by what is out of reach
	}
	for t := range r.taps {
		t.close()
	}
	r.mu.Unlock()
	r.drains.Wait()
	r.jobsEnd.Wait()
}

// enter claims the next number and with it the marker of a command.
func (r *Runner) enter() (n int, marker string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, "", ErrClosed
	}
	r.count++
	return r.count, r.id + "." + strconv.Itoa(r.count), nil
}

// keep notes a tree that has to be stopped at the end. It reports false when
// the end has come already.
func (r *Runner) keep(n int, t *tree) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.live[n] = t
	return true
}

func (r *Runner) forget(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, n)
}

// drain lets t read on to nowhere until its end, or until CloseAll.
func (r *Runner) drain(t *tap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed { // nobody waits for the drains any more
		t.close()
		<-t.ended
		return
	}
	r.taps[t] = true
	r.drains.Go(func() {
		<-t.ended
		t.close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.taps, t)
	})
}

// checkLine refuses what no system can run.
func checkLine(command string) error {
	if i := slices.Index([]byte(command), 0); i >= 0 {
		return fmt.Errorf("the command has a NUL byte at offset %d: remove it", i)
	}
	if len(command) > maxCommand {
		return fmt.Errorf("the command is %d bytes long, and at most %d can be run: write it to a file and run that", len(command), maxCommand)
	}
	return nil
}
