package print

import (
	"fmt"
	"time"

	"github.com/openharness/oh"
)

// scarce is the part of a limit below which it is told.
const scarce = 0.1

// The statuses of limits, in the SDK's words. What a service tells of its limits
// comes with an answer, so that none of these is a refusal.
const (
	limitFine   = "allowed"
	limitScarce = "allowed_warning"
)

type limitFrame struct {
	Type string    `json:"type"`
	Info limitInfo `json:"rate_limit_info"`
	systemOrigin
}

// limitInfo tells of the limit that is nearest to its end.
type limitInfo struct {
	Status      string  `json:"status"`
	Resets      int64   `json:"resetsAt,omitempty"` // Unix seconds
	Kind        string  `json:"rateLimitType,omitempty"`
	Utilization float64 `json:"utilization"` // from 0 to 1
}

// rateLimit writes a frame when the status of the limits has changed.
func (f *streamFace) rateLimit(e oh.RateLimit) error {
	l, left, ok := nearest(e)
	if !ok {
		return nil
	}
	info := limitInfo{Status: limitFine, Kind: l.Name, Utilization: float64(l.Limit-l.Remaining) / float64(l.Limit)}
	if left < scarce {
		info.Status = limitScarce
	}
	if info.Status == f.limited {
		return nil
	}
	f.limited = info.Status
	if !l.Reset.IsZero() {
		info.Resets = l.Reset.Unix()
	}
	return f.frame(limitFrame{"rate_limit_event", info, f.systemOrigin()})
}

// nearest returns the limit of which the smallest part is left.
func nearest(e oh.RateLimit) (l oh.Limit, left float64, ok bool) {
	for _, x := range e.Limits {
		if x.Limit <= 0 {
			continue
		}
		part := min(1, max(0, float64(x.Remaining)/float64(x.Limit)))
		if !ok || part < left {
			l, left, ok = x, part, true
		}
	}
	return l, left, ok
}

// rateLimit says once in a run that little is left.
func (n *notes) rateLimit(e oh.RateLimit) {
	l, left, ok := nearest(e)
	if !ok || !n.o.Verbose || n.scarce || left >= scarce {
		return
	}
	n.scarce = true
	until := ""
	if !l.Reset.IsZero() {
		until = ", whole again at " + l.Reset.UTC().Format(time.TimeOnly) + " UTC"
	}
	n.warn(fmt.Sprintf("the service's limit of %s: %d of %d left%s", l.Name, l.Remaining, l.Limit, until))
}
