//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/ohtest"
)

const summary = "Sum added the wrong way; now the test passes."

// TestMainJob: a Go module with a failing test is repaired, on each wire, in
// each output format.
func TestMainJob(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		for format, check := range map[string]func(*testing.T, result){
			"text": checkText, "json": checkJSON, "stream-json": checkStream, "events": checkEvents,
		} {
			t.Run(format, func(t *testing.T) {
				t.Parallel()
				b := repository(t, wire)
				r := b.oh("-p", "--output-format", format, "--allowed-tools", "bash,edit_file", "the test fails;", "fix it")
				r.wantCode(t, 0)
				b.repaired()
				check(t, r)
			})
		}
	})
}

// repository is a small module in a git repository whose test fails, and the
// script of its repair.
func repository(t *testing.T, wire ohtest.Wire) *box {
	t.Helper()
	b := newBox(t, wire,
		ohtest.Reply(ohtest.Thinking("Look first."), ohtest.Text("I read the code."), ohtest.Call("r", "read_file", `{"path":"sum.go"}`)),
		ohtest.Reply(named(bash(t, "go test ./..."), "t1")),
		ohtest.Reply(ohtest.Call("e", "edit_file", `{"path":"sum.go","old_str":"total -= n","new_str":"total += n"}`)),
		ohtest.Reply(named(bash(t, "go test ./..."), "t2")),
		ohtest.Reply(ohtest.Text(summary)))
	b.file("go.mod", "module example.com/sum\n\ngo 1.26\n")
	b.file("sum.go", "package sum\n\nfunc Sum(list ...int) (total int) {\n\tfor _, n := range list {\n\t\ttotal -= n\n\t}\n\treturn total\n}\n")
	b.file("sum_test.go", "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum(1, 2); got != 3 {\n\t\tt.Errorf(\"Sum is %d\", got)\n\t}\n}\n")
	b.env["GOCACHE"], b.env["GOFLAGS"], b.env["GOTOOLCHAIN"] = goCache(t), "-mod=mod", "local"
	b.git("init", "-q")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "first")
	return b
}

// goCache is the cache of the go command that runs the tests, so that the
// standard library is not compiled again for each repository.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func (b *box) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.work, b.environ(nil)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (b *box) repaired() {
	b.t.Helper()
	reqs := b.done(5)
	if len(reqs) != 5 {
		return
	}
	final := reqs[4]
	if a := resultOf(b.t, final, "t1"); !a.isErr || !strings.Contains(a.text, "Sum is -3") {
		b.t.Errorf("the first test run: %+v", a)
	}
	if a := resultOf(b.t, final, "t2"); a.isErr || !strings.Contains(a.text, "ok") {
		b.t.Errorf("the second test run: %+v", a)
	}
	if s := b.read("sum.go"); !strings.Contains(s, "total += n") {
		b.t.Errorf("the file on disk: %s", s)
	}
	if diff := cmp.Diff(" M sum.go\n", b.git("status", "--porcelain")); diff != "" {
		b.t.Errorf("git status (-want +got):\n%s", diff)
	}
	// The system prompt and the tools are the same in all requests, so that
	// the service's cache hits.
	for _, r := range reqs[1:] {
		if r.System() != reqs[0].System() || !cmp.Equal(r.Tools(), reqs[0].Tools()) {
			b.t.Errorf("request %d has another prefix", r.N)
		}
	}
}

func checkText(t *testing.T, r result) {
	if !strings.HasSuffix(r.out, summary+"\n") {
		t.Errorf("stdout %q", r.out)
	}
}

func checkJSON(t *testing.T, r result) {
	checkResult(t, last(t, r.out))
	if n := strings.Count(r.out, "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
}

func checkResult(t *testing.T, res map[string]any) {
	t.Helper()
	want := map[string]any{"type": "result", "subtype": "success", "is_error": false, "result": summary, "num_turns": 5.0,
		"permission_denials": []any{}}
	for k, v := range want {
		if diff := cmp.Diff(v, res[k]); diff != "" {
			t.Errorf("result %s (-want +got):\n%s", k, diff)
		}
	}
	for _, k := range []string{"session_id", "duration_ms", "usage", "total_cost_usd"} {
		if res[k] == nil {
			t.Errorf("the result lacks %s: %v", k, res)
		}
	}
	if u, _ := res["usage"].(map[string]any); u["input_tokens"] != 50.0 || u["output_tokens"] != 25.0 {
		t.Errorf("usage %v", res["usage"])
	}
}

func checkStream(t *testing.T, r result) {
	list := frames(t, r.out)
	if list[0]["type"] != "system" || list[0]["subtype"] != "init" {
		t.Errorf("first frame %v", list[0])
	}
	checkResult(t, last(t, r.out))
	var tools []string
	results := 0
	for _, f := range list {
		if f["session_id"] != list[0]["session_id"] {
			t.Errorf("another session in %v", f)
		}
		msg, _ := f["message"].(map[string]any)
		content, _ := msg["content"].([]any)
		for _, c := range content {
			switch block, _ := c.(map[string]any); block["type"] {
			case "tool_use":
				tools = append(tools, block["name"].(string))
				if in, _ := block["input"].(map[string]any); block["name"] == "Edit" && (in["old_string"] != "total -= n" || in["new_string"] != "total += n") {
					t.Errorf("input of Edit %v", in)
				}
			case "tool_result":
				results++
			}
		}
	}
	if diff := cmp.Diff([]string{"Read", "Bash", "Edit", "Bash"}, tools); diff != "" || results != 4 {
		t.Errorf("%d results, tools (-want +got):\n%s", results, diff)
	}
}

func checkEvents(t *testing.T, r result) {
	var seq float64
	kinds := map[string]int{}
	for _, f := range frames(t, r.out) {
		if n, _ := f["seq"].(float64); n <= seq {
			t.Errorf("seq %v after %v", f["seq"], seq)
		} else {
			seq = n
		}
		ev, _ := f["event"].(map[string]any)
		kind, _ := ev["type"].(string)
		kinds[kind]++
		if f["session"] == "" || kind == "" {
			t.Errorf("envelope %v", f)
		}
	}
	for kind, n := range map[string]int{"tool_started": 4, "tool_done": 4, "message_done": 5, "run_done": 1} {
		if kinds[kind] != n {
			t.Errorf("%d events of type %s, want %d; all: %v", kinds[kind], kind, n, kinds)
		}
	}
}

// TestFirstRequest: what is sent before anything is said stays small.
func TestFirstRequest(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(ohtest.Text("hi")))
		r := b.oh("-p", "hi")
		r.wantCode(t, 0)
		if r.out != "hi\n" || r.err != "" {
			t.Errorf("a plain answer: %v", r)
		}
		reqs := b.done(1)
		if n := len(reqs[0].Body); n > 12_000 {
			t.Errorf("the first request has %d bytes", n)
		}
		if !json.Valid(reqs[0].Body) || len(reqs[0].Tools()) < 8 {
			t.Errorf("%d tools", len(reqs[0].Tools()))
		}
		entries, err := os.ReadDir(filepath.Join(b.work))
		must(t, err)
		if len(entries) > 0 {
			t.Errorf("left in the workspace: %v", entries)
		}
	})
}
