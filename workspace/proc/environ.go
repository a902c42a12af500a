package proc

import (
	"os"
	"slices"
	"strings"
)

// quiet makes programs run without a person: no pager, no editor (git then
// refuses an empty message), no question, no colours. CI is left as it is.
var quiet = [...]string{
	"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
	"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true",
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
	"TERM=dumb", "DEBIAN_FRONTEND=noninteractive",
}

// startFiles are read by shells at their start, or change what they do.
var startFiles = [...]string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS"}

// Environ returns what children inherit of parent, a list of NAME=value: all
// but what the configuration denies and what makes a shell read start files,
// with the variables that keep programs from waiting for a person.
func (c Config) Environ(parent []string) []string {
	env := make([]string, 0, len(parent)+len(quiet)+len(c.Env))
	for _, kv := range parent {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" && !strings.HasPrefix(kv, "=") || c.denies(name) {
			continue
		}
		env = append(env, kv)
	}
	env = append(env, quiet[:]...)
	return append(env, c.Env...)
}

func (c Config) denies(name string) bool {
	return slices.Contains(startFiles[:], name) || slices.Contains(c.Deny, name) ||
		c.DenyFunc != nil && c.DenyFunc(name)
}

// environ is the environment of one command; later entries win.
func (r *Runner) environ(job Job, marker string) []string {
	env := slices.Concat(r.env(), job.Env)
	if job.Dir != "" {
		env = append(env, "PWD="+job.Dir)
	}
	if outer := os.Getenv(Marker); outer != "" {
		marker = outer + ":" + marker
	}
	return append(env, Marker+"="+marker)
}

// belongs reports whether a value of the marker names id itself or something
// below it: "a" owns "a.1" and "x.3:a.1".
func belongs(value, id string) bool {
	for elem := range strings.SplitSeq(value, ":") {
		if rest, ok := strings.CutPrefix(elem, id); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

// markerIn finds the marker's value in an environment block, as the system
// keeps it: strings that end with NUL.
func markerIn(block string) string {
	for kv := range strings.SplitSeq(block, "\x00") {
		if value, ok := strings.CutPrefix(kv, Marker+"="); ok {
			return value
		}
	}
	return ""
}
