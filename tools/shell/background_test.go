//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace/proc"
)

func TestBackgroundTask(t *testing.T) {
	y := newYard(t)
	wait, open := y.gate("gate")
	res, err := y.call(t.Context(), y.tool, fields{"command": "echo one; " + wait + "; printf 't\\033[1mwo\\r\\n'; exit 3", "run_in_background": true})
	if err != nil || res.IsError {
		t.Fatal(err, res)
	}
	var m startedMeta
	if err := json.Unmarshal(res.Meta, &m); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Started in the background as task %s (pid %d). Output: task_output or the file %s.", m.ID, m.PID, m.Path)
	if text := res.Content.Text(); text != want || !regexp.MustCompile(`^b[0-9a-f]{8}$`).MatchString(m.ID) || m.Dir != y.root || !alive(m.PID) {
		t.Errorf("got %q, %+v", text, m)
	}
	var got []string
	got = append(got, y.block(m.ID), y.look(m.ID, fields{}))
	open()
	got = append(got, y.notice(), y.look(m.ID, fields{}), y.look(m.ID, fields{"block": true}), y.look(m.ID, nil))
	if diff := cmp.Diff([]string{
		"one\n[task ID is running, for T]",
		"(no new output)\n[task ID is running, for T]",
		"[Background task ID has ended: exit code 3 after T. Command: echo one; " + wait[:commandShown-len("echo one; ")-1] + "…. Read what it printed with task_output.]",
		"two\n[task ID has ended: exit code 3 after T]",
		"(no new output)\n[task ID has ended: exit code 3 after T]",
		"(no new output)\n[task ID had ended before: exit code 3 after T]",
	}, got); diff != "" {
		t.Error(diff)
	}
	if raw, err := os.ReadFile(m.Path); err != nil || string(raw) != "one\ntwo\n" {
		t.Errorf("the file has %q, %v", raw, err)
	}
}

