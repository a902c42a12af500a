package proc

import (
	"os/exec"
	"time"
)

// Tree is a program of long life that is no command of a shell, such as a
// server, with all that it starts.
type Tree struct{ tree *tree }

// StartTree starts a program apart from this one and its terminal. marker is the
// part of [Marker] in the program's environment that is its own; by it what it
// starts is found on Linux, wherever it went.
func StartTree(cmd *exec.Cmd, marker string) (*Tree, error) {
	return Config{}.StartTree(cmd, marker)
}

// StartTree is as the function of that name, and confines the program as the
// configuration confines commands.
func (c Config) StartTree(cmd *exec.Cmd, marker string) (*Tree, error) {
	t := newTree(marker)
	if err := t.start(cmd, c.Start); err != nil {
		return nil, err
	}
	return &Tree{t}, nil
}

// startBy starts a command, by start when there is one.
func startBy(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	if start != nil {
		return start(cmd)
	}
	return cmd.Start()
}

// Stop asks all to end, kills after grace what has not, and waits until all are
// gone, the program itself too: somebody has to wait for it meanwhile. It may be
// called again, also after the program has ended.
func (t *Tree) Stop(grace time.Duration) { t.tree.stop(grace) }

// Release gives back what the system holds for the tree, after the last Stop.
func (t *Tree) Release() { t.tree.release() }
