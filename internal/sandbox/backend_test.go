//go:build unix

package sandbox

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// record puts a program into PATH that notes its arguments, one command a line,
// and does what its script says.
func record(t *testing.T, name, script string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	text := "#!/bin/sh\n{ for a; do printf '<%s>' \"$a\"; done; echo; } >> " + log + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return log
}

func lines(t *testing.T, log string, replace ...string) []string {
	t.Helper()
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(replace...).Replace(string(raw))
	return strings.Split(strings.TrimSpace(text), "\n")
}

// tree is a home with a workspace in it.
func tree(t *testing.T) (home, ws string) {
	t.Helper()
	home = resolve(t.TempDir())
	ws = filepath.Join(home, "ws")
	for _, dir := range []string{ws, home + "/.ssh", ws + "/fixed"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(home+"/.npmrc", []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, ws
}

func bare(home, ws string) Config {
	return Config{Dir: ws, Home: home, Write: []string{ws}, Temp: home + "/tmp", NoCaches: true}
}

func TestDocker(t *testing.T) {
	log := record(t, "docker", `case $1 in
image) exit 1 ;;
build) cat > "$(dirname "$0")/file" ;;
exec) shift; while [ "$1" != sh ]; do shift; done; exec "$@" ;;
esac`)
	t.Setenv("OUTER", "1")
	home, ws := tree(t)
	put := func(c *Config) {
		c.Backend, c.Session = Container, "s 1/x"
		c.DenyWrite, c.DenyRead = []string{"fixed"}, []string{"fixed"}
		c.Docker = Docker{Build: true, CPUs: 1.5, Memory: "2g", Mounts: []string{"/data:/data:ro"}, Env: map[string]string{"B": "2", "A": "1"}}
	}
	cfg := bare(home, ws)
	put(&cfg)
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/bash", "-c", "echo $A out; echo $TMPDIR; exit 3")
	cmd.Dir = ws
	cmd.Env = append(os.Environ(), "MARK=m")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := p.Start(cmd); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 3 || out.String() != "out\n"+home+"/tmp\n" {
		t.Errorf("code %d, output %q", cmd.ProcessState.ExitCode(), out.String())
	}
	if st := p.Status(); !st.Active || st.Backend != Container {
		t.Errorf("%+v", st)
	}
	second := exec.Command("true")
	if err := p.Start(second); err != nil {
		t.Fatal(err)
	}
	_ = second.Wait()
	k := p.held.(*container)
	for end := time.Now().Add(20 * time.Second); len(k.inputs) > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		k.sweep() // here the client's death is not the container's
	}
	if n := len(k.inputs); n != 0 {
		t.Errorf("%d inputs of ended commands are kept", n)
	}
	if err := p.Start(&exec.Cmd{Path: "/bin/cat", Stdin: strings.NewReader("x")}); err == nil {
		t.Error("input is taken and goes nowhere")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	user := strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid())
	want := []string{
		"<info><--format><{{.ServerVersion}}>",
		"<image><inspect><--format><{{.Id}}><openharness-sandbox:latest>",
		"<build><-t><openharness-sandbox:latest><->",
		"<run><-d><--rm><--init><--name><openharness-sandbox-s1x><--network><none><--cap-drop><ALL><--security-opt><no-new-privileges>" +
			"<--pids-limit><1024><--user><" + user + "><--cpus><1.5><--memory><2g><--mount><type=bind,src=HOME/tmp,dst=HOME/tmp><--mount><type=bind,src=HOME/ws,dst=HOME/ws>" +
			"<--mount><type=bind,src=HOME/ws/fixed,dst=HOME/ws/fixed,readonly><--tmpfs><HOME/ws/fixed><-v></data:/data:ro><-e><A><-e><B><-e><HOME=HOME/tmp>" +
			"<-w><HOME/ws><openharness-sandbox:latest><sleep><infinity>",
		"<exec><-i><-w><HOME/ws><-e><MARK><-e><TMPDIR><-e><TMP><-e><TEMP><-e><TMPPREFIX><openharness-sandbox-s1x><sh><-c><WATCH><sh><bash><-c><echo $A out; echo $TMPDIR; exit 3>",
		"<exec><-i><-e><TMPDIR><-e><TMP><-e><TEMP><-e><TMPPREFIX><openharness-sandbox-s1x><sh><-c><WATCH><sh><true>",
		"<stop><-t><5><openharness-sandbox-s1x>",
	}
	if diff := cmp.Diff(want, lines(t, log, home, "HOME", watchScript, "WATCH")); diff != "" {
		t.Error(diff)
	}
	if built, err := os.ReadFile(filepath.Dir(log) + "/file"); err != nil || string(built) != imageFile {
		t.Errorf("the image is built from %q, %v", built, err)
	}
}

func TestDockerFailures(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"[ $1 = info ] && { echo 'Cannot connect to the Docker daemon' >&2; exit 1; }", "sandbox: docker does not answer: Cannot connect to the Docker daemon"},
		{"[ $1 = image ] && exit 1; exit 0", "sandbox: the image own:1 is missing: build it, or set sandbox.docker.auto_build_image"},
		{"[ $1 = run ] && { echo 'no space' >&2; exit 125; }; exit 0", "sandbox: start the container: no space"},
	} {
		record(t, "docker", c.script)
		home, ws := tree(t)
		cfg := bare(home, ws)
		cfg.Backend, cfg.Docker.Image = Container, "own:1"
		p, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(exec.Command("true")); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if st := p.Status(); st.Active || st.Why != c.want {
			t.Errorf("%+v", st)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWatchedCommandEndsWithItsInput holds that a killed client takes along what
// it started.
func TestWatchedCommandEndsWithItsInput(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid(1), which the image has")
	}
	in, stop, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", watchScript, "sh", "bash", "-c", "sleep 300 & echo $$ $!; wait")
	cmd.Stdin = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	_ = stop.Close()
	_ = cmd.Wait()
	if ctx.Err() != nil {
		t.Fatal("it did not end")
	}
	for _, f := range strings.Fields(string(buf[:n])) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		for syscall.Kill(pid, 0) == nil {
			if raw, _ := os.ReadFile("/proc/" + f + "/stat"); strings.Contains(string(raw), ") Z ") {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("process %d lives", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestBubblewrap(t *testing.T) {
	log := record(t, "bwrap", `while [ "$1" != -- ]; do shift; done; shift; exec "$@"`)
	home, ws := tree(t)
	cfg := bare(home, ws)
	cfg.Backend, cfg.Network = Bubblewrap, Closed
	cfg.Private, cfg.AllowRead, cfg.DenyWrite = []string{home + "/.ssh"}, []string{home + "/.ssh/pub", home + "/.ssh/gone"}, []string{"fixed"}
	if err := os.WriteFile(home+"/.ssh/pub", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	cmd := exec.Command("/bin/sh", "-c", "exit 4")
	cmd.Dir = ws
	if err := p.Start(cmd); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("code %d", cmd.ProcessState.ExitCode())
	}
	const all = "<--unshare-user-try><--unshare-pid><--unshare-ipc><--unshare-uts><--ro-bind></></><--dev></dev><--proc></proc>" +
		"<--bind><HOME/tmp><HOME/tmp><--bind><HOME/ws><HOME/ws><--ro-bind><HOME/ws/fixed><HOME/ws/fixed>" +
		"<--tmpfs><HOME/.ssh><--ro-bind></dev/null><HOME/.npmrc>{etc}<--ro-bind><HOME/.ssh/pub><HOME/.ssh/pub><--remount-ro><HOME/.ssh><--unshare-net>"
	got := lines(t, log, home, "HOME")
	for i := range got { // what of the system is denied depends on who asks
		for _, f := range []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers"} {
			got[i] = strings.ReplaceAll(got[i], "<--ro-bind></dev/null><"+f+">", "")
		}
	}
	plain := strings.ReplaceAll(all, "{etc}", "")
	if diff := cmp.Diff([]string{plain + "<--></bin/true>", plain + "<--chdir><HOME/ws><--></bin/sh><-c><exit 4>"}, got); diff != "" {
		t.Error(diff)
	}
	record(t, "bwrap", "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1")
	again, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	want := "sandbox: bwrap cannot make namespaces here: bwrap: No permissions to create a new namespace"
	if err := again.Start(exec.Command("true")); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestSeatbeltProfile(t *testing.T) {
	got := profile(&plan{
		write: []string{"/private/tmp/oh-1", `/Users/u/a "b"\c`}, deny: []string{"/Users/u/.ssh"}, absent: []string{"/Users/u/.aws"},
		except: []string{"/Users/u/.ssh/pub"}, fixed: []string{"/Users/u/ws/.git/hooks"}, reach: Proxied, port: 4242,
	})
	want := `(version 1)
(allow default)
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/(fd/|ttys)"))
(allow file-write* (subpath "/private/tmp/oh-1"))
(allow file-write* (subpath "/Users/u/a \"b\"\\c"))
(deny file-write* (subpath "/Users/u/ws/.git/hooks"))
(deny file-read* file-write* (subpath "/Users/u/.ssh"))
(deny file-read* file-write* (subpath "/Users/u/.aws"))
(allow file-read* (subpath "/Users/u/.ssh/pub"))
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))
(deny network-outbound (remote unix-socket))
(deny network*)
(allow network-outbound (remote ip "localhost:4242"))
(allow network-bind network-inbound (local ip "localhost:*"))
(allow network* (remote unix-socket (subpath "/private/tmp/oh-1")) (local unix-socket (subpath "/private/tmp/oh-1")))
(allow network* (remote unix-socket (subpath "/Users/u/a \"b\"\\c")) (local unix-socket (subpath "/Users/u/a \"b\"\\c")))
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if open := profile(&plan{reach: Open, unix: true}); strings.Contains(open, "deny network") {
		t.Errorf("an open network: %s", open)
	}
	if none := profile(&plan{reach: Closed}); !strings.Contains(none, "(deny network*)\n") || strings.Contains(none, "(allow network") {
		t.Errorf("no network: %s", none)
	}
	cmd := exec.Command("/bin/bash", "-c", "x")
	wrap(cmd, sandboxExec, []string{"sandbox-exec", "-p", "P", "--"})
	if diff := cmp.Diff([]string{"sandbox-exec", "-p", "P", "--", "/bin/bash", "-c", "x"}, cmd.Args); diff != "" || cmd.Path != sandboxExec {
		t.Error(cmd.Path, diff)
	}
}

func TestGitPlaces(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	top := resolve(t.TempDir())
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=u", "-c", "user.email=u@x.example"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	main, other := top+"/main", top+"/other"
	git(top, "init", "-q", main)
	git(main, "commit", "-q", "--allow-empty", "-m", "one")
	git(main, "worktree", "add", "-q", other)
	want := []string{main + "/.git/worktrees/other", main + "/.git/objects", main + "/.git/refs", main + "/.git/logs"}
	if diff := cmp.Diff(want, gitPlaces(other)); diff != "" {
		t.Error(diff)
	}
	if got := gitPlaces(main); got != nil {
		t.Errorf("of the main tree: %v", got)
	}
	liar := top + "/liar"
	if err := os.MkdirAll(liar, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(liar+"/.git", []byte("gitdir: "+main+"/.git/worktrees/other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := gitPlaces(liar); got != nil {
		t.Errorf("of a folder that claims another's: %v", got)
	}
}
