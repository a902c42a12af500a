package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/text"
)

// dryRun shows what a run would be made of. Nothing is called, started or
// written.
func (p *program) dryRun(ctx context.Context, opts app.Options, words []string) error {
	rt, err := app.Build(ctx, opts)
	if err != nil {
		return err
	}
	plan := rt.Plan(strings.Join(words, " "))
	if err := rt.Close(); err != nil {
		return err
	}
	switch p.flags.format {
	case "text":
		_, err = fmt.Fprint(p.out, planText(plan))
	case "json":
		var raw []byte
		if raw, err = oh.Marshal(plan); err == nil {
			var pretty []byte
			pretty, err = indent(raw)
			if err == nil {
				_, err = fmt.Fprintf(p.out, "%s\n", pretty)
			}
		}
	default:
		var raw []byte
		if raw, err = oh.Marshal(plan); err == nil {
			_, err = fmt.Fprintf(p.out, "%s\n", raw)
		}
	}
	return err
}

func planText(plan app.Plan) string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-13s %s\n", name, value)
		}
	}
	row("readiness", plan.Readiness.Level)
	for _, r := range plan.Readiness.Reasons {
		row("", r)
	}
	for _, a := range plan.Readiness.Actions {
		row("next", a)
	}
	row("entrypoint", strings.TrimSpace(plan.Entry.Kind+" "+plan.Entry.Detail))
	row("prompt", text.OneLine(plan.Prompt, 200))
	row("directory", plan.Dir)
	row("settings", strings.Join(plan.Files, ", "))
	if plan.Settings.Profile != "" {
		row("profile", plan.Settings.Profile+" ("+plan.Settings.Label+")")
	}
	row("model", plan.Settings.Model)
	row("fallback", strings.Join(plan.Settings.Fallback, ", "))
	row("address", plan.Settings.BaseURL)
	row("key", plan.Validation.Auth)
	row("effort", plan.Settings.Effort)
	row("mode", plan.Settings.Mode)
	row("max turns", fmt.Sprint(plan.Settings.MaxTurns))
	var tools []string
	for _, t := range plan.Tools {
		tools = append(tools, t.Name)
	}
	row("tools", strings.Join(tools, " "))
	row("commands", "/"+strings.Join(commandNames(plan), " /"))
	for _, s := range plan.Sections {
		row("prompt part", fmt.Sprintf("%s %s (%d bytes)", s.Name, s.Source, s.Bytes))
	}
	for _, w := range plan.Warnings {
		row("warning", w)
	}
	fmt.Fprintf(&b, "\nsystem prompt (%d characters)\n\n%s\n", plan.Validation.PromptChars, plan.System)
	return b.String()
}

func commandNames(plan app.Plan) []string {
	var out []string
	for _, c := range plan.Commands {
		out = append(out, c.Name)
	}
	return out
}

func indent(raw []byte) ([]byte, error) {
	var v json.RawMessage = raw
	return json.MarshalIndent(v, "", "  ")
}

func decodeString(raw []byte, s *string) bool { return json.Unmarshal(raw, s) == nil }
