package plain

import (
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/gist"
)

// A model that is silent for so long is said to be waited for.
const patience = 2 * time.Second

// nextSign is how long a tool has run at the sign of life after the one at d.
func nextSign(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return 10 * time.Second
	case d < 30*time.Second:
		return 30 * time.Second
	}
	return d.Truncate(time.Minute) + time.Minute
}

// pulse tells who watches a run that it goes on while nothing else shows it. It
// has a goroutine from newPulse to end. A nil pulse does nothing.
type pulse struct {
	say   func(string)     // shows a line, unless a question is open
	shown func() time.Time // when the screen last changed
	wake  chan struct{}
	quit  chan struct{}
	done  chan struct{}

	mu      sync.Mutex // guards what follows
	asked   bool       // the model is asked and shows nothing
	since   time.Time  // that is so
	said    bool       // it was said of this request
	what    string     // there is to say of it
	open    map[string]bool
	running []ran
}

// ran is a tool that runs. sign is how long it will have run at the next sign.
type ran struct {
	id, what string
	since    time.Time
	sign     time.Duration
}

func newPulse(say func(string), shown func() time.Time) *pulse {
	p := &pulse{
		say: say, shown: shown, open: map[string]bool{},
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go p.beat()
	return p
}

// end stops the goroutine and waits for it.
func (p *pulse) end() {
	if p != nil {
		close(p.quit)
		<-p.done
	}
}

func (p *pulse) beat() {
	defer close(p.done)
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	for {
		t.Reset(p.tell(time.Now()))
		select {
		case <-p.quit:
			return
		case <-p.wake:
		case <-t.C:
		}
	}
}

// tell says what is due and returns the time until something may be due again.
func (p *pulse) tell(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := time.Hour
	if p.asked && !p.said {
		quiet := p.since
		if last := p.shown(); last.After(quiet) {
			quiet = last
		}
		if left := quiet.Add(patience).Sub(now); left > 0 {
			wait = left
		} else {
			p.said = true
			p.say(p.what)
		}
	}
	for i := range p.running {
		r := &p.running[i]
		if now.Sub(r.since) >= r.sign {
			t := "still running, " + gist.Seconds(now.Sub(r.since).Truncate(time.Second))
			if len(p.running) > 1 {
				t += ": " + r.what
			}
			p.say(t)
			r.sign = nextSign(now.Sub(r.since))
		}
		wait = min(wait, r.since.Add(r.sign).Sub(now))
	}
	return wait
}

// event follows the run.
func (p *pulse) event(e oh.Event) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.note(e, time.Now())
	p.mu.Unlock()
	p.stir()
}

// ask notes that the model is asked, where no event tells it.
func (p *pulse) ask() {
	p.mu.Lock()
	p.request(time.Now())
	p.mu.Unlock()
	p.stir()
}

// stir lets the goroutine see what has changed.
func (p *pulse) stir() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pulse) note(e oh.Event, now time.Time) {
	switch e := e.(type) {
	case oh.UserTurn:
		p.request(now)
	case oh.Retrying:
		p.request(now.Add(e.After))
	case oh.Compaction:
		if e.Phase == oh.CompactionDone && p.asked {
			p.request(now)
		}
	case oh.ThinkingDelta:
		p.silent("the model is thinking", now)
	case oh.ToolInputDelta:
		if e.Name != "" {
			p.silent("the model prepares "+gist.Words(e.Name, 80), now)
		}
	case oh.TextDelta, oh.RunDone:
		p.asked = false
	case oh.MessageDone:
		p.asked = false
		clear(p.open)
		for _, u := range e.Message.Content.ToolUses() {
			p.open[u.ID] = true
		}
	case oh.ToolStarted:
		p.running = append(p.running, ran{e.ID, gist.Call(e.Tool, e.Input, 60), now, nextSign(0)})
	case oh.ToolDone:
		p.toolDone(e.ID, now)
	}
}

// request notes that the model is asked at a time. It comes again for a retry.
func (p *pulse) request(at time.Time) {
	p.asked, p.said, p.since, p.what = true, false, at, "waiting for the model"
}

// silent notes that the model is at work on what is not shown.
func (p *pulse) silent(what string, now time.Time) {
	if !p.asked {
		p.asked, p.since = true, now
	}
	p.what = what
}

// toolDone notes a result. After the last one the model is asked again.
func (p *pulse) toolDone(id string, now time.Time) {
	for i, r := range p.running {
		if r.id == id {
			p.running = append(p.running[:i:i], p.running[i+1:]...)
			break
		}
	}
	if !p.open[id] {
		return
	}
	delete(p.open, id)
	if len(p.open) == 0 {
		p.request(now)
	}
}
