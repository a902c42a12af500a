package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// probeName is the variable by which the test binary, run again as a command,
// tries one thing.
const probeName = "SANDBOX_TEST_PROBE"

func TestMain(m *testing.M) {
	if probe := os.Getenv(probeName); probe != "" {
		fmt.Println(try(strings.Fields(probe)))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// try does what a command might, and says how that ended: ok or the error.
func try(words []string) string {
	num := func(i int) int {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			panic(err)
		}
		return n
	}
	say := func(err error) string {
		var no syscall.Errno
		switch {
		case err == nil:
			return "ok"
		case errors.As(err, &no):
			return unix.ErrnoName(no)
		}
		return err.Error()
	}
	call := func(number uintptr, args ...uintptr) string {
		var a [6]uintptr
		copy(a[:], args)
		_, _, no := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
		if no == 0 {
			return "ok"
		}
		return say(no)
	}
	switch words[0] {
	case "socket":
		return call(unix.SYS_SOCKET, uintptr(num(1)), uintptr(num(2)), uintptr(num(3)))
	case "connect":
		c, err := net.Dial("tcp", words[1])
		if err == nil {
			_ = c.Close()
		}
		return say(err)
	case "fastopen":
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return say(err)
		}
		return say(unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: num(1), Addr: [4]byte{127, 0, 0, 1}}))
	case "abstract":
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return say(err)
		}
		return say(unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + words[1]}))
	case "kill":
		return say(unix.Kill(num(1), unix.SIGTERM))
	case "ptrace":
		runtime.LockOSThread()
		return say(unix.PtraceSeize(num(1)))
	case "memory":
		var b [8]byte
		local := []unix.Iovec{{Base: &b[0], Len: 8}}
		_, err := unix.ProcessVMReadv(num(1), local, []unix.RemoteIovec{{Base: uintptr(num(2)), Len: 8}}, 0)
		return say(err)
	case "getfd":
		pidfd, err := unix.PidfdOpen(num(1), 0)
		if err != nil {
			return say(err)
		}
		_, err = unix.PidfdGetfd(pidfd, 0, 0)
		return say(err)
	case "userns":
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return say(cmd.Run())
	case "truncate":
		return say(unix.Truncate(words[1], 0))
	case "mknod":
		return say(unix.Mknod(words[1], unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0))))
	case "call":
		return call(uintptr(num(1)), 0, 0, 0, 0, 0, 0)
	}
	return "no such probe"
}

// box is a home with secrets, a workspace and what lies around them.
type box struct {
	t                     *testing.T
	home, ws, out, config string
	cfg                   Config
	p                     *Policy
}

