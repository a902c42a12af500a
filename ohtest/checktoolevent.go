package ohtest

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/openharness/oh"
)

// recorder takes the events of one run of a tool.
type recorder struct {
	where string
	first chan struct{} // closed with the first event

	mu    sync.Mutex // guards all below
	began bool
	ended bool
	late  int
	wrong []Violation
}

func (r *recorder) emit(e oh.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		r.late++
		return
	}
	if !r.began {
		r.began = true
		close(r.first)
	}
	text := ""
	switch e := e.(type) {
	case oh.ToolOutput:
		text = e.Text
	case oh.Status:
		text = e.Text
	case oh.Notice:
		text = e.Text
	case oh.StateChanged, oh.SideUsage, oh.Sub:
	default:
		r.wrong = append(r.wrong, Violation{"event-type", r.where, fmt.Sprintf("emitted %T, which no tool may", e)})
	}
	if !utf8.ValidString(text) {
		r.wrong = append(r.wrong, Violation{"output-utf8", r.where, fmt.Sprintf("the text of %T is not valid UTF-8", e)})
	}
}

// end says that the run has returned.
func (r *recorder) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

func (r *recorder) lateCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late
}

func (r *recorder) report(to *report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.wrong {
		to.add(v.Rule, v.Where, "%s", v.Text)
	}
}
