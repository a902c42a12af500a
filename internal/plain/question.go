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
// text is cut to n lines; 0 is all. Prose is folded; what would run or be
// written is not, since a break of ours could be taken for one of its own.
func (s *screen) question(dir string, q oh.Question, n int) string {
	var b strings.Builder
	title := titleOf(q)
	if q.Agent != "" {
		title += " (asked by agent " + visible(q.Agent) + ")"
	}
	b.WriteString("\n" + s.fold(title, "  ") + "\n")
	b.WriteString(s.subject(dir, q, n))
	why, rule := grounds(q)
	for _, f := range []struct{ name, value string }{{"in", q.Access.Dir}, {"why", why}, {"rule", rule}} {
		if f.value == "" {
			continue
		}
		label := "  " + f.name + ":"
		b.WriteString(s.dim(label) + strings.TrimPrefix(s.fold(label+" "+visible(f.value), "    "), label) + "\n")
	}
	if q.Guarded {
		b.WriteString(s.fold("  "+s.glyph("⚠")+" asked in every mode, since it can destroy much", "    ") + "\n")
	}
	return b.String()
}

// grounds returns why a question is asked and the rule behind it, as far as
// that says more than the question itself: that the mode asks about every edit
// or command is known, and a reason that names its rule needs no second line.
func grounds(q oh.Question) (why, rule string) {
	why, rule = q.Reason, q.Rule
	if rule != "" && strings.Contains(why, rule) {
		rule = ""
	}
	if q.Rule != "" || q.Guarded {
		return why, rule
	}
	head, _, byMode := strings.Cut(why, ", which the mode ")
	if !byMode {
		return why, rule
	}
	if isRoutine(strings.TrimPrefix(head, q.Tool+" ")) {
		return "", rule
	}
	return head, rule
}

// isRoutine knows what permit says of a call that has nothing special.
func isRoutine(does string) bool {
	path, writes := strings.CutPrefix(does, "writes ")
	switch {
	case does == "runs a command", does == "may change something", strings.HasPrefix(does, "connects to "):
		return true
	}
	return writes && !strings.Contains(path, ", ") && !strings.Contains(path, " (a link to ")
}

func titleOf(q oh.Question) string {
	switch {
	case q.Kind == oh.AskPlan:
		return "Is this plan all right?"
	case q.Kind == oh.AskTrust:
		return "Do you trust this folder?"
	case q.Access.Command != "" && inBackground(q.Input):
		return "Run this command in the background?"
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

func inBackground(input json.RawMessage) bool {
	var in struct {
		Background bool `json:"run_in_background"`
	}
	return json.Unmarshal(input, &in) == nil && in.Background
}

func isDiff(b oh.DisplayBox) bool {
	_, ok := b.Display.(oh.Diff)
	return ok
}

// subject shows the command, the change, the addresses or the arguments.
func (s *screen) subject(dir string, q oh.Question, n int) string {
	out := ""
	if q.Text != "" {
		out += s.limited(q.Text, n, true)
	}
	switch d := q.Preview.Display.(type) {
	case oh.Diff:
		return out + indent(visible(below(dir, d.Path))) + s.diff(visible(d.Unified), n)
	case oh.Markdown:
		out += s.limited(d.Text, n, true)
	}
	switch {
	case q.Access.Command != "":
		out += indent(visible(q.Access.Command))
	case len(q.Input) > 0 && string(q.Input) != "{}":
		out += s.limited(arguments(q.Input), n, false)
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
func (s *screen) limited(t string, n int, prose bool) string {
	t = strings.TrimRight(visible(t), "\n")
	if prose && s.cols > 0 {
		t = wrap(t, s.cols-2, "")
	}
	lines := strings.Split(t, "\n")
	if n <= 0 || len(lines) <= n {
		return indent(t)
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
	ask := visible(item.Question)
	if q.Agent != "" {
		ask += " (asked by agent " + visible(q.Agent) + ")"
	}
	b.WriteString(s.fold(ask, "  ") + "\n")
	for i, o := range item.Options {
		b.WriteString(s.option(i+1, o))
	}
	b.WriteString(s.dim(s.fold(hint(item), "")) + "\n")
	return b.String()
}

// option shows a choice; what it means is secondary.
func (s *screen) option(n int, o oh.Option) string {
	label := "  " + strconv.Itoa(n) + "  " + visible(o.Label)
	if o.Description == "" {
		return s.fold(label, "     ") + "\n"
	}
	whole := s.fold(label+": "+visible(o.Description), "     ")
	if about, ok := strings.CutPrefix(whole, label); ok {
		return label + s.dim(about) + "\n"
	}
	return whole + "\n"
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