func newBox(t *testing.T, change func(*Config)) *box {
	t.Helper()
	if abi, why := landlockABI(); abi == 0 {
		t.Skip("needs Linux 5.13 with Landlock: " + why)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, home: top + "/home/u", ws: top + "/home/u/src/ws", out: top + "/out", config: top + "/home/u/.openharness"}
	for path, content := range map[string]string{
		b.home + "/.ssh/id_ed25519":               "SECRET",
		b.home + "/.aws/credentials":              "SECRET",
		b.home + "/.npmrc":                        "SECRET",
		b.home + "/.config/gcloud/token":          "SECRET",
		b.home + "/.config/other/x":               "open",
		b.home + "/.gitconfig":                    "[user]\n\tname = u\n\temail = u@example.com\n",
		b.home + "/note":                          "open",
		b.config + "/credentials.json":            "SECRET",
		b.config + "/data/tool_artifacts/a":       "open",
		b.config + "/data/sessions/s":             "SECRET",
		b.out + "/file":                           "untouched",
		b.ws + "/file":                            "mine",
		b.ws + "-evil/x":                          "untouched",
		b.home + "/.cache/go-build/x":             "cache",
		b.home + "/.npm/x":                        "cache",
		b.home + "/.local/share/keyrings/k.store": "SECRET",
	} {
		put(t, path, content)
	}
	b.cfg = Config{Dir: b.ws, Home: b.home, Write: []string{b.ws}, Private: []string{b.config},
		AllowRead: []string{b.config + "/data/tool_artifacts"}, LookupEnv: func(string) (string, bool) { return "", false }}
	if change != nil {
		change(&b.cfg)
	}
	if b.p, err = New(b.cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.p.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command is a command line in the box, with its variables.
func (b *box) command(line string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.t.Context(), "bash", "-c", line)
	cmd.Dir = b.ws
	cmd.Env = append(os.Environ(), "HOME="+b.home, "WS="+b.ws, "OUT="+b.out)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func (b *box) sh(line string, env ...string) (out string, code int) {
	b.t.Helper()
	cmd := b.command(line, env...)
	var buf strings.Builder
	cmd.Stdout, cmd.Stderr = &buf, &buf
	if err := b.p.Start(cmd); err != nil {
		b.t.Fatalf("%s: %v", line, err)
	}
	_ = cmd.Wait()
	return buf.String(), cmd.ProcessState.ExitCode()
}

// probe tries something in the box.
func (b *box) probe(format string, args ...any) string {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	out, _ := b.sh("exec "+self, probeName+"="+fmt.Sprintf(format, args...), "GORACE=atexit_sleep_ms=0")
	return strings.TrimSpace(out)
}

func TestWritesInside(t *testing.T) {
	b := newBox(t, nil)
	for _, line := range []string{
		"echo x > a; cat a", "mkdir -p d/e; mv a d/e/b; rm -r d", "ln -s file l; ln file h; rm l h",
		"mkfifo p; rm p", "chmod 600 file; touch file; : > file", "echo x > $TMPDIR/x; mktemp; mktemp -d",
		"cat <<E\nhere\nE", "echo x > ~/.cache/go-build/y; mv ~/.cache/go-build/y ~/.npm/", "echo x > /dev/null; head -c 4 /dev/urandom >/dev/null",
		"echo x > /dev/stderr; echo x | cat /dev/stdin; cat <(echo a)", "mkdir m; cd m; git init -q; git -C . status",
	} {
		if out, code := b.sh("set -e; " + line); code != 0 {
			t.Errorf("%s: code %d: %s", line, code, out)
		}
	}
}

func TestWritesOutside(t *testing.T) {
	b := newBox(t, nil)
	if err := os.Symlink(b.out, b.ws+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"echo x > $OUT/file", "echo x >> $OUT/file", "echo x > $OUT/new", "mkdir $OUT/d", "rm $OUT/file", "mv $OUT/file .", "mv file $OUT/",
		"ln $OUT/file hard && echo x > hard", "ln file $OUT/hard", "ln -s x $OUT/s", "cp file $OUT/c", "echo x > link/file", "echo x > link/new",
		"ln -s $OUT/file l2; echo x > l2", "echo x > ../ws-evil/x", "echo x > ~/.bashrc", "echo x > ~/.ssh/authorized_keys", "echo x > ~/.config/other/x",
		"echo x > ~/.cache/other", "mkdir ~/.config/new", "mkfifo $OUT/p", "echo x > /dev/shm/sandbox-test-x", "echo x > /tmp/sandbox-test-x",
		"bash -c 'bash -c \"echo x > $OUT/file\"'", "(echo x > $OUT/file) & wait $!", "setsid -w bash -c 'echo x > $OUT/file'",
		"nohup bash -c 'echo x > $OUT/file'", "cd $OUT && echo x > file", "exec 9<$OUT && echo x > /proc/self/fd/9/file", "echo x > /proc/self/root$OUT/file",
		"echo x > /proc/sys/kernel/printk", "cd ~ && echo x > note", "mv $TMPDIR $OUT/", "rm -r ../ws-evil",
	} {
		if out, code := b.sh(line); code == 0 {
			t.Errorf("%s: it worked: %s", line, out)
		}
	}
	for path, want := range map[string]string{b.out + "/file": "untouched", b.ws + "-evil/x": "untouched", b.home + "/note": "open", b.ws + "/file": "mine"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	if list, _ := os.ReadDir(b.out); len(list) != 1 {
		t.Errorf("outside are now %v", list)
	}
	if got := b.probe("truncate %s/file", b.out); got == "ok" && kernelABI() >= abiTruncate {
		t.Error("a file outside could be emptied")
	}
	if got := b.probe("mknod %s/disk", b.ws); got == "ok" {
		t.Error("a device could be made")
	}
}

func kernelABI() int {
	abi, _ := landlockABI()
	return abi
}

func TestSetsidAndBackgroundStayConfined(t *testing.T) {
	b := newBox(t, nil)
	// What outlives its shell tries after the shell is gone, and says so.
	out, _ := b.sh("mkfifo gone done; setsid bash -c 'read x <gone; if echo x >$OUT/late; then echo wrote >done; else echo refused >done; fi' >/dev/null 2>&1 & disown; exit 0")
	if out != "" {
		t.Log(out)
	}
	if out, _ := b.sh("echo > gone; cat done"); out != "refused\n" {
		t.Errorf("got %q", out)
	}
	if _, err := os.Stat(b.out + "/late"); err == nil {
		t.Error("it wrote")
	}
}

func TestReads(t *testing.T) {
	b := newBox(t, nil)
	if err := os.Symlink(b.home+"/.ssh", b.ws+"/keys"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"cat ~/.ssh/id_ed25519", "cat ~/.aws/credentials", "cat ~/.npmrc", "cat ~/.config/gcloud/token", "cat ~/.openharness/credentials.json",
		"cat ~/.openharness/data/sessions/s", "cat keys/id_ed25519", "cat /proc/self/root$HOME/.ssh/id_ed25519", "cd ~/.ssh && cat id_ed25519",
		"ln ~/.ssh/id_ed25519 k; cat k", "mv ~/.ssh k; cat k/*", "cp -r ~/.ssh k; cat k/*", "bash -c '(cat ~/.ssh/*) & wait'", "setsid -w cat ~/.ssh/id_ed25519",
		"cat ~/.local/share/keyrings/*", "grep -r SECRET ~", "tar cf - ~/.ssh | strings", "exec 3<~/.ssh/id_ed25519; cat <&3",
	} {
		if out, code := b.sh(line); strings.Contains(out, "SECRET") {
			t.Errorf("%s: code %d: %s", line, code, out)
		}
	}
	for _, line := range []string{
		"cat ~/note", "cat ~/.config/other/x", "cat ~/.gitconfig", "cat ~/.openharness/data/tool_artifacts/a", "cat $OUT/file", "cat file",
		"cat /etc/passwd", "ls / ~ ~/.config /tmp", "cat /proc/self/status", "cat /proc/cpuinfo | head -1",
	} {
		if out, code := b.sh(line); code != 0 {
			t.Errorf("%s: code %d: %s", line, code, out)
		}
	}
}

func TestHomeIsFollowed(t *testing.T) {
	b := newBox(t, nil)
	if err := os.Mkdir(b.home+"/.gem", 0o755); err != nil {
		t.Fatal(err)
	}
	b.sh("true")
	put(t, b.home+"/.gem/credentials", "SECRET") // nothing else changes
	if out, _ := b.sh("cat ~/.gem/credentials 2>/dev/null"); out != "" {
		t.Errorf("got %q", out)
	}
	put(t, b.home+"/later", "open")
	put(t, b.home+"/.kube/config", "SECRET")
	put(t, b.home+"/.cargo/credentials.toml", "SECRET")
	put(t, b.home+"/.cargo/config.toml", "open")
	put(t, b.home+"/.gitconfig.new", "replaced")
	if err := os.Rename(b.home+"/.gitconfig.new", b.home+"/.gitconfig"); err != nil {
		t.Fatal(err)
	}
	if out, _ := b.sh("cat ~/later ~/.cargo/config.toml ~/.gitconfig; cat ~/.kube/config ~/.cargo/credentials.toml 2>/dev/null"); out != "openopenreplaced" {
		t.Errorf("got %q", out)
	}
	put(t, b.home+"/.cargo/credentials", "SECRET") // .cargo is watched by now
	put(t, b.home+"/.config/sops/key", "SECRET")
	if out, _ := b.sh("cat ~/.cargo/credentials ~/.config/sops/key 2>/dev/null"); out != "" {
		t.Errorf("got %q", out)
	}
	if err := os.RemoveAll(b.home + "/.kube"); err != nil {
		t.Fatal(err)
	}
	if out, code := b.sh("cat ~/note"); out != "open" {
		t.Errorf("got %q, %d", out, code)
	}
}

func TestReadOnly(t *testing.T) {
	b := newBox(t, func(c *Config) { c.Mode = ReadOnly })
	for _, line := range []string{"echo x > file", "touch new", "echo x > ~/.cache/go-build/x", "rm file"} {
		if out, code := b.sh(line); code == 0 {
			t.Errorf("%s: %s", line, out)
		}
	}
	if out, code := b.sh("cat file; echo x > $TMPDIR/x"); code != 0 || out != "mine" {
		t.Errorf("%q, %d", out, code)
	}
}

func TestHomeAsWorkspace(t *testing.T) {
	b := newBox(t, func(c *Config) { c.Dir, c.Write = c.Home, []string{c.Home} })
	if out, code := b.sh("echo x > ~/src/new; echo x > ~/note; cat ~/note"); code != 0 || out != "x\n" {
		t.Errorf("%q, %d", out, code)
	}
	for _, line := range []string{"echo x > ~/.bashrc", "echo x >> ~/.gitconfig", "echo x > ~/.ssh/y", "echo x > ~/.config/other/x", "grep -q SECRET ~/.ssh/*"} {
		if out, code := b.sh(line); code == 0 {
			t.Errorf("%s: %s", line, out)
		}
	}
}

func TestDeniedAndAllowedPlaces(t *testing.T) {
	b := newBox(t, func(c *Config) {
		c.AllowWrite = []string{"~/.config/other", "../../missing"}
		c.DenyRead = []string{"~/note", c.Home + "/src"}
		c.AllowRead = []string{"~/.npmrc", c.Dir}
	})
	if out, code := b.sh("echo x > ~/.config/other/y && cat ~/.npmrc file"); code != 0 || out != "SECRETmine" {
		t.Errorf("%q, %d", out, code)
	}
	if out, _ := b.sh("cat ~/note ~/src/ws-evil/x 2>/dev/null"); out != "" {
		t.Errorf("got %q", out)
	}
	st := newBox(t, func(c *Config) { c.DenyWrite, c.DenyRead = []string{"file"}, []string{"file"} }).p.Status()
	said := strings.Join(st.NotHeld, "\n")
	if !strings.Contains(said, "reads of ") || !strings.Contains(said, "writes to ") {
		t.Errorf("what is not held: %s", said)
	}
}

func TestLimitsAreUntouched(t *testing.T) {
	b := newBox(t, nil)
	const line = "ulimit -a; ulimit -Hn; umask; nice"
	want, err := b.command(line).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := b.sh(line); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWeStayFree holds that only the commands are confined, not this program.
func TestWeStayFree(t *testing.T) {
	b := newBox(t, nil)
	b.sh("true")
	var wg sync.WaitGroup
	for range 64 { // on as many threads as there are
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if _, err := os.ReadFile(b.home + "/.ssh/id_ed25519"); err != nil {
				t.Error(err)
			}
			if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); n != 0 || err != nil {
				t.Errorf("no_new_privs is %d, %v", n, err)
			}
		})
	}
	wg.Wait()
}

func TestManyCommandsLeakNothing(t *testing.T) {
	b := newBox(t, nil)
	count := func(dir string) int {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	b.sh("true")
	threads, files := count("/proc/self/task"), count("/proc/self/fd")
	for i := range 500 {
		cmd := exec.Command("/bin/true")
		if err := b.p.Start(cmd); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 { // and new threads of ours
			put(t, b.home+"/n"+strconv.Itoa(i), "")
		}
	}
	if after := count("/proc/self/fd"); after > files {
		t.Errorf("%d descriptors, then %d", files, after)
	}
	if after := count("/proc/self/task"); after > threads+8 { // the runtime's own come and go
		t.Errorf("%d threads, then %d", threads, after)
	}
}

func TestManyAtOnce(t *testing.T) {
	b := newBox(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10 {
				cmd := b.command("echo x > $OUT/file; echo " + strconv.Itoa(i) + "; cat ~/.ssh/id_ed25519")
				var out strings.Builder
				cmd.Stdout = &out
				if err := b.p.Start(cmd); err != nil {
					t.Error(err)
					return
				}
				_ = cmd.Wait()
				if out.String() != strconv.Itoa(i)+"\n" {
					t.Errorf("%q", out.String())
				}
			}
		})
	}
	wg.Wait()
}

