package proc

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// Kind is the language of a shell.
type Kind string

// The kinds.
const (
	Bash       Kind = "bash"
	Sh         Kind = "sh" // POSIX
	PowerShell Kind = "powershell"
	Cmd        Kind = "cmd"
)

// Shell is a program that runs command lines.
type Shell struct {
	Path string
	Kind Kind
}

// shellAt names the kind of a shell by its file name.
func shellAt(path string) Shell {
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	switch name {
	case "bash":
		return Shell{path, Bash}
	case "powershell", "pwsh":
		return Shell{path, PowerShell}
	case "cmd":
		return Shell{path, Cmd}
	}
	return Shell{path, Sh}
}

// firstOf returns the first program that can be found.
func firstOf(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
