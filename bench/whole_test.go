package bench_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/openharness/oh/bench/model"
	"github.com/openharness/oh/internal/cli"
)

// BenchmarkWhole runs the program in this process, as -p does, so that a run
// can be profiled:
//
//	go test -run '^$' -bench Whole/turns -benchtime 3x -cpuprofile cpu.out ./bench
func BenchmarkWhole(b *testing.B) {
	for _, bb := range []struct {
		name, model string
		args        []string
	}{
		{"one", "bench-one", nil},
		{"bash", "bench-bash-100", []string{"--sandbox=on"}},
		{"unconfined", "bench-bash-100", []string{"--sandbox=off"}},
		{"turns", "bench-turns-1000", nil},
		{"history", "bench-history", nil},
		{"reads", "bench-read-8", nil},
		{"text", "bench-deltas", nil},
		{"json", "bench-deltas", []string{"--output-format", "json"}},
		{"stream", "bench-deltas", []string{"--output-format", "stream-json", "--include-partial-messages"}},
		{"events", "bench-deltas", []string{"--output-format", "events"}},
	} {
		b.Run(bb.name, func(b *testing.B) { whole(b, bb.model, bb.args) })
	}
}

func whole(b *testing.B, name string, more []string) {
	srv, err := model.Start()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := srv.Close(); err != nil {
			b.Error(err)
		}
	})
	place(b, srv.URL())
	args := append([]string{"-p", "--model", name, "--permission-mode", "full_auto", "--max-turns", "2000"}, more...)
	sc, err := model.Find(name)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		srv.Begin()
		if code := cli.Main(append(args, "do it")); code != 0 {
			b.Fatalf("exit code %d", code)
		}
		if turns, err := srv.Turns(); err != nil || len(turns) != sc.Turns+1 {
			b.Fatalf("%d turns, want %d: %v", len(turns), sc.Turns+1, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*(sc.Turns+1)), "µs/turn")
}

// place moves the process into empty folders, with nothing of the user's, and
// lets stdout go nowhere.
func place(b *testing.B, url string) {
	home, work := b.TempDir(), b.TempDir()
	b.Setenv("HOME", home)
	b.Setenv("USERPROFILE", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "OPENHARNESS_CONFIG_DIR", "OPENHARNESS_DATA_DIR"} {
		b.Setenv(name, "")
	}
	b.Setenv("ANTHROPIC_BASE_URL", url)
	b.Setenv("ANTHROPIC_API_KEY", "sk-ant-bench-0000000000")
	for i := range model.Files {
		if err := os.WriteFile(filepath.Join(work, "f"+strconv.Itoa(i)+".txt"), []byte("a line\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Chdir(work)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = null, null
	b.Cleanup(func() {
		os.Stdin, os.Stdout = in, out
		_ = null.Close()
	})
}
