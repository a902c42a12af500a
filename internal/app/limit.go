package app

import (
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// limitRows says what was left of a service's limits when it last told.
func limitRows(told oh.RateLimit, now time.Time) [][2]string {
	var rows [][2]string
	for _, l := range told.Limits {
		said := text.Number(int(l.Remaining))
		if l.Limit > 0 {
			said += " of " + text.Number(int(l.Limit))
		}
		said += " left"
		if wait := l.Reset.Sub(now).Round(time.Second); !l.Reset.IsZero() && wait > 0 {
			said += ", whole again in " + wait.String()
		}
		rows = append(rows, [2]string{"limit of " + text.OneLine(l.Name, 40), said})
	}
	return rows
}
