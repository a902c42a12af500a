package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// bubble confines by bubblewrap, a program that starts others in namespaces of
// their own. It serves where the kernel has no Landlock.
type bubble struct {
	path string
	args []string
	x    *plan
}

func hasBubble() bool {
	_, err := exec.LookPath("bwrap")
	return err == nil
}

func newBubble(c Config, x *plan) (holder, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("bwrap is not in PATH: install bubblewrap")
	}
	if x.reach == Proxied {
		x.reach = Closed // a network of its own does not reach our proxy
	}
	b := &bubble{path: path, args: bubbleArgs(x), x: x}
	// A container or AppArmor may forbid namespaces: better told now than by
	// each command.
	probe := exec.Command(path, append(slices.Clone(b.args[1:]), "/bin/true")...)
	if out, err := probe.CombinedOutput(); err != nil {
		return nil, errors.New("bwrap cannot make namespaces here: " + firstLine(string(out), err))
	}
	return b, nil
}

func (b *bubble) start(cmd *exec.Cmd) error {
	args := b.args
	if cmd.Dir != "" {
		args = slices.Insert(slices.Clone(args), len(args)-1, "--chdir", cmd.Dir)
	}
	wrap(cmd, b.path, args)
	return cmd.Start()
}

func (b *bubble) status() Status { return bubbleStatus("") }
func (b *bubble) close() error   { return nil }

func bubbleStatus(why string) Status {
	st := Status{Active: true, Backend: Bubblewrap, Files: true, Network: true, Signals: true, Why: why}
	st.NotHeld = []string{
		"hosts: with rules for the network nothing can be reached",
		"sockets of the file system, such as a container engine's",
	}
	return st
}

// bubbleArgs are the arguments before the program. Later ones cover earlier
// ones.
func bubbleArgs(x *plan) []string {
	args := []string{"bwrap", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	for _, w := range x.carve {
		args = append(args, "--bind", w, w)
	}
	for _, d := range x.dots() {
		args = append(args, "--ro-bind", d, d)
	}
	for _, w := range x.write {
		args = append(args, "--bind", w, w)
	}
	for _, f := range x.fixed {
		args = append(args, "--ro-bind", f, f)
	}
	var masks []string // made read-only when all in them is in place
	for _, d := range x.deny {
		if info, err := os.Stat(d); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", d)
			masks = append(masks, "--remount-ro", d)
		} else {
			args = append(args, "--ro-bind", "/dev/null", d)
		}
	}
	for _, path := range x.except {
		if !slices.ContainsFunc(x.deny, func(d string) bool { return within(d, filepath.Dir(path)) }) {
			continue // it is in sight
		}
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		args = append(args, "--ro-bind", path, path)
	}
	args = append(args, masks...)
	if x.reach != Open {
		args = append(args, "--unshare-net")
	}
	return append(args, "--")
}
