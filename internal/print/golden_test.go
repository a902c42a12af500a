package print

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/openharness/oh"
)

var update = flag.Bool("update", false, "write the golden files anew")

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// counter makes ids that a golden file can hold.
func counter() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
	}
}

func options(f Format, out, err *bytes.Buffer) Options {
	return Options{
		Format: f, Out: out, Err: err, ASCII: true, NewID: counter(),
		Info: Info{
			Session: "s-1", Dir: "/w", Profile: "anthropic", Model: "opus-9", Mode: oh.ModeAcceptEdits,
			Tools: []string{"bash", "read_file", "mcp__docs__find"}, Servers: []Server{{"docs", "connected"}},
			Commands: []string{"help"}, Version: "1.2.3", KeySource: "ANTHROPIC_API_KEY",
		},
		Price: func(profile, model string, u oh.Usage) (float64, bool) {
			return float64(u.Prompt()+u.OutputTokens) / 1000, profile == "anthropic" && strings.HasPrefix(model, "opus")
		},
		Window: func(string) int { return 200_000 },
	}
}

func play(t *testing.T, s scenario, o Options) (Outcome, *Printer) {
	t.Helper()
	p := New(o)
	for i, e := range s.events {
		env := oh.Envelope{Seq: uint64(i + 1), Time: epoch.Add(time.Duration(i) * 100 * time.Millisecond), Session: "s-1", Event: e}
		if err := p.Event(env); err != nil {
			t.Fatal(err)
		}
	}
	out, err := p.Finish(s.err)
	if err != nil {
		t.Fatal(err)
	}
	return out, p
}

type variant struct {
	name string
	set  func(*Options)
}

func variants() []variant {
	return []variant{
		{"text", func(o *Options) { o.Format = Text }},
		{"terminal", func(o *Options) { o.Format, o.OutTerminal, o.Verbose = Text, true, true }},
		{"json", func(o *Options) { o.Format = JSON }},
		{"stream-json", func(o *Options) { o.Format = StreamJSON }},
		{"partial", func(o *Options) { o.Format, o.Partial = StreamJSON, true }},
		{"events", func(o *Options) { o.Format = Events }},
	}
}

// TestGolden plays each run in each format. Lines of JSON must parse; those of
// stream-json carry a session and an id.
func TestGolden(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			got := &txtar.Archive{}
			add := func(name, data string) {
				if data != "" && !strings.HasSuffix(data, "\n") {
					t.Errorf("%s does not end with a newline: %q", name, data)
				}
				got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(strings.ReplaceAll(data, "\r", "<CR>"))})
			}
			for _, v := range variants() {
				var out, errs bytes.Buffer
				o := options("", &out, &errs)
				v.set(&o)
				end, _ := play(t, s, o)
				checkLines(t, v.name, out.String())
				add(v.name, out.String())
				add(v.name+".err", errs.String())
				if v.name == "text" {
					add("exit", fmt.Sprintf("%d, driven by an SDK %d, error %v\n", ExitCode(end, false), ExitCode(end, true), end.IsError))
				}
			}
			compareGolden(t, s.name, got)
		})
	}
}

func checkLines(t *testing.T, variant, out string) {
	t.Helper()
	if variant == "text" || variant == "terminal" {
		return
	}
	for line := range strings.Lines(out) {
		var frame map[string]any
		if err := json.Unmarshal([]byte(line), &frame); err != nil {
			t.Errorf("%s: line %q: %v", variant, line, err)
		}
		if strings.ContainsAny(line, "\u2028\u2029") {
			t.Errorf("%s: line %q could be taken for two", variant, line)
		}
		if variant != "events" && (frame["session_id"] != "s-1" || frame["uuid"] == nil || frame["uuid"] == "") {
			t.Errorf("%s: line %q has no session or id", variant, line)
		}
	}
}

func compareGolden(t *testing.T, name string, got *txtar.Archive) {
	t.Helper()
	path := filepath.Join("testdata", name+".txtar")
	if *update {
		if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatalf("%v (make it with: go test ./internal/print -update)", err)
	}
	if diff := cmp.Diff(string(txtar.Format(want)), string(txtar.Format(got))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
