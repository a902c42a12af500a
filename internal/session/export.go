package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/openharness/oh"
)

// The formats of [Store.Export].
const (
	Markdown    = "markdown"    // the whole transcript for people, also what was compacted away; no reasoning
	JSON        = "json"        // one object: session, dir, title, model, system, messages as the model has them now
	JSONL       = "jsonl"       // the entries of the log, one a line
	OpenHarness = "openharness" // a snapshot that OpenHarness (Python) can resume
)

// Formats lists the names that [Store.Export] takes.
func Formats() []string { return []string{Markdown, JSON, JSONL, OpenHarness} }

// Export writes a session to w; ref is what [Store.Find] takes. It returns
// what was left out of the session because it could not be read.
func (s Store) Export(w io.Writer, ref, format string) (Skipped, error) {
	from, err := s.Find(ref)
	if err != nil {
		return Skipped{}, err
	}
	write := map[string]func(*bufio.Writer, *log, Ref, *Skipped) error{
		Markdown: exportMarkdown, JSON: exportJSON, JSONL: exportLines, OpenHarness: exportSnapshot,
	}[format]
	if write == nil {
		return Skipped{}, fmt.Errorf("unknown export format %q; use %s", format, strings.Join(Formats(), ", "))
	}
	r, err := openLog(from.Path)
	if err != nil {
		return Skipped{}, fmt.Errorf("export session %s: %w", from.ID, err)
	}
	defer r.Close()
	var skipped Skipped
	bw := bufio.NewWriter(w)
	if err := write(bw, r, from, &skipped); err != nil {
		return skipped, fmt.Errorf("export session %s: %w", from.ID, err)
	}
	if err := bw.Flush(); err != nil {
		return skipped, fmt.Errorf("export session %s: %w", from.ID, err)
	}
	return skipped, nil
}

func exportLines(w *bufio.Writer, r *log, _ Ref, skipped *Skipped) error {
	for l, err := range lines(r, MaxLine) {
		if err != nil {
			return err
		}
		_, raw, err := decodeLine(l)
		if err != nil {
			skipped.add(l.num, err)
			continue
		}
		w.Write(raw)
		w.WriteByte('\n') // an error stays in w until Flush
	}
	return nil
}

type exported struct {
	Session  string       `json:"session"`
	Dir      string       `json:"dir"`
	Title    string       `json:"title,omitempty"`
	Model    string       `json:"model,omitempty"`
	System   string       `json:"system,omitempty"`
	Messages []oh.Message `json:"messages"`
}

func exportJSON(w *bufio.Writer, r *log, from Ref, skipped *Skipped) error {
	c, err := replay(r, skipped)
	if err != nil {
		return err
	}
	st := c.State()
	return writeJSON(w, exported{from.ID, st.Dir, st.Title, st.Model, st.System, c.Messages()})
}

// replay makes a conversation that writes nowhere.
func replay(r io.Reader, skipped *Skipped) (*oh.Conversation, error) {
	return oh.Open(&oh.MemoryLog{}, Read(r, skipped.add))
}

func writeJSON(w *bufio.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
