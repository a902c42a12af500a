package wire

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	const date = "Tue, 01 Dec 2026 10:00:00 GMT"
	tests := []struct {
		name string
		h    map[string]string
		want time.Duration
	}{
		{"none", nil, 0},
		{"seconds", map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{"fraction", map[string]string{"Retry-After": "0.25"}, 250 * time.Millisecond},
		{"zero", map[string]string{"Retry-After": "0"}, 0},
		{"negative", map[string]string{"Retry-After": "-3"}, 0},
		{"milliseconds first", map[string]string{"Retry-After": "9", "Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		{"date by the clock of the service", map[string]string{"Retry-After": "Tue, 01 Dec 2026 10:00:05 GMT", "Date": date}, 5 * time.Second},
		{"date in the past", map[string]string{"Retry-After": "Tue, 01 Dec 2026 09:00:05 GMT", "Date": date}, 0},
		{"words", map[string]string{"Retry-After": "soon"}, 0},
		{"reset in seconds", map[string]string{"X-Ratelimit-Reset": "12"}, 12 * time.Second},
		{"reset as unix time", map[string]string{"X-Ratelimit-Reset": "1796119210", "Date": date}, 10 * time.Second},
		{"reset as unix milliseconds", map[string]string{"X-Ratelimit-Reset": "1796119210000", "Date": date}, 10 * time.Second},
		{"limits that are used up", map[string]string{
			"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "1s",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s",
		}, 6 * time.Minute},
		{"limits that are not", map[string]string{"X-Ratelimit-Remaining-Requests": "5", "X-Ratelimit-Reset-Requests": "60s"}, 0},
		{"time of day", map[string]string{
			"Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": "2026-12-01T10:00:30Z", "Date": date,
		}, 30 * time.Second},
	}
	for name, n := range map[string]int64{"Retry-After": 7000, "X-Ratelimit-Reset": 0} {
		if got := retryAfter(500, http.Header{name: {"7"}}); got != n {
			t.Errorf("500 with %s: %d, want %d", name, got, n)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			for name, v := range tt.h {
				h.Set(name, v)
			}
			if got := msec(retryAfter(429, h)); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzReset(f *testing.F) {
	for _, s := range []string{"1", "1.5", "6m0s", "2026-12-01T10:00:30Z", "1796119210", "NaN", "1e400", "-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h := http.Header{"Retry-After": {s}, "X-Ratelimit-Reset": {s}}
		if d := msec(clamp(float64(max(retryAfter(429, h), reset(s, h))))); d < 0 || d > maxAfter {
			t.Errorf("%q gives %v", s, d)
		}
	})
}