func TestTaskMeta(t *testing.T) {
	y := newYard(t)
	m := y.start("kill -9 $$")
	if got := y.notice(); got != "[Background task ID has ended: by a signal (killed) after T. Command: kill -9 $$. Read what it printed with task_output.]" {
		t.Errorf("got %q", got)
	}
	res, err := y.call(t.Context(), y.output, fields{"task_id": m.ID})
	if err != nil {
		t.Fatal(err)
	}
	var got progressMeta
	if err := json.Unmarshal(res.Meta, &got); err != nil {
		t.Fatal(err)
	}
	got.MS = 0
	if diff := cmp.Diff(progressMeta{ID: m.ID, State: TaskEnded, Exit: -1, Path: m.Path}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(oh.Output{Command: "kill -9 $$", Text: "(no new output)", Exit: -1}, res.Display); diff != "" {
		t.Error(diff)
	}
}

func TestStopTask(t *testing.T) {
	y := newYard(t)
	m := y.start("echo early; (trap '' TERM; echo pid $BASHPID; while :; do sleep 300; done)")
	var text string
	for !strings.Contains(text, "pid ") {
		text += y.block(m.ID)
	}
	child, err := strconv.Atoi(regexp.MustCompile(`pid (\d+)`).FindStringSubmatch(text)[1])
	if err != nil {
		t.Fatal(err)
	}
	got := []string{y.look(m.ID, nil), y.look(m.ID, nil), y.look(m.ID, fields{})}
	if diff := cmp.Diff([]string{
		"(no new output)\n[task ID was stopped, after T]",
		"(no new output)\n[task ID had been stopped before, after T]",
		"(no new output)\n[task ID was stopped, after T]",
	}, got); diff != "" {
		t.Error(diff)
	}
	if alive(m.PID) || alive(child) {
		t.Error("a process is still there")
	}
	if len(y.notices) != 0 {
		t.Errorf("a notice came: %s", <-y.notices)
	}
}

func TestStopGivesTheLastOutput(t *testing.T) {
	y := newYard(t)
	m := y.start("trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done")
	if got := y.block(m.ID); got != "ready\n[task ID is running, for T]" {
		t.Errorf("got %q", got)
	}
	got := strings.TrimPrefix(y.look(m.ID, nil), "Terminated\n") // of its sleep
	if got != "bye\n[task ID was stopped, after T]" {
		t.Errorf("got %q", got)
	}
}

func TestSessionEndStopsTasksAndTellsNobody(t *testing.T) {
	y := newYard(t)
	all := []startedMeta{y.start("sleep 300"), y.start("sleep 300 & exit 0"), y.start("exec 2>/dev/null; trap 'exit 0' TERM; while :; do sleep 0.05; done")}
	y.runner.CloseAll()
	for _, m := range all {
		if alive(m.PID) {
			t.Errorf("process %d is still there", m.PID)
		}
		if got := y.look(m.ID, fields{"block": true}); got != "(no new output)\n[task ID was stopped, after T]" {
			t.Errorf("got %q", got)
		}
	}
	if len(y.notices) != 0 {
		t.Errorf("a notice came: %s", <-y.notices)
	}
	if _, err := y.call(t.Context(), y.tool, fields{"command": "true", "run_in_background": true}); !errors.Is(err, proc.ErrClosed) {
		t.Errorf("then %v", err)
	}
}

func TestWhoWaitsForTheEndIsNotToldTwice(t *testing.T) {
	y := newYard(t)
	wait, open := y.gate("gate")
	m := y.start(wait)
	got := make(chan string)
	go func() { got <- y.block(m.ID) }()
	task, err := y.store.get(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	y.until(func() bool {
		task.mu.Lock()
		defer task.mu.Unlock()
		return task.waiting == 1
	})
	open()
	if s := <-got; s != "(no new output)\n[task ID has ended: exit code 0 after T]" {
		t.Errorf("got %q", s)
	}
	if len(y.notices) != 0 {
		t.Errorf("a notice came: %s", <-y.notices)
	}
}

func TestCancelledWait(t *testing.T) {
	y := newYard(t)
	wait, open := y.gate("gate")
	m := y.start(wait + "; echo late")
	ctx, cancel := context.WithCancel(t.Context())
	task, err := y.store.get(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		_, err := y.call(ctx, y.output, fields{"task_id": m.ID, "block": true, "timeout_seconds": 600})
		failed <- err
	}()
	y.until(func() bool {
		task.mu.Lock()
		defer task.mu.Unlock()
		return task.waiting == 1
	})
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait for task "+m.ID) {
		t.Errorf("got %v", err)
	}
	open()
	y.notice() // the end is told after all
	if got := y.look(m.ID, fields{}); got != "late\n[task ID has ended: exit code 0 after T]" {
		t.Errorf("got %q", got)
	}
}

func TestWaitHasALimit(t *testing.T) {
	y := newYard(t)
	m := y.start("sleep 300")
	for _, in := range []fields{{"block": true, "timeout_seconds": 0}, {"block": true, "timeout_seconds": 1}, {"timeout_seconds": 600}} {
		if got := y.look(m.ID, in); got != "(no new output)\n[task ID is running, for T]" {
			t.Errorf("%v: %q", in, got)
		}
	}
}

func TestUnknownTask(t *testing.T) {
	y := newYard(t)
	for _, tool := range []oh.Tool{y.output, y.stop} {
		if _, err := y.call(t.Context(), tool, fields{"task_id": "b1"}); err == nil || err.Error() != `task "b1": there is no such task: nothing was started in the background` {
			t.Errorf("got %v", err)
		}
	}
	first, second := y.start("sleep 300"), y.start("true")
	y.notice()
	want := fmt.Sprintf(`task "b1": there is no such task; there are %s (running), %s (ended)`, first.ID, second.ID)
	if _, err := y.call(t.Context(), y.output, fields{"task_id": "b1"}); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// elsewhere is a store of another kind.
type elsewhere struct{}

func (elsewhere) Look(_ context.Context, id string, wait time.Duration, most int) (Progress, error) {
	if id != "x" {
		return Progress{}, ErrNoTask
	}
	return Progress{ID: id, State: TaskRunning, Head: fmt.Sprintf("%v %d", wait, most)}, nil
}

func (elsewhere) Stop(_ context.Context, id string, most int) (Progress, error) {
	return Progress{ID: id, State: TaskStopped}, nil
}

func (elsewhere) Names() []string { return []string{"x (running)"} }

func TestFurtherTasks(t *testing.T) {
	y := newYard(t)
	all := Tools(Config{Runner: y.runner, Tasks: elsewhere{}})
	y.output, y.stop = all[1], all[2]
	got := []string{y.look("x", fields{"block": true, "max_bytes": 7}), y.look("x", nil)}
	if diff := cmp.Diff([]string{"30s 7\n[task x is running, for T]", "(no new output)\n[task x was stopped, after T]"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := y.call(t.Context(), y.output, fields{"task_id": "y"}); err == nil || !strings.HasSuffix(err.Error(), "there are x (running)") {
		t.Errorf("got %v", err)
	}
}

func TestManyTasks(t *testing.T) {
	y := newYard(t)
	wait, open := y.gate("gate")
	var all []startedMeta
	for i := range mostRunning {
		all = append(all, y.start(fmt.Sprintf("%s; echo %d", wait, i)))
	}
	_, err := y.call(t.Context(), y.tool, fields{"command": "true", "run_in_background": true})
	if err == nil || !strings.HasPrefix(err.Error(), "32 background tasks are running, which is the most: stop one with task_stop or wait for one to end. There are "+all[0].ID+" (running), ") {
		t.Errorf("got %v", err)
	}
	open()
	for i, m := range all {
		y.notice()
		y.until(func() bool { s, err := y.store.get(m.ID); return err == nil && s.ended() })
		if got := y.look(m.ID, fields{}); got != fmt.Sprintf("%d\n[task ID has ended: exit code 0 after T]", i) {
			t.Errorf("got %q", got)
		}
	}
	y.start("true")
	y.notice()
}

func TestOldTasksAreForgotten(t *testing.T) {
	y := newYard(t)
	keeper := y.start("sleep 300")
	first := y.start("true")
	y.notice()
	for range mostEnded {
		y.start("true")
		y.notice()
	}
	y.start("sleep 300")
	if _, err := y.store.get(first.ID); !errors.Is(err, ErrNoTask) {
		t.Errorf("the first is there: %v", err)
	}
	if got := y.look(keeper.ID, fields{}); got != "(no new output)\n[task ID is running, for T]" {
		t.Errorf("got %q", got)
	}
	if n := len(y.store.list); n != mostEnded+2 {
		t.Errorf("%d are kept", n)
	}
}

func TestBackgroundBadInput(t *testing.T) {
	y := newYard(t)
	for _, c := range []struct {
		tool oh.Tool
		in   fields
		want string
	}{
		{y.tool, fields{"command": "a\x00b", "run_in_background": true}, "NUL byte"},
		{y.tool, fields{"command": "true", "run_in_background": true, "cwd": "nowhere"}, "does not exist"},
		{y.output, fields{}, "task_id is required"},
		{y.output, fields{"task_id": "b1", "max_bytes": 0}, "max_bytes"},
		{y.output, fields{"task_id": "b1", "max_bytes": 100_001}, "max_bytes"},
		{y.output, fields{"task_id": "b1", "timeout_seconds": 601}, "timeout_seconds"},
		{y.stop, fields{}, "task_id is required"},
	} {
		if _, err := y.call(t.Context(), c.tool, c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.in, err)
		}
	}
	if y.store.running != 0 || len(y.store.list) != 0 {
		t.Errorf("%d run, %d are kept", y.store.running, len(y.store.list))
	}
}

func TestBackgroundDirectory(t *testing.T) {
	y := newYard(t)
	if err := os.Mkdir(filepath.Join(y.root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	m := y.start("cd sub; pwd")
	y.notice()
	if got := y.look(m.ID, fields{}); !strings.HasPrefix(got, filepath.Join(y.root, "sub")+"\n") || y.env.Dir != y.root {
		t.Errorf("got %q, in %s", got, y.env.Dir)
	}
	y.env.Dir = filepath.Join(y.root, "gone")
	res, err := y.call(t.Context(), y.tool, fields{"command": "true", "run_in_background": true})
	if err != nil || !res.IsError || y.env.Dir != y.root || !strings.Contains(res.Content.Text(), "no longer exists") {
		t.Errorf("%+v, %v", res, err)
	}
}

// broken stores nothing, or little.
type broken struct{ room int }

func (b *broken) Create(string) (oh.Artifact, error) {
	if b.room == 0 {
		return nil, errors.New("the disk is full")
	}
	return b, nil
}

func (b *broken) Write(p []byte) (int, error) {
	n := min(b.room, len(p))
	b.room -= n
	if n < len(p) {
		return n, errors.New("the disk is full")
	}
	return n, nil
}
func (b *broken) Close() error { return nil }
func (b *broken) Path() string { return "/the/file" }

func TestOutputThatCannotBeSaved(t *testing.T) {
	for _, c := range []struct {
		artifacts     oh.Artifacts
		started, want string
	}{
		{nil, " (not saved to a file: there is no place to save it).", "it is not saved: there is no place to save it"},
		{&broken{}, " (not saved to a file: the disk is full).", "it is not saved: the disk is full"},
		{&broken{room: 10}, " or the file /the/file.", "the file /the/file is not whole: the disk is full"},
	} {
		y := newYard(t)
		y.env.Artifacts = c.artifacts
		res, err := y.call(t.Context(), y.tool, fields{"command": "seq 10000", "run_in_background": true})
		if err != nil || !strings.HasSuffix(res.Content.Text(), "Output: task_output"+c.started) {
			t.Errorf("%v, %s", err, res.Content.Text())
		}
		y.notice()
		want := "1\n2\n3\n[... 48,885 bytes left out; " + c.want + " ...]\n000\n[task ID has ended: exit code 0 after T]"
		if got := y.look(y.store.list[0].id, fields{"max_bytes": 9}); got != want {
			t.Errorf("got %q", got)
		}
	}
}

func TestNobodyToTell(t *testing.T) {
	y := newYard(t)
	y.env.Notify = nil
	m := y.start("echo x")
	y.until(func() bool { s, err := y.store.get(m.ID); return err == nil && s.ended() })
	if got := y.look(m.ID, fields{}); got != "x\n[task ID has ended: exit code 0 after T]" {
		t.Errorf("got %q", got)
	}
}

func TestLooksAtOnceLoseNothing(t *testing.T) {
	y := newYard(t)
	m := y.start("for i in $(seq 200); do echo $i; done; sleep 0.05; echo end")
	var mu sync.Mutex
	lines := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				s := y.block(m.ID)
				mu.Lock()
				lines += strings.Count(s[:strings.LastIndexByte(s, '[')], "\n")
				if strings.HasPrefix(s, "(no new output)") {
					lines--
				}
				mu.Unlock()
				if strings.Contains(s, "has ended") {
					return
				}
			}
		})
	}
	wg.Wait()
	if lines != 201 {
		t.Errorf("%d lines", lines)
	}
}

func TestChildrenThatOutliveATask(t *testing.T) {
	y := newYard(t)
	m := y.start("sleep 300 >/dev/null 2>&1 & echo $!")
	y.notice()
	got := y.look(m.ID, fields{})
	pid, _, _ := strings.Cut(got, "\n")
	if !strings.Contains(got, "; still running, until the session ends: "+pid+" ") {
		t.Errorf("got %q", got)
	}
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	y.runner.CloseAll()
	y.until(func() bool { return !alive(n) })
}

func TestTaskSpecs(t *testing.T) {
	for i, tool := range Tools(Config{Runner: proc.New(proc.Config{})}) {
		spec := tool.Spec()
		if want := []string{"bash", "task_output", "task_stop"}[i]; spec.Name != want || !spec.SelfLimited {
			t.Errorf("got %+v", spec)
		}
	}
	for name, most := range map[string]int{outputDoc: 300, stopDoc: 300, doc: 900, startedDoc: 150, endedDoc: 150} {
		if len(name) > most {
			t.Errorf("%d bytes: %s", len(name), name)
		}
	}
}
