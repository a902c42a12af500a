// Package config reads the settings of oh: where they lie, in which order they
// count, and who wrote each value. It also changes one setting in place.
//
// Layers, each over the one before: defaults, user, project, local,
// environment, flags, managed. Scalars are replaced, lists are united, maps are
// merged by key. Within one scope .openharness counts more than .claude.
//
// It is not for credentials (package auth), and it does not judge permission
// rules: it delivers them with file and line.
//
// Guarantees: loading creates nothing and reads only the settings files. A file
// that cannot be understood, or a bad value under permission, sandbox or hooks,
// is an [Error]; any other slip is a [Warning], and the rest of the file counts.
// What an untrusted folder brings can only tighten. Values of the environment
// and of flags are never written to a file.
package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/openharness/oh"
)

// Scope is where a value was set.
type Scope string

// The scopes, from low to high.
const (
	Default Scope = "default"
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
	Env     Scope = "environment"
	FlagSet Scope = "flag"
	Managed Scope = "managed"
)

// Origin says where a value was written. File is a path, the name of an
// environment variable or of a flag, or empty for a default; Line counts from
// 1 and is 0 where there are no lines.
type Origin struct {
	Scope Scope  `json:"scope"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// String returns "file:line", the name of the variable or flag, or "default".
func (o Origin) String() string {
	switch {
	case o.File == "":
		return string(o.Scope)
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Error is a fault in the settings that must not be passed over. It is a
// mistake of the user: the program ends before it has done anything.
type Error struct {
	File    string // a path, or the name of a variable or flag
	Line    int    // from 1; 0 when not known
	Key     string // dotted; "" when the file as a whole is meant
	Problem string
}

// Error implements error.
func (e *Error) Error() string { return notice(e.File, e.Line, e.Key, e.Problem) }

// Warning is a fault in the settings that was passed over.
type Warning struct {
	File    string
	Line    int
	Key     string
	Problem string // what is wrong, and what counts instead
}

// String returns the warning in one line.
func (w Warning) String() string { return notice(w.File, w.Line, w.Key, w.Problem) }

func notice(file string, line int, key, problem string) string {
	var b strings.Builder
	b.WriteString(file)
	if line > 0 {
		fmt.Fprintf(&b, ":%d", line)
	}
	if key != "" && (!strings.HasPrefix(file, "--") || file == "--settings") { // a flag says it already
		fmt.Fprintf(&b, ": %q", key)
	}
	b.WriteString(": ")
	b.WriteString(problem)
	return b.String()
}

// Kind tells the forms of permission rules apart.
type Kind string

// The kinds of rules.
const (
	KindTool    Kind = "tool"    // a tool's name, from permission.allowed_tools and denied_tools
	KindClaude  Kind = "claude"  // Tool or Tool(spec), from permissions.allow, ask and deny
	KindPath    Kind = "path"    // a glob on paths, from permission.path_rules
	KindCommand Kind = "command" // a glob on command lines, from permission.denied_commands
)

// Rule is one permission rule as it was written.
type Rule struct {
	Text   string      `json:"text"`
	Effect oh.Decision `json:"effect"`
	Kind   Kind        `json:"kind"`
	Scope  Scope       `json:"scope"`
	File   string      `json:"file"`
	Line   int         `json:"line,omitempty"`
}

// Hook is one entry under hooks.EVENT, as it was written.
type Hook struct {
	Event  string
	Raw    []byte // JSON object: a flat entry, or {matcher, hooks}
	Origin Origin
}

// Raw is a value that its feature reads itself.
type Raw struct {
	JSON   []byte
	Origin Origin
}

// Choice is what one layer says about the model service, so that a base URL or
// a key is never given to another service than the one it was written for.
type Choice struct {
	Scope    Scope
	File     string
	Claude   bool // from a .claude folder: its model means an Anthropic one
	Profile  string
	Provider string
	Format   string // anthropic, openai or copilot
	BaseURL  string
	Model    string
	Key      Secret // only from files that the user or the system owns
	Helper   string // a command that prints a key
}

// Flag is a setting given on the command line.
type Flag struct {
	Name  string // as the user wrote it, such as --model
	Key   string // dotted
	Value any    // encoded as JSON
}

// Options say what to load. The zero value loads for the process's folder and
// environment, untrusted.
type Options struct {
	Dir       string                           // start folder; "" is the process's
	Home      string                           // "" is the user's
	LookupEnv func(name string) (string, bool) // nil is the process's environment
	Trusted   bool                             // the folder may bring more than tighter rules
	Sources   []string                         // of user, project, local; nil is all
	Settings  string                           // a path or inline JSON, counted as a flag
	Flags     []Flag                           // over Settings, later ones over earlier ones
	Managed   string                           // the system's file; "" is the usual one, "-" none
}

func (o Options) lookup(name string) (string, bool) {
	if o.LookupEnv != nil {
		return o.LookupEnv(name)
	}
	return os.LookupEnv(name)
}

// Loaded is the outcome of [Load]. It is not changed afterwards.
type Loaded struct {
	Settings Settings
	Paths    Paths
	Rules    []Rule   // lowest layer first, in the order of the file
	Hooks    []Hook   // likewise
	Choices  []Choice // layers that say something about the service, lowest first
	Warnings []Warning
	Files    []string // that were read, lowest first

	opt     Options
	origins map[string][]Origin
}

// Env returns an environment variable: the process's own, else one that the
// env setting of a trusted file gives. The origin tells which.
func (l *Loaded) Env(name string) (string, Origin, bool) {
	if v, ok := l.opt.lookup(name); ok {
		return v, Origin{Scope: Env, File: name}, true
	}
	if v, ok := l.Settings.Env[name]; ok {
		return v, l.Origin("env." + name), true
	}
	return "", Origin{}, false
}

// Choosing returns the same settings as if a flag of that name had chosen the
// profile.
func (l *Loaded) Choosing(flag, profile string) *Loaded {
	out := *l
	out.Settings.ActiveProfile = profile
	out.origins = maps.Clone(l.origins)
	out.origins["active_profile"] = []Origin{{Scope: FlagSet, File: flag}}
	out.Choices = append(slices.Clone(l.Choices), Choice{Scope: FlagSet, Profile: profile})
	return &out
}

// Origin returns where the value of a dotted key was written last; a default
// when nobody wrote it.
func (l *Loaded) Origin(key string) Origin {
	if list := l.origins[key]; len(list) > 0 {
		return list[len(list)-1]
	}
	return Origin{Scope: Default}
}
