package cli

import (
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/stats"
)

// TestStatsSayWhatPlusMeans: a sum that lacks a price says so, and only then.
func TestStatsSayWhatPlusMeans(t *testing.T) {
	for _, known := range []bool{true, false} {
		sum := stats.Sum{Replies: 1, Usage: oh.Usage{InputTokens: 5}, Cost: 0.25, Known: known}
		var out strings.Builder
		err := writeStats(&out, stats.Report{Sessions: 1, Total: sum, Models: []stats.Model{{Profile: "p", Model: "m", Sum: sum}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "$0.2500+"); got == known {
			t.Errorf("known %v, but printed:\n%s", known, out.String())
		}
		if got := strings.Contains(out.String(), "\n+ The price of a model is not known"); got == known {
			t.Errorf("known %v, but printed:\n%s", known, out.String())
		}
	}
}
