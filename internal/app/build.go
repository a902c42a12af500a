package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/internal/artifact"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/permit"
	"github.com/openharness/oh/internal/prompt"
	"github.com/openharness/oh/internal/schema"
)

// maxWaitHeadless is how long a service may ask a run to wait when no person is
// there to decide; maxWait with one.
const (
	maxWaitHeadless = time.Minute
	maxWait         = 10 * time.Minute
)

// Build puts a session together. The steps depend on those before them only.
// On an error nothing is left open; it is an [*Unbuilt] if there were warnings.
func Build(ctx context.Context, opts Options) (*Runtime, error) {
	r := &Runtime{opts: opts}
	steps := []func(context.Context) error{
		r.loadSettings, // 1, with the session's log, whose state feeds what follows
		r.loadPlugins,  // 2
		r.openService,  // 3
		r.connectMCP,   // 4
		r.makeTools,    // 5
		r.initState,    // 6
		r.loadHooks,    // 7
		r.renderPrompt, // 8
		r.makeEngine,   // 9
		r.restore,      // 10
		r.addCommands,  // 11
		r.bundle,       // 12
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, r.failed(err)
		}
	}
	return r, nil
}

// loadSettings is step 1.
func (r *Runtime) loadSettings(context.Context) error {
	o := r.opts.Config()
	paths, err := config.FindPaths(o)
	if err != nil {
		return err
	}
	r.paths = paths
	if err := r.openLog(); err != nil {
		return err
	}
	st := r.conv.State()
	if r.file != nil && r.file.Elsewhere() {
		// The session belongs to another project: it goes on there.
		o.Dir = st.Dir
		if r.paths, err = config.FindPaths(o); err != nil {
			return err
		}
	}
	taped, err := r.openCassette()
	if err != nil {
		return err
	}
	o.Flags = slices.Concat(taped, sessionFlags(st, r.opts.Profile), o.Flags)
	if r.loaded, err = config.Load(o); err != nil {
		return err
	}
	r.catalog = r.loaded.Catalog()
	if err := r.catalog.Warning(); err != nil {
		r.note(oh.Warning, err.Error())
	}
	r.debug("settings", "files", r.loaded.Files, "rules", len(r.loaded.Rules), "root", r.paths.Root)
	for _, w := range r.loaded.Warnings {
		r.note(oh.Warning, w.String())
	}
	return nil
}

// Config is how the settings of these options are loaded.
func (o Options) Config() config.Options {
	flags := o.Flags
	for _, f := range []struct{ name, key, value string }{
		{"--profile", "active_profile", o.Profile},
		{"--model", "model", o.Model},
		{"--base-url", "base_url", o.BaseURL},
		{"--api-format", "api_format", o.APIFormat},
		{"--permission-mode", "permission.mode", o.Mode},
	} {
		if f.value != "" {
			flags = append(flags[:len(flags):len(flags)], config.Flag{Name: f.name, Key: f.key, Value: f.value})
		}
	}
	return config.Options{Dir: o.Dir, Home: o.Home, LookupEnv: o.LookupEnv, Trusted: o.Trusted,
		Sources: o.Sources, Settings: o.Settings, Flags: flags}
}

// sessionFlags are what a resumed session was using; flags of this run count
// more, settings less. Its model belongs to its profile.
func sessionFlags(st oh.State, profile string) []config.Flag {
	var out []config.Flag
	if st.Profile != "" {
		out = append(out, config.Flag{Name: "the session", Key: "active_profile", Value: st.Profile})
	}
	if st.Model != "" && (profile == "" || profile == st.Profile) {
		out = append(out, config.Flag{Name: "the session", Key: "model", Value: st.Model})
	}
	if st.Mode != "" {
		out = append(out, config.Flag{Name: "the session", Key: "permission.mode", Value: string(st.Mode)})
	}
	return out
}

// loadPlugins is step 2. Plugins come with their feature.
func (r *Runtime) loadPlugins(context.Context) error { return nil }

