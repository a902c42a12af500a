package app

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/print"
	"github.com/openharness/oh/internal/prompt"
	"github.com/openharness/oh/internal/slash"
	"github.com/openharness/oh/internal/text"
)

// Plan is what a run would be made of, for --dry-run.
type Plan struct {
	Mode          string           `json:"mode"` // always dry-run
	Dir           string           `json:"cwd"`
	ConfigPath    string           `json:"config_path"`
	Prompt        string           `json:"prompt,omitempty"`
	PromptPreview string           `json:"prompt_preview"`
	Settings      PlanSettings     `json:"settings"`
	Validation    PlanValidation   `json:"validation"`
	Entry         PlanEntry        `json:"entrypoint"`
	Commands      []PlanCommand    `json:"commands"`
	Tools         []PlanTool       `json:"tools"`
	Sections      []prompt.Section `json:"sections"`
	Files         []string         `json:"settings_files"`
	Warnings      []string         `json:"warnings"`
	System        string           `json:"system_prompt"`
	SystemPreview string           `json:"system_prompt_preview"`
	Readiness     PlanReadiness    `json:"readiness"`
}

// PlanSettings are the settings that decide a run.
type PlanSettings struct {
	Profile  string   `json:"active_profile"`
	Label    string   `json:"profile_label"`
	Provider string   `json:"provider"`
	Format   string   `json:"api_format"`
	Model    string   `json:"model"`
	Fallback []string `json:"fallback_models,omitempty"`
	BaseURL  string   `json:"base_url"`
	Mode     string   `json:"permission_mode"`
	MaxTurns int      `json:"max_turns"`
	Effort   string   `json:"effort"`
}

// PlanValidation is what could be checked without calling anything.
type PlanValidation struct {
	Auth        string `json:"auth_status"` // configured (SOURCE), or missing
	PromptChars int    `json:"system_prompt_chars"`
}

// PlanEntry says what the prompt is: interactive_session, slash_command,
// unknown_slash_command or model_prompt.
type PlanEntry struct {
	Kind    string `json:"kind"`
	Command string `json:"command,omitempty"`
	Args    string `json:"args,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// PlanCommand is a slash command.
type PlanCommand struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// PlanTool is a tool with the names of its fields.
type PlanTool struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Required    []string `json:"required_args"`
	Optional    []string `json:"optional_args"`
}

// PlanReadiness says whether the run could begin: ready, warning or blocked.
type PlanReadiness struct {
	Level   string   `json:"level"`
	Reasons []string `json:"reasons"`
	Actions []string `json:"next_actions"`
}

// Plan describes what a prompt would run.
func (r *Runtime) Plan(line string) Plan {
	st := r.conv.State()
	p := r.service.profile
	line = strings.TrimSpace(line)
	plan := Plan{
		Mode: "dry-run", Dir: st.Dir, Prompt: line, PromptPreview: text.OneLine(line, 220),
		Settings: PlanSettings{Profile: p.Name, Label: p.Label, Provider: p.Provider, Format: p.Wire, Model: st.Model, Fallback: r.config.Fallback, BaseURL: config.HideUser(p.BaseURL),
			Mode: string(st.Mode), MaxTurns: r.maxTurns(), Effort: st.Effort},
		Validation: PlanValidation{Auth: "configured", PromptChars: utf8.RuneCountInString(st.System)},
		Entry:      r.entry(line), Sections: r.prompt.Sections, Files: r.loaded.Files, Warnings: []string{},
		System: st.System, SystemPreview: text.OneLine(st.System, 600),
		Readiness: PlanReadiness{Level: "ready", Reasons: []string{}, Actions: []string{}},
	}
	plan.ConfigPath, _ = r.paths.File("user")
	if r.service.keySource != "" {
		plan.Validation.Auth += " (" + r.service.keySource + ")"
	}
	plan.Warnings = append(plan.Warnings, r.Warnings()...)
	for _, name := range r.set.Names() {
		c, _ := r.set.Get(name)
		plan.Commands = append(plan.Commands, PlanCommand{c.Name, c.Summary})
	}
	for _, t := range r.tools {
		plan.Tools = append(plan.Tools, planTool(t.Spec()))
	}
	r.judge(&plan)
	return plan
}

func planTool(spec oh.ToolSpec) PlanTool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(spec.Schema, &schema) // a tool without fields is shown without
	t := PlanTool{Name: spec.Name, Description: text.OneLine(spec.Description, 200), Required: slices.Sorted(slices.Values(schema.Required)), Optional: []string{}}
	if t.Required == nil {
		t.Required = []string{}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(schema.Required, name) {
			t.Optional = append(t.Optional, name)
		}
	}
	return t
}

func (r *Runtime) entry(line string) PlanEntry {
	if line == "" {
		return PlanEntry{Kind: "interactive_session"}
	}
	name, args, ok := slash.Parse(line)
	if !ok {
		return PlanEntry{Kind: "model_prompt"}
	}
	c, _, _, err := r.set.Lookup(line)
	if err != nil {
		return PlanEntry{Kind: "unknown_slash_command", Command: name, Args: args, Detail: err.Error()}
	}
	return PlanEntry{Kind: "slash_command", Command: c.Name, Args: args, Detail: c.Summary}
}

// judge decides the readiness.
func (r *Runtime) judge(plan *Plan) {
	ready := &plan.Readiness
	needsModel := plan.Entry.Kind == "model_prompt" || plan.Entry.Kind == "interactive_session"
	if r.service.missing != nil {
		plan.Validation.Auth = "missing"
		ready.Level = "warning"
		if needsModel {
			ready.Level = "blocked"
		}
		lines := strings.Split(r.service.missing.Error(), "\n")
		ready.Reasons = append(ready.Reasons, lines[0])
		ready.Actions = append(ready.Actions, lines[1:]...)
	}
	if plan.Entry.Kind == "unknown_slash_command" {
		ready.Level = "blocked"
		ready.Reasons = append(ready.Reasons, plan.Entry.Detail)
		ready.Actions = append(ready.Actions, `oh --dry-run "/help"`)
	}
	if ready.Level == "ready" && len(plan.Warnings) > 0 {
		ready.Level = "warning"
		ready.Reasons = append(ready.Reasons, text.Plural(len(plan.Warnings), "warning")+", see below")
	}
}

// baseSource names the variable or place that moved the service's address; ""
// when nothing did.
func (r *Runtime) baseSource() string {
	for _, name := range r.service.profile.Bases {
		if v, _, ok := r.service.loaded.Env(name); ok && v != "" {
			return name
		}
	}
	if o := r.service.loaded.Origin("base_url"); o.Scope != config.Default {
		return o.String()
	}
	return ""
}

// Info is what a run begins with, for the print face.
func (r *Runtime) Info() print.Info {
	st := r.conv.State()
	info := print.Info{Session: st.Session, Dir: st.Dir, Profile: st.Profile, Model: st.Model, Mode: st.Mode,
		Commands: r.set.Names(), Version: r.opts.Version, KeySource: r.service.keySource, Style: r.loaded.Settings.OutputStyle,
		BaseURL: r.service.profile.BaseURL, BaseURLSource: r.baseSource(), NoSave: r.file == nil}
	for _, t := range r.tools {
		info.Tools = append(info.Tools, oh.ToolName(t))
	}
	return info
}
