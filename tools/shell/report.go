package shell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace/proc"
)

// mostShown bounds the processes that the model is told of.
const mostShown = 5

// report is all that is to be said about a command that ran.
type report struct {
	in    input
	exit  proc.Exit
	sum   text.Summary
	dir   string // of the conversation, afterwards
	moved string // why it changed or was reset, "" when it stays
	held  string // what the confinement held and what came of it, or ""
	free  bool   // it ran without confinement, as a person allowed
}

// meta is what the log keeps beside the text.
type meta struct {
	Exit      int            `json:"exit"` // -1 when it was stopped or killed
	Signal    string         `json:"signal,omitempty"`
	TimedOut  bool           `json:"timed_out,omitempty"`
	Cancelled bool           `json:"cancelled,omitempty"`
	MS        int64          `json:"duration_ms"`
	Dir       string         `json:"dir"`
	Chars     int            `json:"chars"`
	Truncated bool           `json:"truncated,omitempty"`
	Path      string         `json:"path,omitempty"` // of the whole output
	Left      []proc.Process `json:"left,omitempty"`
	Held      string         `json:"held,omitempty"`
	Free      bool           `json:"unconfined,omitempty"`
}

func (r report) failed() bool {
	return r.exit.Code != 0 || r.stopped()
}

func (r report) stopped() bool { return r.exit.TimedOut || r.exit.Cancelled }

// code is the exit code, -1 for a command that was stopped.
func (r report) code() int {
	if r.stopped() {
		return -1
	}
	return r.exit.Code
}

func (r report) result() (oh.Result, error) {
	body := strings.TrimRight(r.sum.Text, " \t\n")
	if body == "" {
		body = "(no output)"
	}
	raw, err := oh.Marshal(meta{
		Exit: r.code(), Signal: r.exit.Signal,
		TimedOut: r.exit.TimedOut, Cancelled: r.exit.Cancelled,
		MS: r.exit.Duration.Milliseconds(), Dir: r.dir,
		Chars: r.sum.Chars, Truncated: r.sum.Cut, Path: r.sum.Path,
		Left: r.exit.Left, Held: r.held, Free: r.free,
	})
	if err != nil {
		return oh.Result{}, fmt.Errorf("note the end of the command: %w", err)
	}
	return oh.Result{
		Content: oh.Blocks{oh.Text{Text: strings.Join(append([]string{body}, r.notes()...), "\n")}},
		IsError: r.failed(),
		Meta:    raw,
		Display: oh.Output{Command: r.in.Command, Text: r.shown(body), Exit: r.code()},
	}, nil
}

// shown is what a person sees of the output.
func (r report) shown(body string) string {
	if r.held == "" {
		return body
	}
	return body + "\n[" + r.held + "]"
}

// notes are the lines after the output, each in brackets.
func (r report) notes() []string {
	var notes []string
	add := func(format string, args ...any) {
		notes = append(notes, "["+fmt.Sprintf(format, args...)+"]")
	}
	switch {
	case r.exit.TimedOut:
		add("timed out after %d s; the command and its children were stopped", r.in.Timeout)
	case r.exit.Cancelled:
		add("cancelled; the command and its children were stopped")
	case r.exit.Signal != "":
		add("ended by a signal: %s", r.exit.Signal)
	case r.exit.Code != 0:
		add("exit code %d", r.exit.Code)
	}
	if len(r.exit.Left) > 0 {
		add("still running in the background, until the session ends: %s", names(r.exit.Left))
	}
	if r.held != "" {
		add("%s", r.held)
	}
	if r.moved != "" {
		add("%s", r.moved)
	}
	return notes
}

// names lists processes, the first few.
func names(all []proc.Process) string {
	var out []string
	for i, p := range all {
		if i == mostShown {
			out = append(out, strconv.Itoa(len(all)-i)+" more")
			break
		}
		who := p.Command
		if p.PID != 0 {
			who = strconv.Itoa(p.PID) + " " + p.Command
		}
		out = append(out, who)
	}
	return strings.Join(out, ", ")
}
