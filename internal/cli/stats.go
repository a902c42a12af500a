package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/session"
	"github.com/openharness/oh/internal/stats"
	"github.com/openharness/oh/internal/text"
)

// statsFlags are those of `oh stats`.
type statsFlags struct {
	days        int
	since       string
	all, asJSON bool
}

// statsCommand is `oh stats`.
func (p *program) statsCommand() *cobra.Command {
	var f statsFlags
	c := &cobra.Command{Use: "stats", Short: "what sessions have used: tokens, cost and tools, by model and by day", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.stats(cmd, f) }}
	c.Flags().IntVar(&f.days, "days", 0, "only the last N days, today included")
	c.Flags().StringVar(&f.since, "since", "", "only from this day on, such as 2026-10-31")
	c.Flags().BoolVar(&f.all, "all", false, "the sessions of all projects")
	c.Flags().BoolVar(&f.asJSON, "json", false, "as JSON, one object")
	return c
}

func (p *program) stats(cmd *cobra.Command, f statsFlags) error {
	since, err := f.start(cmd, time.Now())
	if err != nil {
		return err
	}
	store, err := p.store()
	if err != nil {
		return err
	}
	get := store.List
	if f.all {
		get = store.ListAll
	}
	list, err := get(0)
	if err != nil {
		return err
	}
	loaded, err := p.loadConfig()
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards errOut
	tell := func(id string, err error) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(p.errOut, "oh: session %s: %v\n", id, err)
	}
	var logs []stats.Log
	for _, info := range list {
		logs = append(logs, stats.Log{ID: info.ID, Parent: info.Parent, Entries: sessionEntries(info, tell)})
	}
	r := stats.Count(logs, stats.Config{Since: since, Price: loaded.Catalog().Cost, Failed: tell, Workers: runtime.GOMAXPROCS(0)})
	if f.asJSON {
		raw, err := oh.Marshal(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s\n", raw)
		return err
	}
	return writeStats(p.out, r)
}

// start returns the first moment that counts.
func (f statsFlags) start(cmd *cobra.Command, now time.Time) (time.Time, error) {
	days, since := cmd.Flags().Changed("days"), cmd.Flags().Changed("since")
	switch {
	case days && since:
		return time.Time{}, usageError{errors.New("--days and --since exclude each other")}
	case days && f.days < 1:
		return time.Time{}, usageError{fmt.Errorf("--days is %d, but must be at least 1", f.days)}
	case days:
		y, m, d := now.Date()
		return time.Date(y, m, d-f.days+1, 0, 0, 0, 0, now.Location()), nil
	case since:
		t, err := time.ParseInLocation(time.DateOnly, f.since, now.Location())
		if err != nil {
			return time.Time{}, usageError{fmt.Errorf("--since %q is no day; write it like 2026-10-31", f.since)}
		}
		return t, nil
	}
	return time.Time{}, nil
}

// sessionEntries reads the file of a session. Lines that cannot be read are
// left out and told.
func sessionEntries(info session.Info, tell func(id string, err error)) func() iter.Seq2[stats.Entry, error] {
	return func() iter.Seq2[stats.Entry, error] {
		return func(yield func(stats.Entry, error) bool) {
			f, err := os.Open(info.Path)
			if err != nil {
				yield(stats.Entry{}, err)
				return
			}
			defer func() { _ = f.Close() }()
			bad := 0
			// What is added while it is read does not count.
			for h, err := range session.Heads(io.LimitReader(f, info.Bytes), func(int, error) { bad++ }) {
				if !yield(stats.Entry{ID: h.ID, Time: h.Time, Type: h.Type, Raw: h.Raw}, err) || err != nil {
					return
				}
			}
			if bad > 0 {
				tell(info.ID, fmt.Errorf("%s could not be read and left out", text.Plural(bad, "line")))
			}
		}
	}
}

// writeStats prints tables for people.
func writeStats(out io.Writer, r stats.Report) error {
	if r.Sessions == 0 {
		_, err := fmt.Fprintln(out, "No session has used anything in this time.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, %s, %s, %s (%d failed), %s\n", text.Plural(r.Sessions, "session"), text.Plural(r.Prompts, "prompt"),
		plural(r.Total.Replies, "reply", "replies"), text.Plural(r.Calls, "tool call"), r.Failed, money(r.Total))
	const columns = "input\tcache read\tcache write\toutput\treasoning\tcost\n"
	fmt.Fprintf(w, "\nmodel\tprofile\trequests\t%s", columns)
	for _, m := range r.Models {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", orDash(m.Model), orDash(m.Profile), text.Number(m.Replies+m.Side), columnsOf(m.Sum))
	}
	fmt.Fprintf(w, "\nday\tsessions\trequests\t%s", columns)
	for _, d := range r.Days {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", d.Date, d.Sessions, text.Number(d.Replies+d.Side), columnsOf(d.Sum))
	}
	if len(r.Tools) > 0 {
		fmt.Fprint(w, "\ntool\tcalls\tfailed\n")
	}
	for _, t := range r.Tools {
		fmt.Fprintf(w, "%s\t%s\t%s\n", orDash(t.Name), text.Number(t.Calls), text.Number(t.Failed))
	}
	if err := w.Flush(); err != nil || r.Total.Known {
		return err
	}
	_, err := fmt.Fprintln(out, "\n+ The price of a model is not known: it has cost more than is shown. Say it under models in your settings.")
	return err
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return text.Number(n) + " " + many
}

func columnsOf(s stats.Sum) string {
	u := s.Usage
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", text.Number(u.InputTokens), text.Number(u.CacheReadTokens), text.Number(u.CacheWriteTokens),
		text.Number(u.OutputTokens), text.Number(u.ReasoningTokens), money(s))
}

// money is a cost; a plus sign says that a price was not known.
func money(s stats.Sum) string {
	if !s.Known {
		return fmt.Sprintf("$%.4f+", s.Cost)
	}
	return fmt.Sprintf("$%.4f", s.Cost)
}
