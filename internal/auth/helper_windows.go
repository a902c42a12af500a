package auth

import (
	"context"
	"os/exec"
	"syscall"
)

// shell makes a command of the shell. What it started in turn may outlive it.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /S /C "` + command + `"`}
	return cmd
}
