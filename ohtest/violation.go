package ohtest

import (
	"fmt"
	"strings"
)

// Violation is one thing in a request that a real service refuses.
type Violation struct {
	Rule  string `json:"rule"`            // a short name that stays the same, such as "call-unanswered"
	Where string `json:"where,omitempty"` // the place in the request, such as "messages[2].content[0]"
	Text  string `json:"text"`            // what is wrong
}

// Error implements error.
func (v Violation) Error() string {
	if v.Where == "" {
		return fmt.Sprintf("%s (rule %s)", v.Text, v.Rule)
	}
	return fmt.Sprintf("%s: %s (rule %s)", v.Where, v.Text, v.Rule)
}

// maxViolations bounds what is reported about one request.
const maxViolations = 20

// report collects violations.
type report struct{ found []Violation }

func (r *report) add(rule, where, format string, args ...any) {
	if len(r.found) < maxViolations {
		r.found = append(r.found, Violation{rule, where, fmt.Sprintf(format, args...)})
	}
}

// describe joins violations to one text, at most three of them in full.
func describe(vs []Violation) string {
	var out []string
	for i, v := range vs {
		if i == 3 {
			out = append(out, fmt.Sprintf("and %d more", len(vs)-3))
			break
		}
		out = append(out, v.Error())
	}
	return strings.Join(out, "; ")
}
