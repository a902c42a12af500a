//go:build unix

package lsp

import (
	"os/exec"
	"syscall"
)

// tree is a server with all it starts: the process group of its session, and
// on Linux whatever carries its marker in the environment.
type tree struct {
	marker string
	leader int
}

func newTree(marker string) *tree { return &tree{marker: marker} }

func (t *tree) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	t.leader = cmd.Process.Pid
	return nil
}

// term asks all to end. What has ended needs no signal.
func (t *tree) term() { _ = syscall.Kill(-t.leader, syscall.SIGTERM) }

func (t *tree) kill() {
	_ = syscall.Kill(-t.leader, syscall.SIGKILL)
	killMarked(t.marker)
}

func (t *tree) release() {}
