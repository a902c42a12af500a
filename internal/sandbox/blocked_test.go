package sandbox

import (
	"strings"
	"testing"
)

func TestBlocked(t *testing.T) {
	open := &Policy{cfg: Config{Mode: WorkspaceWrite, Network: Open, Write: []string{"/ws"}}, temp: "/tmp/oh-1"}
	held := &Policy{cfg: Config{Mode: WorkspaceWrite, Network: Proxied, Write: []string{"/ws"}}, temp: "/tmp/oh-1"}
	for _, c := range []struct {
		p    *Policy
		out  string
		code int
		want string
	}{
		{open, "touch: cannot touch '/root/x': Permission denied\n", 1, "touch: cannot touch '/root/x': Permission denied"},
		{open, "one\nbash: line 1: /etc/x: Permission denied\nmake: *** [all] Error 1\n", 2, "bash: line 1: /etc/x: Permission denied"},
		{open, "touch: cannot touch '/root/x': Permission denied\n", 0, ""},
		{open, "all is well", 1, ""},
		{open, "bash: /ws/run.sh: Permission denied\n", 126, ""},
		{open, "bash: ./run.sh: Permission denied\n", 126, ""},
		{open, "bash: /opt/run.sh: Permission denied\n", 126, "bash: /opt/run.sh: Permission denied"},
		{open, "cat: /ws/locked: Permission denied\n", 1, ""},
		{open, "mv: cannot move '/ws/a' to '/out/a': Permission denied\n", 1, "mv: cannot move '/ws/a' to '/out/a': Permission denied"},
		{open, "error: EACCES: permission denied, open '/home/u/.npmrc'", 243, "error: EACCES: permission denied, open '/home/u/.npmrc'"},
		{open, "PermissionError: [Errno 13] Permission denied: 'x'", 1, "PermissionError: [Errno 13] Permission denied: 'x'"},
		{open, "bash: line 1: kill: (4571) - Operation not permitted", 1, "bash: line 1: kill: (4571) - Operation not permitted"},
		{open, "", 159, "Bad system call"},
		{open, "curl: (6) Could not resolve host: x.example", 6, ""},
		{held, "curl: (6) Could not resolve host: x.example", 6, "curl: (6) Could not resolve host: x.example"},
		{held, "curl: (56) CONNECT tunnel failed, response 403", 56, "curl: (56) CONNECT tunnel failed, response 403"},
		{open, "/x: permission denied" + strings.Repeat(" ", mostLook), 1, ""},
		{open, "\x1b[31m/x: permission denied\x1b[0m", 1, "/x: permission denied"},
	} {
		if got := c.p.Blocked(c.out, c.code); got != c.want {
			t.Errorf("%.80q, %d: %q, want %q", c.out, c.code, got, c.want)
		}
	}
}

func FuzzBlocked(f *testing.F) {
	f.Add("touch: cannot touch '/root/x': Permission denied\n", 1)
	f.Add("\x1b]0;x\x07EPERM /a/../b", 126)
	p := &Policy{cfg: Config{Mode: WorkspaceWrite, Network: Closed, Write: []string{"/ws"}}}
	f.Fuzz(func(t *testing.T, out string, code int) {
		if got := p.Blocked(out, code); strings.ContainsAny(got, "\n\x1b") || code == 0 && got != "" {
			t.Errorf("%q", got)
		}
	})
}
