//go:build unix

package proc

import (
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkBesideBareExec runs each command in turn by os/exec and by a Runner,
// so that a loaded machine is equally unkind to both, and reports the medians
// and their ratio.
func BenchmarkBesideBareExec(b *testing.B) {
	for _, command := range []string{"true", "/bin/true", "/bin/true; /bin/true"} {
		for _, track := range []bool{false, true} {
			name := command
			if track {
				name += ", tracked"
			}
			b.Run(name, func(b *testing.B) { beside(b, command, track) })
		}
	}
}

func beside(b *testing.B, command string, track bool) {
	r := New(Config{})
	defer r.CloseAll()
	dir := b.TempDir()
	var bare, ours []time.Duration
	for b.Loop() {
		begun := time.Now()
		cmd := exec.CommandContext(b.Context(), "bash", "-c", command)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatal(string(out), err)
		}
		between := time.Now()
		exit, err := r.Run(b.Context(), Job{Command: command, Dir: dir, Out: io.Discard, Track: track, Timeout: time.Minute})
		if err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
		bare, ours = append(bare, between.Sub(begun)), append(ours, time.Since(between))
	}
	x, y := median(bare), median(ours)
	b.ReportMetric(float64(x.Nanoseconds())/1e3, "bare-µs")
	b.ReportMetric(float64(y.Nanoseconds())/1e3, "ours-µs")
	b.ReportMetric(float64(y)/float64(x), "ratio")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