// connectMCP is step 4. MCP servers come with their feature.
func (r *Runtime) connectMCP(context.Context) error { return nil }

// loadHooks is step 7. Without configured hooks there is nothing to fire.
func (r *Runtime) loadHooks(context.Context) error { return nil }

func (r *Runtime) artifactDir() string { return filepath.Join(r.paths.Data, "tool_artifacts") }

// roots are the folders inside the border, the workspace's own first.
func (r *Runtime) roots() []string { return r.inside }

// findRoots resolves the added folders. One of the command line must exist;
// one of the settings is passed over with a warning.
func (r *Runtime) findRoots() error {
	r.inside = []string{r.paths.Root}
	given := len(r.opts.AddDirs)
	for i, dir := range slices.Concat(r.opts.AddDirs, r.loaded.Settings.Permissions.Dirs) {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(r.paths.Home, rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.paths.Dir, dir)
		}
		dir = filepath.Clean(dir)
		switch info, err := os.Stat(dir); {
		case err == nil && info.IsDir():
			if !slices.Contains(r.inside, dir) {
				r.inside = append(r.inside, dir)
			}
		case i < given:
			return &config.Error{File: "--add-dir", Problem: dir + " is no folder"}
		default:
			r.note(oh.Warning, "permissions.additionalDirectories: "+dir+" is no folder; it is left out")
		}
	}
	return nil
}

// makePolicy builds the gate of the rules of all layers.
func (r *Runtime) makePolicy() error {
	if err := r.findRoots(); err != nil {
		return err
	}
	if err := r.makeCell(); err != nil {
		return err
	}
	var rules []permit.Rule
	for _, x := range r.loaded.Rules {
		rules = append(rules, permitRule(x))
	}
	rules = append(rules, r.loadGrants()...)
	policy, err := permit.New(permit.Config{
		Root: r.paths.Root, Dirs: r.roots()[1:], Home: r.paths.Home, ConfigDir: r.paths.Config, DataDir: r.paths.Data,
		Readable: []string{r.artifactDir()}, Rules: rules, Save: r.saveGrant,
		Confined: func() bool { return r.opts.Confined || r.cell.confined() },
	})
	if err != nil {
		return &config.Error{File: "permission rules", Problem: err.Error()}
	}
	for _, w := range policy.Warnings() {
		r.note(oh.Warning, w)
	}
	r.policy = policy
	return nil
}

// initState is step 6: mode, model and the rest, as flags, the session and the
// settings say, in this order.
func (r *Runtime) initState(context.Context) error {
	st := r.conv.State()
	ch := oh.StateChanged{Title: r.opts.Name}
	ch.Mode = changed(st.Mode, r.loaded.Settings.Permission.Mode)
	ch.Profile = changed(st.Profile, r.service.profile.Name)
	ch.Model = changed(st.Model, r.service.model)
	effort := st.Effort
	if effort == "" {
		effort = r.loaded.Settings.Effort
	}
	if r.opts.Effort != "" {
		effort = r.opts.Effort
	}
	ch.Effort = changed(st.Effort, effort)
	if ch.IsZero() {
		return nil
	}
	return r.change(ch)
}

func changed[T ~string](was, is T) T {
	if was == is {
		return ""
	}
	return is
}

// renderPrompt is step 8. A session keeps the prompt it began with, unless the
// command line gives words that it does not hold.
func (r *Runtime) renderPrompt(context.Context) error {
	st := r.conv.State()
	cfg := r.promptConfig()
	given := strings.Contains(st.System, strings.TrimSpace(r.opts.System)) && strings.Contains(st.System, strings.TrimSpace(r.opts.Append))
	if st.System != "" && given && !r.opts.DryRun {
		return nil
	}
	rendered, err := prompt.Render(cfg)
	if err != nil {
		return err
	}
	for _, w := range rendered.Warnings {
		r.note(oh.Warning, w)
	}
	r.prompt = rendered
	branch, _ := prompt.Branch(st.Dir)
	r.told = prompt.Turn{Date: cfg.Date, Branch: branch, Dir: st.Dir}
	return r.change(oh.StateChanged{System: rendered.Text})
}

