package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	stateZombie = 5 // SZOMB of sys/proc.h
	tick        = 5 * time.Millisecond
)

// apart sets a command apart from this program and its terminal.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// processes lists what runs; what has ended and is not reaped is left out.
func processes() []process {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	out := make([]process, 0, len(rows))
	for i := range rows {
		if rows[i].Proc.P_stat != stateZombie {
			out = append(out, fromRow(&rows[i]))
		}
	}
	return out
}

func fromRow(row *unix.KinfoProc) process {
	begun := row.Proc.P_starttime
	return process{
		pid:     int(row.Proc.P_pid),
		parent:  int(row.Eproc.Ppid),
		group:   int(row.Eproc.Pgid),
		session: int(row.Eproc.Pgid),
		start:   uint64(begun.Sec)*1_000_000 + uint64(begun.Usec),
	}
}

// marked is always false: the environment of others is not read here.
func marked(int, string) bool { return false }

// command returns the name of a program.
func command(pid int) string {
	row, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "?"
	}
	return unix.ByteSliceToString(row.Proc.P_comm[:])
}

// handle names one process even when its number is given to another.
type handle struct{ process }

// hold reports false when the process is gone.
func hold(p process) (handle, bool) {
	h := handle{p}
	return h, !h.gone()
}

func (h handle) gone() bool {
	row, err := unix.SysctlKinfoProc("kern.proc.pid", h.pid)
	return err != nil || row.Proc.P_stat == stateZombie || fromRow(row).start != h.start
}

func (h handle) signal(sig syscall.Signal) {
	if !h.gone() {
		_ = syscall.Kill(h.pid, sig) // gone, or not ours: the next look tells
	}
}

func (h handle) close() {}

// awaitGone waits until all have ended, at most for wait.
func awaitGone(held []handle, wait time.Duration) {
	deadline := time.Now().Add(wait)
	for _, h := range held {
		for !h.gone() && time.Now().Before(deadline) {
			time.Sleep(tick)
		}
	}
}
