package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/print"
	"github.com/openharness/oh/internal/slash"
	"github.com/openharness/oh/internal/text"
)

// stdinTag wraps what came on stdin beside a prompt.
const stdinHead, stdinTail = "[Input from stdin:]\n", "\n[End of the input.]"

// printMode runs one prompt without a person.
func (p *program) printMode(ctx context.Context, opts app.Options, words []string) error {
	line, attached, err := p.input(ctx, opts, words)
	if err != nil {
		return err
	}
	if name, _, ok := slash.Parse(line); ok && name != "continue" {
		opts.NoModel = true // it asks no model, so that none has to be there
	}
	rt, err := app.Build(ctx, opts)
	if err != nil {
		return p.notStarted(err)
	}
	p.signals.kills(rt.Kill)
	auth.Forget(rt.Secrets(), config.SecretName)
	printer := print.New(p.printOptions(rt))
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := watchOutlet(p.out, cancel)
	outcome, err := p.drive(printer, rt.Handle(runCtx, line, attached...), out)
	if closeErr := rt.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if out.closed.Load() {
		return codedError{exitOther}
	}
	if err != nil && !errors.Is(err, print.ErrClosed) {
		return err
	}
	if outcome.Class == print.Cancelled && p.signals.caught() != 0 {
		return codedError{p.signals.exitCode()}
	}
	if code := print.ExitCode(outcome, p.inv.sdk); code != exitOK {
		return codedError{code}
	}
	return nil
}

// drive hands the events of a run to the printer, and ends the watch on stdout
// before the result is written.
func (p *program) drive(printer *print.Printer, events iter.Seq2[oh.Envelope, error], out *outlet) (print.Outcome, error) {
	var runErr error
	for env, err := range events {
		if err != nil {
			if !errors.Is(err, app.ErrExit) {
				runErr = err
			}
			break
		}
		if err := printer.Event(env); err != nil {
			break // the printer remembers it for Finish
		}
	}
	out.stop()
	if out.closed.Load() {
		// The printer has nothing to say to anybody. It learns that from a write.
		_ = printer.Event(oh.Envelope{Event: oh.CommandOutput{Text: "\n"}})
	}
	return printer.Finish(runErr)
}

// warnUnbuilt tells what was warned of before a session could not be built.
func (p *program) warnUnbuilt(err error) {
	if e, ok := errors.AsType[*app.Unbuilt](err); ok {
		for _, w := range e.Warnings {
			fmt.Fprintln(p.errOut, "warning: "+text.Clean(w))
		}
	}
}

// notStarted reports a failure before the run, in the form of the output.
func (p *program) notStarted(err error) error {
	format, _ := print.ParseFormat(p.flags.format)
	if format == print.Text || format == print.Events {
		return err
	}
	p.warnUnbuilt(err)
	printer := print.New(print.Options{Format: format, Out: p.out, Err: p.errOut, Info: print.Info{Version: Version}})
	if _, printErr := printer.Finish(err); printErr != nil {
		return printErr
	}
	return codedError{exitCode(err)}
}

func (p *program) printOptions(rt *app.Runtime) print.Options {
	format, _ := print.ParseFormat(p.flags.format)
	return print.Options{Format: format, Out: p.out, Err: p.errOut, OutTerminal: isTerminal(p.out), ErrTerminal: isTerminal(p.errOut),
		Width: width(p.errOut), Partial: p.flags.partial, Verbose: p.flags.verbose,
		Info: rt.Info(), Price: rt.Cost, Window: rt.Window}
}

// input puts the prompt together: words, stdin and images.
func (p *program) input(ctx context.Context, opts app.Options, words []string) (line string, attached []oh.Block, err error) {
	line = strings.Join(words, " ")
	wait := stdinWait
	if line == "" && !opts.Continue && opts.Resume == "" {
		wait = stdinWaitAlone
	}
	var piped, note string
	if opts.APIKey != "-" {
		if piped, note, err = readStdin(ctx, p.in, wait); err != nil {
			return "", nil, err
		}
	}
	if attached, err = p.attachments(); err != nil {
		return "", nil, err
	}
	switch {
	case strings.TrimSpace(piped) == "":
	case line == "" && !isCommand(piped):
		// A program wrote it: it is a prompt, but an @ in it names no file.
		attached = append(attached, oh.Text{Text: strings.ToValidUTF8(strings.TrimRight(piped, "\r\n"), "\uFFFD")})
	case line == "":
		line = strings.TrimSpace(piped)
	default:
		attached = append(attached, oh.Text{Text: stdinHead + strings.ToValidUTF8(piped, "\uFFFD") + stdinTail})
	}
	if strings.TrimSpace(line) == "" && len(attached) == 0 && !opts.Continue && opts.Resume == "" {
		return "", nil, usageError{errors.New(`no prompt: give one as an argument (oh -p "fix the test") or on stdin`)}
	}
	if note != "" && (line != "" || len(attached) > 0) {
		fmt.Fprintln(p.errOut, "oh: "+note)
	}
	return strings.ToValidUTF8(line, "\uFFFD"), attached, nil
}

func isCommand(line string) bool {
	_, _, ok := slash.Parse(strings.TrimSpace(line))
	return ok
}
