package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/session"
	"github.com/openharness/oh/internal/text"
)

// sessionCommand is `oh session`.
func (p *program) sessionCommand() *cobra.Command {
	c := group("session", "list, show and export sessions")
	var all, asJSON bool
	list := &cobra.Command{Use: "list", Short: "list the sessions of this project, newest first", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return p.listSessions(all, asJSON) }}
	list.Flags().BoolVar(&all, "all", false, "those of all projects")
	list.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object a line")

	var decisions, lines bool
	show := &cobra.Command{Use: "show ID", Short: "print the conversation of a session, or what was decided in it", Args: oneArg("the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case decisions:
				return p.showDecisions(args[0], lines)
			case lines:
				return usageError{errors.New("--json goes with --decisions; oh session export has other formats")}
			}
			return p.exportSession(args[0], session.Markdown)
		}}
	show.Flags().BoolVar(&decisions, "decisions", false, "what was allowed and refused, by whom and why")
	show.Flags().BoolVar(&lines, "json", false, "with --decisions: as JSON, one object a line")

	format := session.Markdown
	export := &cobra.Command{Use: "export ID", Short: "write a session to stdout", Args: oneArg("the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error { return p.exportSession(args[0], format) }}
	export.Flags().StringVar(&format, "format", session.Markdown, "one of "+strings.Join(session.Formats(), ", "))
	c.AddCommand(list, show, export)
	return c
}

func (p *program) store() (session.Store, error) {
	paths, err := config.FindPaths(config.Options{})
	if err != nil {
		return session.Store{}, err
	}
	return app.Store(paths, Version), nil
}

func (p *program) listSessions(all, asJSON bool) error {
	store, err := p.store()
	if err != nil {
		return err
	}
	get := store.List
	if all {
		get = store.ListAll
	}
	list, err := get(0)
	if err != nil {
		return err
	}
	if !asJSON {
		return p.writeSessions(list)
	}
	for _, s := range list {
		line, err := oh.Marshal(map[string]any{"id": s.ID, "changed": s.Changed.UTC(), "started": s.Started.UTC(), "title": s.Title,
			"turns": s.Turns, "model": s.Model, "dir": s.Dir, "parent": s.Parent, "bytes": s.Bytes, "path": s.Path})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) writeSessions(list []session.Info) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, s := range list {
		turns := fmt.Sprint(s.Turns)
		if s.More {
			turns += "+"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.ID, s.Changed.Local().Format("2006-01-02 15:04"), turns, orDash(s.Model), title(s))
	}
	return w.Flush()
}

func title(s session.Info) string { return orDash(s.Title) }

// orDash is a cell of a table: s as it can be shown on one line.
func orDash(s string) string {
	if s = text.OneLine(text.Clean(s), maxCell); s == "" {
		return "-"
	}
	return s
}

// maxCell bounds a cell of a table, in code points.
const maxCell = 200

// ago tells a time by its distance.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	default:
		return t.Local().Format("2006-01-02")
	}
}

func (p *program) exportSession(ref, format string) error {
	if !slices.Contains(session.Formats(), format) {
		return usageError{fmt.Errorf("--format: %q is none of %s", format, strings.Join(session.Formats(), ", "))}
	}
	store, err := p.store()
	if err != nil {
		return err
	}
	skipped, err := store.Export(p.out, ref, format)
	return p.tellSkipped(skipped, err)
}

// tellSkipped says what of a session could not be read.
func (p *program) tellSkipped(skipped session.Skipped, err error) error {
	if _, ok := errors.AsType[*session.NotFoundError](err); ok {
		return fmt.Errorf("%w (oh session list shows what there is)", err)
	}
	if err == nil && skipped.Count > 0 {
		fmt.Fprintln(p.errOut, "oh: "+skipped.String())
	}
	return err
}

// showDecisions prints what was decided in a session, one decision a line.
func (p *program) showDecisions(ref string, asJSON bool) error {
	store, err := p.store()
	if err != nil {
		return err
	}
	list, skipped, err := store.Decisions(ref)
	if err := p.tellSkipped(skipped, err); err != nil {
		return err
	}
	if asJSON {
		for _, d := range list {
			if err := p.writeLine(d); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, d := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Time.Local().Format("2006-01-02 15:04:05"), text.Clean(d.Tool), orDash(text.OneLine(d.What, 100)),
			d.Decision, d.By, orDash(text.OneLine(text.Clean(d.Rule), 200)), orDash(text.OneLine(text.Clean(d.Reason), 400)))
	}
	return w.Flush()
}
