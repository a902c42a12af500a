package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openharness/oh/workspace/proc"
)

// TestRunner holds that the runner of commands keeps its promises for confined
// ones, and that they cannot leave what holds them.
func TestRunner(t *testing.T) {
	b := newBox(t, nil)
	r := proc.New(proc.Config{Start: b.p.Start, Env: []string{"HOME=" + b.home, "OUT=" + b.out}, Grace: 200 * time.Millisecond})
	defer r.CloseAll()
	run := func(job proc.Job) (string, proc.Exit) {
		t.Helper()
		var out bytes.Buffer
		job.Out, job.Dir = &out, b.ws
		exit, err := r.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), exit
	}
	if out, exit := run(proc.Job{Command: "cat ~/.ssh/id_ed25519; echo x > $OUT/file; mkdir d; cd d", Track: true}); strings.Contains(out, "SECRET") || exit.Dir != b.ws+"/d" {
		t.Errorf("%q, %+v", out, exit)
	}
	if out, exit := run(proc.Job{Command: "cat ~/.ssh/id_ed25519", Free: true}); out != "SECRET" || exit.Code != 0 {
		t.Errorf("a free command: %q, %+v", out, exit)
	}
	_, exit := run(proc.Job{Command: "sleep 300 >/dev/null 2>&1 & setsid sleep 300 >/dev/null 2>&1 &"})
	if len(exit.Left) != 2 {
		t.Errorf("left: %+v", exit.Left)
	}
	if _, exit := run(proc.Job{Command: "trap '' TERM; setsid sleep 300 & sleep 300", Timeout: 200 * time.Millisecond}); !exit.TimedOut || exit.Duration > 10*time.Second {
		t.Errorf("%+v", exit)
	}
	ended := make(chan proc.Exit, 1)
	if _, err := r.Start(proc.Job{Command: "sleep 300; echo x > $OUT/file", Dir: b.ws}, func(e proc.Exit) { ended <- e }); err != nil {
		t.Fatal(err)
	}
	r.CloseAll()
	if e := <-ended; !e.Cancelled {
		t.Errorf("%+v", e)
	}
	if got, err := os.ReadFile(b.out + "/file"); err != nil || string(got) != "untouched" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLinkedWorkTree commits in a tree whose repository lies elsewhere.
func TestLinkedWorkTree(t *testing.T) {
	b := newBox(t, nil)
	env := append(os.Environ(), "HOME="+b.home, "GIT_CONFIG_NOSYSTEM=1")
	for _, args := range []string{"init -q repo", "-C repo commit -q --allow-empty -m one", "-C repo worktree add -q ../tree"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir, cmd.Env = b.out, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %s", args, out)
		}
	}
	b.cfg.Dir, b.cfg.Write = b.out+"/tree", []string{b.out + "/tree"}
	p, err := New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	b.p, b.ws = p, b.out+"/tree"
	if out, code := b.sh("echo a > a && git add a && git commit -q -m two && git status --short && git branch x && git log --oneline | wc -l"); code != 0 || out != "2\n" {
		t.Errorf("%q, %d", out, code)
	}
	for _, line := range []string{"echo x > ../repo/.git/hooks/pre-commit", "echo x >> ../repo/.git/config", "echo x > ../repo/new"} {
		if out, code := b.sh(line); code == 0 {
			t.Errorf("%s: %s", line, out)
		}
	}
}
