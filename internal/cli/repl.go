package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/plain"
	"github.com/openharness/oh/internal/text"
)

// repl talks with a person in lines.
func (p *program) repl(ctx context.Context, opts app.Options, first string) error {
	var rt *app.Runtime
	face := plain.New(plain.Config{In: p.in, Out: p.out, Terminal: isTerminal(p.out), Width: width(p.out), Dir: opts.Dir, First: first,
		Info: func() plain.Info { return plainInfo(rt) }})
	opts.Interactive, opts.Asker = true, face
	rt, err := app.Build(ctx, opts)
	if err != nil {
		return err
	}
	attached, err := p.attachments()
	if err != nil {
		return errors.Join(err, rt.Close())
	}
	p.signals.kills(rt.Kill)
	auth.Forget(rt.Secrets(), config.SecretName)
	p.greet(rt)
	p.signals.interrupts(face.Interrupt)
	defer p.signals.interrupts(nil)
	err = face.Run(ctx, &lines{rt: rt, attached: attached})
	id := rt.Saved()
	if closeErr := rt.Close(); err == nil {
		err = closeErr
	}
	if id != "" {
		fmt.Fprintf(p.out, "To go on: oh -c, or from anywhere: oh -r %s\n", id)
	}
	if p.signals.caught() != 0 {
		return codedError{p.signals.exitCode()}
	}
	return err
}

// plainInfo is what the face tells about the session.
func plainInfo(rt *app.Runtime) plain.Info {
	if rt == nil {
		return plain.Info{}
	}
	info, st := rt.Info(), rt.Conversation().State()
	return plain.Info{Profile: st.Profile, Model: st.Model, Effort: st.Effort, Mode: st.Mode, KeySource: info.KeySource,
		BaseURL: info.BaseURL, BaseURLSource: info.BaseURLSource, NoSave: info.NoSave}
}

// greet says in one line what the person talks to, and what was restored.
func (p *program) greet(rt *app.Runtime) {
	st := rt.Conversation().State()
	dir := st.Dir
	if home, err := os.UserHomeDir(); err == nil {
		if rel, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok {
			dir = filepath.Join("~", rel)
		}
	}
	fmt.Fprintf(p.out, "oh %s · %s · %s · %s · /help\n", Version, st.Model, st.Mode, text.Clean(dir))
	if n := len(rt.Conversation().Messages()); n > 0 {
		fmt.Fprintf(p.out, "Resumed %s: %s. %s\n", st.Session, text.Plural(n, "message"), lastSaid(rt.Conversation().Messages()))
	}
}

// lastSaid shows the end of a conversation that goes on.
func lastSaid(msgs []oh.Message) string {
	for i := len(msgs) - 1; i >= 0; i-- {
		if said := strings.TrimSpace(msgs[i].Content.Text()); msgs[i].Role == oh.Assistant && said != "" {
			return "The last answer: " + text.OneLine(text.Clean(said), 300)
		}
	}
	return ""
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
	if line == "exit" || line == "quit" {
		line = "/exit"
	}
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
