package shell

import (
	"path/filepath"
	"slices"
	"strings"
)

// grave tells why a command needs a person in every mode: it cannot be undone
// and reaches far. "" when it does not.
func (r *reader) grave(s state, name string, args []word) string {
	switch name {
	case "rm", "srm":
		return r.graveRemove(s, name, args)
	case "find", "gfind":
		return r.graveFind(s, args)
	case "git":
		return graveGit(args)
	case "dd":
		return r.graveDD(s, args)
	case "rsync":
		if slices.ContainsFunc(args, func(a word) bool { return strings.HasPrefix(a.val, "--del") }) {
			return r.graveTargets(s, "rsync --delete", args)
		}
	case "tee", "cp", "mv", "truncate", "install", "ln":
		return r.graveTarget(s, name, args)
	case "chmod", "chown", "chgrp":
		if flag(args, 'R', "--recursive") {
			for _, t := range operands(args) {
				if r.wide(s, t) && !r.inBorder(s, t.val) {
					return name + " -R reaches all of " + t.text()
				}
			}
		}
	case "kill":
		if n := len(args); n > 0 && args[n-1].val == "-1" {
			return "kill -1 ends all processes"
		}
	case "crontab":
		if flag(args, 'r', "") {
			return "crontab -r deletes all jobs"
		}
	case "psql", "mysql", "mariadb", "sqlite3", "clickhouse-client", "mongosh", "mongo", "redis-cli":
		return graveQuery(name, args)
	}
	if why := graveMachine(name, args); why != "" {
		return why
	}
	return graveService(name, args)
}

// graveMachine is about disks and the machine itself.
func graveMachine(name string, args []word) string {
	switch name {
	case "shred", "fdisk", "sfdisk", "gdisk", "sgdisk", "cfdisk", "parted", "wipefs", "mkswap", "mke2fs", "cryptsetup", "lvremove", "vgremove", "pvremove", "blkdiscard", "hdparm", "badblocks":
		return name + " changes disks or destroys what is on them"
	case "diskutil", "zpool", "zfs":
		for _, a := range args {
			if l := strings.ToLower(a.val); strings.HasPrefix(l, "erase") || l == "destroy" || strings.HasPrefix(l, "partition") {
				return name + " " + a.val + " destroys data"
			}
		}
	case "shutdown", "reboot", "halt", "poweroff":
		return name + " switches the machine off"
	case "init", "telinit":
		if has(args, "0", "6", "1") {
			return name + " switches the machine off"
		}
	case "systemctl":
		if has(args, "poweroff", "reboot", "halt", "kexec", "emergency", "rescue") {
			return "systemctl switches the machine off"
		}
	}
	if strings.HasPrefix(name, "mkfs") {
		return name + " formats a disk"
	}
	return ""
}

// graveService is about what others run or keep.
func graveService(name string, args []word) string {
	switch name {
	case "docker", "podman":
		if has(args, "system", "volume") && has(args, "prune") && (has(args, "volume") || has(args, "-a", "--all", "--volumes", "-af", "-fa")) {
			return name + " prune deletes what is not running now"
		}
	case "kubectl", "oc":
		if has(args, "delete") && has(args, "ns", "namespace", "namespaces", "--all", "-A", "--all-namespaces", "pv", "crd", "node") {
			return name + " delete takes away more than one thing"
		}
	case "terraform", "tofu", "terragrunt", "pulumi", "cdk", "sam":
		if has(args, "destroy", "-destroy", "--destroy") {
			return name + " destroy takes away what is running"
		}
	case "aws":
		if has(args, "s3") && (has(args, "rb") || has(args, "rm") && has(args, "--recursive")) {
			return "aws s3 deletes a bucket or much of it"
		}
	case "gh":
		if has(args, "repo") && has(args, "delete") {
			return "gh repo delete deletes a repository"
		}
	case "dropdb", "userdel", "deluser":
		return name + " deletes what cannot be had back"
	}
	return ""
}

func graveQuery(name string, args []word) string {
	for _, a := range args {
		q := strings.Join(strings.Fields(strings.ToUpper(a.val)), " ")
		for _, s := range [...]string{"DROP DATABASE", "DROP SCHEMA", "DROP TABLE", "TRUNCATE ", "DROPDATABASE", "FLUSHALL", "FLUSHDB"} {
			if strings.Contains(q, s) {
				return name + " deletes data: " + strings.TrimSpace(s)
			}
		}
	}
	return ""
}

func has(args []word, vals ...string) bool {
	return slices.ContainsFunc(args, func(a word) bool { return slices.Contains(vals, a.val) })
}

// flag reports whether a short or a long option is among the words.
func flag(args []word, short byte, long string) bool {
	for _, a := range args {
		t := a.val
		if t == "--" {
			return false
		}
		if t != "" && t == long || len(t) > 1 && t[0] == '-' && t[1] != '-' && short != 0 && strings.IndexByte(t, short) > 0 {
			return true
		}
		// A beginning of a long option is enough for many programs.
		if len(t) > 4 && len(long) > 4 && strings.HasPrefix(t, "--") && strings.HasPrefix(long, t) {
			return true
		}
	}
	return false
}

