package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openharness/oh"
)

// child is the other process of the tests below: it opens a session, says so,
// appends for a while, and waits until it is killed or its input ends.
func child(dir, ref string) int {
	f, err := Store{Dir: dir}.Open(ref)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("open")
	words := oh.Text{Text: strings.Repeat("w", 20_000)}
	for n := range 2000 {
		if err := f.Append(reply(fmt.Sprint("c", n), words)); err != nil {
			return 1
		}
		if n == 2 {
			fmt.Println("writing")
		}
	}
	io.Copy(io.Discard, os.Stdin)
	return 0
}

func spawn(t *testing.T, s Store, ref string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "OH_SESSION_TEST_CHILD="+s.Dir, "OH_SESSION_TEST_REF="+ref)
	in, err := cmd.StdinPipe() // ends when this process does
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for _, want := range []string{"open\n", "writing\n"} {
		if got, err := r.ReadString('\n'); err != nil || got != want {
			t.Fatalf("child: %q, %v", got, err)
		}
	}
	return cmd, r
}

// Another process writes; it is killed in the middle of it; then the session
// is free, whole, and can go on.
func TestOtherWriterKilled(t *testing.T) {
	s := store(t)
	path := write(t, s, "one", user("u1", "mine"))
	cmd, _ := spawn(t, s, "one")

	_, err := s.Open("one")
	var locked *LockedError
	if !errors.As(err, &locked) || locked.ID != "one" || locked.Path != path {
		t.Fatalf("Open = %v", err)
	}
	if infos, err := s.List(0); err != nil || len(infos) != 1 {
		t.Errorf("List beside a writer = %v, %v", infos, err)
	}
	fork, err := s.Fork("one", "u1", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(events(t, fork)); got != 2 {
		t.Errorf("the fork has %d entries", got)
	}
	fork.Close()

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	f := open(t, s, "one")
	before := len(events(t, f))
	if before < 5 {
		t.Fatalf("%d entries of the other are left", before)
	}
	if err := f.Append(user("u2", "after")); err != nil {
		t.Fatal(err)
	}
	if got := events(t, f); len(got) != before+1 || got[before].(oh.UserTurn).Message.ID != "u2" {
		t.Errorf("%d entries after one more than %d", len(got), before)
	}
}

// forkOnce is the other process of the test below.
func forkOnce(dir, ref string) int {
	f, err := Store{Dir: dir}.Fork(ref, "", "")
	if err == nil {
		err = f.Append(user("new", "x"))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// A fork that is killed while it copies leaves nothing that a listing takes for
// a session, and a later one clears away what it left when that is old.
func TestForkKilled(t *testing.T) {
	s := store(t)
	words := oh.Text{Text: strings.Repeat("w", 256<<10)}
	list := []oh.Entry{user("u1", "mine")}
	for n := range 12 {
		list = append(list, reply(fmt.Sprint("a", n), words))
	}
	write(t, s, "one", list...)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "OH_SESSION_TEST_FORK="+s.Dir, "OH_SESSION_TEST_REF=one")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	for begun, ended := false, false; !begun && !ended; {
		names, err := os.ReadDir(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range names {
			info, err := e.Info()
			begun = begun || err == nil && e.Name() != "one.jsonl" && info.Size() > 256<<10
		}
		select {
		case err := <-gone:
			gone <- err
			ended = true
		default:
			runtime.Gosched()
		}
	}
	_ = cmd.Process.Kill() // it may have ended
	<-gone
	infos, err := s.List(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		f := open(t, s, i.ID)
		if n := len(events(t, f)); n < len(list)+1 {
			t.Errorf("session %s has %d of %d entries", i.ID, n, len(list)+1)
		}
	}
	left := mkdir(t, filepath.Join(s.Dir, ".x.0"+unborn))
	fresh := filepath.Join(s.Dir, ".x.1"+unborn)
	for _, path := range []string{left, fresh} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	setTime(t, left, time.Now().Add(-2*time.Hour))
	if code := forkOnce(s.Dir, "one"); code != 0 {
		t.Fatal("the fork failed")
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old leftover: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("a copy that may be under way: %v", err)
	}
}

func TestLockInOneProcess(t *testing.T) {
	s := store(t)
	write(t, s, "one", user("u1", "x"))
	f := open(t, s, "one")
	if _, err := s.Open("one"); !errors.As(err, new(*LockedError)) {
		t.Errorf("second Open = %v", err)
	}
	f.Close()
	open(t, s, "one")

	g, err := s.Create(start("two"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Append(user("u", "x")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open("two"); !errors.As(err, new(*LockedError)) {
		t.Errorf("Open of a new session = %v", err)
	}
	if _, err := s.Create(start("two")); err == nil {
		t.Error("an id was given away twice")
	}
}

func TestListsBesideWriters(t *testing.T) {
	s := store(t)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			f, err := s.Create(start(fmt.Sprint("s", n)))
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for i := range 50 {
				if err := f.Append(user(fmt.Sprint(i), "hello")); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				infos, err := s.List(0)
				if err != nil {
					t.Error(err)
				}
				for _, i := range infos {
					if i.Title != "hello" {
						t.Errorf("title %q", i.Title)
					}
				}
			}
		})
	}
	wg.Wait()
	if infos, err := s.ListAll(0); err != nil || len(infos) != 4 || infos[0].Turns != 50 {
		t.Errorf("ListAll = %v, %v", infos, err)
	}
}
