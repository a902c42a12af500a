package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/claude"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/print"
	"github.com/openharness/oh/internal/schema"
)

// flags are those of the root command.
type flags struct {
	print, cont, fork, verbose, dryRun, skip, bare, partial, debug, trust, noSave, strictMCP, replayStrict bool

	resume, name, session                       string
	model, profile, effort                      string
	format, inFormat, mode, sandbox             string
	system, appendSystem                        string
	settings, sources, baseURL, apiKey, apiForm string
	cwd, promptTool                             string
	fallback, schema                            string
	recordTo, replayOf                          string

	maxTurns  int
	maxBudget float64

	allow, deny, tools, addDirs, images []string

	set *pflag.FlagSet
}

func (f *flags) register(s *pflag.FlagSet) {
	f.set = s
	s.SortFlags = false
	s.BoolVarP(&f.print, "print", "p", false, "run one prompt without a person and print the answer")
	s.StringVar(&f.format, "output-format", "text", "with -p: text, json, stream-json or events")
	s.StringVar(&f.inFormat, "input-format", "text", "with -p: text")
	s.BoolVar(&f.partial, "include-partial-messages", false, "with stream-json: pieces of messages as they come")
	s.StringVar(&f.schema, "json-schema", "", "with -p: answer with JSON that fits this schema: JSON, or a file")
	s.StringArrayVar(&f.images, "image", nil, "attach an image file to the prompt (repeatable)")

	s.BoolVarP(&f.cont, "continue", "c", false, "go on with the last session of this project")
	s.StringVarP(&f.resume, "resume", "r", "", "go on with a session, by id or the beginning of one; without: list them")
	s.BoolVar(&f.fork, "fork-session", false, "with -c or -r: go on in a copy")
	s.StringVar(&f.session, "session-id", "", "id of the new session, a UUID")
	s.StringVarP(&f.name, "name", "n", "", "title of the session")
	s.BoolVar(&f.noSave, "no-session-persistence", false, "keep the session in memory only")

	s.StringVarP(&f.model, "model", "m", "", "model or alias of the profile's")
	s.StringVar(&f.fallback, "fallback-model", "", "models of the profile to turn to when the model is overloaded: NAME[,NAME…]")
	s.StringVar(&f.profile, "profile", "", "provider profile, such as claude-api, openai-compatible or ollama")
	s.StringVar(&f.effort, "effort", "", "how much the model thinks: low, medium, high or xhigh")
	s.IntVar(&f.maxTurns, "max-turns", 0, "requests per prompt at most (default 200)")
	s.Float64Var(&f.maxBudget, "max-budget-usd", 0, "stop when the session has cost this much")
	s.StringVar(&f.baseURL, "base-url", "", "address of the model service")
	s.StringVar(&f.apiForm, "api-format", "", "wire of the model service: anthropic, openai, responses, gemini, bedrock or ollama")
	s.StringVarP(&f.apiKey, "api-key", "k", "", "the key: env:NAME, file:PATH or - for stdin")

	s.StringVar(&f.mode, "permission-mode", "", "plan, dontAsk, default, acceptEdits or full_auto")
	s.BoolVar(&f.skip, "dangerously-skip-permissions", false, "the same as --permission-mode full_auto")
	s.StringVar(&f.sandbox, "sandbox", "", "on or off: whether commands are confined")
	s.StringSliceVar(&f.allow, "allowed-tools", nil, "tools or rules that need no question, such as bash or Edit(/src/**)")
	s.StringSliceVar(&f.deny, "disallowed-tools", nil, "tools or rules that are refused")
	s.StringSliceVar(&f.tools, "tools", nil, "offer only these tools; default offers all, \"\" none")
	s.StringArrayVar(&f.addDirs, "add-dir", nil, "a further folder to work in (repeatable)")
	s.BoolVar(&f.trust, "trust", false, "for this run, let the project's own settings do more than tighten")

	s.StringVarP(&f.system, "system-prompt", "s", "", "replace the base of the system prompt")
	s.StringVar(&f.appendSystem, "append-system-prompt", "", "add to the system prompt")
	s.StringVar(&f.settings, "settings", "", "more settings: a file, or JSON")
	s.StringVar(&f.sources, "setting-sources", "", "which settings files count: of user,project,local")
	s.BoolVar(&f.bare, "bare", false, "without project instructions and context files")
	s.BoolVar(&f.dryRun, "dry-run", false, "show what would run, and run nothing")
	s.StringVar(&f.cwd, "cwd", "", "work in this folder")
	s.BoolVar(&f.strictMCP, "strict-mcp-config", false, "use no MCP servers but those of the command line")
	s.StringVar(&f.promptTool, "permission-prompt-tool", "", "who answers permission questions")
	s.StringVar(&f.recordTo, "record", "", "write what is said to and by the model service to this new file")
	s.StringVar(&f.replayOf, "replay", "", "let a recorded file answer in place of the model service: no key, no network")
	s.BoolVar(&f.replayStrict, "replay-strict", false, "with --replay: a request that differs from the recorded one is an error")
	s.BoolVar(&f.verbose, "verbose", false, "say more on stderr")
	s.BoolVarP(&f.debug, "debug", "d", false, "log what happens inside to stderr")
	s.BoolP("help", "h", false, "show this help")
	s.BoolP("version", "v", false, "print the version")
	for _, name := range []string{"cwd", "strict-mcp-config", "permission-prompt-tool"} {
		_ = s.MarkHidden(name)
	}
}

// options checks the flags and says them to the runtime.
func (f *flags) options(sdk bool) (app.Options, error) {
	o := app.Options{
		Version: Version, Dir: f.cwd, AddDirs: f.addDirs, Settings: f.settings, Trusted: f.trust, Bare: f.bare, NoSave: f.noSave,
		Profile: f.profile, Model: f.model, BaseURL: f.baseURL, APIFormat: f.apiForm, APIKey: f.apiKey,
		Continue: f.cont, Resume: f.resume, Fork: f.fork, Session: f.session, Name: f.name,
		Record: f.recordTo, Replay: f.replayOf, ReplayStrict: f.replayStrict, Fallback: fallbacks(f.fallback), System: f.system, Append: f.appendSystem, MaxTurns: f.maxTurns, MaxCost: f.maxBudget, DryRun: f.dryRun, Mode: f.mode,
	}
	if err := f.check(); err != nil {
		return o, err
	}
	if f.effort != "" {
		effort, err := app.ParseEffort(f.effort)
		if err != nil {
			return o, usageError{fmt.Errorf("--effort: %w", err)}
		}
		o.Effort = effort
	}
	if f.skip && o.Mode == "" {
		o.Mode = string(oh.ModeFullAuto)
	}
	if f.set.Changed("setting-sources") {
		o.Sources = []string{}
		for _, s := range strings.Split(f.sources, ",") {
			if s = strings.TrimSpace(s); s != "" {
				o.Sources = append(o.Sources, s)
			}
		}
	}
	if f.set.Changed("tools") && !(len(f.tools) == 1 && f.tools[0] == "default") {
		o.OnlyTools = true
		for _, name := range f.tools {
			if name = strings.TrimSpace(name); name != "" {
				o.Tools = append(o.Tools, claude.OurTool(name))
			}
		}
	}
	if f.set.Changed("json-schema") {
		form, err := schema.Read(f.schema, f.cwd)
		if err != nil {
			return o, usageError{fmt.Errorf("--json-schema %w", err)}
		}
		o.Schema = form
	}
	o.Flags = f.rules()
	return o, nil
}

// fallbacks takes the list of models apart.
func fallbacks(list string) (out []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// rules are the permission rules among the flags, and the sandbox.
func (f *flags) rules() []config.Flag {
	var out []config.Flag
	if rules := splitRules(f.allow); len(rules) > 0 {
		out = append(out, config.Flag{Name: "--allowed-tools", Key: "permissions.allow", Value: rules})
	}
	if rules := splitRules(f.deny); len(rules) > 0 {
		out = append(out, config.Flag{Name: "--disallowed-tools", Key: "permissions.deny", Value: rules})
	}
	if f.sandbox != "" {
		out = append(out, config.Flag{Name: "--sandbox", Key: "sandbox.enabled", Value: f.sandbox == "on"})
	}
	return out
}

// splitRules takes rules apart that are separated by spaces outside of
// brackets, and puts together those that were cut at a comma inside of them.
func splitRules(values []string) []string {
	var out []string
	depth, word := 0, ""
	flush := func() {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
		word = ""
	}
	for i, v := range values {
		if i > 0 {
			if depth == 0 {
				flush()
			} else {
				word += ","
			}
		}
		for _, c := range v {
			switch {
			case c == '(':
				depth++
			case c == ')':
				depth = max(0, depth-1)
			case c == ' ' && depth == 0:
				flush()
				continue
			}
			word += string(c)
		}
	}
	flush()
	return out
}

// check refuses what cannot be meant.
func (f *flags) check() error {
	bad := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	if _, err := print.ParseFormat(f.format); err != nil {
		return usageError{err}
	}
	if f.mode != "" {
		if _, err := oh.ParseMode(f.mode); err != nil {
			return bad("--permission-mode: %w", err)
		}
	}
	switch {
	case f.sandbox != "on" && f.sandbox != "off" && (f.sandbox != "" || f.set.Changed("sandbox")):
		return bad("--sandbox %q is not one of on, off", f.sandbox)
	case f.inFormat == "stream-json":
		return bad("--input-format stream-json is not supported yet; give the prompt as an argument or on stdin")
	case f.promptTool != "":
		return bad("--permission-prompt-tool is not supported yet; allow with --allowed-tools or --permission-mode")
	case f.inFormat != "text":
		return bad("--input-format %q is not one of text", f.inFormat)
	case f.partial && f.format != "stream-json":
		return bad("--include-partial-messages goes with --output-format stream-json")
	case f.cont && f.set.Changed("resume"):
		return bad("-c and -r exclude each other")
	case f.fork && !f.cont && !f.set.Changed("resume"):
		return bad("--fork-session goes with -c or -r")
	case f.session != "" && (f.cont || f.set.Changed("resume")) && !f.fork:
		return bad("--session-id is for a new session; with -c or -r add --fork-session")
	case f.session != "" && !isUUID(f.session):
		return bad("--session-id %q is no UUID", f.session)
	case f.set.Changed("max-turns") && f.maxTurns < 1:
		return bad("--max-turns is %d, but must be at least 1", f.maxTurns)
	case f.set.Changed("max-budget-usd") && !(f.maxBudget > 0):
		return bad("--max-budget-usd must be more than 0")
	case f.empty() != "":
		return bad("--%s is empty; give it a value, or leave it out", f.empty())
	case f.set.Changed("fallback-model") && len(fallbacks(f.fallback)) == 0:
		return bad("--fallback-model names no model")
	case f.recordTo != "" && f.replayOf != "":
		return bad("--record and --replay exclude each other")
	case f.replayStrict && f.replayOf == "":
		return bad("--replay-strict goes with --replay")
	case f.skip && f.mode != "" && f.mode != "full_auto" && f.mode != "bypassPermissions":
		return bad("--dangerously-skip-permissions and --permission-mode %s contradict each other", f.mode)
	}
	for _, src := range strings.Split(f.sources, ",") {
		switch strings.TrimSpace(src) {
		case "", "user", "project", "local":
		default:
			return bad("--setting-sources %q is not one of user, project, local", src)
		}
	}
	if f.cwd != "" {
		if info, err := os.Stat(f.cwd); err != nil || !info.IsDir() {
			return bad("--cwd %s is no folder", filepath.Clean(f.cwd))
		}
	}
	return nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdefABCDEF", c) {
				return false
			}
		}
	}
	return true
}

// empty names a flag that was given without a value where what counts instead
// would be another service or key than was meant: a variable of a script that
// is not set.
func (f *flags) empty() string {
	for _, name := range []string{"profile", "base-url", "api-key"} {
		if f.set.Changed(name) && strings.TrimSpace(f.set.Lookup(name).Value.String()) == "" {
			return name
		}
	}
	return ""
}
