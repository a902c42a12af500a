package permit

import (
	"path/filepath"
	"slices"
	"strings"
)

// guardCommand looks for what cannot be undone and reaches far: wide deletion,
// force-push, disk tools, switching the machine off.
func (r *reading) guardCommand(name string, args []word) {
	switch name {
	case "rm", "shred", "srm":
		r.guardRemove(name, args)
	case "find":
		r.guardFind(args)
	case "git":
		r.guardGit(args)
	case "dd":
		r.guardDD(args)
	case "rsync":
		if slices.ContainsFunc(args, func(a word) bool { return strings.HasPrefix(a.text, "--del") }) {
			r.guardTargets("rsync --delete", args)
		}
	case "tee", "cp", "mv":
		for _, a := range operands(args) {
			if t := r.expand(a.text); strings.HasPrefix(t, "/dev/") && !harmlessDevice(t) && !strings.HasPrefix(t, "/dev/fd/") && !strings.HasPrefix(t, "/dev/shm/") {
				r.guard(name + " writes to the device " + t)
			}
		}
	case "chmod", "chown", "chgrp":
		if flag(args, 'R', "--recursive") {
			r.guardOwner(name, args)
		}
	case "fdisk", "sfdisk", "parted", "wipefs", "mkswap", "mke2fs", "cryptsetup", "lvremove", "vgremove", "pvremove", "blkdiscard":
		r.guard(name + " changes disks")
	case "diskutil", "zpool", "zfs":
		for _, a := range args {
			if l := strings.ToLower(a.text); strings.HasPrefix(l, "erase") || l == "destroy" || strings.HasPrefix(l, "partition") {
				r.guard(name + " " + a.text + " destroys data")
			}
		}
	case "shutdown", "reboot", "halt", "poweroff":
		r.guard(name + " switches the machine off")
	case "systemctl":
		for _, a := range args {
			switch a.text {
			case "poweroff", "reboot", "halt", "kexec":
				r.guard("systemctl " + a.text + " switches the machine off")
			}
		}
	default:
		switch {
		case strings.HasPrefix(name, "mkfs"):
			r.guard(name + " formats a disk")
		case strings.ContainsAny(name, "$`") && flag(args, 'r', "--recursive"):
			// Which command this is cannot be told; it may be rm.
			r.guardTargets("an unknown command", args)
		}
	}
}

// flag reports whether a short or a long option is among the words.
func flag(args []word, short byte, long string) bool {
	for _, a := range args {
		t := a.text
		if t == "--" {
			return false
		}
		if t == long || len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t, short) > 0 {
			return true
		}
	}
	return false
}

func (r *reading) guardRemove(name string, args []word) {
	deep := flag(args, 'r', "--recursive") || flag(args, 'R', "--recursive") || flag(args, 0, "--no-preserve-root")
	targets := operands(args)
	if deep && len(targets) == 0 {
		r.guard(name + " -r takes its targets from elsewhere")
	}
	r.guardTargets(name, args)
	for _, t := range targets {
		if deep && strings.Contains(t.text, "$(") || deep && strings.Contains(t.text, "`") {
			r.guard(name + " -r takes its targets from a command")
		}
		if to := r.expand(t.text); deep && t.dynamic && strings.Trim(withoutVariables(to), `/"*`) == "" && !strings.Contains(to, "mktemp") {
			r.guard(name + " -r takes its target from a variable, which may be empty or anything")
		}
		if base := filepath.Base(filepath.FromSlash(t.text)); deep && (base == ".git" || strings.Contains(base, ".git}") ||
			strings.Contains(base, ".git,") || strings.ContainsAny(base, "*?[") && levelFits(base, ".git")) {
			r.guard(name + " -r deletes the history of a repository")
		}
	}
}

// operands returns the words that are no options.
func operands(args []word) []word {
	var out []word
	for i, a := range args {
		if a.text == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			out = append(out, a)
		}
	}
	return out
}

func (r *reading) guardTargets(what string, args []word) {
	for _, t := range operands(args) {
		if r.wide(t) {
			r.guard(what + " reaches all of " + t.text)
			return
		}
	}
}

// guardOwner guards changes of rights beyond the workspace.
func (r *reading) guardOwner(name string, args []word) {
	for _, t := range operands(args) {
		if r.wide(t) && !r.inside(t.text) {
			r.guard(name + " -R reaches all of " + t.text)
		}
	}
}

// inside reports whether a word is a path in the workspace.
func (r *reading) inside(s string) bool {
	abs, ok := r.abs(s)
	if !ok {
		return false
	}
	return slices.ContainsFunc(r.Roots, func(root string) bool {
		_, in := under(root, abs)
		return in
	})
}

// wide reports whether a target is, or holds, the workspace, the directory of
// the command, the home folder or a folder at the top of the file system. An
// unknown variable counts as empty, which is how such accidents happen.
func (r *reading) wide(w word) bool {
	s := r.expand(w.text)
	if strings.Contains(s, "OLDPWD") {
		return true // wherever that is
	}
	if w.dynamic {
		if bare := withoutVariables(s); bare != s {
			return bare != "" && r.wideName(bare, true)
		}
	}
	return s != "" && r.wideName(s, false)
}

