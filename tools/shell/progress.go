package shell

import (
	"fmt"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// progressMeta is what the log keeps of a look at a task.
type progressMeta struct {
	ID    string    `json:"task_id"`
	State TaskState `json:"status"`
	Exit  int       `json:"exit"` // -1 after a signal; 0 while it runs
	MS    int64     `json:"duration_ms"`
	Cut   int64     `json:"left_out,omitempty"` // bytes
	Path  string    `json:"path,omitempty"`
}

func (p Progress) result() (oh.Result, error) {
	raw, err := oh.Marshal(progressMeta{ID: p.ID, State: p.State, Exit: p.Exit, MS: p.Duration.Milliseconds(), Cut: p.Cut, Path: p.Path})
	if err != nil {
		return oh.Result{}, fmt.Errorf("note the state of task %s: %w", p.ID, err)
	}
	body := p.body()
	return oh.Result{
		Content: oh.Blocks{oh.Text{Text: body + "\n[" + p.line() + "]"}},
		Meta:    raw,
		Display: oh.Output{Command: p.Command, Text: body, Exit: p.Exit},
	}, nil
}

// body is the new output.
func (p Progress) body() string {
	if p.Cut == 0 {
		if body := strings.TrimRight(p.Head, " \t\n"); body != "" {
			return body
		}
		return "(no new output)"
	}
	where := "all of it is in " + p.Path
	switch {
	case p.Lost != nil && p.Path == "":
		where = fmt.Sprintf("it is not saved: %v", p.Lost)
	case p.Lost != nil:
		where = fmt.Sprintf("the file %s is not whole: %v", p.Path, p.Lost)
	case p.Path == "":
		where = "it is not saved"
	}
	return fmt.Sprintf("%s\n[... %s bytes left out; %s ...]\n%s", p.Head, text.Number(int(p.Cut)), where, strings.TrimRight(p.Tail, " \t\n"))
}

// line is the state in words.
func (p Progress) line() string {
	s := "task " + p.ID
	switch {
	case p.State == TaskRunning:
		s += " is running, for " + span(p.Duration)
	case p.State == TaskStopped && p.Before:
		s += " had been stopped before, after " + span(p.Duration)
	case p.State == TaskStopped:
		s += " was stopped, after " + span(p.Duration)
	case p.Before:
		s += " had ended before: " + ending(p.Exit, p.Signal, p.Duration)
	default:
		s += " has ended: " + ending(p.Exit, p.Signal, p.Duration)
	}
	if len(p.Children) > 0 {
		s += "; still running, until the session ends: " + names(p.Children)
	}
	return s
}

// ending words how a command ended by itself.
func ending(code int, signal string, after time.Duration) string {
	if signal != "" {
		return fmt.Sprintf("by a signal (%s) after %s", signal, span(after))
	}
	return fmt.Sprintf("exit code %d after %s", code, span(after))
}

// span is a duration as precise as it matters.
func span(d time.Duration) string {
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
