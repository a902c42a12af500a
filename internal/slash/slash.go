// Package slash is the room of slash commands: what a command is, how a line
// names one, and a set to look them up in. The commands themselves live with
// their features, which add them to a [Set].
//
// It is not for running the model: a command returns an [Effect], and whoever
// owns the conversation carries it out.
//
// Guarantees: a line that is no command line is never taken for one (a path
// such as /etc/x is a prompt); a command that fails or panics gives an error
// and never ends the program; nothing here is global.
package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// Command is one slash command. Name and Aliases are written without the
// slash and match [a-z][A-Za-z0-9_:-]*.
type Command struct {
	Name    string
	Aliases []string
	Args    string // a hint such as "[N]", "" when it takes none
	Summary string // one line

	// Run does the work. args is what follows the name, without white space at
	// its ends. Its error is shown to the person and ends nothing.
	Run func(ctx context.Context, args string) (Effect, error)
}

// Effect is what is to happen after a command. The zero value is nothing.
type Effect struct {
	Text     string // to show to the person
	Prompt   string // to submit to the model, as if typed
	Model    string // for Prompt only: the model to use, "" for the current one
	Session  string // id of the session to go on with
	Continue bool   // run the model on the history as it is
	Clear    bool   // begin a new, empty conversation and clear the screen
	Reload   bool   // build the runtime anew: settings, tools, prompt
	Exit     bool   // end the program
}

// UnknownError says that a line names a command that does not exist.
type UnknownError struct {
	Name    string // without the slash
	Nearest string // the most similar name, "" when none is similar
}

// Error implements error.
func (e *UnknownError) Error() string {
	if e.Nearest != "" {
		return fmt.Sprintf("/%s is no command: did you mean /%s? (/help lists all)", e.Name, e.Nearest)
	}
	return fmt.Sprintf("/%s is no command (/help lists all)", e.Name)
}

// Usage marks the error as a mistake of the person who typed, for exit codes.
func (e *UnknownError) Usage() bool { return true }

// MisuseError says that the arguments of a command cannot be meant.
type MisuseError struct{ Err error }

// Misuse returns a [*MisuseError] with a text of its own.
func Misuse(format string, args ...any) error { return &MisuseError{fmt.Errorf(format, args...)} }

// Error implements error.
func (e *MisuseError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *MisuseError) Unwrap() error { return e.Err }

// Usage marks the error as a mistake of the person who typed, for exit codes.
func (e *MisuseError) Usage() bool { return true }

// Parse splits a command line into the command's name, without the slash, and
// its arguments. ok is false for anything else, which is a prompt.
func Parse(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(line, "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexAny(rest, " \t\r\n")
	if end < 0 {
		end = len(rest)
	}
	if !validName(rest[:end]) {
		return "", "", false
	}
	return rest[:end], strings.TrimSpace(rest[end:]), true
}

func validName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == ':', r == '-':
		default:
			return false
		}
	}
	return true
}

// Set holds commands by name. The zero Set is empty. Add is not safe beside
// other calls; all else may be called from any goroutine.
type Set struct {
	commands map[string]Command // by name
	aliases  map[string]string  // to a name
}

// Add puts commands into the set. It is an error when a name is malformed or
// taken, or when a command has no Run; then none of them is added.
func (s *Set) Add(commands ...Command) error {
	seen := map[string]bool{}
	for _, c := range commands {
		if c.Run == nil {
			return fmt.Errorf("slash command /%s cannot run: it has no Run", c.Name)
		}
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if !validName(n) {
				return fmt.Errorf("slash command %q: the name must be a lower-case letter followed by letters, digits, _, : or -", n)
			}
			if _, taken := s.Get(n); taken || seen[n] {
				return fmt.Errorf("slash command /%s exists twice: rename one of them", n)
			}
			seen[n] = true
		}
	}
	if s.commands == nil {
		s.commands, s.aliases = map[string]Command{}, map[string]string{}
	}
	for _, c := range commands {
		s.commands[c.Name] = c
		for _, a := range c.Aliases {
			s.aliases[a] = c.Name
		}
	}
	return nil
}

// Get returns the command of a name or alias, written without the slash.
func (s *Set) Get(name string) (Command, bool) {
	if full, ok := s.aliases[name]; ok {
		name = full
	}
	c, ok := s.commands[name]
	return c, ok
}

// Lookup finds the command that a line names and its arguments. ok is false
// when the line is a prompt and no command line. The error is an
// [*UnknownError].
func (s *Set) Lookup(line string) (c Command, args string, ok bool, err error) {
	name, args, ok := Parse(line)
	if !ok {
		return Command{}, "", false, nil
	}
	c, found := s.Get(name)
	if !found {
		return Command{}, "", true, &UnknownError{Name: name, Nearest: text.Nearest(name, s.all())}
	}
	return c, args, true, nil
}

// Run runs the command that a line names. ok is false when the line is a
// prompt. The error names the command; a panic in it is an error as well.
func (s *Set) Run(ctx context.Context, line string) (e Effect, ok bool, err error) {
	c, args, ok, err := s.Lookup(line)
	if !ok || err != nil {
		return Effect{}, ok, err
	}
	e, err = c.call(ctx, args)
	return e, true, err
}

func (c Command) call(ctx context.Context, args string) (e Effect, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = Effect{}, fmt.Errorf("/%s failed inside: %v (please report this; the session goes on)", c.Name, p)
		}
	}()
	e, err = c.Run(ctx, args)
	if err == nil {
		return e, nil
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return Effect{}, fmt.Errorf("/%s was interrupted: %w", c.Name, err)
	}
	return Effect{}, fmt.Errorf("/%s: %w", c.Name, err)
}

// Names returns the names of all commands, sorted, without aliases.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.commands))
	for n := range s.commands {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// all returns the names and aliases, in no order.
func (s *Set) all() []string {
	all := s.Names()
	for a := range s.aliases {
		all = append(all, a)
	}
	return all
}

// Help returns one line per command, sorted by name, in two columns.
func (s *Set) Help() string {
	const widest = 30
	names := s.Names()
	heads := make([]string, len(names))
	width := 0
	for i, n := range names {
		heads[i] = s.commands[n].head()
		if w := len([]rune(heads[i])); w <= widest {
			width = max(width, w)
		}
	}
	var b strings.Builder
	for i, n := range names {
		pad := max(0, width-len([]rune(heads[i])))
		line := heads[i] + strings.Repeat(" ", pad+2) + oneLine(s.commands[n].Summary)
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func (c Command) head() string {
	h := "/" + c.Name
	for _, a := range c.Aliases {
		h += ", /" + a
	}
	if c.Args != "" {
		h += " " + oneLine(c.Args)
	}
	return h
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