// wideName is wide for a name without variables. guessed says that some were
// taken out: then only folders that every system has count as top folders.
func (r *reading) wideName(s string, guessed bool) bool {
	s = filepath.FromSlash(s)
	if strings.HasPrefix(s, "~") { // somebody's home
		return !strings.Contains(strings.Trim(s, string(filepath.Separator)+"*"), string(filepath.Separator))
	}
	// A last level that takes everything stands for the folder it is in.
	whole := strings.TrimRight(s, string(filepath.Separator))
	switch base := filepath.Base(whole); base {
	case "*", ".*", "*.*", "?*", ".[!.]*", "{*,.*}", "**":
		whole = strings.TrimSuffix(whole, base)
		if whole == "" {
			whole = "."
		}
	}
	if whole == "" {
		return true // only separators: the root
	}
	if r.dir == "" && !filepath.IsAbs(whole) {
		return whole == "." || strings.Trim(filepath.ToSlash(whole), "./") == ""
	}
	if !filepath.IsAbs(whole) {
		whole = filepath.Join(r.dir, whole)
	}
	whole = filepath.Clean(whole)
	if filepath.Dir(filepath.Dir(whole)) == filepath.Dir(whole) && (!guessed || topFolder(filepath.ToSlash(whole))) {
		return true // at most one level deep
	}
	for _, held := range append([]string{r.Home, r.dir}, r.Roots...) {
		if held == "" {
			continue
		}
		if _, ok := under(whole, held); ok || globsOver(whole, held) {
			return true
		}
	}
	return false
}

// globsOver reports whether a path with wildcards may name a folder or what
// holds it.
func globsOver(pat, folder string) bool {
	if !strings.ContainsAny(pat, "*?[{") {
		return false
	}
	levels := strings.Split(strings.Trim(filepath.ToSlash(folder), "/"), "/")
	pats := strings.Split(strings.Trim(filepath.ToSlash(pat), "/"), "/")
	if len(pats) > len(levels) {
		return false
	}
	for i, p := range pats {
		if p != levels[i] && !levelFits(p, levels[i]) {
			return false
		}
	}
	return true
}

func topFolder(path string) bool {
	switch strings.ToLower(strings.Trim(path, "/")) {
	case "", "bin", "boot", "dev", "etc", "home", "lib", "lib64", "mnt", "opt", "proc", "root", "run", "sbin", "srv",
		"sys", "tmp", "usr", "var", "users", "system", "library", "applications", "volumes":
		return true
	}
	return false
}

func withoutVariables(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '$' && s[i] != '`' {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, _ := expansion(s[i:])
		i += n
	}
	return b.String()
}

func (r *reading) guardFind(args []word) {
	deletes, filtered := false, false
	var starts []word
	options := false
	for _, a := range args {
		t := a.text
		options = options || strings.HasPrefix(t, "-") || t == "(" || t == "!"
		switch {
		case !options:
			starts = append(starts, a)
		case t == "-delete" || t == "rm" || strings.HasSuffix(t, "/rm"):
			deletes = true
		case strings.HasSuffix(t, "name") || strings.HasSuffix(t, "path") || strings.HasSuffix(t, "regex") ||
			strings.HasSuffix(t, "time") || strings.HasSuffix(t, "min") || t == "-size" || t == "-empty" || strings.HasPrefix(t, "-newer"):
			filtered = true
		}
	}
	if !deletes {
		return
	}
	if len(starts) == 0 {
		starts = []word{{text: "."}}
	}
	if slices.ContainsFunc(args, func(a word) bool { return a.text == ".git" }) {
		r.guard("find deletes the history of a repository")
	}
	for _, s := range starts {
		if r.wide(s) && !(filtered && r.inside(s.text)) {
			r.guard("find deletes in all of " + s.text)
		}
	}
}

func (r *reading) guardGit(args []word) {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch args[0].text {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace":
			args = args[min(1, len(args)-1):]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	rest := args[1:]
	switch args[0].text {
	case "config":
		for _, a := range rest {
			if runsCode(a.text) {
				r.guard("git config " + a.text + " makes git run a program")
			}
		}
	case "push":
		for _, a := range rest {
			if strings.HasPrefix(a.text, ":") && len(a.text) > 1 || a.text == "--delete" || a.text == "-d" {
				r.guard("git push " + a.text + " deletes a branch of the remote")
			}
			if strings.HasPrefix(a.text, "--force") || a.text == "--mirror" || strings.HasPrefix(a.text, "+") {
				r.guard("git push " + a.text + " overwrites the remote's history")
			}
		}
		if flag(rest, 'f', "--force") {
			r.guard("git push -f overwrites the remote's history")
		}
	case "clean":
		if flag(rest, 'f', "--force") && !flag(rest, 'n', "--dry-run") {
			r.guard("git clean -f deletes files that git does not know")
		}
	case "filter-branch", "filter-repo":
		r.guard("git " + args[0].text + " rewrites the history")
	}
}

// runsCode reports whether a setting of git names a program.
func runsCode(key string) bool {
	key = strings.ToLower(key)
	for _, k := range [...]string{"core.hookspath", "core.fsmonitor", "core.sshcommand", "core.editor", "core.pager", "core.askpass",
		"core.gitproxy", "credential.helper", "diff.external", "sequence.editor", "gpg.program", "include.path"} {
		if key == k {
			return true
		}
	}
	section, _, _ := strings.Cut(key, ".")
	return section == "alias" || section == "filter" || strings.HasSuffix(key, ".textconv") || strings.HasSuffix(key, ".command") ||
		section == "includeif" || section == "pager"
}

func (r *reading) guardDD(args []word) {
	for _, a := range args {
		to, ok := strings.CutPrefix(a.text, "of=")
		if !ok {
			continue
		}
		abs, ok := r.abs(to)
		if ok && harmlessDevice(filepath.ToSlash(abs)) {
			continue
		}
		if !r.inside(to) {
			r.guard("dd writes to " + to)
		}
	}
}

func harmlessDevice(path string) bool {
	switch path {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full":
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/dev/shm/") ||
		strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/")
}
