package wire

import (
	"net/http"
	"testing"
	"time"

	"github.com/openharness/oh/provider"
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
		if d := msec(clamp(float64(max(retryAfter(429, h), reset(s, h), saidAfter("retry after "+s))))); d < 0 || d > maxAfter {
			t.Errorf("%q gives %v", s, d)
		}
	})
}

func TestSaidAfter(t *testing.T) {
	for words, want := range map[string]time.Duration{
		"Rate limit reached (TPM): Limit 6000. Please try again in 2.5s. Need more?": 2500 * time.Millisecond,
		"Please try again in 859ms.":                            859 * time.Millisecond,
		"Please try again in 7m12.48s. Visit x":                 7*time.Minute + 12480*time.Millisecond,
		"Please retry after 1 second.":                          time.Second,
		"Please retry in 20 SECONDS":                            20 * time.Second,
		"try again in 1 hour 2 minutes":                         62 * time.Minute,
		"try again in 2d":                                       48 * time.Hour,
		"Please try again in a few minutes, or retry after 3 s": 3 * time.Second,
		"try again later":                                       0, "try again in 5": 0, "try again in 5 turns": 0, "try again in": 0, "try again in .s": 0, "": 0,
	} {
		if got := msec(saidAfter(words)); got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
}

// TestWordsCountLast: what a header or a detail asks counts before the words.
func TestWordsCountLast(t *testing.T) {
	const raw = `{"error":{"code":"rate_limit_exceeded","message":"Slow. Please try again in 11.054s."}}`
	for name, tt := range map[string]struct {
		status int
		h      http.Header
		raw    string
		want   time.Duration
	}{
		"inside a stream": {0, nil, raw, 11054 * time.Millisecond},
		"a header":        {429, http.Header{"Retry-After": {"2"}}, raw, 2 * time.Second},
		"no wait helps":   {400, nil, `{"error":{"message":"No such thing. Please try again in 11s."}}`, 0},
	} {
		if got := New("op", provider.Config{}, nil).Fault(tt.status, tt.h, []byte(tt.raw)).After; got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
