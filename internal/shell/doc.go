// Package shell tells what a line for bash would run, read and write, on a real
// parse of it: every simple command in lists, pipelines, groups, loops,
// functions, substitutions and redirections, looked at through the commands
// that run other commands.
//
// It is not a sandbox and not a judge: it touches no disk, runs nothing, knows no
// rules and no modes. What programs do with their input, what a script holds and
// where links lead it does not see.
//
// It guarantees that a command is called read-only only if all of it was
// understood: a line that does not parse, a name or option that cannot be known,
// a variable from elsewhere give [Unknown] with the reason. Quoted text is never
// taken for a command, unless something runs it. Time and memory are bounded for
// any input.
package shell

// Place is where a line would run. Paths are absolute and clean.
type Place struct {
	Dir   string
	Home  string
	Roots []string // of the workspace
}

// Class says what a command does, as far as it can be known.
type Class int

// The classes. The zero value is the one that says least.
const (
	Unknown  Class = iota // not known to be harmless
	ReadOnly              // changes nothing but what it prints
	Writes                // changes the files in [Part.Writes], and no others
	Guarded               // cannot be undone and reaches far
)

var classNames = [...]string{"unknown", "read-only", "writes", "guarded"}

// String returns unknown, read-only, writes or guarded.
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		return classNames[Unknown]
	}
	return classNames[c]
}

// Part is one simple command of a line, or the redirections of a compound one
// (then Argv is empty).
type Part struct {
	// Argv is the command after the shell's expansions. A word that is not fully
	// known stands as it is written; Unsure are the indexes of those.
	Argv   []string
	Unsure []int

	// Text is the command on one line, quoted where needed: what rules that
	// allow are compared with. Forms are further ways to write it, for rules
	// that refuse: unquoted, without folder, as in the source, with the commands
	// that run it.
	Text  string
	Forms []string

	Class   Class
	Command Class  // the same without its redirections
	Reason  string // why it has the class Unknown or Guarded

	// Reads and Writes are absolute paths; they may hold wildcards, and ".."
	// after a folder that may be a link. Redirects are those of Writes that come
	// from redirections. Lost are targets of writing, as written, for which no
	// path can be told.
	Reads, Writes, Redirects, Lost []string

	Dir string // where it runs; "" when that cannot be told

	// Bare says why a rule on the command does not cover it: variables before it
	// that change what it does, a change of directory before git. "" when it does.
	Bare string

	// Within says that this command runs with other rights or elsewhere, and
	// that the part it is written in stands for it: only rules that refuse look
	// at it.
	Within bool

	exact bool // a wider rule than the very command would cover what it does not show
}

// Analysis is what is known of a line.
type Analysis struct {
	Parts []Part

	// Mentions are absolute paths that the line names as words of its own,
	// whether they are used or not; Targets are those that it seems to write;
	// Hints only stand inside longer text that is code for an interpreter.
	Mentions, Targets, Hints []string

	// Obscure says why it cannot be told which commands run; "" when it can.
	Obscure string

	// Moves says that the line may leave the shell in another directory, so that
	// it should not run beside others even when it only reads.
	Moves bool

	// Guard says why the line needs a person each time; "" when it does not.
	Guard string
}

// ReadOnly reports whether all of the line was understood and changes nothing.
func (a *Analysis) ReadOnly() bool {
	if a.Obscure != "" || a.Guard != "" {
		return false
	}
	for i := range a.Parts {
		if p := &a.Parts[i]; p.Class != ReadOnly || len(p.Writes)+len(p.Lost) > 0 {
			return false
		}
	}
	return true
}
