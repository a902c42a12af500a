//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openharness/oh/ohtest"
)

// limit is the wall-clock time that one program may take.
const limit = 60 * time.Second

// The keys of the tests; each server knows its own only.
const (
	anthropicKey = "sk-ant-e2e-1f0c9d7a5b"
	openaiKey    = "sk-e2e-8d2b64c3e1"
)

var binary string // path of the program, set by TestMain and only read after

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oh-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if binary = os.Getenv("OH_E2E_BINARY"); binary != "" {
		return runTests(m)
	}
	binary = filepath.Join(dir, "oh")
	cmd := exec.Command("go", "build", "-o", binary, "github.com/openharness/oh/cmd/oh")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build oh: %v\n%s", err, out)
		return 1
	}
	return runTests(m)
}

func runTests(m *testing.M) int {
	// The tests wait for programs more than they compute.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// box is the world of one test: home, workspace, server and environment.
type box struct {
	t     *testing.T
	wire  ohtest.Wire
	srv   *ohtest.Server
	home  string
	work  string
	marks string // where tools leave files that tell whether they ran
	env   map[string]string
}

// newBox returns a world with a server that plays turns on a wire.
func newBox(t *testing.T, wire ohtest.Wire, turns ...ohtest.Turn) *box {
	t.Helper()
	return newBoxWith(t, wire, ohtest.Config{Turns: turns})
}

func newBoxWith(t *testing.T, wire ohtest.Wire, cfg ohtest.Config) *box {
	t.Helper()
	top := realTemp(t)
	b := &box{t: t, wire: wire, home: filepath.Join(top, "home"), work: filepath.Join(top, "work"), marks: filepath.Join(top, "marks")}
	for _, dir := range []string{b.home, b.work, b.marks, filepath.Join(top, "tmp")} {
		must(t, os.Mkdir(dir, 0o755))
	}
	b.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": b.home, "TMPDIR": filepath.Join(top, "tmp"), "LANG": "C.UTF-8", "M": b.marks,
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.com",
		"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.com", "NO_PROXY": "*", "OPENHARNESS_KEYRING": "off",
		"OPENHARNESS_SANDBOX_ENABLED": "off", // marks lie outside of the workspace; sandbox_test.go turns it on
	}
	if wire != "" {
		if cfg.Key == "" && !cfg.Rules.NoAuth {
			cfg.Key = map[ohtest.Wire]string{ohtest.Anthropic: anthropicKey, ohtest.OpenAI: openaiKey}[wire]
		}
		b.srv = ohtest.StartServer(t, cfg)
		b.point(wire, b.srv.URL)
	}
	return b
}

// point sets the vendor's usual variables for a wire.
func (b *box) point(wire ohtest.Wire, url string) {
	if wire == ohtest.Anthropic {
		b.env["ANTHROPIC_API_KEY"], b.env["ANTHROPIC_BASE_URL"] = anthropicKey, url
		return
	}
	b.env["OPENAI_API_KEY"], b.env["OPENAI_BASE_URL"], b.env["OPENHARNESS_MODEL"] = openaiKey, url+"/v1", "gpt-5"
}

// realTemp is a temporary folder without links in its path.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bothWires runs a test on each wire, side by side with all others.
func bothWires(t *testing.T, f func(t *testing.T, wire ohtest.Wire)) {
	t.Helper()
	t.Parallel()
	for _, w := range []ohtest.Wire{ohtest.Anthropic, ohtest.OpenAI} {
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			f(t, w)
		})
	}
}

// result is what a program left behind.
type result struct {
	out, err string
	code     int
	took     time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("exit %d after %v\nstdout: %s\nstderr: %s", r.code, r.took.Round(time.Millisecond), r.out, r.err)
}

// call is one start of the program.
type call struct {
	args  []string
	stdin io.Reader // nil: /dev/null; an *os.File is handed over as it is
	out   io.Writer // nil: kept
	shell string    // run by sh with the program as $0 and args after it
	env   map[string]string
	dir   string // "": the workspace
}

// running is a program that was started.
type running struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err bytes.Buffer
	begun    time.Time
	cancel   context.CancelFunc
}

func (b *box) environ(more map[string]string) []string {
	var out []string
	for k, v := range b.env {
		if _, over := more[k]; !over {
			out = append(out, k+"="+v)
		}
	}
	for k, v := range more {
		if v != unset {
			out = append(out, k+"="+v)
		}
	}
	slices.Sort(out)
	return out
}

// unset as a value takes a variable out of the environment.
const unset = "\x00"

