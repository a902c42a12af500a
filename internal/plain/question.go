package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// question draws what is asked, with all that the answer depends on. A diff or
// text is cut to n lines; 0 is all.
func (s *screen) question(q oh.Question, n int) string {
	var b strings.Builder
	b.WriteByte('\n')
	title := titleOf(q)
	if q.Agent != "" {
		title += " (asked by agent " + visible(q.Agent) + ")"
	}
	b.WriteString(title + "\n")
	b.WriteString(s.subject(q, n))
	facts := []struct{ name, value string }{
		{"in", q.Access.Dir}, {"why", q.Reason}, {"rule", q.Rule},
	}
	for _, f := range facts {
		if f.value != "" {
			b.WriteString(s.dim("  "+f.name+": ") + visible(f.value) + "\n")
		}
	}
	if q.Guarded {
		b.WriteString("  " + s.glyph("⚠") + " asked in every mode, since it can destroy much\n")
	}
	return b.String()
}

func titleOf(q oh.Question) string {
	switch {
	case q.Kind == oh.AskPlan:
		return "Is this plan all right?"
	case q.Kind == oh.AskTrust:
		return "Do you trust this folder?"
	case q.Access.Command != "":
		return "Run this command?"
	case isDiff(q.Preview):
		return "Make this change?"
	case len(q.Access.URLs) > 0 && q.Access.Upload:
		return "Send data to this address with " + visible(q.Tool) + "?"
	case len(q.Access.URLs) > 0:
		return "Open this address with " + visible(q.Tool) + "?"
	}
	return "Run " + visible(q.Tool) + "?"
}

func isDiff(b oh.DisplayBox) bool {
	_, ok := b.Display.(oh.Diff)
	return ok
}

// subject shows the command, the change, the addresses or the arguments.
func (s *screen) subject(q oh.Question, n int) string {
	out := ""
	if q.Text != "" {
		out += s.limited(q.Text, n)
	}
	switch d := q.Preview.Display.(type) {
	case oh.Diff:
		return out + indent(visible(d.Path)) + s.diff(visible(d.Unified), n)
	case oh.Markdown:
		out += s.limited(d.Text, n)
	}
	switch {
	case q.Access.Command != "":
		out += indent(visible(q.Access.Command))
	case len(q.Input) > 0 && string(q.Input) != "{}":
		out += s.limited(arguments(q.Input), n)
	}
	for _, p := range q.Access.Paths {
		if q.Access.Command == "" && !bytes.Contains(q.Input, []byte(p.Path)) {
			out += indent(visible(p.Path))
		}
	}
	for _, u := range q.Access.URLs {
		if !bytes.Contains(q.Input, []byte(u)) {
			out += indent(visible(u))
		}
	}
	return out
}

// arguments lists the members of an input by name, in their order.
func arguments(input json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(input))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return string(input)
	}
	var b strings.Builder
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return string(input)
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return string(input)
		}
		value := string(raw)
		var str string
		if json.Unmarshal(raw, &str) == nil {
			value = str
		}
		fmt.Fprintf(&b, "%v: %s\n", key, value)
	}
	return b.String()
}

// limited shows text in at most n lines and says what is missing.
func (s *screen) limited(t string, n int) string {
	lines := strings.Split(strings.TrimRight(visible(t), "\n"), "\n")
	if n <= 0 || len(lines) <= n {
		return indent(strings.Join(lines, "\n"))
	}
	return indent(strings.Join(lines[:n], "\n")) +
		s.dim(fmt.Sprintf("  %s %s more", s.glyph("…"), text.Plural(len(lines)-n, "line"))) + "\n"
}

func indent(t string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(t, "\n"), "\n", "\n  ") + "\n"
}

// item shows one question of the model with its choices.
func (s *screen) item(q oh.Question, item oh.Item) string {
	var b strings.Builder
	b.WriteByte('\n')
	if item.Header != "" {
		b.WriteString(s.dim(visible(item.Header)) + "\n")
	}
	b.WriteString(visible(item.Question))
	if q.Agent != "" {
		b.WriteString(" (asked by agent " + visible(q.Agent) + ")")
	}
	b.WriteByte('\n')
	for i, o := range item.Options {
		b.WriteString("  " + strconv.Itoa(i+1) + "  " + visible(o.Label))
		if o.Description != "" {
			b.WriteString(s.dim(": " + visible(o.Description)))
		}
		b.WriteByte('\n')
	}
	b.WriteString(s.dim(hint(item)) + "\n")
	return b.String()
}

// visible shows what a person decides about as it is: control and invisible
// characters, which could make it look like something else, are written as
// escapes. Newlines and tabs stay.
func visible(t string) string {
	var b strings.Builder
	for i, r := range t {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == unicode.ReplacementChar && !strings.HasPrefix(t[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, t[i])
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Variation_Selector, r):
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
