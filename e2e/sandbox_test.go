//go:build unix

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/openharness/oh/internal/sandbox"
	"github.com/openharness/oh/ohtest"
)

// confined returns a world whose commands are confined.
func confined(t *testing.T, turns ...ohtest.Turn) *box {
	t.Helper()
	st := sandbox.Probe()
	if !st.Active || !st.Files {
		t.Skip("this machine cannot confine: " + st.String())
	}
	b := newBox(t, ohtest.Anthropic, turns...)
	b.env["OPENHARNESS_SANDBOX_ENABLED"] = "on"
	return b
}

// TestConfined: what commands may not do fails at the kernel, in full_auto,
// whoever of their children tries it; what work needs goes on.
func TestConfined(t *testing.T) {
	t.Parallel()
	b := confined(t)
	b.file(filepath.Join(b.home, ".ssh", "id_x"), "PRIVATE")
	outside := filepath.Join(b.marks, "out")
	got := b.results(
		bash(t, `echo x > "$M/out"`),
		bash(t, `sh -c 'sh -c "echo x > $M/out"'`),
		bash(t, `(setsid sh -c 'echo x > "$M/out"' || sh -c 'echo x > "$M/out"'); true`),
		bash(t, `d=ss; cat ~/.${d}h/id_x`),
		bash(t, `kill -TERM $PPID; echo alive > in; cat in; test -w "$TMPDIR" && echo tmp`),
	)
	for i, a := range got[:2] {
		if !a.isErr || !strings.Contains(a.text, "the sandbox seems to have held this") || !strings.Contains(a.text, "--sandbox=off") {
			t.Errorf("call %d: %+v", i, a)
		}
	}
	if !got[3].isErr || strings.Contains(got[3].text, "PRIVATE") {
		t.Errorf("a secret was read: %+v", got[3])
	}
	if got[4].isErr || !strings.Contains(got[4].text, "alive\ntmp") {
		t.Errorf("work inside failed: %+v", got[4])
	}
	if exists(outside) {
		t.Error("a file outside was written")
	}
	if left, _ := filepath.Glob(filepath.Join(b.env["TMPDIR"], "oh-*")); len(left) > 0 {
		t.Errorf("temporary folders are left: %v", left)
	}
}

// TestConfinedBackground: a task in the background is held as well.
func TestConfinedBackground(t *testing.T) {
	t.Parallel()
	b := confined(t, ohtest.Reply(ohtest.Call("c", "bash", input(t, map[string]any{
		"command": `echo x > "$M/out"; echo done > ended; sleep 0`, "run_in_background": true}))),
		ohtest.Reply(bash(t, `until test -e ended; do sleep 0.05; done`)), ohtest.Reply(ohtest.Text("done")))
	b.auto("go").wantCode(t, 0)
	if exists(filepath.Join(b.marks, "out")) || !exists(filepath.Join(b.work, "ended")) {
		t.Error("the task was not held, or did not run")
	}
}

// TestConfinedWork: building and committing need nothing more.
func TestConfinedWork(t *testing.T) {
	t.Parallel()
	b := confined(t)
	b.file("go.mod", "module example.com/m\n\ngo 1.24\n")
	b.file("m.go", "package m\n\nfunc One() int { return 1 }\n")
	b.file("m_test.go", "package m\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n")
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	must(t, err)
	b.env["GOTOOLCHAIN"], b.env["GOFLAGS"] = "local", "-mod=mod"
	b.env["GOCACHE"] = strings.TrimSpace(string(cache)) // a cold one takes a minute, and a moved one must work too
	b.srv.Add(ohtest.Reply(named(bash(t, "git init -q . && go build ./... && go test ./... && git add . && git commit -qm one && git log --oneline"), "a")),
		ohtest.Reply(ohtest.Text("done")))
	b.oh("-p", "--permission-mode", "acceptEdits", "go").wantCode(t, 0)
	if a := resultOf(t, b.done(2)[1], "a"); a.isErr || !strings.Contains(a.text, " one") {
		t.Errorf("%+v", a)
	}
}

