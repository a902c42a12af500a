//go:build unix

package proc

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/openharness/oh/internal/text"
)

const (
	mostLeft    = 20
	killRounds  = 20
	killWait    = 100 * time.Millisecond
	commandSize = 100 // code points of a command shown
)

// process is a row of the system's table. Together, pid and start name one
// process for ever.
type process struct {
	pid, parent    int
	group, session int // session is the group where the system tells no session
	start          uint64
}

// tree is the processes of one command.
type tree struct {
	marker string
	leader int

	mu    sync.Mutex
	known map[int]uint64 // pid and start of those left behind; nil while the shell runs
}

func newTree(marker string) *tree { return &tree{marker: marker} }

// start starts the shell as the leader of a process group without a terminal.
func (t *tree) start(cmd *exec.Cmd, by func(*exec.Cmd) error) error {
	cmd.SysProcAttr = apart()
	if err := startBy(cmd, by); err != nil {
		return err
	}
	t.leader = cmd.Process.Pid
	return nil
}

// alive is a cheap look whether the shell's process group has members.
func (t *tree) alive() bool {
	return syscall.Kill(-t.leader, 0) != syscall.ESRCH
}

// members lists the tree. Once left has looked, the leader's number says
// nothing any more.
func (t *tree) members() []process {
	t.mu.Lock()
	known := t.known
	t.mu.Unlock()
	return family(processes(), func(p process) bool {
		start, ok := known[p.pid]
		return ok && start == p.start || known == nil && (p.group == t.leader || p.session == t.leader) || marked(p.pid, t.marker)
	})
}

// left lists the tree and remembers it for the end, when numbers of processes
// alone say nothing any more.
func (t *tree) left() []Process {
	members := t.members()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = make(map[int]uint64, len(members))
	var out []Process
	for _, p := range members {
		t.known[p.pid] = p.start
		if len(out) < mostLeft {
			out = append(out, Process{PID: p.pid, Command: text.OneLine(text.Clean(command(p.pid)), commandSize)})
		}
	}
	return out
}

func (t *tree) stop(grace time.Duration) { stopProcesses(t.members, grace) }

func (t *tree) release() {}

// stopAll stops what belongs to a runner: by the marker, and by what its
// commands are known to have left.
func stopAll(id string, trees map[int]*tree, grace time.Duration) {
	known := map[int]uint64{}
	for _, t := range trees {
		t.mu.Lock()
		for pid, start := range t.known {
			known[pid] = start
		}
		t.mu.Unlock()
	}
	stopProcesses(func() []process {
		return family(processes(), func(p process) bool {
			start, ok := known[p.pid]
			return ok && start == p.start || marked(p.pid, id)
		})
	}, grace)
}

// stopProcesses ends what find finds, again and again until it finds nothing:
// a process that is told to end may start others.
func stopProcesses(find func() []process, grace time.Duration) {
	first := find()
	if len(first) == 0 {
		return
	}
	signalAll(first, grace, syscall.SIGTERM, syscall.SIGCONT)
	for range killRounds {
		rest := find()
		if len(rest) == 0 {
			return
		}
		signalAll(rest, killWait, syscall.SIGKILL)
	}
}

// signalAll sends the signals and waits until all are gone, at most for wait.
func signalAll(ps []process, wait time.Duration, signals ...syscall.Signal) {
	var held []handle
	for _, p := range ps {
		if h, ok := hold(p); ok {
			held = append(held, h)
		}
	}
	for _, sig := range signals {
		for _, h := range held {
			h.signal(sig)
		}
	}
	awaitGone(held, wait)
	for _, h := range held {
		h.close()
	}
}

// family returns the processes that are seeds, and all below them.
func family(all []process, seed func(process) bool) []process {
	self := os.Getpid()
	in := map[int]bool{}
	var out []process
	add := func(p process) {
		if p.pid > 1 && p.pid != self && !in[p.pid] {
			in[p.pid] = true
			out = append(out, p)
		}
	}
	for _, p := range all {
		if p.pid != self && seed(p) {
			add(p)
		}
	}
	if len(out) == 0 {
		return nil
	}
	for grown := true; grown; {
		before := len(out)
		for _, p := range all {
			if in[p.parent] {
				add(p)
			}
		}
		grown = len(out) > before
	}
	return out
}
