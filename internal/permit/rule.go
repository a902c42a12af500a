package permit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/claude"
	"github.com/openharness/oh/internal/text"
)

// Kind says what the text of a [Rule] is.
type Kind int

// The kinds.
const (
	// Tool is Claude's form, Tool or Tool(spec), with a tool's name of either
	// vocabulary. OpenHarness's allowed_tools and denied_tools are bare names.
	Tool Kind = iota
	// Path is the pattern of one of OpenHarness's path_rules: a shell glob over
	// the whole absolute path, * crossing slashes, for every tool. A relative
	// one is taken from the workspace root.
	Path
	// Command is one of OpenHarness's denied_commands: a shell glob over a whole
	// command line or one of its parts. It can only deny or ask.
	Command
)

// Scope says where a rule comes from.
type Scope string

// The scopes. Only rules of the scope Project, which is shared through the
// repository, cannot open files like .env or guarded places.
const (
	Managed Scope = "managed"
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
	Flag    Scope = "flag"
	Session Scope = "session"
)

// Rule is a permission rule as it was written. The zero Effect denies.
type Rule struct {
	Text   string
	Effect oh.Decision
	Kind   Kind
	Scope  Scope
	File   string // "" when it is from no file
	Line   int    // from 1; 0 when unknown
}

// String returns the rule with where it was written: Bash(rm:*)
// (/home/u/.openharness/settings.json:12).
func (r Rule) String() string {
	return text.OneLine(r.Text, 200) + " (" + r.source() + ")"
}

func (r Rule) source() string {
	switch {
	case r.File != "" && r.Line > 0:
		return fmt.Sprintf("%s:%d", r.File, r.Line)
	case r.File != "":
		return r.File
	case r.Scope == Flag:
		return "command line"
	case r.Scope == Session || r.Scope == "":
		return "this session"
	}
	return string(r.Scope)
}

// form says how a rule is matched.
type form int

const (
	formTool    form = iota // the tool as a whole, or a glob of names
	formReads               // every tool that touches files
	formEdits               // every tool that writes files
	formPath                // a path pattern
	formGlob                // a glob over the whole path
	formDomain              // hosts of URLs
	formName                // an agent's type or a skill's name
	formCommand             // a glob over command lines
	formShell               // a command: to the letter, or with * for any run of characters
)

// rule is a Rule made ready for matching.
type rule struct {
	Rule
	form  form
	tool  string // our name, may hold * for formTool
	write bool   // formPath: only writes
	own   bool   // formPath: only calls of the tool itself
	part  bool   // the spec could not be judged, so the rule holds for the whole tool
	wild  bool   // formShell: there is a * in spec
	spec  string
	pat   pattern
}

var errPart = errors.New("this version cannot judge a part of this tool")

// compile makes a rule ready. The note is not empty when the rule does not hold
// as it is written; a nil rule with a note is ignored. The error says what is
// wrong with the text.
func compile(r Rule) (out *rule, note string, err error) {
	c := &rule{Rule: r}
	switch {
	case strings.ContainsRune(r.Text, 0):
		err = errors.New("holds a zero byte")
	case r.Kind == Tool:
		err = c.compileTool()
	case strings.TrimSpace(r.Text) == "":
		err = errors.New("the pattern is empty")
	case r.Kind == Path:
		c.form, c.spec = formGlob, strings.TrimSpace(r.Text)
	case r.Kind == Command && r.Effect == oh.Allow:
		err = errors.New("a command glob can deny or ask, not allow")
	case r.Kind == Command:
		c.form, c.spec = formCommand, strings.TrimSpace(r.Text)
	default:
		err = fmt.Errorf("unknown kind %d", r.Kind)
	}
	switch {
	case err == nil:
		return c, "", nil
	case r.Effect == oh.Allow:
		return nil, fmt.Sprintf("permission rule %s is ignored: %v", r, err), nil
	case errors.Is(err, errPart):
		c.part = true
		return c, fmt.Sprintf("permission rule %s holds for every call of %s: %v", r, c.tool, err), nil
	}
	return nil, "", fmt.Errorf("permission rule %s: %w", r, err)
}

func (c *rule) compileTool() error {
	name, spec, ok := claude.SplitRule(c.Text)
	if !ok {
		return errors.New("want Tool or Tool(spec), such as Read or Edit(/src/**)")
	}
	c.tool, c.spec = claude.OurTool(name), spec
	if strings.HasPrefix(c.tool, "mcp__") {
		return c.compileMCP()
	}
	if strings.Contains(c.tool, "*") && c.Effect == oh.Allow {
		return errors.New("an allow rule names one tool, without *")
	}
	if spec == "" {
		// In Claude's vocabulary a bare Edit or Read stands for all editing or
		// reading; OpenHarness's names mean the one tool.
		if name != c.tool && c.tool == "edit_file" {
			c.form = formEdits
		} else if name != c.tool && c.tool == "read_file" {
			c.form = formReads
		}
		return nil
	}
	return c.compileSpec()
}

// compileCommand reads Bash(git diff:*), Bash(git *), Bash(make test).
func (c *rule) compileCommand() error {
	c.form, c.spec = formShell, strings.TrimSpace(c.spec)
	if head, ok := strings.CutSuffix(c.spec, ":*"); ok {
		c.spec = head + " *"
	}
	if strings.Trim(c.spec, "* ") == "" {
		return errors.New("want the beginning of a command, such as Bash(git diff:*)")
	}
	c.wild = strings.Contains(c.spec, "*")
	return nil
}

func (c *rule) compileMCP() error {
	switch {
	case c.spec != "":
		return errPart
	case strings.Trim(c.tool, "_*") == "mcp" && c.Effect == oh.Allow:
		return errors.New("an allow rule names one server")
	case strings.HasSuffix(c.tool, "__"):
		return errors.New("the name of the server or tool is missing")
	}
	return nil
}

func (c *rule) compileSpec() (err error) {
	switch c.tool {
	case "read_file":
		c.form = formPath
	case "edit_file":
		c.form, c.write = formPath, true
	case "write_file", "multi_edit", "notebook_edit", "apply_patch":
		// A deny on one editing tool would be no protection if another could
		// do the same, so it covers all; an allow stays with the one.
		c.form, c.write, c.own = formPath, true, c.Effect == oh.Allow
	case "glob", "grep", "ls":
		c.form, c.own = formPath, true
	case "web_fetch":
		host, ok := strings.CutPrefix(c.spec, "domain:")
		if !ok {
			return errPart
		}
		c.form, c.spec = formDomain, cleanHost(host)
		if c.spec == "" || strings.Contains(strings.TrimPrefix(c.spec, "*."), "*") && c.spec != "*" {
			return errors.New("want WebFetch(domain:example.com) or WebFetch(domain:*.example.com)")
		}
		return nil
	case "agent", "skill":
		c.form = formName
		return nil
	case "bash":
		return c.compileCommand()
	default:
		return errPart
	}
	c.pat, err = parsePattern(c.spec)
	return err
}
