package app

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestProviderNamesOwnProfiles: /provider says what there is to turn to, also
// what the user defined.
func TestProviderNamesOwnProfiles(t *testing.T) {
	o, _ := options(t)
	write(t, filepath.Join(o.Home, ".openharness", "settings.json"), `{"profiles": {"work": {"base_url": "https://models.example.com/v1"}}}`)
	got := shown(handle(t, build(t, o), "/provider"))
	_, list, _ := strings.Cut(got, "there are")
	if !strings.Contains(list, ", vllm, work") || strings.Contains(list, "codex") {
		t.Errorf("printed:\n%s", got)
	}
}
