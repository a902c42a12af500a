// Package prompt writes the system prompt, once per session, and the short
// context lines of later turns.
//
// It gathers what it says by reading files only: no program is started and
// nothing is written. It is not for what features say about themselves (their
// text comes in as slots), nor for keeping the prompt: the session's log does.
//
// Guarantees: the same inputs and files give the same bytes; each piece has a
// byte or character limit with a name here; what is cut is said in the text
// and in the warnings; no file, however broken, fails a prompt.
package prompt

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/openharness/oh/internal/text"
)

// The limits of what is put into a prompt.
const (
	FileMax    = 12_000  // code points of one instruction or context file
	TotalMax   = 60_000  // code points of all instruction files
	SlotMax    = 64_000  // code points of one slot; features have narrower limits of their own
	GivenMax   = 400_000 // code points of Config.Base, and of Config.Append
	ValueMax   = 4_096   // code points of one value of the environment
	FilesMax   = 100     // instruction files, imports and rules included
	ReadMax    = 8 << 20 // bytes of a file that is looked at
	ImportHops = 5       // from an instruction file to the last one it imports
	DateLayout = "2006-01-02"
)

//go:embed base.md
var baseWords string

//go:embed effort.md
var effortWords string

// Config says what goes into a prompt. Empty fields leave their part out.
type Config struct {
	Base   string // replaces our own words (--system-prompt)
	Append string // comes last (--append-system-prompt)

	Dir     string // working directory, absolute
	Root    string // project root; "": the git root of Dir, else Dir
	Home    string // the person's home: for ~ in imports and for .claude/CLAUDE.md
	Config  string // folder of the person's settings, for its CLAUDE.md
	Managed string // instruction file of the administrator
	Trusted bool   // the folder is trusted: imports may lead out of the project
	// Refuse says why a file, links resolved, must not be read, "" when it may:
	// what is read goes to a model service. Nil refuses nothing.
	Refuse func(path string) string

	Bare   bool      // no instruction files and no context files
	Date   time.Time // zero: today
	OS     string    // "": where this runs
	Arch   string    // "": where this runs
	Shell  string    // "": found by environment and path
	Model  string
	Effort string // low, medium, high, xhigh

	Slots  []Slot // of features (skills, agents, servers), in this order, after the environment
	Memory string // comes after instructions and context files
}

// Slot is the text of a feature for the prompt.
type Slot struct {
	Name string // in the singular, for the breakdown: skill, agent
	Text string
}

// Section is one part of a rendered prompt.
type Section struct {
	Name   string // base, environment, effort, the name of a slot, instruction, issue, comment, memory, append
	Source string // the file it came from, "" when it is no file
	Bytes  int    // of the text; what joins the parts is not counted
}

// Rendered is a finished prompt.
type Rendered struct {
	Text     string
	Sections []Section // in the order of the text, for a breakdown
	Files    []string  // instruction files that are in it, absolute
	Rules    []Rule    // rules for some paths only, not in it
	Warnings []string  // for the person
}

// Render gathers and writes the prompt. The error is about the config itself.
func Render(cfg Config) (Rendered, error) {
	if !filepath.IsAbs(cfg.Dir) {
		return Rendered{}, fmt.Errorf("render prompt: the working directory %q is not absolute", cfg.Dir)
	}
	if cfg.Root == "" {
		cfg.Root = gitRoot(cfg.Dir)
	}
	if !filepath.IsAbs(cfg.Root) {
		return Rendered{}, fmt.Errorf("render prompt: the project root %q is not absolute", cfg.Root)
	}
	for _, s := range cfg.Slots {
		if s.Name == "" {
			return Rendered{}, errors.New("render prompt: a slot has no name")
		}
	}
	var p page
	p.opening(cfg)
	if !cfg.Bare {
		p.instructions(cfg)
		p.contextFiles(cfg.Root)
	}
	p.limited("memory", cfg.Memory, SlotMax)
	p.limited("append", cfg.Append, GivenMax)
	p.out.Text = p.text.String()
	return p.out, nil
}

// page is a prompt in the making.
type page struct {
	text strings.Builder
	out  Rendered
}

func (p *page) opening(cfg Config) {
	if base := strings.TrimSpace(cfg.Base); base != "" {
		p.limited("base", base, GivenMax)
	} else {
		p.add("base", "", baseWords)
	}
	p.add("environment", "", environment(cfg))
	if cfg.Effort != "" {
		p.add("effort", "", strings.NewReplacer("{effort}", value(cfg.Effort)).Replace(effortWords))
	}
	for _, s := range cfg.Slots {
		p.limited(s.Name, s.Text, SlotMax)
	}
}

// add appends a part, after a blank line.
func (p *page) add(name, source, words string) {
	words = strings.TrimSpace(words)
	if words == "" {
		return
	}
	if p.text.Len() > 0 {
		p.text.WriteString("\n\n")
	}
	p.text.WriteString(words)
	p.out.Sections = append(p.out.Sections, Section{Name: name, Source: source, Bytes: len(words)})
}

// limited appends text that somebody gave, cut to a limit in code points.
func (p *page) limited(name, words string, limit int) {
	words = strings.ToValidUTF8(words, "\uFFFD")
	short, cut := cutAtLine(words, limit)
	if cut {
		p.warn("%s: cut to %s characters in the system prompt", name, text.Number(limit))
		short += fmt.Sprintf("\n[cut here: longer than %s characters]", text.Number(limit))
	}
	p.add(name, "", short)
}

func (p *page) warn(format string, args ...any) {
	p.out.Warnings = append(p.out.Warnings, fmt.Sprintf(format, args...))
}

// cutAtLine returns the first limit code points of s, up to the end of a line
// if one ends in the last quarter, and whether anything is missing.
func cutAtLine(s string, limit int) (string, bool) {
	head := text.Head(s, limit)
	if len(head) == len(s) {
		return s, false
	}
	if at := strings.LastIndexByte(head, '\n'); at > len(head)/4*3 {
		head = head[:at]
	}
	return head, true
}
