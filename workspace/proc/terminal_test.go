//go:build unix

package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// waiting are commands that would wait for a person.
func waiting(repo string) []string {
	return []string{
		"read x; echo \"[$x]\"",
		"cat",
		"head -c 1 /dev/tty; echo $?",
		"stty -a </dev/tty; echo $?",
		"read x </dev/tty; echo $?",
		"cd " + repo + " && git commit; echo $?",
		"cd " + repo + " && git log",
		"cd " + repo + " && git -c core.pager=less log",
		"cd " + repo + " && git rebase -i HEAD~1; git status --short",
		"git ls-remote https://127.0.0.1:1/x; ssh -o BatchMode=no 127.0.0.1 -p 1; echo $?",
		"bash", "sh -i; true",
	}
}

// newRepo makes a repository with a long history and something to commit.
func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r := newRunner(t, Config{})
	out, exit := sh(t, r, Job{Dir: dir, Command: `set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init -q . ; git config user.email a@example.com; git config user.name a; git config commit.gpgsign false; git config core.editor vi
for i in $(seq 60); do git commit -q --allow-empty -m "commit $i"; done
echo x >f; git add f`})
	if exit.Code != 0 {
		t.Fatal(out)
	}
	return dir
}

func TestCommandsThatWaitForAPerson(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	repo := newRepo(t)
	r := newRunner(t, Config{})
	for _, command := range waiting(repo) {
		sh(t, r, Job{Command: command, Track: true})
	}
	out, exit := sh(t, r, Job{Command: "git commit", Dir: repo})
	if exit.Code == 0 || !strings.Contains(out, "empty commit message") {
		t.Errorf("git commit: %q, %+v", out, exit)
	}
	if out, _ := sh(t, r, Job{Command: "git log", Dir: repo}); strings.Count(out, "\ncommit ") != 59 {
		t.Errorf("git log: %d commits", strings.Count(out, "\ncommit "))
	}
	if _, err := exec.LookPath("python3"); err == nil {
		if out, exit := sh(t, r, Job{Command: "python3"}); exit.Code != 0 {
			t.Errorf("python3: %q, %+v", out, exit)
		}
	}
}

const childVariable = "PROC_TEST_UNDER_PTY"

// TestNothingIsStolenFromTheTerminal runs commands in a program that has a
// terminal, types ahead, and looks whether the program still gets all of it.
func TestNothingIsStolenFromTheTerminal(t *testing.T) {
	if repo := os.Getenv(childVariable); repo != "" {
		underTerminal(t, repo)
		return
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(within(t), self, "-test.run=^TestNothingIsStolenFromTheTerminal$", "-test.count=1")
	cmd.Env = append(os.Environ(), childVariable+"="+newRepo(t))
	term, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	defer func() { _ = term.Close() }()
	if _, err := io.WriteString(term, "typed ahead\nsecond line\n"); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	_, _ = io.Copy(&seen, term) // ends with an error when the other side is gone
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, seen.String())
	}
	if !strings.Contains(seen.String(), `got "typed ahead\n" "second line\n"`) {
		t.Errorf("the terminal shows:\n%s", seen.String())
	}
}

func underTerminal(t *testing.T, repo string) {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		t.Fatalf("this test has no terminal: %v", err)
	}
	_ = tty.Close()
	r := newRunner(t, Config{})
	for _, command := range append(waiting(repo), "ls "+filepath.Join(repo, ".git")) {
		sh(t, r, Job{Command: command, Track: true})
	}
	// With a terminal the tree is a session.
	leader := strings.Fields(printed(t, r, "cut -d' ' -f1,6 /proc/$$/stat 2>/dev/null || echo 1 1", 0))
	if len(leader) != 2 || leader[0] != leader[1] {
		t.Errorf("the shell is no leader of a session: %q", leader)
	}
	for _, pid := range pids(t, printed(t, r, "(set -m; trap '' TERM; (echo pid $BASHPID; sleep 300; :) & echo pid $!; wait)", time.Second)) {
		awaitEnd(t, pid)
	}
	left := pids(t, printed(t, r, "sleep 300 >/dev/null 2>&1 & echo pid $!", 0))
	r.CloseAll()
	for _, pid := range left {
		awaitEnd(t, pid)
	}
	in := bufio.NewReader(os.Stdin)
	first, _ := in.ReadString('\n')
	second, _ := in.ReadString('\n')
	fmt.Printf("got %q %q\n", first, second)
}

// printed runs a command and returns what it prints.
func printed(t *testing.T, r *Runner, command string, timeout time.Duration) string {
	t.Helper()
	out, exit := sh(t, r, Job{Command: command, Timeout: timeout})
	if exit.TimedOut != (timeout > 0) {
		t.Errorf("%s: %+v", command, exit)
	}
	return out
}
