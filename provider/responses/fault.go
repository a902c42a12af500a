package responses

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/loose"
	"github.com/openharness/oh/provider/internal/wire"
)

// failure is what a service told of a reply that it gave up.
func failure(r *response, status string) []byte {
	if loose.Present(r.Error) {
		return append(append([]byte(`{"error":`), r.Error...), '}')
	}
	words, err := oh.Marshal("the service ended the reply as " + status)
	if err != nil {
		words = []byte(`""`)
	}
	return []byte(`{"error":{"code":"upstream_error","message":` + string(words) + `}}`)
}

// isFault reports the forms in which services tell an error without a member
// of that name.
func isFault(raw []byte) bool {
	var m struct {
		Type    string          `json:"type"`
		Object  string          `json:"object"`
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
		Detail  json.RawMessage `json:"detail"`
	}
	return decode(raw, &m) == nil && (m.Type == "error" || m.Object == "error" || loose.Present(m.Detail) || loose.Present(m.Message) && loose.Present(m.Code))
}

// tell passes on an error that the service told. Inside a stream, the wait is
// only in its words; it is put where a wait is looked for.
func tell(raw []byte) error {
	var top map[string]json.RawMessage
	if json.Unmarshal(raw, &top) != nil {
		return &wire.Told{Raw: raw}
	}
	inner := top
	if m := map[string]json.RawMessage(nil); json.Unmarshal(top["error"], &m) == nil && m != nil {
		inner = m
	}
	var words string
	if json.Unmarshal(inner["message"], &words) != nil || loose.Present(inner["details"]) {
		return &wire.Told{Raw: raw}
	}
	after := wait(words)
	if after <= 0 {
		return &wire.Told{Raw: raw}
	}
	inner["details"] = json.RawMessage(`[{"retryDelay":"` + after.String() + `"}]`)
	full, err := oh.Marshal(map[string]any{"error": inner})
	if err != nil {
		return &wire.Told{Raw: raw}
	}
	return &wire.Told{Raw: full}
}

// wait reads how long to wait out of "Please try again in 1.898s." and its kin.
func wait(words string) time.Duration {
	lower := strings.ToLower(words)
	for _, before := range [...]string{"try again in ", "retry after ", "retry in "} {
		_, rest, ok := strings.Cut(lower, before)
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(rest, " ")
		number = strings.TrimRight(number, ".,;")
		if d, err := time.ParseDuration(number); err == nil {
			return d
		}
		unit := "s"
		switch {
		case strings.HasPrefix(rest, "second"):
		case strings.HasPrefix(rest, "ms"), strings.HasPrefix(rest, "millisecond"):
			unit = "ms"
		case strings.HasPrefix(rest, "minute"):
			unit = "m"
		default:
			continue
		}
		if d, err := time.ParseDuration(number + unit); err == nil {
			return d
		}
	}
	return 0
}
