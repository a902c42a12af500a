package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// limits reads what the headers of the answer say of the service's limits.
func (s *Stream) limits() oh.RateLimit {
	if s.resp == nil {
		return oh.RateLimit{}
	}
	return rateLimit(s.resp.Header, time.Now())
}

func rateLimit(h http.Header, now time.Time) oh.RateLimit {
	var out oh.RateLimit
	for key := range h {
		key = strings.ToLower(key)
		if !strings.Contains(key, "ratelimit") || !strings.Contains(key, "remaining") {
			continue
		}
		left, err := strconv.ParseInt(strings.TrimSpace(h.Get(key)), 10, 64)
		if err != nil {
			continue
		}
		l := oh.Limit{Name: limitName(key), Remaining: left}
		if n, err := strconv.ParseInt(strings.TrimSpace(h.Get(strings.Replace(key, "remaining", "limit", 1))), 10, 64); err == nil {
			l.Limit = n
		}
		if ms := reset(h.Get(strings.Replace(key, "remaining", "reset", 1)), h); ms > 0 {
			l.Reset = now.Add(msec(ms)).UTC().Truncate(time.Second)
		}
		out.Limits = append(out.Limits, l)
	}
	slices.SortFunc(out.Limits, func(a, b oh.Limit) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// limitName is what a header such as x-ratelimit-remaining-tokens limits.
func limitName(key string) string {
	words := strings.FieldsFunc(key, func(r rune) bool { return r == '-' || r == '_' })
	words = slices.DeleteFunc(words, func(w string) bool {
		switch w {
		case "x", "anthropic", "ratelimit", "remaining", "ms":
			return true
		}
		return false
	})
	if len(words) == 0 {
		return "requests"
	}
	return strings.Join(words, "_")
}