// operands returns the words that are no options.
func operands(args []word) []word {
	var out []word
	for i, a := range args {
		if a.val == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a.val, "-") || a.val == "-" {
			out = append(out, a)
		}
	}
	return out
}

func (r *reader) graveRemove(s state, name string, args []word) string {
	deep := flag(args, 'r', "--recursive") || flag(args, 'R', "--recursive") || flag(args, 0, "--no-preserve-root")
	targets := operands(args)
	if deep && len(targets) == 0 {
		return name + " -r takes its targets from elsewhere"
	}
	if why := r.graveTargets(s, name, args); why != "" {
		return why
	}
	for _, t := range targets {
		if !deep {
			break
		}
		unsure := strings.ContainsAny(t.val, "\x00\x01")
		switch {
		case unsure && strings.ContainsAny(t.src, "`(") && !strings.HasPrefix(t.src, "${"):
			return name + " -r takes its targets from a command"
		case unsure && strings.Trim(show(empty(t.val)), `/"*`) == "":
			return name + " -r takes its target from a variable, which may be empty or anything"
		}
		base := filepath.Base(filepath.FromSlash(show(t.val)))
		if base == ".git" || pattern(t.val) && levelFits(base, ".git") {
			return name + " -r deletes the history of a repository"
		}
	}
	return ""
}

func (r *reader) graveTargets(s state, what string, args []word) string {
	for _, t := range operands(args) {
		if r.wide(s, t) {
			return what + " reaches all of " + t.text()
		}
	}
	return ""
}

// guardTargets guards the line by what its targets are.
func (r *reader) guardTargets(s state, what string, args []word) {
	if why := r.graveTargets(s, what, args); why != "" {
		r.guard(why)
	}
}

// graveTarget is about what a command puts in the place of something else.
func (r *reader) graveTarget(s state, name string, args []word) string {
	all := operands(args)
	for i, t := range all {
		for _, p := range r.paths(s, t.val) {
			p = filepath.ToSlash(filepath.Clean(p))
			if strings.HasPrefix(p, "/dev/") && !harmlessDevice(p) {
				return name + " writes to the device " + p
			}
			if (i == len(all)-1 || name != "cp" && name != "ln") && systemFolder(p) && name != "truncate" {
				return name + " changes " + p + ", which the system needs"
			}
		}
	}
	return ""
}

func systemFolder(p string) bool {
	for _, dir := range [...]string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/System", "/private/etc"} {
		if p == dir || strings.HasPrefix(p, dir+"/") && !strings.HasPrefix(p, "/usr/local/") {
			return true
		}
	}
	return false
}

func (r *reader) inBorder(s state, val string) bool {
	all := r.paths(s, val)
	for _, p := range all {
		p = filepath.Clean(p)
		if !slices.ContainsFunc(r.at.Roots, func(root string) bool { return under(root, p) }) {
			return false
		}
	}
	return len(all) > 0
}

// under reports whether path is base or lies in it.
func under(base, path string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && base != "" && (rest == "" || base[len(base)-1] == filepath.Separator || rest[0] == filepath.Separator)
}

// wide reports whether a target is, or holds, the workspace, the directory of
// the command, the home folder or a folder at the top of the file system. An
// unknown variable counts as empty, which is how such accidents happen.
func (r *reader) wide(s state, w word) bool {
	v := w.val
	switch {
	case strings.Contains(w.src, "OLDPWD"):
		return true // wherever that is
	case v != "" && v[0] == fresh:
		return strings.Contains(v, "..")
	case strings.ContainsAny(v, "\x00\x01"):
		bare := show(empty(v))
		return bare != "" && r.wideName(s, bare, true)
	}
	return v != "" && r.wideName(s, show(v), false)
}

// wideName is wide for a name without variables. guessed says that some were
// taken out: then only folders that every system has count as top folders.
func (r *reader) wideName(s state, name string, guessed bool) bool {
	name = filepath.FromSlash(name)
	if strings.HasPrefix(name, "~") { // somebody's home
		return !strings.Contains(strings.Trim(name, slashRoot+"*"), slashRoot)
	}
	// A last level that takes everything stands for the folder it is in.
	whole := strings.TrimRight(name, slashRoot)
	switch base := filepath.Base(whole); base {
	case "*", ".*", "*.*", "?*", ".[!.]*", ".??*", "**":
		if whole = strings.TrimSuffix(whole, base); whole == "" {
			whole = "."
		}
	}
	if whole == "" {
		return true // only separators: the root
	}
	if filepath.IsAbs(whole) {
		return r.holds(filepath.Clean(whole), guessed)
	}
	if s.dirs == nil {
		return whole == "." || strings.Trim(filepath.ToSlash(whole), "./") == ""
	}
	return slices.ContainsFunc(s.dirs, func(d string) bool { return r.holds(filepath.Join(d, whole), guessed) })
}

