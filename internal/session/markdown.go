package session

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

func exportMarkdown(w *bufio.Writer, r *log, from Ref, skipped *Skipped) error {
	t := transcript{w: w}
	for e, err := range Read(r, skipped.add) {
		if err != nil {
			return err
		}
		t.event(from, e)
	}
	if !t.begun {
		t.begin(from, oh.SessionStarted{})
	}
	return nil
}

// transcript writes a log as a document. Errors stay in w until its Flush.
type transcript struct {
	w     *bufio.Writer
	begun bool
	role  oh.Role // under whose heading we are
}

func (t *transcript) begin(from Ref, s oh.SessionStarted) {
	t.begun = true
	fmt.Fprintf(t.w, "# Session %s\n", from.ID)
	if s.Dir != "" {
		fmt.Fprintf(t.w, "\nDirectory: %s\n", text.OneLine(s.Dir, 4096))
	}
	if s.Parent != "" {
		fmt.Fprintf(t.w, "\nForked from %s.\n", cmp.Or(strings.TrimSpace(s.Parent+" "+s.ParentMessage), s.Parent))
	}
}

func (t *transcript) event(from Ref, e oh.Entry) {
	start, ok := e.Event.(oh.SessionStarted)
	if !t.begun {
		t.begin(from, start)
	}
	if ok {
		return
	}
	switch ev := e.Event.(type) {
	case oh.UserTurn:
		t.message(ev.Message)
	case oh.MessageDone:
		t.message(ev.Message)
	case oh.ToolDone:
		t.result(ev)
	case oh.Notice:
		fmt.Fprintf(t.w, "\n> %s: %s\n", ev.Level, text.OneLine(ev.Text, 2000))
	case oh.Compaction:
		if ev.Phase == oh.CompactionDone {
			t.role = ""
			fmt.Fprintf(t.w, "\n---\n\n*Here the conversation was shortened for the model (%s).*\n", cmp.Or(ev.Trigger, "auto"))
		}
	}
}

func (t *transcript) heading(role oh.Role) {
	if t.role == role {
		return
	}
	t.role = role
	name := "User"
	if role == oh.Assistant {
		name = "Assistant"
	}
	fmt.Fprintf(t.w, "\n## %s\n", name)
}

func (t *transcript) message(m oh.Message) {
	for _, b := range m.Content {
		switch b := b.(type) {
		case oh.Text:
			if b.Context || strings.TrimSpace(b.Text) == "" {
				continue
			}
			t.heading(m.Role)
			fmt.Fprintf(t.w, "\n%s\n", strings.TrimRight(text.Clean(b.Text), "\n"))
		case oh.ToolUse:
			t.heading(m.Role)
			fmt.Fprintf(t.w, "\nCall `%s` (%s)\n", b.Name, b.ID)
			t.fence("json", pretty(b.Input))
		case oh.Image, oh.Document:
			t.heading(m.Role)
			fmt.Fprintf(t.w, "\n%s\n", resultText(oh.Blocks{b}))
		}
	}
}

func (t *transcript) result(e oh.ToolDone) {
	word := "Result"
	if e.IsError {
		word = "Error"
	}
	t.heading(oh.Assistant)
	fmt.Fprintf(t.w, "\n%s of `%s` (%s)\n", word, e.Tool, e.ID)
	t.fence("", resultText(e.Content))
}

// fence writes s as a code block that s itself cannot end.
func (t *transcript) fence(lang, s string) {
	s = text.Clean(s)
	ticks := "```"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	fmt.Fprintf(t.w, "\n%s%s\n%s\n%s\n", ticks, lang, strings.TrimRight(s, "\n"), ticks)
}

func pretty(raw json.RawMessage) string {
	var buf bytes.Buffer
	if json.Indent(&buf, raw, "", "  ") != nil {
		return string(raw)
	}
	return buf.String()
}