func (b *box) start(c call) *running {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	name, args := binary, c.args
	if c.shell != "" {
		name, args = "/bin/sh", append([]string{"-c", c.shell, binary}, c.args...)
	}
	r := &running{t: b.t, cmd: exec.CommandContext(ctx, name, args...), begun: time.Now(), cancel: cancel}
	r.cmd.Env, r.cmd.Dir, r.cmd.Stdin = b.environ(c.env), b.work, c.stdin
	if c.dir != "" {
		r.cmd.Dir = c.dir
	}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	if c.out != nil {
		r.cmd.Stdout = c.out
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.WaitDelay = 5 * time.Second
	must(b.t, r.cmd.Start())
	b.t.Cleanup(func() {
		cancel()
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	})
	return r
}

// wait waits for the end, which has to come before the limit.
func (r *running) wait() result {
	r.t.Helper()
	err := r.cmd.Wait()
	res := result{out: r.out.String(), err: r.err.String(), took: time.Since(r.begun)}
	if res.took >= limit {
		r.t.Fatalf("the program did not end: %v", res)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		res.code = exit.ExitCode()
		if exit.ExitCode() < 0 {
			res.code = 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
		}
	default:
		r.t.Fatalf("run: %v\n%v", err, res)
	}
	for _, bad := range []string{"panic:", "goroutine 1 [", "DATA RACE"} {
		if strings.Contains(res.err, bad) {
			r.t.Fatalf("the program crashed: %v", res)
		}
	}
	return res
}

func (r *running) signal(sig syscall.Signal) {
	r.t.Helper()
	must(r.t, r.cmd.Process.Signal(sig))
}

// oh runs the program with arguments and an empty input.
func (b *box) oh(args ...string) result {
	b.t.Helper()
	return b.run(call{args: args})
}

func (b *box) run(c call) result {
	b.t.Helper()
	return b.start(c).wait()
}

// auto runs a prompt with all tools allowed.
func (b *box) auto(args ...string) result {
	b.t.Helper()
	return b.oh(append([]string{"-p", "--permission-mode", "full_auto"}, args...)...)
}

// wantCode fails unless the program ended with a code.
func (r result) wantCode(t *testing.T, code int) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit %d, want %d: %v", r.code, code, r)
	}
}

// wantErr fails unless stderr holds each of the texts.
func (r result) wantErr(t *testing.T, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(r.err, p) {
			t.Errorf("stderr lacks %q: %v", p, r)
		}
	}
}

// done fails unless the script was played to its end in n requests.
func (b *box) done(n int) []*ohtest.Request {
	b.t.Helper()
	reqs := b.srv.Requests()
	if len(reqs) != n || b.srv.Remaining() != 0 {
		b.t.Fatalf("%d requests and %d turns left, want %d and 0", len(reqs), b.srv.Remaining(), n)
	}
	if v := b.srv.Violations(); len(v) > 0 {
		b.t.Fatalf("violations: %v", v)
	}
	return reqs
}

// requests waits until there were n.
func (b *box) requests(n int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit/2)
	defer cancel()
	if err := b.srv.Wait(ctx, n); err != nil {
		b.t.Fatalf("request %d did not come: %v", n, err)
	}
}

// answer is the result of a tool call as the model saw it.
type answer struct {
	text  string
	isErr bool
}

// results runs each call in a turn of its own, all allowed, and returns what
// the model was told.
func (b *box) results(calls ...ohtest.ToolCall) []answer {
	b.t.Helper()
	for i, c := range calls {
		c.ID = fmt.Sprintf("c%d", i)
		b.srv.Add(ohtest.Reply(c))
	}
	b.srv.Add(ohtest.Reply(ohtest.Text("done")))
	r := b.auto("go")
	r.wantCode(b.t, 0)
	if strings.TrimSpace(r.out) != "done" {
		b.t.Fatalf("no answer: %v", r)
	}
	reqs := b.srv.Requests()
	last := reqs[len(reqs)-1]
	var out []answer
	for i := range calls {
		out = append(out, resultOf(b.t, last, fmt.Sprintf("c%d", i)))
	}
	return out
}

func resultOf(t *testing.T, req *ohtest.Request, id string) answer {
	t.Helper()
	text, isErr, ok := req.ToolResult(id)
	if !ok {
		t.Fatalf("request %d has no result for %s", req.N, id)
	}
	return answer{text, isErr}
}

// input encodes the fields of a call.
func input(t *testing.T, fields map[string]any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	must(t, enc.Encode(fields))
	return strings.TrimSpace(buf.String())
}

func bash(t *testing.T, command string) ohtest.ToolCall {
	t.Helper()
	return ohtest.Call("c", "bash", input(t, map[string]any{"command": command}))
}

func named(c ohtest.ToolCall, id string) ohtest.ToolCall {
	c.ID = id
	return c
}

// file writes a file of the workspace, folders included, and returns its path.
func (b *box) file(name, content string) string {
	b.t.Helper()
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.work, name)
	}
	must(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(b.t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (b *box) read(name string) string {
	b.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(b.work, name)
	}
	data, err := os.ReadFile(name)
	must(b.t, err)
	return string(data)
}

// settings writes the user's settings.
func (b *box) settings(text string) string {
	b.t.Helper()
	return b.file(filepath.Join(b.home, ".openharness", "settings.json"), text)
}

// marked counts the lines of a mark; a tool adds one each time it runs.
func (b *box) marked(name string) int {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.marks, name))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	must(b.t, err)
	return bytes.Count(data, []byte("\n"))
}
