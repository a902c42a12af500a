package plain

import (
	"context"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Ask implements [oh.Asker]: it shows the question and takes the next line as
// its answer. Questions wait for each other. When the input has ended nobody
// can be asked.
func (f *Face) Ask(ctx context.Context, q oh.Question) (oh.Answer, error) {
	if err := f.queue(ctx); err != nil {
		return oh.Answer{}, err
	}
	defer func() { <-f.turn }()
	f.startReading()
	if q.Access.Command != "" && q.Access.Dir == "" {
		q.Access.Dir = f.c.Dir
	}
	if q.Kind == oh.AskChoices {
		return f.choices(ctx, q)
	}
	keys := keysOf(q)
	if n := f.wait(0); n > 0 {
		f.s.line(f.s.dim("(" + text.Plural(n, "more question") + " after this)"))
	}
	f.s.line(f.s.question(q, f.c.Lines) + keys.legend())
	for {
		line, err := f.answerLine(ctx)
		if err != nil {
			return oh.Answer{}, err
		}
		line = strings.TrimSpace(line)
		if keys.detail && (line == "d" || line == "D") {
			f.s.line(f.s.question(q, 0) + keys.legend())
			continue
		}
		if a, ok := keys.answer(line); ok {
			return a, nil
		}
		f.s.line(keys.legend())
	}
}

// queue waits until no other question is open and claims the turn.
func (f *Face) queue(ctx context.Context) error {
	f.wait(1)
	defer f.wait(-1)
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait counts the questions in the queue and returns how many there are.
func (f *Face) wait(change int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting += change
	return f.waiting
}

// answerLine opens the question for one line.
func (f *Face) answerLine(ctx context.Context) (string, error) {
	got := make(chan reply, 1)
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return "", oh.ErrNobody
	}
	f.question = got
	f.s.ask()
	f.mu.Unlock()
	select {
	case r := <-got:
		f.s.entered()
		return r.line, r.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	if f.question == got {
		f.question = nil
	}
	f.mu.Unlock()
	return "", ctx.Err()
}

// keys are the answers that a question offers.
type keys struct {
	allow  map[string]oh.Scope
	order  []string // keys in the order of the legend
	labels map[string]string
	detail bool // d shows all
}

// keysOf offers for permission what the question allows: a guarded call is
// permitted once and no rule can be saved for it.
func keysOf(q oh.Question) keys {
	k := keys{allow: map[string]oh.Scope{}, labels: map[string]string{}}
	add := func(key, label string, scope oh.Scope) {
		k.order, k.labels[key] = append(k.order, key), label
		if scope != "" {
			k.allow[key] = scope
		}
	}
	switch q.Kind {
	case oh.AskTrust:
		add("y", "yes, from now on", oh.Project)
		add("o", "only this time", oh.Once)
	case oh.AskPlan:
		add("y", "yes, go on", oh.Once)
	default:
		add("y", "yes, once", oh.Once)
		if q.Suggest != "" && !q.Guarded {
			add("s", "yes, for this session", oh.Session)
			add("p", "yes, always in this project: "+visible(q.Suggest), oh.Project)
		}
		k.detail = true
	}
	add("n", "no", "")
	return k
}

func (k keys) legend() string {
	var b strings.Builder
	for _, key := range k.order {
		b.WriteString("  " + key + "  " + k.labels[key] + "\n")
	}
	if k.detail {
		b.WriteString("  d  show everything\n")
	}
	b.WriteString("  or type what to do instead\n")
	return b.String()
}

// answer reads a line. ok is false when it is none of the keys and too short to
// be a reason.
func (k keys) answer(line string) (a oh.Answer, ok bool) {
	word := strings.ToLower(line)
	switch word {
	case "yes":
		word = "y"
	case "no":
		word = "n"
	}
	if scope, ok := k.allow[word]; ok {
		return oh.Answer{Allow: true, Scope: scope}, true
	}
	switch {
	case word == "n":
		return oh.Answer{}, true
	case len([]rune(line)) < 2:
		return oh.Answer{}, false
	}
	return oh.Answer{Text: line}, true
}

// choices asks one item after the other.
func (f *Face) choices(ctx context.Context, q oh.Question) (oh.Answer, error) {
	a := oh.Answer{Allow: true}
	for _, item := range q.Items {
		f.s.line(f.s.item(q, item))
		for {
			line, err := f.answerLine(ctx)
			if err != nil {
				return oh.Answer{}, err
			}
			if v, problem := choose(item, strings.TrimSpace(line)); problem == "" {
				a.Values = append(a.Values, v)
				break
			} else {
				f.s.line(problem)
			}
		}
	}
	return a, nil
}

// choose reads numbers, or an answer in own words. problem says what to type
// instead.
func choose(item oh.Item, line string) (values []string, problem string) {
	if line == "" {
		return nil, hint(item)
	}
	numbers, ok := numbersIn(line)
	if !ok || len(item.Options) == 0 {
		return []string{line}, ""
	}
	for _, n := range numbers {
		if n < 1 || n > len(item.Options) {
			return nil, strconv.Itoa(n) + " is no choice: " + hint(item)
		}
		values = append(values, item.Options[n-1].Label)
	}
	if len(values) > 1 && !item.Multi {
		return nil, "only one of them: " + hint(item)
	}
	return values, ""
}

// numbersIn reads a line of numbers; ok is false when it holds anything else.
func numbersIn(line string) (numbers []int, ok bool) {
	for _, field := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, len(numbers) > 0
}

func hint(item oh.Item) string {
	switch {
	case len(item.Options) == 0:
		return "type an answer"
	case item.Multi:
		return "type numbers from 1 to " + strconv.Itoa(len(item.Options)) + " with commas between, or an answer"
	}
	return "type a number from 1 to " + strconv.Itoa(len(item.Options)) + ", or an answer"
}