// holds reports whether a folder is at the top, or holds what must not go.
func (r *reader) holds(whole string, guessed bool) bool {
	if filepath.Dir(filepath.Dir(whole)) == filepath.Dir(whole) && (!guessed || topFolder(filepath.ToSlash(whole))) {
		return true // at most one level deep
	}
	for _, held := range slices.Concat([]string{r.at.Home, r.at.Dir}, r.at.Roots) {
		if held != "" && (under(whole, held) || globsOver(whole, held)) {
			return true
		}
	}
	return false
}

// globsOver reports whether a path with wildcards may name a folder or what
// holds it.
func globsOver(pat, folder string) bool {
	if !strings.ContainsAny(pat, "*?[") {
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

// levelFits is a shell's matching of one level: a wildcard takes no dot at the
// head.
func levelFits(pat, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pat, ".") {
		return false
	}
	ok, err := filepath.Match(pat, name)
	return ok || err != nil
}

func topFolder(path string) bool {
	switch strings.ToLower(strings.Trim(path, "/")) {
	case "", "bin", "boot", "dev", "etc", "home", "lib", "lib64", "mnt", "opt", "proc", "root", "run", "sbin", "srv",
		"sys", "tmp", "usr", "var", "users", "system", "library", "applications", "volumes":
		return true
	}
	return false
}

func (r *reader) graveFind(s state, args []word) string {
	deletes, filtered := false, false
	starts, n := findStarts(args)
	for _, a := range args[n:] {
		switch t := a.val; {
		case t == "-delete" || t == "rm" || strings.HasSuffix(t, "/rm"):
			deletes = true
		case strings.HasSuffix(t, "name") || strings.HasSuffix(t, "path") || strings.HasSuffix(t, "regex") ||
			strings.HasSuffix(t, "time") || strings.HasSuffix(t, "min") || t == "-size" || t == "-empty" || strings.HasPrefix(t, "-newer"):
			filtered = true
		}
	}
	if !deletes {
		return ""
	}
	if len(starts) == 0 {
		starts = []word{{val: ".", src: "."}}
	}
	if has(args, ".git") {
		return "find deletes the history of a repository"
	}
	for _, t := range starts {
		if strings.ContainsAny(t.val, "\x00\x01") && !filtered {
			return "find deletes in a folder that cannot be told"
		}
		if r.wide(s, t) && !(filtered && r.inBorder(s, t.val)) {
			return "find deletes in all of " + t.text()
		}
	}
	return ""
}

func graveGit(args []word) string {
	rest := readGit(args).rest
	if len(rest) == 0 {
		return ""
	}
	sub, rest := rest[0].val, rest[1:]
	switch sub {
	case "config":
		if has(rest, "--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list", "--unset", "unset") {
			return ""
		}
		for _, a := range rest {
			if runsCode(a.val) {
				return "git config " + a.val + " makes git run a program"
			}
		}
	case "push":
		return gravePush(rest)
	case "clean":
		if flag(rest, 'f', "--force") && !flag(rest, 'n', "--dry-run") {
			return "git clean -f deletes files that git does not know"
		}
	case "filter-branch", "filter-repo":
		return "git " + sub + " rewrites the history"
	case "reflog":
		if has(rest, "expire", "delete") {
			return "git reflog expire throws away the way back"
		}
	case "gc", "prune":
		if sub == "prune" || slices.ContainsFunc(rest, func(a word) bool { return strings.HasPrefix(a.val, "--prune=") && a.val != "--prune=2.weeks.ago" }) {
			return "git " + sub + " throws away what nothing points at"
		}
	case "update-ref":
		if flag(rest, 'd', "") || has(rest, "--stdin") {
			return "git update-ref -d deletes a reference"
		}
	}
	return ""
}

func gravePush(rest []word) string {
	for _, a := range rest {
		switch {
		case strings.HasPrefix(a.val, ":") && len(a.val) > 1 || a.val == "--delete" || a.val == "-d" || a.val == "--prune":
			return "git push " + a.val + " deletes a branch of the remote"
		case strings.HasPrefix(a.val, "--force") || a.val == "--mirror" || strings.HasPrefix(a.val, "+"):
			return "git push " + a.val + " overwrites the remote's history"
		}
	}
	if flag(rest, 'f', "--force") {
		return "git push -f overwrites the remote's history"
	}
	return ""
}

func (r *reader) graveDD(s state, args []word) string {
	for _, a := range args {
		to, ok := strings.CutPrefix(a.val, "of=")
		if !ok || harmlessDevice(to) {
			continue
		}
		if !r.inBorder(s, to) {
			return "dd writes to " + show(to)
		}
	}
	return ""
}

// harmlessDevice reports whether a path is a device that keeps nothing.
func harmlessDevice(path string) bool {
	switch path {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/")
}
