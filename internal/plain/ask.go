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
		f.s.dimmed("(" + text.Plural(n, "more question") + " after this)")
	}
	legend := f.s.fold(keys.legend(), "")
	f.s.line(f.s.question(f.c.Dir, q, f.c.Lines) + legend)
	for {
		line, err := f.answerLine(ctx)
		if err != nil {
			return oh.Answer{}, err
		}
		line = strings.TrimSpace(line)
		if keys.detail && keyOf(line) == "d" {
			f.s.line(f.s.question(f.c.Dir, q, 0) + legend)
			continue
		}
		if a, ok := keys.answer(line); ok {
			f.answered(q, a)
			return a, nil
		}
		f.s.line(legend)
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

// answered remembers a change that was shown and allowed.
func (f *Face) answered(q oh.Question, a oh.Answer) {
	d, ok := q.Preview.Display.(oh.Diff)
	if !ok || !a.Allow || q.ID == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.approved == nil {
		f.approved = map[string]oh.Diff{}
	}
	f.approved[q.ID] = d
}

// keys are the answers that a question offers.
type keys struct {
	allow  map[string]oh.Scope
	offers []string // as the legend shows them
	rule   string   // what s and p save
	other  string   // what a line that is no key is for; "" is not told
	detail bool     // d shows all
}

// keysOf offers for permission what the question allows: a guarded call is
// permitted once and no rule can be saved for it.
func keysOf(q oh.Question) keys {
	k := keys{allow: map[string]oh.Scope{}, other: "or say what to do instead"}
	add := func(key string, scope oh.Scope, offer string) {
		k.allow[key] = scope
		k.offers = append(k.offers, offer)
	}
	switch q.Kind {
	case oh.AskTrust:
		add("y", oh.Project, "[y]es, from now on")
		add("o", oh.Once, "[o]nly this time")
		k.other = ""
	case oh.AskPlan:
		add("y", oh.Once, "[y]es, go on")
	default:
		add("y", oh.Once, "[y]es once")
		if q.Suggest != "" && !q.Guarded {
			add("s", oh.Session, "[s]ession")
			add("p", oh.Project, "[p]roject")
			k.rule = visible(q.Suggest)
		}
		k.detail = true
	}
	k.offers = append(k.offers, "[n]o")
	if k.detail {
		k.offers = append(k.offers, "[d]etails")
	}
	return k
}

func (k keys) legend() string {
	t := strings.Join(k.offers, "  ")
	if k.other != "" {
		t += ", " + k.other
	}
	if k.rule != "" {
		t += "\ns, p: " + k.rule
	}
	return t + "\n"
}

// keyOf reads a key, or the word that the legend makes of it.
func keyOf(line string) string {
	switch word := strings.ToLower(line); word {
	case "yes", "no", "session", "project", "details":
		return word[:1]
	default:
		return word
	}
}

// answer reads a line. ok is false when it is none of the keys and too short to
// be a reason.
func (k keys) answer(line string) (a oh.Answer, ok bool) {
	key := keyOf(line)
	if scope, ok := k.allow[key]; ok {
		return oh.Answer{Allow: true, Scope: scope}, true
	}
	switch {
	case key == "n":
		return oh.Answer{}, true
	case len([]rune(key)) < 2:
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
				f.s.line(f.s.fold(problem, "  "))
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
