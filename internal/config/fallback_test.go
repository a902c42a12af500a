package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFallback: models that stand in come as a list or as text, and a higher
// layer replaces them.
func TestFallback(t *testing.T) {
	tests := []struct {
		name    string
		files   map[string]string
		want    []string
		warning string
	}{
		{"none", map[string]string{"user": `{}`}, nil, ""},
		{"a list", map[string]string{"user": `{"fallback_model": ["a", " b ", "a", ""]}`}, []string{"a", "b"}, ""},
		{"text", map[string]string{"user": `{"fallback_model": "a, b,"}`}, []string{"a", "b"}, ""},
		{"Claude Code's name", map[string]string{"user": `{"fallbackModel": ["sonnet"]}`}, []string{"sonnet"}, ""},
		{"the higher layer", map[string]string{"user": `{"fallback_model": ["a", "b"]}`, "project": `{"fallback_model": ["c"]}`}, []string{"c"}, ""},
		{"switched off", map[string]string{"user": `{"fallback_model": ["a"]}`, "project": `{"fallback_model": []}`}, []string{}, ""},
		{"not text", map[string]string{"user": `{"fallback_model": ["a", 1]}`}, nil, "must be names of models"},
		{"no list", map[string]string{"user": `{"fallback_model": 3}`}, nil, "must be a list of models"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newPlace(t, tt.files).load(true)
			if diff := cmp.Diff(tt.want, l.Settings.Fallback); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var said []string
			for _, w := range l.Warnings {
				said = append(said, w.String())
			}
			if all := strings.Join(said, "\n"); !strings.Contains(all, tt.warning) || tt.warning == "" && all != "" {
				t.Errorf("warnings %q, want %q", all, tt.warning)
			}
		})
	}
}
