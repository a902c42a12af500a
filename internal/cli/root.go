package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/session"
	"github.com/openharness/oh/internal/text"
)

// root runs a prompt or a conversation.
func (p *program) root(ctx context.Context, cmd *cobra.Command, words []string) error {
	if wanted, _ := cmd.Flags().GetBool("version"); wanted {
		_, err := fmt.Fprintln(p.out, Version)
		return err
	}
	opts, err := p.flags.options(p.inv.sdk)
	if err != nil {
		return err
	}
	opts.Stdin = p.in
	if p.flags.debug {
		opts.Log = slog.New(slog.NewTextHandler(p.errOut, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	words = nonEmpty(words)
	if err := p.mistyped(cmd, words); err != nil {
		return err
	}
	if cmd.Flags().Changed("resume") && opts.Resume == "" {
		if opts.Resume, err = p.pickSession(ctx, opts, words); err != nil || opts.Resume == "" {
			return err
		}
	}
	switch {
	case opts.Schema != nil && !p.flags.dryRun && !p.flags.print && p.onTerminal():
		return usageError{errors.New("--json-schema goes with -p")}
	case p.flags.dryRun:
		return p.dryRun(ctx, opts, words)
	case p.flags.print || !p.onTerminal():
		return p.printMode(ctx, opts, words)
	}
	return p.repl(ctx, opts, strings.Join(words, " "))
}

// mistyped takes a first word that is one letter off a subcommand for a slip,
// when it stands alone or before one of that command's own words: a prompt costs
// money, and a name that short is rarely one.
func (p *program) mistyped(cmd *cobra.Command, words []string) error {
	if len(words) == 0 || p.inv.print || strings.HasPrefix(words[0], "/") {
		return nil
	}
	for _, c := range cmd.Commands() {
		if text.Distance(words[0], c.Name()) != 1 || len(words[0]) < 3 {
			continue
		}
		known := len(words) == 1
		for _, sub := range c.Commands() {
			known = known || words[1] == sub.Name()
		}
		if known {
			return usageError{fmt.Errorf("%q: did you mean oh %s? (to send it as a prompt: oh -p %q)", words[0], c.Name(), strings.Join(words, " "))}
		}
	}
	return nil
}

// nonEmpty drops empty words, which SDKs pass.
func nonEmpty(words []string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// onTerminal reports whether a person can be talked with in lines.
func (p *program) onTerminal() bool { return isTerminal(p.in) && isTerminal(p.out) }

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func width(f any) int {
	if file, ok := f.(*os.File); ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil {
			return w
		}
	}
	return 0
}

// pickSession lists the sessions of the project and, on a terminal, asks for
// one. Without a terminal the list is all there is.
func (p *program) pickSession(ctx context.Context, opts app.Options, words []string) (string, error) {
	paths, err := config.FindPaths(opts.Config())
	if err != nil {
		return "", err
	}
	list, err := app.Store(paths, Version).List(20)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", errors.New("this project has no session yet; begin one with: oh")
	}
	if p.flags.print || !p.onTerminal() {
		if err := p.writeSessions(list); err != nil || len(words) == 0 {
			return "", err
		}
		return "", usageError{errors.New("-r needs an id here; the sessions are listed above")}
	}
	return p.askSession(ctx, list)
}

// askSession lets a person choose by number.
func (p *program) askSession(ctx context.Context, list []session.Info) (string, error) {
	for i, s := range list {
		fmt.Fprintf(p.out, "%3d  %s  %s  %s\n", i+1, s.ID[:13], ago(s.Changed), title(s))
	}
	fmt.Fprintf(p.out, "Which one (1-%d, or an id; empty: none)? ", len(list))
	line, err := readLine(ctx, p.in)
	if err != nil {
		return "", err
	}
	if line == "" {
		return "", nil
	}
	var n int
	if _, err := fmt.Sscanf(line, "%d", &n); err == nil && n >= 1 && n <= len(list) && len(line) < 4 {
		return list[n-1].ID, nil
	}
	return line, nil
}

// readLine reads one line byte by byte, so that nothing behind it is taken.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() { // ends with the line, or with the program
		var line []byte
		b := make([]byte, 1)
		for {
			n, err := in.Read(b)
			if n == 1 && b[0] != '\n' {
				line = append(line, b[0])
			}
			if n == 1 && b[0] == '\n' || err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				done <- result{strings.TrimSpace(string(line)), err}
				return
			}
		}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// attachments are the images of --image.
func (p *program) attachments() ([]oh.Block, error) {
	var out []oh.Block
	for _, path := range p.flags.images {
		img, err := app.LoadImage(path)
		if err != nil {
			return nil, usageError{fmt.Errorf("--image: %w", err)}
		}
		out = append(out, img)
	}
	return out, nil
}
