//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// maxCommand is a little below the longest argument that Linux takes, since
// quoting makes a command longer.
const maxCommand = 120_000

// The descriptors on which a shell tells where it ended. Scripts use the low
// ones; a plain sh can name no other.
const (
	bashFD = 19
	shFD   = 7
)

// scriptHead begins every script we pass to a shell; by it a subshell that
// lives on is recognised.
const scriptHead = "trap '{ { "

// Two ways lead out of a shell: the EXIT trap, which a command may replace,
// and the line's end, which an exit skips; both tell the directory. It is all
// one line, so that a syntax error in the command cannot confuse the reading of
// the rest. The space keeps eval from taking the command for an option.
const (
	bashScript = scriptHead + `builtin pwd -P; builtin printf "\0"; } >&19; } 2>/dev/null' EXIT; eval ' {command}'; ` +
		`{ set -- "$?"; set +xv; { builtin pwd -P; builtin printf "\0"; } >&19; } 2>/dev/null; exit "$1"`
	shScript = scriptHead + `pwd -P; printf "\0"; } >&7; } 2>/dev/null' EXIT; eval ' {command}'; ` +
		`{ set -- "$?"; set +xv; { pwd -P; printf "\0"; } >&7; } 2>/dev/null; exit "$1"`
)

func findShell(want string) (Shell, error) {
	if want != "" {
		path, err := exec.LookPath(want)
		if err != nil {
			return Shell{}, fmt.Errorf("the configured shell: %w", err)
		}
		return shellAt(path), nil
	}
	if path := firstOf("bash", "/bin/bash", "/usr/bin/bash"); path != "" {
		return Shell{path, Bash}, nil
	}
	if path := firstOf("sh", "/bin/sh"); path != "" {
		return Shell{path, Sh}, nil
	}
	return Shell{}, errors.New("no shell was found: neither bash nor sh is in PATH or /bin; install bash")
}

// Tracks reports whether the shell can tell in which directory it ends, see
// [Job].
func (s Shell) Tracks() bool { return s.Kind == Bash || s.Kind == Sh }

// args makes the argument list of a shell that runs a command.
func (s Shell) args(command string, track bool) []string {
	name := string(s.Kind)
	switch {
	case track && s.Kind == Bash:
		command = script(bashScript, command)
	case track:
		command = script(shScript, command)
	case strings.HasPrefix(command, "-"):
		command = " " + command // else it is an option
	}
	return []string{name, "-c", command}
}

func script(template, command string) string {
	quoted := strings.ReplaceAll(command, "'", `'\''`)
	return strings.Replace(template, "{command}", quoted, 1)
}

// extra puts the pipe for the directory at its descriptor; the gap is closed.
func (s Shell) extra(told *os.File) []*os.File {
	at := shFD
	if s.Kind == Bash {
		at = bashFD
	}
	files := make([]*os.File, at-3+1)
	files[len(files)-1] = told
	return files
}

// readDir takes what the shell has told, without waiting for children that
// hold the pipe.
func readDir(pipe *os.File) (dir string, gone bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return "", false
	}
	var all []byte
	buf := make([]byte, 8<<10)
	for len(all) < mostRest {
		n := readNow(raw, buf)
		if n <= 0 {
			break
		}
		all = append(all, buf[:n]...)
	}
	return parseDir(string(all))
}

// parseDir reads records of a path, a newline and NUL; the last whole one
// counts. A record without a path means that there is no such directory.
func parseDir(told string) (dir string, gone bool) {
	end := strings.LastIndexByte(told, 0)
	if end < 0 {
		return "", false
	}
	told = told[:end]
	last := strings.TrimSuffix(told[strings.LastIndexByte(told, 0)+1:], "\n")
	if last == "" {
		return "", true
	}
	if last[0] != '/' {
		return "", false
	}
	info, err := os.Stat(last)
	return last, err != nil || !info.IsDir()
}

func signalName(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
