package gist

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/openharness/oh"
)

func TestCall(t *testing.T) {
	tests := []struct {
		tool, input string
		n           int
		want        string
	}{
		{"bash", `{"command":"go  test\n./..."}`, 80, "bash go test ./..."},
		{"read_file", `{"path":"a.go","offset":1}`, 80, "read_file a.go"},
		{"grep", `{"path":"","pattern":"x"}`, 80, "grep x"},
		{"ls", `{}`, 80, "ls"},
		{"ls", ``, 80, "ls"},
		{"ls", `[1]`, 80, "ls"},
		{"odd", `{"command":7,"url":"http://x"}`, 80, "odd http://x"},
		{"bash", "{\"command\":\"\\u001b[2Jrm\"}", 80, "bash rm"},
		{"bash", `{"command":"0123456789"}`, 8, "bash 01…"},
	}
	for _, tt := range tests {
		if got := Call(tt.tool, json.RawMessage(tt.input), tt.n); got != tt.want {
			t.Errorf("Call(%q, %s) = %q, want %q", tt.tool, tt.input, got, tt.want)
		}
	}
}

func TestDone(t *testing.T) {
	with := func(d oh.Display) oh.ToolDone { return oh.ToolDone{Display: oh.DisplayBox{Display: d}} }
	slow := with(oh.Output{Exit: 2})
	slow.Duration = 12 * time.Second
	tests := []struct {
		done oh.ToolDone
		want string
	}{
		{oh.ToolDone{}, ""},
		{oh.ToolDone{Duration: 499 * time.Millisecond}, ""},
		{oh.ToolDone{Duration: 500 * time.Millisecond}, "0.5 s"},
		{oh.ToolDone{IsError: true}, "failed"},
		{oh.ToolDone{IsError: true, Cause: oh.CauseUnknownTool}, "unknown tool"},
		{with(oh.Diff{Added: 3, Removed: 1}), "+3 -1"},
		{with(oh.Output{}), ""},
		{with(oh.Output{Exit: -1}), "killed"},
		{slow, "exit 2, 12 s"},
		{with(oh.Count{N: 1, Unit: "line"}), "1 line"},
		{with(oh.Count{N: 7, Unit: "line", In: "3 files"}), "7 lines in 3 files"},
		{with(oh.Tree{Paths: []string{"a", "b"}}), "2 paths"},
		{with(oh.Todos{Items: make([]oh.Todo, 1)}), "1 item"},
		{with(oh.Markdown{Text: "x"}), ""},
	}
	for _, tt := range tests {
		if got := Done(tt.done); got != tt.want {
			t.Errorf("Done(%+v) = %q, want %q", tt.done, got, tt.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond: "0.4 s", 2 * time.Second: "2 s", 2500 * time.Millisecond: "2.5 s", 12 * time.Second: "12 s",
		time.Minute: "1 min", 185 * time.Second: "3 min 5 s",
	} {
		if got := Seconds(d); got != want {
			t.Errorf("Seconds(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestRetry(t *testing.T) {
	e := oh.Retrying{Attempt: 3, Of: 4, After: 1870 * time.Millisecond, Reason: "anthropic: 529\n\x1b[2Joverloaded"}
	if got, want := Retry(e), "anthropic: 529 overloaded: trying again in 2 s (3 of 4)"; got != want {
		t.Errorf("Retry = %q, want %q", got, want)
	}
	e.After = 400 * time.Millisecond
	if got, want := Retry(e), "anthropic: 529 overloaded: trying again in 0.4 s (3 of 4)"; got != want {
		t.Errorf("Retry = %q, want %q", got, want)
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"one  two\nthree", 80, "one two three"},
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two…"},
		{"one two three", 8, "one two…"},
		{"four five six", 10, "four five…"},
		{"four five six", 9, "four fiv…"},
		{"four five six", 8, "four…"},
		{"one twothreefour", 12, "one twothre…"},
		{"\x1b[2Jaäö", 2, "a…"},
	}
	for _, tt := range tests {
		if got := Words(tt.in, tt.n); got != tt.want {
			t.Errorf("Words(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}
