//go:build unix

package proc

import (
	"os/exec"
	"testing"
)

// BenchmarkBareExec is what [BenchmarkTrue] is to be compared with.
func BenchmarkBareExec(b *testing.B) {
	for b.Loop() {
		if out, err := exec.CommandContext(b.Context(), "bash", "-c", "true").CombinedOutput(); err != nil {
			b.Fatal(string(out), err)
		}
	}
}
