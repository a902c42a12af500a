package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// apart sets a command apart from this program and its terminal. That takes a
// session of its own where there is a terminal. Where there is none a process
// group does, and is much faster on a busy machine: Linux schedules each new
// session as a group that begins with no share (sched_autogroup), which makes a
// short command wait two to three times as long.
func apart() *syscall.SysProcAttr {
	if hasTerminal() {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// hasTerminal reports whether commands could open the terminal of this
// program; in doubt they could.
func hasTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return !errors.Is(err, unix.ENXIO)
}

// processes lists what runs; what has ended and is not reaped is left out.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer closeFile(dir)
	names, _ := dir.Readdirnames(-1)
	out := make([]process, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := look(pid); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

func look(pid int) (process, bool) {
	raw, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return process{}, false
	}
	return parseStat(string(raw))
}

// parseStat reads /proc/PID/stat, see proc_pid_stat(5). The name in it may
// hold anything, parentheses too. It reports false for a dead process.
func parseStat(line string) (process, bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	const state, parent, group, session, start = 0, 1, 2, 3, 19
	f := strings.Fields(line[end+1:])
	if len(f) <= start || f[state] == "Z" || f[state] == "X" {
		return process{}, false
	}
	var p process
	var errs [5]error
	p.pid, errs[0] = strconv.Atoi(strings.TrimSpace(line[:open]))
	p.parent, errs[1] = strconv.Atoi(f[parent])
	p.session, errs[2] = strconv.Atoi(f[session])
	p.group, errs[4] = strconv.Atoi(f[group])
	p.start, errs[3] = strconv.ParseUint(f[start], 10, 64)
	return p, errors.Join(errs[:]...) == nil && p.pid > 0
}

// marked reports whether a process was started under id.
func marked(pid int, id string) bool {
	block, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false
	}
	return belongs(markerIn(string(block)), id)
}

// command returns the command line of a process.
func command(pid int) string {
	raw, err := os.ReadFile(procFile(pid, "cmdline"))
	if err != nil {
		return "?"
	}
	argv := strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
	if len(argv) == 3 && argv[1] == "-c" && strings.HasPrefix(argv[2], scriptHead) {
		return argv[0] + " (a subshell of the command)"
	}
	return strings.Join(argv, " ")
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// handle names one process even when its number is given to another.
type handle struct {
	process
	fd int // a pidfd, or -1 on a system without
}

// hold reports false when the process is gone.
func hold(p process) (handle, bool) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		fd = -1
	}
	h := handle{p, fd}
	if h.gone() {
		h.close()
		return handle{}, false
	}
	return h, true
}

func (h handle) gone() bool {
	now, ok := look(h.pid)
	return !ok || now.start != h.start
}

func (h handle) signal(sig syscall.Signal) {
	if h.fd >= 0 {
		_ = unix.PidfdSendSignal(h.fd, sig, nil, 0) // gone, or not ours: the next look tells
		return
	}
	if !h.gone() {
		_ = syscall.Kill(h.pid, sig)
	}
}

func (h handle) close() {
	if h.fd >= 0 {
		_ = unix.Close(h.fd)
	}
}

// awaitGone waits until all have ended, at most for wait.
func awaitGone(held []handle, wait time.Duration) {
	deadline := time.Now().Add(wait)
	for {
		var fds []unix.PollFd
		looked := false
		for _, h := range held {
			switch {
			case h.fd >= 0 && !ended(h.fd):
				fds = append(fds, unix.PollFd{Fd: int32(h.fd), Events: unix.POLLIN})
			case h.fd < 0 && !h.gone():
				looked = true
			}
		}
		rest := time.Until(deadline)
		if len(fds) == 0 && !looked || rest <= 0 {
			return
		}
		if looked {
			rest = min(rest, tick)
		}
		_, _ = unix.Poll(fds, int(rest.Milliseconds())+1)
	}
}

// tick is how often a process without a pidfd is looked at.
const tick = 5 * time.Millisecond

func ended(pidfd int) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
