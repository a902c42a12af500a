package cli

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/plain"
)

// repl talks with a person in lines.
func (p *program) repl(ctx context.Context, opts app.Options, first string) error {
	var in io.Reader = p.in
	if first != "" {
		// As if typed: a line break inside it continues the line.
		in = io.MultiReader(strings.NewReader(strings.ReplaceAll(first, "\n", "\\\n")+"\n"), p.in)
	}
	face := plain.New(plain.Config{In: in, Out: p.out, Terminal: isTerminal(p.out), Width: width(p.out), Dir: opts.Dir})
	opts.Interactive, opts.Asker = true, face
	rt, err := app.Build(ctx, opts)
	if err != nil {
		return err
	}
	attached, err := p.attachments()
	if err != nil {
		return errors.Join(err, rt.Close())
	}
	p.signals.interrupts(face.Interrupt)
	defer p.signals.interrupts(nil)
	err = face.Run(ctx, &lines{rt: rt, attached: attached})
	if closeErr := rt.Close(); err == nil {
		err = closeErr
	}
	if p.signals.caught() != 0 {
		return codedError{p.signals.exitCode()}
	}
	return err
}

// lines hands the lines of the face to the runtime; images of the command line
// go with the first.
type lines struct {
	rt       *app.Runtime
	attached []oh.Block
}

// Handle implements [plain.Runtime].
func (l *lines) Handle(ctx context.Context, line string) iter.Seq2[oh.Envelope, error] {
	attached := l.attached
	l.attached = nil
	return func(yield func(oh.Envelope, error) bool) {
		for env, err := range l.rt.Handle(ctx, line, attached...) {
			if errors.Is(err, app.ErrExit) {
				err = plain.ErrExit
			}
			if !yield(env, err) {
				return
			}
		}
	}
}

// Enqueue implements [plain.Runtime].
func (l *lines) Enqueue(text string) { l.rt.Enqueue(text) }
