package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// mostLook bounds how much of an output is looked at: a refusal is told last.
const mostLook = 64 << 10

// fileWords and netWords are what programs say when a file, or the network, is
// kept from them. In lower case.
var fileWords = [...]string{
	"permission denied", "operation not permitted", "permissionerror", "eacces", "eperm",
	"read-only file system", "erofs", "bad system call", "access is denied",
}

var netWords = [...]string{
	"could not resolve host", "temporary failure in name resolution", "name or service not known", "enotfound", "eai_again",
	"no such host", "network is unreachable", "enetunreach", "address family not supported",
	"response 403", "refused by the sandbox", "couldn't connect to server", "failed to connect",
}

// Blocked tells, for a command that failed, the line of its output that looks
// as if the sandbox was the reason, or "" when nothing does. It is a guess by
// words: a program may hide a refusal, and one that the sandbox has no part in
// reads the same. Lines about places that may be written do not count.
func (p *Policy) Blocked(output string, code int) string {
	if code == 0 || p.off() {
		return ""
	}
	if len(output) > mostLook {
		output = output[len(output)-mostLook:]
	}
	if code == 128+31 || strings.Contains(output, "Bad system call") {
		return "Bad system call"
	}
	p.mu.Lock()
	held := p.roots()
	p.mu.Unlock()
	lines := strings.Split(output, "\n")
	for _, line := range slices.Backward(lines) {
		low := strings.ToLower(line)
		if mentions(low, fileWords[:]) && !ours(line, held, code) || p.cfg.Network != Open && mentions(low, netWords[:]) {
			return text.OneLine(text.Clean(line), 200)
		}
	}
	return ""
}

// roots are the places that may be written.
func (p *Policy) roots() []string {
	out := []string{p.temp}
	if p.cfg.Mode != ReadOnly {
		for _, w := range p.cfg.absolute(p.cfg.Write) {
			out = append(out, w, resolve(w))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func mentions(low string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
}

// ours reports whether a line speaks only of places that may be written: then a
// missing mode bit is to blame. A shell that cannot run a file of the workspace
// says so with 126.
func ours(line string, held []string, code int) bool {
	outside, inside := false, false
	for _, f := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t'\"`:,;()[]<>=‘’“”", r) }) {
		if !filepath.IsAbs(f) || f == "/" {
			continue
		}
		f = filepath.Clean(f)
		if slices.ContainsFunc(held, func(h string) bool { return within(h, f) }) {
			inside = true
		} else if filepath.Base(f) != "bash" && filepath.Base(f) != "sh" {
			outside = true
		}
	}
	return !outside && (inside || code == 126)
}
