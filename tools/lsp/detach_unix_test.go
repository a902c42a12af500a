//go:build unix

package lsp

import (
	"os/exec"
	"syscall"
)

// detach puts a child into a session of its own, out of the group's reach.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }
