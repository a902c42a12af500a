package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/slash"
	"github.com/openharness/oh/internal/text"
)

// addCommands is step 11.
func (r *Runtime) addCommands(context.Context) error {
	r.set = &slash.Set{}
	return r.set.Add(
		slash.Command{Name: "help", Summary: "list the commands", Run: r.cmdHelp},
		slash.Command{Name: "clear", Summary: "begin a new, empty conversation; the old one can be resumed", Run: r.cmdClear},
		slash.Command{Name: "status", Summary: "session, model, mode, directory, usage", Run: r.cmdStatus},
		slash.Command{Name: "context", Args: "[full]", Summary: "what the model's context window holds; full prints the system prompt", Run: r.cmdContext},
		slash.Command{Name: "cost", Aliases: []string{"usage"}, Summary: "tokens and cost of this session, by model", Run: r.cmdCost},
		slash.Command{Name: "model", Args: "[NAME]", Summary: "show or change the model", Run: r.cmdModel},
		slash.Command{Name: "provider", Args: "[NAME [MODEL]]", Summary: "show or change the model service; the conversation goes on there", Run: r.cmdProvider},
		slash.Command{Name: "effort", Args: "[low|medium|high|xhigh]", Summary: "show or change how much the model thinks", Run: r.cmdEffort},
		slash.Command{Name: "permissions", Args: "[MODE]", Summary: "show rules and mode, or change the mode", Run: r.cmdPermissions},
		slash.Command{Name: "continue", Args: "[N]", Summary: "go on after a limit or an interruption, for N turns at most", Run: r.cmdContinue},
		slash.Command{Name: "exit", Aliases: []string{"quit"}, Summary: "end the program", Run: r.cmdExit},
	)
}

func (r *Runtime) cmdHelp(context.Context, string) (slash.Effect, error) {
	return slash.Effect{Text: r.set.Help()}, nil
}

// modelOf names a session's model with its profile.
func modelOf(st oh.State) string {
	if st.Model == "" {
		return "none is set up"
	}
	return st.Model + " (" + st.Profile + ")"
}

func (r *Runtime) cmdExit(context.Context, string) (slash.Effect, error) {
	return slash.Effect{Exit: true}, nil
}

func (r *Runtime) cmdClear(context.Context, string) (slash.Effect, error) {
	text := "Began a new conversation."
	if id := r.Saved(); id != "" {
		text += " The old one: oh -r " + id
	}
	return slash.Effect{Clear: true, Text: text}, nil
}

func (r *Runtime) cmdStatus(context.Context, string) (slash.Effect, error) {
	st := r.conv.State()
	effort := st.Effort
	if effort == "" {
		effort = "the model's own"
	}
	usd, known := r.spent(st)
	rows := [][2]string{
		{"version", r.opts.Version},
		{"session", st.Session},
		{"model", modelOf(st)},
		{"effort", effort},
		{"mode", string(st.Mode)},
		{"sandbox", r.cell.String()},
		{"directory", st.Dir},
		{"messages", text.Number(len(r.conv.Messages()))},
		{"tokens", text.Number(total(st).Prompt()) + " in, " + text.Number(total(st).OutputTokens) + " out"},
		{"cost", money(usd, known)},
		{"key", r.service.keySource},
		{"fallback", strings.Join(r.config.Fallback, ", ")},
	}
	rows = append(rows, limitRows(r.limits, time.Now())...)
	if r.file != nil {
		rows = append(rows, [2]string{"log", r.file.Path()})
	}
	if len(st.Todos) > 0 {
		done := 0
		for _, t := range st.Todos {
			if t.Status == oh.TodoCompleted {
				done++
			}
		}
		rows = append(rows, [2]string{"todos", fmt.Sprintf("%d of %d done", done, len(st.Todos))})
	}
	return slash.Effect{Text: table(rows)}, nil
}

func total(st oh.State) (u oh.Usage) {
	for _, s := range st.Spend {
		u = u.Add(s.Usage)
	}
	return u
}

func table(rows [][2]string) string {
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	var b strings.Builder
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(&b, "%-*s  %s\n", width, row[0], row[1])
		}
	}
	return b.String()
}

func money(usd float64, known bool) string {
	if !known {
		return fmt.Sprintf("at least $%.4f (the price of a model is not known)", usd)
	}
	return fmt.Sprintf("$%.4f", usd)
}

func (r *Runtime) cmdContext(ctx context.Context, args string) (slash.Effect, error) {
	st := r.conv.State()
	r.service.meet(ctx, st.Model)
	switch args {
	case "full":
		return slash.Effect{Text: st.System}, nil
	case "":
	default:
		return slash.Effect{}, slash.Misuse("unknown argument %q: it takes full or nothing", args)
	}
	tools := 0
	for _, t := range r.tools {
		spec := t.Spec()
		tools += len(spec.Name) + len(spec.Description) + len(spec.Schema)
	}
	window := r.Window(st.Model)
	rows := [][2]string{{"window", text.Number(window) + " tokens"}}
	if st.Prompt > 0 {
		rows = append(rows, [2]string{"in use", fmt.Sprintf("%s tokens (%d%%)", text.Number(st.Prompt), 100*st.Prompt/max(window, 1))})
	} else {
		rows = append(rows, [2]string{"in use", "not known before the first reply"})
	}
	rows = append(rows,
		[2]string{"system", text.Number(len(st.System)) + " bytes"},
		[2]string{"tools", fmt.Sprintf("%s bytes in %s", text.Number(tools), text.Plural(len(r.tools), "tool"))},
		[2]string{"history", text.Plural(len(r.conv.Messages()), "message")})
	for _, s := range r.prompt.Sections {
		name := "- " + s.Name
		if s.Source != "" {
			name += " " + s.Source
		}
		rows = append(rows, [2]string{name, text.Number(s.Bytes) + " bytes"})
	}
	return slash.Effect{Text: table(rows)}, nil
}

func (r *Runtime) cmdCost(context.Context, string) (slash.Effect, error) {
	st := r.conv.State()
	if len(st.Spend) == 0 {
		return slash.Effect{Text: "Nothing was used yet."}, nil
	}
	var rows [][2]string
	for _, s := range st.Spend {
		usd, known := r.service.cost(s.Profile, s.Model, s.Usage)
		name := s.Model
		if s.Profile != "" {
			name += " (" + s.Profile + ")"
		}
		rows = append(rows, [2]string{text.OneLine(text.Clean(name), 200), tokens(s.Usage) + " · " + price(usd, known)})
	}
	usd, known := r.spent(st)
	rows = append(rows, [2]string{"total", tokens(total(st)) + " · " + money(usd, known)})
	return slash.Effect{Text: table(rows)}, nil
}

// tokens says what was used, part by part.
func tokens(u oh.Usage) string {
	out := text.Number(u.OutputTokens) + " out"
	if u.ReasoningTokens > 0 {
		out += " (" + text.Number(u.ReasoningTokens) + " reasoning)"
	}
	return fmt.Sprintf("%s in, %s cache read, %s cache write, %s",
		text.Number(u.InputTokens), text.Number(u.CacheReadTokens), text.Number(u.CacheWriteTokens), out)
}

func price(usd float64, known bool) string {
	if !known {
		return "price not known"
	}
	return money(usd, known)
}

func (r *Runtime) cmdModel(ctx context.Context, args string) (slash.Effect, error) {
	st := r.conv.State()
	if args == "" {
		return slash.Effect{Text: modelOf(st)}, nil
	}
	if strings.ContainsAny(args, " \t") {
		return slash.Effect{}, slash.Misuse("%q is no model name: it holds white space", args)
	}
	name := catalog.Alias(r.service.profile, args, st.Mode == oh.ModePlan)
	if err := errors.Join(r.service.permits(name), r.service.priced(name, r.opts.MaxCost)); err != nil {
		return slash.Effect{}, &slash.MisuseError{Err: err}
	}
	if err := r.changeModel(ctx, oh.StateChanged{Model: name}, st.Model, name); err != nil {
		return slash.Effect{}, err
	}
	r.conv.Memo().Reset()
	return slash.Effect{Text: "The model is now " + name + "."}, nil
}

// Efforts lists the efforts that a user can set.
func Efforts() []string { return []string{"low", "medium", "high", "xhigh"} }

func (r *Runtime) cmdEffort(_ context.Context, args string) (slash.Effect, error) {
	if args == "" {
		if e := r.conv.State().Effort; e != "" {
			return slash.Effect{Text: e}, nil
		}
		return slash.Effect{Text: "Not set: the model's own."}, nil
	}
	effort, err := ParseEffort(args)
	if err != nil {
		return slash.Effect{}, err
	}
	if err := r.change(oh.StateChanged{Effort: effort}); err != nil {
		return slash.Effect{}, err
	}
	return slash.Effect{Text: "The effort is now " + effort + "."}, nil
}

// ParseEffort reads an effort: low, medium, high or xhigh (max is the same).
func ParseEffort(s string) (string, error) {
	e := strings.ToLower(s)
	if e == "max" {
		e = "xhigh"
	}
	if !slices.Contains(Efforts(), e) {
		return "", slash.Misuse("effort %q is not one of low, medium, high, xhigh", s)
	}
	return e, nil
}

func (r *Runtime) cmdPermissions(_ context.Context, args string) (slash.Effect, error) {
	st := r.conv.State()
	if args == "" {
		return slash.Effect{Text: "mode " + string(st.Mode) + "\n" + r.policy.Describe()}, nil
	}
	mode, err := oh.ParseMode(strings.TrimSpace(strings.TrimPrefix(args, "set ")))
	if err != nil {
		return slash.Effect{}, &slash.MisuseError{Err: err}
	}
	if mode == oh.ModeFullAuto && r.loaded.Settings.Permissions.NoBypass != "" {
		return slash.Effect{}, fmt.Errorf("full_auto is disabled by %s", r.loaded.Origin("permissions.disableBypassPermissionsMode"))
	}
	if err := r.change(oh.StateChanged{Mode: mode}); err != nil {
		return slash.Effect{}, err
	}
	return slash.Effect{Text: "The permission mode of this session is now " + string(mode) + "."}, nil
}

func (r *Runtime) cmdContinue(_ context.Context, args string) (slash.Effect, error) {
	r.config.MaxTurns = r.maxTurns()
	if args != "" {
		n, err := strconv.Atoi(args)
		if err != nil || n < 1 || n > 512 {
			return slash.Effect{}, slash.Misuse("%q is no number of turns from 1 to 512", args)
		}
		r.config.MaxTurns = n
	}
	if !r.conv.Pending() && !r.conv.Queued() {
		return slash.Effect{Text: "Nothing to continue: the model has answered."}, nil
	}
	return slash.Effect{Continue: true}, nil
}

// clear begins a new conversation with the model, mode and rules of this one.
func (r *Runtime) clear(ctx context.Context) error {
	st := r.conv.State()
	next := r.opts
	next.Continue, next.Resume, next.Session, next.Name, next.Fork = false, "", "", "", false
	if r.file != nil {
		if err := r.file.Close(); err != nil {
			return err
		}
		r.file = nil
	}
	r.swap.Lock()
	r.opts, r.resumed = next, false
	err := r.openLog()
	r.swap.Unlock()
	if err != nil {
		return err
	}
	if err := r.change(oh.StateChanged{Mode: st.Mode, Before: st.Before, Profile: st.Profile, Model: st.Model, Effort: st.Effort}); err != nil {
		return err
	}
	return r.renderPrompt(ctx)
}
