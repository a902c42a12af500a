package sandbox

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkStart runs /bin/true bare and confined in turn, and reports the
// medians.
func BenchmarkStart(b *testing.B) {
	if abi, why := landlockABI(); abi == 0 {
		b.Skip("needs Linux 5.13 with Landlock: " + why)
	}
	for _, network := range []Reach{Open, Proxied} {
		b.Run(string(network), func(b *testing.B) { besideBare(b, network) })
	}
}

func besideBare(b *testing.B, network Reach) {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	p, err := New(Config{Dir: dir, Home: home, Write: []string{dir}, Network: network, NoCaches: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	begun := time.Now()
	if st := p.Status(); !st.Active {
		b.Fatal(st)
	}
	first := time.Since(begun)
	var bare, ours []time.Duration
	for b.Loop() {
		bare = append(bare, timed(b, (*exec.Cmd).Start))
		ours = append(ours, timed(b, p.Start))
	}
	x, y := median(bare), median(ours)
	b.ReportMetric(float64(x.Nanoseconds())/1e3, "bare-µs")
	b.ReportMetric(float64(y.Nanoseconds())/1e3, "confined-µs")
	b.ReportMetric(float64((y-x).Nanoseconds())/1e3, "more-µs")
	b.ReportMetric(float64(first.Nanoseconds())/1e3, "first-µs")
}

func timed(b *testing.B, start func(*exec.Cmd) error) time.Duration {
	begun := time.Now()
	cmd := exec.Command("/bin/true")
	if err := start(cmd); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
