package permit

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Analysis is what an [Analyser] sees in a command line.
type Analysis struct {
	// Parts are the texts that a glob on commands is matched with: the whole,
	// each command in it, and each of those without what stands before the
	// command proper (assignments, sudo).
	Parts []string
	// Paths are absolute paths that a command names as words of its own.
	Paths []string
	// Writes are those of Paths that it seems to write: targets of redirections
	// and operands of commands that change files.
	Writes []string
	// Hints are absolute paths that only stand inside a longer text that is
	// code for an interpreter.
	Hints []string
	// Obscure says why it cannot be told which command runs; "" when it can.
	Obscure string
	// Guard says why the command needs a person in every mode; "" when it does
	// not.
	Guard string
}

// Analyser looks at shell command lines. It reads no files and is safe for
// concurrent use.
type Analyser interface {
	Analyse(command, dir string) Analysis
}

// Words is an Analyser that cuts a command line into words. It errs toward
// finding commands and paths that are none. Home and Roots are absolute.
type Words struct {
	Home  string
	Roots []string
}

// Bounds on what one command line makes us look at.
const (
	maxParts  = 4096
	maxPaths  = 2048
	maxPeeled = 64   // words before the command proper
	maxValue  = 1024 // bytes of a variable, and of a word that holds one
)

// Analyse implements [Analyser].
func (a Words) Analyse(command, dir string) Analysis {
	r := &reading{Words: a, dir: dir, room: budget{left: 256<<10 + 8*len(command)}}
	r.part(strings.TrimSpace(command))
	if strings.Contains(strings.ReplaceAll(command, " ", ""), ":(){") {
		r.guard("it looks like a fork bomb")
	}
	r.line(command, 0)
	if r.room.spent || len(r.out.Parts) >= maxParts || len(r.out.Paths) >= maxPaths {
		r.guard("it is too long to be looked through")
	}
	return r.out
}

// reading is one analysis under way.
type reading struct {
	Words
	dir  string            // after the cd commands so far; "" when unknown
	vars map[string]string // what the line itself gave to variables
	out  Analysis
	room budget
}

func (r *reading) guard(why string) {
	if r.out.Guard == "" {
		r.out.Guard = why
	}
}

func (r *reading) part(s string) {
	if s != "" && len(r.out.Parts) < maxParts && r.room.take(len(s)) {
		r.out.Parts = append(r.out.Parts, s)
	}
}

func (r *reading) line(src string, depth int) {
	for _, c := range scan(src, depth, &r.room) {
		if r.room.spent {
			return
		}
		r.command(c, depth)
	}
}

func (r *reading) command(c simple, depth int) {
	r.part(c.raw)
	for _, w := range c.words {
		if !assignment(w.text) {
			break
		}
		name, value, _ := strings.Cut(w.text, "=")
		if r.vars == nil {
			r.vars = map[string]string{}
		}
		if value = r.expand(value); len(value) > maxValue {
			value = "$" // too long to be followed
		}
		r.vars[name] = value
	}
	for _, f := range c.files {
		r.mention(f.text)
	}
	for _, f := range c.sinks {
		r.mention(f.text)
		r.path(f.text, &r.out.Writes)
		if t := r.expand(f.text); strings.HasPrefix(t, "/dev/") && !harmlessDevice(t) {
			r.guard("it redirects to the device " + t)
		}
	}
	if c.heard || !speaks(c.words) {
		for _, w := range c.words {
			r.mention(w.text)
		}
	}
	r.peel(c, depth)
}

// speaks reports whether a command only prints its words.
func speaks(words []word) bool {
	return len(words) > 0 && (words[0].text == "echo" || words[0].text == "printf")
}

