package wire

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAfter bounds what is believed of a service that asks to wait.
const maxAfter = 7 * 24 * time.Hour

func msec(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// retryAfter returns how many milliseconds the headers of an answer ask to
// wait; 0 when they do not say. What they say of limits counts only where a
// limit was the reason: some services send it with every answer.
func retryAfter(status int, h http.Header) int64 {
	if ms, ok := decimal(h.Get("Retry-After-Ms"), 1); ok {
		return ms
	}
	if v := h.Get("Retry-After"); v != "" {
		if ms, ok := decimal(v, 1000); ok {
			return ms
		}
		if at, err := http.ParseTime(v); err == nil {
			return until(at, h)
		}
	}
	if status != http.StatusTooManyRequests {
		return 0
	}
	if v := h.Get("X-Ratelimit-Reset"); v != "" && cmp.Or(h.Get("X-Ratelimit-Remaining"), "0") == "0" {
		return reset(v, h)
	}
	return perKind(h)
}

// perKind looks for the limits that are used up and takes the longest wait.
func perKind(h http.Header) int64 {
	var longest int64
	for name, values := range h {
		if len(values) == 0 || strings.TrimSpace(values[0]) != "0" {
			continue
		}
		name = strings.ToLower(name)
		if !strings.Contains(name, "ratelimit") || !strings.Contains(name, "remaining") {
			continue
		}
		longest = max(longest, reset(h.Get(strings.Replace(name, "remaining", "reset", 1)), h))
	}
	return longest
}

// reset reads the time at which a limit ends: seconds, a duration such as
// 6m0s, a time of RFC 3339, or seconds or milliseconds since 1970.
func reset(v string, h http.Header) int64 {
	v = strings.TrimSpace(v)
	if n, ok := decimal(v, 1000); ok {
		switch secs := float64(n) / 1000; {
		case secs > 1e11:
			return until(time.UnixMilli(int64(secs)), h)
		case secs > 1e8:
			return until(time.Unix(int64(secs), 0), h)
		}
		return n
	}
	if d, err := time.ParseDuration(v); err == nil {
		return clamp(float64(d.Milliseconds()))
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return until(at, h)
	}
	return 0
}

// until measures by the service's own clock where it tells it.
func until(at time.Time, h http.Header) int64 {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return clamp(float64(at.Sub(now).Milliseconds()))
}

// decimal reads a number with a fraction and returns it times factor, rounded
// up so that a wait is never too short.
func decimal(s string, factor float64) (int64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return max(0, int64(math.Ceil(min(f*factor, 1e17)))), true
}

func clamp(ms float64) int64 { return int64(max(0, min(ms, float64(maxAfter.Milliseconds())))) }

// saidAfter returns how many milliseconds the words of an error ask to wait; 0
// when they do not. It is all that is told where the error comes inside a
// stream, and by some services at any time.
func saidAfter(words string) int64 {
	words = strings.ToLower(words)
	for _, mark := range [...]string{"try again in ", "try again after ", "retry in ", "retry after "} {
		if _, rest, ok := strings.Cut(words, mark); ok {
			if ms := spoken(rest); ms > 0 {
				return ms
			}
		}
	}
	return 0
}

// spoken reads the time that words begin with: 2.5s, 7m12s, 859ms, 20 seconds,
// 1 minute.
func spoken(words string) int64 {
	sum := 0.0
	for {
		words = strings.TrimLeft(words, " ")
		end := strings.IndexFunc(words, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			break
		}
		n, err := strconv.ParseFloat(words[:end], 64)
		words = strings.TrimLeft(words[end:], " ")
		end = strings.IndexFunc(words, func(r rune) bool { return r < 'a' || r > 'z' })
		if end < 0 {
			end = len(words)
		}
		unit := unitOf(words[:end])
		if err != nil || unit == 0 {
			break
		}
		sum += n * unit
		words = words[end:]
	}
	return int64(math.Ceil(min(sum, 1e17)))
}

// unitOf is a unit of time in milliseconds, 0 for another word.
func unitOf(word string) float64 {
	switch word {
	case "ms", "millisecond", "milliseconds":
		return 1
	case "s", "sec", "secs", "second", "seconds":
		return 1000
	case "m", "min", "mins", "minute", "minutes":
		return 60 * 1000
	case "h", "hour", "hours":
		return 3600 * 1000
	case "d", "day", "days":
		return 24 * 3600 * 1000
	}
	return 0
}
