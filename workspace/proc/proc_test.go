//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is what a test waits for something that should come at once.
const patience = 20 * time.Second

func newRunner(t *testing.T, cfg Config) *Runner {
	t.Helper()
	r := New(cfg)
	t.Cleanup(r.CloseAll)
	return r
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// sh runs a command and returns its output.
func sh(t *testing.T, r *Runner, job Job) (string, Exit) {
	t.Helper()
	var out bytes.Buffer
	if job.Dir == "" {
		job.Dir = t.TempDir()
	}
	job.Out = &out
	exit, err := r.Run(within(t), job)
	if err != nil {
		t.Fatalf("%s: %v", job.Command, err)
	}
	if exit.Cancelled {
		t.Fatalf("%s: did not end within %v; output %q", job.Command, patience, out.String())
	}
	return out.String(), exit
}

// awaitEnd waits until a process is gone (or a zombie that nobody reaps).
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); runtime.Gosched() {
		if !running(pid) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

func running(pid int) bool {
	for _, p := range processes() {
		if p.pid == pid {
			return true
		}
	}
	return false
}

func pids(t *testing.T, out string) []int {
	t.Helper()
	var all []int
	for _, m := range regexp.MustCompile(`pid (\d+)`).FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func TestRun(t *testing.T) {
	r := newRunner(t, Config{})
	for _, c := range []struct {
		command, out string
		code         int
		signal       string
	}{
		{"echo one; echo two >&2; echo three", "one\ntwo\nthree\n", 0, ""},
		{"exit 3", "", 3, ""},
		{"(exit 4)", "", 4, ""},
		{"false", "", 1, ""},
		{"kill -9 $$", "", -1, "killed"},
		{"echo $0 $#", "bash 0\n", 0, ""},
		{"echo 'it'\"'\"'s' \"q\"", "it's q\n", 0, ""},
		{"cat <<'E'\nit's \"q\" $x `y` \\\nE\n", "it's \"q\" $x `y` \\\n", 0, ""},
		{"set -e; false; echo no", "", 1, ""},
		{"set -u; echo $nope", "bash: nope: unbound variable\n", 127, ""},
		{"trap 'echo bye $?' EXIT; exit 5", "bye 5\n", 5, ""},
		{"trap 'echo bye $?' EXIT; (exit 6)", "bye 6\n", 6, ""},
		{"exec echo other", "other\n", 0, ""},
		{"set -x; echo x", "+ echo x\nx\n", 0, ""},
		{"set -v; echo x", "x\n", 0, ""},
		{"echo open; exec 19>&-", "open\n", 0, ""},
		{"exec 2>&-; echo x", "x\n", 0, ""},
		{"echo '{command}'", "{command}\n", 0, ""},
		{"echo x # comment", "x\n", 0, ""},
		{"-x", "bash: -x: command not found\n", 127, ""},
		{"echo a;\n\necho b\n", "a\nb\n", 0, ""},
		{"read x; echo \"[$x] $?\"", "[] 1\n", 0, ""},
		{"read x || echo ended", "ended\n", 0, ""},
	} {
		for _, track := range []bool{true, false} {
			out, exit := sh(t, r, Job{Command: c.command, Track: track})
			if c.command == "set -x; echo x" {
				out = strings.ReplaceAll(out, "++ ", "+ ")
			}
			if c.command == "set -u; echo $nope" {
				exit.Code = 127 // 1 in some versions
			}
			out = regexp.MustCompile(`line \d+: `).ReplaceAllString(out, "")
			if out != c.out || exit.Code != c.code || exit.Signal != c.signal {
				t.Errorf("%q (track %v): %q, code %d, signal %q; want %q, %d, %q",
					c.command, track, out, exit.Code, exit.Signal, c.out, c.code, c.signal)
			}
		}
	}
}

func TestSyntaxErrorsDoNotShowTheWrapper(t *testing.T) {
	r := newRunner(t, Config{})
	for _, command := range []string{`echo "open`, `echo 'open`, "echo a; fi", "if true", "echo a \\", "cat <<E\nopen", "echo $(", "f() {"} {
		out, exit := sh(t, r, Job{Command: command, Track: true})
		if strings.Contains(out, "builtin") || strings.Contains(out, "syntax error near unexpected token `}'") {
			t.Errorf("%q: the wrapper shows: %q (code %d)", command, out, exit.Code)
		}
	}
}

func TestPlainSh(t *testing.T) {
	r := newRunner(t, Config{Shell: "/bin/sh"})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, exit := sh(t, r, Job{Command: "mkdir sub; cd sub; echo it\\'s; (exit 3)", Dir: dir, Track: true})
	if out != "it's\n" || exit.Code != 3 || exit.Dir != filepath.Join(dir, "sub") {
		t.Errorf("got %q, %+v", out, exit)
	}
}

func TestBackgroundChildHoldsThePipe(t *testing.T) {
	for _, command := range []string{
		"sleep 300 & echo pid $!; echo done",
		"setsid sleep 300 & echo pid $!; echo done",
		"sleep 300 >/dev/null 2>&1 & echo pid $!; echo done",
		"nohup sleep 300 >/dev/null 2>&1 & echo pid $!; echo done",
		"(trap '' TERM; while :; do sleep 1; done) & echo pid $!; echo done",
		"env -i sleep 300 & echo pid $!; echo done",
	} {
		if strings.Contains(command, "setsid") && runtime.GOOS != "linux" {
			continue
		}
		r := New(Config{})
		out, exit := sh(t, r, Job{Command: command})
		if !strings.HasSuffix(out, "done\n") || exit.Code != 0 || exit.Duration > patience/2 {
			t.Errorf("%s: %q, %+v", command, out, exit)
		}
		all := pids(t, out)
		if len(all) != 1 {
			t.Fatalf("%s: pids %v in %q", command, all, out)
		}
		listed := false
		for _, p := range exit.Left {
			listed = listed || p.PID == all[0]
		}
		if !listed || !running(all[0]) {
			t.Errorf("%s: process %d is not listed (%+v) or does not live", command, all[0], exit.Left)
		}
		r.CloseAll()
		awaitEnd(t, all[0])
		if _, err := r.Run(t.Context(), Job{Command: "true"}); !errors.Is(err, ErrClosed) {
			t.Errorf("after CloseAll: %v", err)
		}
	}
}

func TestEndlessPrinterIsCutOffAndLives(t *testing.T) {
	r := New(Config{})
	out, exit := sh(t, r, Job{Command: "yes endless & echo pid $!"})
	all := pids(t, out)
	if len(all) != 1 || exit.Code != 0 || len(exit.Left) == 0 {
		t.Fatalf("got %q..., %+v", out[:min(len(out), 100)], exit)
	}
	if !running(all[0]) {
		t.Error("the child died of the closed pipe")
	}
	r.CloseAll()
	awaitEnd(t, all[0])
}

func TestWhatTheShellWroteIsWhole(t *testing.T) {
	r := newRunner(t, Config{})
	out, _ := sh(t, r, Job{Command: "sleep 300 & head -c 60000 /dev/zero | tr '\\0' x; echo end"})
	if len(out) != 60004 || !strings.HasSuffix(out, "xend\n") {
		t.Errorf("%d bytes", len(out))
	}
	out, _ = sh(t, r, Job{Command: "exec > >(sed s/^/got:/); echo a; echo b"})
	if out != "got:a\ngot:b\n" {
		t.Errorf("process substitution: %q", out)
	}
}

func TestTimeout(t *testing.T) {
	for _, c := range []struct{ name, command string }{
		{"pipe", "echo early; (echo pid $BASHPID; sleep 300; echo x) | cat"},
		{"ignores TERM", "echo early; trap '' TERM; (echo pid $BASHPID; while :; do sleep 300; done)"},
		{"setsid", "echo early; setsid -w bash -c 'echo pid $$; sleep 300'"},
		{"orphan", "echo early; (setsid bash -c 'trap \"\" TERM; echo pid $$; while :; do sleep 300; done' &); sleep 300"},
		{"stopped", "echo early; (echo pid $BASHPID; kill -STOP $BASHPID; sleep 300)"},
		{"starts another", "echo early; trap 'sleep 300 & echo pid $!; exit' TERM; echo pid $$; while :; do sleep 0.01; done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.Contains(c.command, "setsid") {
				t.Skip("no setsid(1) and no marker here")
			}
			t.Parallel()
			r := newRunner(t, Config{Grace: 200 * time.Millisecond})
			out, exit := sh(t, r, Job{Command: c.command, Timeout: 1500 * time.Millisecond})
			if !strings.Contains(out, "early\n") || !exit.TimedOut || exit.Left != nil {
				t.Errorf("%q, %+v", out, exit)
			}
			if most := 10 * time.Second; exit.Duration > most {
				t.Errorf("it took %v", exit.Duration)
			}
			all := pids(t, out)
			if len(all) == 0 {
				t.Fatalf("no pid in %q", out)
			}
			for _, pid := range all {
				if running(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

// firstWrite is closed when something was written.
type firstWrite struct {
	bytes.Buffer
	once sync.Once
	seen chan struct{}
}

func (w *firstWrite) Write(p []byte) (int, error) {
	defer w.once.Do(func() { close(w.seen) })
	return w.Buffer.Write(p)
}

func TestCancel(t *testing.T) {
	r := newRunner(t, Config{})
	ctx, cancel := context.WithCancel(within(t))
	out := &firstWrite{seen: make(chan struct{})}
	go func() {
		<-out.seen
		cancel()
	}()
	exit, err := r.Run(ctx, Job{Command: "echo pid $$; sleep 300", Out: out, Track: true, Dir: "/"})
	if err != nil || !exit.Cancelled || exit.TimedOut || exit.Duration > patience/2 {
		t.Fatalf("%+v, %v", exit, err)
	}
	for _, pid := range pids(t, out.String()) {
		awaitEnd(t, pid)
	}
	if _, err := r.Run(ctx, Job{Command: "true"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context starts nothing: %v", err)
	}
}

func TestCloseAllStopsARunningCommand(t *testing.T) {
	r := New(Config{})
	out := &firstWrite{seen: make(chan struct{})}
	done := make(chan Exit)
	go func() {
		exit, err := r.Run(within(t), Job{Command: "echo pid $$; sleep 300", Out: out})
		if err != nil {
			t.Error(err)
		}
		done <- exit
	}()
	<-out.seen
	r.CloseAll()
	if exit := <-done; exit.Code != -1 || exit.Signal != "terminated" {
		t.Errorf("got %+v", exit)
	}
}

func TestAnEarlierChildSurvivesALaterTimeout(t *testing.T) {
	r := newRunner(t, Config{})
	out, _ := sh(t, r, Job{Command: "sleep 300 >/dev/null 2>&1 & echo pid $!"})
	server := pids(t, out)[0]
	if _, exit := sh(t, r, Job{Command: "sleep 300", Timeout: 50 * time.Millisecond}); !exit.TimedOut {
		t.Errorf("got %+v", exit)
	}
	if !running(server) {
		t.Error("the timeout of one command stopped the child of another")
	}
}

func TestErrors(t *testing.T) {
	r := newRunner(t, Config{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{Command: "true", Dir: "/no/such/dir"}, "run a command in /no/such/dir: no such file or directory"},
		{Job{Command: "true", Dir: file}, "run a command in " + file + ": it is not a directory"},
		{Job{Command: "echo a\x00b"}, "the command has a NUL byte at offset 6: remove it"},
		{Job{Command: ": " + strings.Repeat("x", maxCommand)}, "the command is 120002 bytes long, and at most 120000 can be run: write it to a file and run that"},
	} {
		if _, err := r.Run(within(t), c.job); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	none := New(Config{Shell: "no-such-shell"})
	if _, err := none.Run(within(t), Job{Command: "true"}); err == nil || !strings.Contains(err.Error(), "no-such-shell") {
		t.Errorf("no shell: %v", err)
	}
}

func TestLongestCommandRuns(t *testing.T) {
	r := newRunner(t, Config{})
	command := "true '" + strings.Repeat("x", maxCommand-20) + "'; echo ok"
	if out, exit := sh(t, r, Job{Command: command, Track: true}); out != "ok\n" || exit.Code != 0 {
		t.Errorf("got %.100q, %+v", out, exit)
	}
	quotes := ": " + strings.Repeat("'x'", maxCommand/3-10)
	var out bytes.Buffer
	if _, err := r.Run(within(t), Job{Command: quotes, Track: true, Out: &out}); err != nil && !strings.Contains(err.Error(), "too long") {
		t.Errorf("many quotes: %v", err)
	}
}

func TestOutputErrorDoesNotStopTheCommand(t *testing.T) {
	r := newRunner(t, Config{})
	exit, err := r.Run(within(t), Job{Command: "head -c 1000000 /dev/zero; exit 7", Out: badWriter{}})
	if err != nil || exit.Code != 7 {
		t.Errorf("%+v, %v", exit, err)
	}
}

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestNoDescriptorIsLeaked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts /proc/self/fd")
	}
	r := newRunner(t, Config{})
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	sh(t, r, Job{Command: "true"})
	before := count()
	for range 5 {
		sh(t, r, Job{Command: "cd /; sleep 300 & kill $!", Track: true})
		sh(t, r, Job{Command: "sleep 300", Timeout: time.Millisecond})
		_, _ = r.Run(t.Context(), Job{Command: "true", Dir: "/no/such/dir", Track: true})
	}
	r.drains.Wait()
	if after := count(); after > before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
}

func TestConcurrentRuns(t *testing.T) {
	r := newRunner(t, Config{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var out bytes.Buffer
			exit, err := r.Run(within(t), Job{Command: "echo " + strconv.Itoa(i) + "; exit " + strconv.Itoa(i), Dir: "/", Out: &out, Track: true})
			if err != nil || exit.Code != i || out.String() != strconv.Itoa(i)+"\n" || exit.Dir != "/" {
				t.Errorf("%d: %q, %+v, %v", i, out.String(), exit, err)
			}
		})
	}
	wg.Wait()
}

func TestSelfIsNeverInTheFamily(t *testing.T) {
	self := os.Getpid()
	all := []process{{pid: 1}, {pid: self, parent: 1}, {pid: 1 << 30, parent: self}, {pid: 1<<30 + 1, parent: 1 << 30}}
	if got := family(all, func(p process) bool { return p.pid == 1 || p.pid == self }); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	got := family(all, func(p process) bool { return p.pid == 1<<30 })
	if len(got) != 2 {
		t.Errorf("got %+v", got)
	}
	if syscall.Kill(self, 0) != nil {
		t.Error("we are gone")
	}
}

func BenchmarkTrue(b *testing.B) {
	r := New(Config{})
	defer r.CloseAll()
	dir := b.TempDir()
	for b.Loop() {
		exit, err := r.Run(b.Context(), Job{Command: "true", Dir: dir, Out: io.Discard, Track: true})
		if err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}