func (r *Runtime) promptConfig() prompt.Config {
	st := r.conv.State()
	base := r.opts.System
	if base == "" {
		base = r.loaded.Settings.SystemPrompt
	}
	cfg := prompt.Config{Base: base, Append: r.opts.Append, Dir: st.Dir, Root: r.paths.Root, Home: r.paths.Home,
		Config: r.paths.Config, Trusted: r.opts.Trusted, Refuse: r.refuse, Bare: r.opts.Bare, Date: time.Now(), Model: st.Model, Effort: st.Effort}
	if r.paths.Managed != "" {
		cfg.Managed = filepath.Join(filepath.Dir(r.paths.Managed), "CLAUDE.md")
	}
	return cfg
}

// refuse keeps instruction files and their imports to what may be read: deny
// rules and protected places hold for them too.
func (r *Runtime) refuse(path string) string {
	v := r.policy.Check(context.Background(), oh.GateRequest{Tool: "read_file", Mode: oh.ModeFullAuto, Dir: r.paths.Dir,
		Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: path}}}})
	if v.Decision == oh.Allow {
		return ""
	}
	return v.Reason
}

// makeEngine is step 9.
func (r *Runtime) makeEngine(context.Context) error {
	s := r.loaded.Settings
	r.config = engine.Config{
		Provider:  r.service,
		Tools:     func() []oh.Tool { return r.tools },
		Deferred:  func() []oh.Tool { return r.deferred },
		Gate:      r.policy,
		Asker:     r.asker(),
		Hook:      r.hook,
		Artifacts: &artifact.Store{Dir: r.artifactDir()},
		Limits:    oh.Limits{Inline: s.InlineChars, Preview: s.PreviewChars},
		MaxTurns:  r.maxTurns(),
		MaxTokens: r.maxTokens(),
		Budget:    r.budget,
		Retry:     engine.Retry{MaxAfter: maxWaitHeadless},
	}
	if err := r.service.priced(r.conv.State().Model, r.opts.MaxCost); err != nil {
		return &config.Error{File: "--max-budget-usd", Problem: err.Error()}
	}
	if err := r.setFallback(); err != nil {
		return err
	}
	if err := r.askAnswer(); err != nil {
		return err
	}
	r.describeImages()
	if r.opts.Interactive {
		r.config.Retry.MaxAfter = maxWait
	}
	_, err := engine.New(r.config)
	return err
}

// askAnswer asks for an answer of a form, if one was given. Rules must let the
// tool through that it is given by.
func (r *Runtime) askAnswer() error {
	if r.opts.Schema == nil {
		return nil
	}
	st := r.conv.State()
	v := r.policy.Check(context.Background(), oh.GateRequest{Tool: schema.Name, Mode: st.Mode, Dir: st.Dir, Access: oh.Access{ReadOnly: true}})
	if v.Decision != oh.Allow {
		return &config.Error{File: "--json-schema", Problem: "the answer is given by calling the tool " + schema.Name +
			", which may not run: " + v.Reason}
	}
	r.config.Answer = &engine.Answer{Tool: schema.Name, Remind: schema.Remind()}
	return nil
}

func (r *Runtime) maxTurns() int {
	if r.opts.MaxTurns > 0 {
		return r.opts.MaxTurns
	}
	return r.loaded.Settings.MaxTurns
}

// maxTokens is the output limit as the user set it; else the model's own
// decides.
func (r *Runtime) maxTokens() int {
	if r.loaded.Origin("max_tokens").Scope == config.Default {
		return 0
	}
	return r.loaded.Settings.MaxTokens
}

// restore is step 10: the messages are in place since the log was opened.
func (r *Runtime) restore(context.Context) error { return nil }

// bundle is step 12: nothing is left to do but to forget what only building
// needed.
func (r *Runtime) bundle(context.Context) error {
	r.built = true
	r.keepVariables()
	r.opts.APIKey = ""
	r.opts.Stdin = nil
	return nil
}
