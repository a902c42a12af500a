package proc

import (
	"path/filepath"
	"strings"
)

// movers are what a command line needs, in plain letters, to make bash itself
// change its directory (or move that), or to make it read further commands.
// Part of a longer word counts too.
var movers = [...]string{"cd", "pushd", "popd", "eval", "source", "trap", "alias", "enable", "shopt", "mapfile", "readarray", "mv"}

// starters are variables by which bash runs or defines something of its own
// accord.
var starters = [...]string{"BASH_FUNC_", "BASH_ENV=", "BASHOPTS=", "SHELLOPTS="}

// stays reports whether bash surely stays in its directory when it runs a
// command line, so that it need not tell where it ends: it can then become the
// last command instead of waiting for it, which saves a process. It judges by
// letters alone, with all doubt on the side of false: whatever could put a name
// together at run time (expansions, braces, globs) counts as a move.
func stays(command string, env []string) bool {
	if strings.ContainsAny(command, "$`{[") || startsOwn(env) {
		return false
	}
	plain := strings.NewReplacer("\\\n", "", `\`, "", `'`, "", `"`, "").Replace(command)
	for _, word := range movers {
		if strings.Contains(plain, word) {
			return false
		}
	}
	words := strings.FieldsFunc(plain, func(c rune) bool { return c >= 0x80 || strings.ContainsRune(" \t\n;&|()<>", c) })
	for i, word := range words {
		if word == "." && i < len(words)-1 || mayBeName(word) { // a dot reads the file that follows
			return false
		}
	}
	return true
}

func startsOwn(env []string) bool {
	for _, kv := range env {
		for _, s := range starters {
			if strings.HasPrefix(kv, s) {
				return true
			}
		}
	}
	return false
}

// mayBeName reports whether a pattern could match a file that is named like a
// command of the shell. One with a slash, or with a dot beside a letter, cannot.
func mayBeName(word string) bool {
	if !strings.ContainsAny(word, "*?") || strings.Contains(word, "/") {
		return false
	}
	return !strings.Contains(word, ".") || strings.Trim(word, ".*?") == ""
}

// still is the directory of a shell that stayed, links resolved. It reports
// gone when there is none by that name any more.
func still(dir string) (real string, gone bool) {
	real, err := filepath.EvalSymlinks(dir)
	return real, err != nil
}