// peel looks at the command proper, past what stands before it. After a command
// that runs another one, words are taken away until one can be no option and no
// value of an option, so that rm is found in `sudo -u root rm x`.
func (r *reading) peel(c simple, depth int) {
	words, skip := c.words, 0
	inner, last := false, ""
	for n := 0; ; n++ {
		if words = skipPrefix(words); len(words) == 0 {
			return
		}
		if n == maxPeeled {
			r.room.spent = true
		}
		if r.room.spent || !r.room.take(8*len(words)) {
			return
		}
		first := words[0].text
		if w := words[0]; w.dynamic || w.globbed && strings.Trim(w.text, "[") != "" {
			r.out.Obscure = "an expansion stands for the name of a command"
		}
		name := commandName(first)
		r.part(join(words))
		if name != first && !r.room.spent {
			r.part(strings.TrimSpace(name + " " + join(words[1:])))
		}
		r.proper(name, words[1:], c, depth)
		positional, wraps := wrapper(name)
		switch {
		case wraps:
			inner, skip = true, positional
		case !inner:
			return
		case strings.HasPrefix(first, "-") || strings.HasPrefix(last, "-") && !strings.HasPrefix(last, "--") || strings.Trim(first, "0123456789.smhd") == "":
		case skip > 0:
			skip--
		default:
			return
		}
		last, words = first, words[1:]
	}
}

// proper looks at a command whose name stands first.
func (r *reading) proper(name string, args []word, c simple, depth int) {
	r.guardCommand(name, args)
	if writer(name) {
		for _, a := range args {
			r.path(strings.TrimPrefix(a.text, "of="), &r.out.Writes)
		}
	}
	switch name {
	case "alias":
		r.out.Obscure = "it defines an alias"
	case "trap":
		if len(args) > 1 {
			r.inner(args[0].text, depth)
		}
	case "eval", "source", ".":
		if name == "eval" {
			r.inner(join(args), depth)
		}
		if name != "eval" || slices.ContainsFunc(args, func(w word) bool { return w.dynamic }) {
			r.out.Obscure = name + " runs what it cannot show"
		}
	}
	switch name {
	case "cd", "pushd":
		r.chdir(args)
	case "find":
		for i, a := range args {
			if strings.HasPrefix(a.text, "-exec") || strings.HasPrefix(a.text, "-ok") {
				r.peel(simple{words: args[i+1:]}, depth)
			}
		}
	}
	if !interpreter(name) {
		return
	}
	if c.body == "" && readsCommands(name, args) {
		r.out.Obscure = name + " runs what it reads"
	}
	for i, a := range args {
		code := name == "eval" || i > 0 && strings.HasPrefix(args[i-1].text, "-") && strings.ContainsAny(args[i-1].text, "ce")
		if code && shell(name) {
			r.inner(a.text, depth)
		} else if strings.ContainsAny(a.text, " \t\n'\"(") {
			r.hint(a.text)
		}
	}
	if c.body != "" {
		if shell(name) {
			r.inner(c.body, depth)
		} else {
			r.hint(c.body)
		}
	}
}

func (r *reading) inner(src string, depth int) {
	if depth >= maxDepth {
		r.room.spent = true
		return
	}
	r.line(src, depth+1)
}

func shell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "eval", "su", "ssh":
		return true
	}
	return false
}

// readsCommands reports whether a shell takes its commands from its input.
func readsCommands(name string, args []word) bool {
	if !shell(name) || name == "eval" || name == "su" || name == "ssh" {
		return false
	}
	for _, a := range args {
		if a.text == "-s" {
			return true
		}
		if !strings.HasPrefix(a.text, "-") || strings.ContainsAny(a.text, "c") {
			return false // a script, or the commands themselves
		}
	}
	return true
}

