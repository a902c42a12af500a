package wire

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	tests := map[string]struct {
		header http.Header
		want   []oh.Limit
	}{
		"none": {header("Content-Type", "text/plain", "X-Ratelimit-Limit", "9"), nil},
		"openai": {header("x-ratelimit-limit-requests", "100", "x-ratelimit-remaining-requests", "99", "x-ratelimit-reset-requests", "6m0s",
			"x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "2"),
			[]oh.Limit{{Name: "requests", Limit: 100, Remaining: 99, Reset: now.Add(6 * time.Minute)}, {Name: "tokens", Limit: 1000, Reset: now.Add(2 * time.Second)}}},
		"anthropic": {header("anthropic-ratelimit-input-tokens-limit", "50", "anthropic-ratelimit-input-tokens-remaining", "40"),
			[]oh.Limit{{Name: "input_tokens", Limit: 50, Remaining: 40}}},
		"plain":   {header("RateLimit-Remaining", "3"), []oh.Limit{{Name: "requests", Remaining: 3}}},
		"no list": {header("x-ratelimit-remaining-tokens", "many"), nil},
	}
	for name, tt := range tests {
		if d := cmp.Diff(tt.want, rateLimit(tt.header, now).Limits); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
