//go:build linux || darwin

package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/openharness/oh"
)

func init() { fillDisk = full }

// full fills the space that a limit on the size of files leaves, then lifts
// the limit and goes on. It runs in a process of its own.
func full(dir string) int {
	signal.Ignore(syscall.SIGXFSZ)
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
		fmt.Println(err)
		return 1
	}
	tight := lim
	tight.Cur = 100_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
		fmt.Println(err)
		return 1
	}
	f, err := Store{Dir: dir}.Create(start("one"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	words := strings.Repeat("w", 30_000)
	for n := 0; ; n++ {
		if err = f.Append(user(fmt.Sprint("u", n), words)); err != nil {
			break
		}
	}
	fmt.Println(err)
	if again := f.Append(user("never", "x")); !errors.Is(again, syscall.EFBIG) {
		fmt.Println("no error on a full disk:", again)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
		fmt.Println(err)
	}
	if err := errors.Join(f.Append(user("after", "x")), f.Close()); err != nil {
		fmt.Println(err)
	}
	return 0
}

func TestDiskFull(t *testing.T) {
	s := store(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "OH_SESSION_TEST_FULL="+s.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if want := "one.jsonl: file too large (this entry is not kept, all earlier ones are)\n"; !strings.HasSuffix(string(out), want) || strings.Count(string(out), "\n") != 1 {
		t.Errorf("the error is %s", out)
	}
	f := open(t, s, "one")
	var got []string
	for _, e := range events(t, f)[1:] {
		got = append(got, e.(oh.UserTurn).Message.ID)
	}
	if want := "u0 u1 u2 after"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if f.Skipped().Count != 1 {
		t.Errorf("%v", f.Skipped())
	}
}