func interpreter(name string) bool {
	if shell(name) {
		return true
	}
	for _, p := range [...]string{"python", "node", "perl", "ruby", "php", "deno", "bun", "lua", "osascript", "pwsh", "powershell"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// commandName is the name without folder: /bin/rm is rm.
func commandName(s string) string {
	return path.Base(strings.ReplaceAll(s, `\`, "/"))
}

// skipPrefix looks past assignments, braces and the keywords of the shell.
func skipPrefix(words []word) []word {
	for len(words) > 0 {
		switch w := words[0].text; w {
		case "{", "}", "!", "if", "then", "else", "elif", "do", "while", "until", "time", "function", "coproc":
		default:
			if !assignment(w) {
				return words
			}
		}
		words = words[1:]
	}
	return words
}

func assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	name = strings.TrimSuffix(name, "+")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for _, c := range name {
		if c != '_' && (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'z') {
			return false
		}
	}
	return true
}

// wrapper reports whether a command runs another one that stands among its
// words, and how many words of its own come first.
func wrapper(name string) (positional int, ok bool) {
	switch name {
	case "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "timeout", "stdbuf",
		"setsid", "xargs", "parallel", "watch", "strace", "unshare", "busybox", "time":
		return 0, true
	case "flock", "chroot":
		return 1, true
	}
	return 0, false
}

// writer reports whether a command changes the files it names.
func writer(name string) bool {
	switch name {
	case "tee", "cp", "mv", "rm", "ln", "install", "touch", "mkdir", "rmdir", "chmod", "chown", "truncate",
		"rsync", "sed", "dd", "unlink", "shred", "patch":
		return true
	}
	return false
}

func join(words []word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return strings.Join(out, " ")
}

func (r *reading) chdir(args []word) {
	for _, a := range args {
		if strings.HasPrefix(a.text, "-") && a.text != "-" {
			continue
		}
		r.dir, _ = r.abs(a.text)
		return
	}
	r.dir = r.Home
}

// expand replaces ~, the home variable and that of the working directory.
func (r *reading) expand(s string) string {
	if strings.Contains(s, "$") && len(s) <= maxValue {
		for name, value := range r.vars {
			s = strings.ReplaceAll(s, "${"+name+"}", value)
			if s == "$"+name || strings.HasPrefix(s, "$"+name+"/") {
				s = value + s[1+len(name):]
			}
		}
	}
	if r.dir != "" {
		for _, v := range [...]string{"${PWD}", "${PWD:?}", "$PWD", "$(pwd)", "`pwd`"} {
			if i := strings.Index(s, v); i >= 0 && !strings.HasPrefix(s[i+len(v):], "_") {
				s = s[:i] + r.dir + s[i+len(v):]
			}
		}
	}
	if r.Home != "" {
		for _, h := range [...]string{"${HOME}", "$HOME"} {
			if i := strings.Index(s, h); i >= 0 && !strings.HasPrefix(s[i+len(h):], "_") {
				s = s[:i] + r.Home + s[i+len(h):]
			}
		}
		if s == "~" || strings.HasPrefix(s, "~/") {
			s = r.Home + s[1:]
		}
	}
	return s
}

// abs returns a word as an absolute path; ok is false when that cannot be told.
func (r *reading) abs(s string) (string, bool) {
	s = filepath.FromSlash(r.expand(s))
	switch {
	case s == "" || strings.ContainsAny(s, "$`\x00"):
		return "", false
	case filepath.IsAbs(s):
		return filepath.Clean(s), true
	case r.dir == "":
		return "", false
	}
	return filepath.Join(r.dir, s), true
}

// mention notes the paths that a word may stand for: the whole of it, and what
// follows =, :, @, a comma or an option's letter.
func (r *reading) mention(s string) {
	if strings.Contains(s, "://") && !strings.Contains(s, "file://") {
		return
	}
	r.path(s, &r.out.Paths)
	for i, c := range s {
		switch c {
		case '=', ':', '@', ',':
			r.path(s[i+1:], &r.out.Paths)
		}
	}
	if len(s) > 2 && s[0] == '-' && s[1] != '-' {
		r.path(s[2:], &r.out.Paths)
	}
}

// hint notes the paths inside a longer text.
func (r *reading) hint(s string) {
	for _, f := range strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(" \t\r\n'\"`()[]{},;|&<>=:@", c) }) {
		if strings.ContainsAny(f, "/.~") {
			r.path(f, &r.out.Hints)
		}
	}
}

func (r *reading) path(s string, to *[]string) {
	if s == "" || len(s) > 4096 || len(*to) >= maxPaths {
		return
	}
	full, ok := r.abs(s)
	if !ok {
		// An unknown folder or variable: the names in it still tell.
		full = filepath.Join(string(filepath.Separator), filepath.FromSlash(strings.ReplaceAll(s, "\x00", "")))
	}
	if !slices.Contains(*to, full) {
		*to = append(*to, full)
	}
}