func TestStartErrorsAndClose(t *testing.T) {
	b := newBox(t, nil)
	cmd := exec.Command("/no/such/program")
	if err := b.p.Start(cmd); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	temp := b.p.temp
	b.sh("mkdir -p $TMPDIR/a/b; chmod 500 $TMPDIR/a; sleep 300 >/dev/null 2>&1 & echo $! > pid")
	if err := b.p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(temp); err == nil {
		t.Error("the temporary folder is still there")
	}
	if err := b.p.Start(exec.Command("true")); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	raw, _ := os.ReadFile(b.ws + "/pid")
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the child went with the policy: %v", err)
	}
	missing := newBox(t, func(c *Config) { c.Write = []string{"/no/such/folder"} })
	if err := missing.p.Start(exec.Command("true")); err == nil || !strings.Contains(err.Error(), "/no/such/folder") {
		t.Errorf("a missing root: %v", err)
	}
}

// TestTools runs what a coding session runs.
func TestTools(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // the real one: the standard library is in it
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"GOCACHE": strings.TrimSpace(string(cache)), "GOMODCACHE": t.TempDir()}
	b := newBox(t, func(c *Config) {
		c.LookupEnv = func(name string) (string, bool) { v, ok := places[name]; return v, ok }
	})
	put(t, b.ws+"/go.mod", "module x\n\ngo 1.26\n")
	put(t, b.ws+"/x.go", "package main\n\nfunc main() { println(f()) }\n\nfunc f() int { return 7 }\n")
	put(t, b.ws+"/x_test.go", "package main\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tt.TempDir()\n\tif f() != 7 {\n\t\tt.Fail()\n\t}\n}\n")
	env := []string{"GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOPROXY=off", "GOCACHE=" + places["GOCACHE"], "GOMODCACHE=" + places["GOMODCACHE"]}
	for _, line := range []string{
		"go build -o bin/x . && ./bin/x", "go vet . && go test .",
		"git init -q -b main && git add . && git commit -q -m one && git status --short && git diff HEAD && git log --oneline && git stash list && git gc -q",
		"npm pack --silent --ignore-scripts", "python3 -c 'import tempfile; tempfile.NamedTemporaryFile().write(b\"x\")'",
	} {
		program := strings.Fields(line)[0]
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("%s is not installed", program)
			continue
		}
		if program == "npm" {
			put(t, b.ws+"/package.json", `{"name": "x", "version": "1.0.0"}`)
		}
		if out, code := b.sh(line, env...); code != 0 {
			t.Errorf("%s: code %d: %s", line, code, out)
		}
	}
}
