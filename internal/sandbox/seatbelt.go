package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// sandboxExec is macOS's program that starts another under a profile.
const sandboxExec = "/usr/bin/sandbox-exec"

// seatbelt confines on macOS.
type seatbelt struct{ profile string }

func newSeatbelt(x *plan) (holder, error) {
	if _, err := os.Stat(sandboxExec); err != nil {
		return nil, errors.New(sandboxExec + " is missing: Seatbelt is a part of macOS")
	}
	return &seatbelt{profile(x)}, nil
}

func (s *seatbelt) start(cmd *exec.Cmd) error {
	wrap(cmd, sandboxExec, []string{"sandbox-exec", "-p", s.profile, "--"})
	return cmd.Start()
}

func (s *seatbelt) status() Status { return seatbeltStatus() }
func (s *seatbelt) close() error   { return nil }

func seatbeltStatus() Status {
	if _, err := os.Stat(sandboxExec); err != nil {
		return Status{Backend: None, Why: sandboxExec + " is missing"}
	}
	return Status{Active: true, Backend: Seatbelt, Files: true, Network: true, Signals: true, Sockets: true}
}

// wrap makes a command the end of another one. The name by which a program is
// called is lost: its path takes its place.
func wrap(cmd *exec.Cmd, path string, args []string) {
	tail := []string{cmd.Path}
	if len(cmd.Args) > 0 {
		tail = append(tail, cmd.Args[1:]...)
	}
	cmd.Args = append(slices.Clone(args), tail...)
	cmd.Path = path
}

// profile words a plan in Seatbelt's language. Of several rules that fit, the
// last counts.
func profile(x *plan) string {
	var b strings.Builder
	line := func(parts ...string) {
		b.WriteString(strings.Join(parts, " "))
		b.WriteByte('\n')
	}
	line("(version 1)")
	line("(allow default)")
	line("(deny file-write*)")
	line(`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/(fd/|ttys)"))`)
	for _, w := range x.carve {
		line("(allow file-write* (subpath", quote(w)+"))")
	}
	for _, d := range x.dots() {
		line("(deny file-write* (subpath", quote(d)+"))")
	}
	for _, w := range x.write {
		line("(allow file-write* (subpath", quote(w)+"))")
	}
	for _, f := range x.fixed {
		line("(deny file-write* (subpath", quote(f)+"))")
	}
	for _, d := range slices.Concat(x.deny, x.absent) {
		line("(deny file-read* file-write* (subpath", quote(d)+"))")
	}
	for _, path := range x.except {
		line("(allow file-read* (subpath", quote(path)+"))")
	}
	line("(deny signal)")
	line("(allow signal (target same-sandbox))")
	line("(deny process-info*)")
	line("(allow process-info* (target same-sandbox))")
	if !x.unix {
		line("(deny network-outbound (remote unix-socket))")
	}
	if x.reach == Open { // names are looked up through a socket
		line(`(allow network-outbound (remote unix-socket (path-literal "/private/var/run/mDNSResponder")))`)
	}
	if x.reach != Open {
		line("(deny network*)")
	}
	if x.reach == Proxied {
		line(`(allow network-outbound (remote ip "localhost:` + strconv.Itoa(x.port) + `"))`)
		line(`(allow network-bind network-inbound (local ip "localhost:*"))`)
	}
	// What a command listens on in its own folders it may also connect to.
	for _, w := range x.write {
		line("(allow network* (remote unix-socket (subpath", quote(w)+")) (local unix-socket (subpath", quote(w)+")))")
	}
	return b.String()
}

// quote writes a text of Seatbelt's language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