// TestConfinedPort: with rules for hosts only our own proxy can be reached.
func TestConfinedPort(t *testing.T) {
	t.Parallel()
	b := confined(t)
	if !sandbox.Probe().Network {
		t.Skip("this kernel holds no network")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	try := bash(t, `exec 3<>/dev/tcp/127.0.0.1/`+port+` && echo connected`)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	if a := b.results(try)[0]; a.isErr {
		t.Fatalf("without rules: %+v", a)
	}
	b.settings(`{"sandbox": {"network": {"allowed_domains": ["example.com"]}}}`)
	if a := b.results(try)[0]; !a.isErr || strings.Contains(a.text, "connected") {
		t.Errorf("with rules: %+v", a)
	}
}

// TestConfinedModes: confinement answers for a person in acceptEdits, and for
// nothing that needs one in every mode; off is off.
func TestConfinedModes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, command string
		args          []string
		settings      string
		code          int
		out           bool
	}{
		{"acceptEdits", `touch in`, []string{"--permission-mode", "acceptEdits"}, "", 0, true},
		{"default asks", `touch in`, nil, "", 6, false},
		{"off", `touch in`, []string{"--permission-mode", "acceptEdits", "--sandbox=off"}, "", 6, false},
		{"an ask rule", `touch in`, []string{"--permission-mode", "acceptEdits"}, `{"permissions":{"ask":["Bash(touch:*)"]}}`, 6, false},
		{"a deny rule", `touch in`, []string{"--permission-mode", "full_auto"}, `{"permissions":{"deny":["Bash(touch:*)"]}}`, 0, false},
		{"guarded", `touch in; rm -rf "$HOME"`, []string{"--permission-mode", "acceptEdits"}, "", 6, false},
		{"protected", `touch in; echo x > .git/config`, []string{"--permission-mode", "acceptEdits"}, "", 6, false},
		{"on over settings", `touch in "$M/out"`, []string{"--permission-mode", "full_auto", "--sandbox", "on"}, `{"sandbox":{"enabled":false}}`, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := confined(t, ohtest.Reply(bash(t, tt.command)), ohtest.Reply(ohtest.Text("done")))
			if tt.settings != "" {
				b.settings(tt.settings)
			}
			b.oh(append([]string{"-p"}, append(tt.args, "go")...)...).wantCode(t, tt.code)
			if got := exists(filepath.Join(b.work, "in")); got != tt.out {
				t.Errorf("ran %t, want %t", got, tt.out)
			}
			if exists(filepath.Join(b.marks, "out")) {
				t.Error("a file outside was written")
			}
		})
	}
}

// TestEscalation: a person may let a held command run once more without the
// sandbox, or not.
func TestEscalation(t *testing.T) {
	t.Parallel()
	step := func(id string) ohtest.Turn { return ohtest.Reply(named(bash(t, `echo ran >> "$M/out"`), id)) }
	b := confined(t, step("a"), step("b"), step("c"), ohtest.Reply(ohtest.Text("All done.")))
	f := b.terminal("--permission-mode", "full_auto")
	f.typed("go\r")
	for _, key := range []string{"y", "n", "use the workspace"} {
		f.expect("the sandbox held it")
		f.expect("? ")
		f.typed(key + "\r")
	}
	f.expect("All done.")
	f.expect("› ")
	f.typed("/status\r")
	f.expect("commands are confined by ")
	f.expect("› ")
	f.typed("\x04")
	f.ends(0)
	req := b.done(4)[3]
	resultOf(t, req, "a").want(t, false, "without the sandbox, which the user allowed")
	resultOf(t, req, "b").want(t, true, "the user said no")
	resultOf(t, req, "c").want(t, true, "use the workspace")
	if n := b.marked("out"); n != 1 {
		t.Errorf("it ran %d times outside", n)
	}
}

// TestUnavailable: a sandbox that cannot be had is told once, or ends the
// program.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(bash(t, "touch in")), ohtest.Reply(ohtest.Text("done")))
	docker := b.file(filepath.Join(b.home, "bin", "docker"), "#!/bin/sh\necho no engine here >&2\nexit 1\n")
	must(t, os.Chmod(docker, 0o755))
	b.env["PATH"] = filepath.Dir(docker) + string(os.PathListSeparator) + b.env["PATH"]
	b.env["OPENHARNESS_SANDBOX_ENABLED"], b.env["OPENHARNESS_SANDBOX_BACKEND"] = "on", "docker"
	r := b.auto("go")
	r.wantCode(t, 0)
	r.wantErr(t, "commands are not confined")
	if strings.Count(r.err, "not confined") != 1 || !exists(filepath.Join(b.work, "in")) {
		t.Errorf("told %d times, or not run: %v", strings.Count(r.err, "not confined"), r)
	}
	b.env["OPENHARNESS_SANDBOX_FAIL_IF_UNAVAILABLE"] = "true"
	r = b.auto("go")
	r.wantCode(t, 2)
	r.wantErr(t, "sandbox.fail_if_unavailable", "--sandbox=off")
	b.requests(2)
}
