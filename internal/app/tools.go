package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/claude"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/schema"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/openai"
	"github.com/openharness/oh/tools/ask"
	"github.com/openharness/oh/tools/brief"
	"github.com/openharness/oh/tools/file"
	"github.com/openharness/oh/tools/file/pdf"
	"github.com/openharness/oh/tools/image"
	"github.com/openharness/oh/tools/index"
	"github.com/openharness/oh/tools/lsp"
	"github.com/openharness/oh/tools/plan"
	"github.com/openharness/oh/tools/search"
	"github.com/openharness/oh/tools/setting"
	"github.com/openharness/oh/tools/shell"
	"github.com/openharness/oh/tools/sleep"
	"github.com/openharness/oh/tools/todo"
	"github.com/openharness/oh/tools/web"
	"github.com/openharness/oh/workspace"
	"github.com/openharness/oh/workspace/proc"
)

// makeTools is step 5: the workspace, the policy that guards it, and the tools.
func (r *Runtime) makeTools(context.Context) error {
	if err := r.makePolicy(); err != nil {
		return err
	}
	ws, err := workspace.New(workspace.Config{Root: r.paths.Root, Extra: r.roots()[1:],
		Readable: []string{r.artifactDir()}, Secret: r.policy.Secret, Home: r.paths.Home})
	if err != nil {
		return err
	}
	r.ws = ws
	r.scrubbed = auth.Scrub(r.loaded, r.opts.APIKey)
	environ := proc.Config{Deny: r.scrubbed, DenyFunc: config.SecretName, Env: childEnv(r.loaded.Settings.Env, r.scrubbed)}
	serving := environ
	environ.Start, serving.Start = r.cell.start, r.cell.serve
	r.runner = proc.New(environ)
	r.servers = lsp.New(r.ws, lsp.Config{Servers: r.languageServers(), Environ: serving, Allowed: r.mayServe})
	commands := shell.Tools(shell.Config{Runner: r.runner, Roots: r.roots, ReadOnly: r.policy.Harmless, Blocked: r.cell.blocked, Final: r.final}) // bash, and what follows its tasks
	// The order is that of the prompt, and stays.
	declared := slices.Concat(
		commands[:1],
		r.checked(file.Tools(r.ws)),
		search.Tools(r.ws),
		[]oh.Tool{todo.New(), ask.New()},
	)
	rare := slices.Concat(
		commands[1:],
		r.checked(file.More(r.ws)),
		[]oh.Tool{r.servers.Tool()},
		web.Tools(r.webConfig()),
		plan.Tools(),
		image.Tools(image.Config{Workspace: r.ws, Vision: r.vision, Service: r.imageService}),
		[]oh.Tool{setting.New(settings{r}), sleep.New(), brief.New()},
	)
	r.every = slices.Concat(declared, rare)
	return r.selectTools(declared, rare)
}

// checked adds to tools that change files what a running language server says
// of the change.
func (r *Runtime) checked(list []oh.Tool) (out []oh.Tool) {
	for _, t := range list {
		out = append(out, r.servers.Attach(t))
	}
	return out
}

// mayServe says whether a language server may run: it reads, builds and
// sometimes runs what the project holds.
func (r *Runtime) mayServe(s lsp.Server) error {
	if r.opts.Trusted {
		return nil
	}
	return fmt.Errorf("this folder is not trusted, and %s may run code of the project: begin oh with --trust", filepath.Base(s.Command))
}

// selectTools drops tools that are denied as a whole or not in --tools, and
// declares the rest: the rare ones through an index.
func (r *Runtime) selectTools(declared, rare []oh.Tool) error {
	known := map[string]bool{engine.CallTool: true, "tool_search": true, // also when nothing is deferred
		schema.Name: r.opts.Schema != nil}
	offered := func(list []oh.Tool) (out []oh.Tool) {
		for _, t := range list {
			name := oh.ToolName(t)
			known[name] = true
			if !r.policy.ToolDenied(name) && (!r.opts.OnlyTools || slices.Contains(r.opts.Tools, name)) {
				out = append(out, t)
			}
		}
		return out
	}
	r.tools, r.deferred = offered(declared), offered(rare)
	if err := r.checkNames(known); err != nil {
		return err
	}
	switch {
	case r.opts.OnlyTools: // what was asked for by name is declared
		r.tools, r.deferred = append(r.tools, r.deferred...), nil
	case r.policy.ToolDenied(engine.CallTool): // without it they cannot be reached
		r.deferred = nil
	case len(r.deferred) > 0:
		var names []string
		for _, t := range r.deferred {
			names = append(names, oh.ToolName(t))
		}
		slices.Sort(names)
		r.tools = append(r.tools, offered(index.Tools(names, r.deferredSpecs))...)
	}
	return r.addAnswer()
}

// addAnswer offers the tool by which the answer is given in the form that was
// asked for, beside whatever else is offered.
func (r *Runtime) addAnswer() error {
	if r.opts.Schema == nil {
		return nil
	}
	t := r.opts.Schema.Tool()
	if _, dropped := provider.CheckTools([]oh.ToolSpec{t.Spec()}); len(dropped) > 0 {
		return &config.Error{File: "--json-schema", Problem: dropped[0].Error()}
	}
	r.tools = append(r.tools, t)
	return nil
}

func (r *Runtime) deferredSpecs() []oh.ToolSpec {
	var out []oh.ToolSpec
	for _, t := range r.deferred {
		out = append(out, t.Spec())
	}
	return out
}

// checkNames refuses restrictions of the command line that name no tool.
func (r *Runtime) checkNames(known map[string]bool) error {
	for _, rule := range r.loaded.Rules {
		name := rule.Text
		if rule.Scope != config.FlagSet || strings.ContainsAny(name, "(*") || strings.HasPrefix(name, "mcp__") ||
			claude.OurTool(name) != name || known[name] {
			continue
		}
		if rule.Effect != oh.Allow { // a restriction that restricts nothing
			return &config.Error{File: "--disallowed-tools", Problem: noTool(name, known)}
		}
		r.note(oh.Warning, "--allowed-tools: "+noTool(name, known))
	}
	for _, name := range r.opts.Tools {
		if !known[name] {
			return &config.Error{File: "--tools", Problem: noTool(name, known)}
		}
	}
	return nil
}

func noTool(name string, known map[string]bool) string {
	msg := fmt.Sprintf("there is no tool named %q", name)
	if near := text.Nearest(name, slices.Collect(maps.Keys(known))); near != "" {
		msg += ": did you mean " + near + "?"
	}
	return msg + " (oh tool list shows all)"
}

// childEnv is what the settings add to the environment of commands: not the
// keys, which are there for the model service.
func childEnv(env map[string]string, scrubbed []string) []string {
	var out []string
	for name, value := range env {
		if !slices.Contains(scrubbed, name) && !config.SecretName(name) {
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}

// maxPDFText bounds the text of a fetched PDF file, in bytes.
const maxPDFText = 4 << 20

// webConfig is how the web is reached: with the proxies of the environment, as
// every other part.
func (r *Runtime) webConfig() web.Config {
	c := web.Env(func(name string) string {
		v, _, _ := r.loaded.Env(name)
		return v
	})
	if c.Proxy == "" {
		c.Proxy = "env"
	}
	c.Image = file.FitImage
	c.PDF = func(ctx context.Context, data []byte) (string, error) {
		f, err := pdf.Open(data)
		if err != nil {
			return "", err
		}
		return f.Text(ctx, maxPDFText)
	}
	const key = "web.private_hosts"
	if hosts := r.loaded.Settings.Web.PrivateHosts; len(hosts) > 0 {
		var err error
		if c.Allow, err = web.AllowList(hosts); err != nil {
			r.passOver(key, r.loaded.Origin(key), fmt.Errorf("%w; none of the list counts", err))
		}
	}
	return c
}

// languageServers are those of the settings. One that cannot be used is passed
// over with a warning.
func (r *Runtime) languageServers() map[string]lsp.Server {
	out := map[string]lsp.Server{}
	for _, name := range slices.Sorted(maps.Keys(r.loaded.Settings.LSPServers)) {
		raw := r.loaded.Settings.LSPServers[name]
		data, err := oh.Marshal(map[string]json.RawMessage{name: raw.JSON})
		if err == nil {
			var one map[string]lsp.Server
			one, err = lsp.Servers(data)
			maps.Copy(out, one)
		}
		if err != nil {
			r.passOver("lsp_servers", raw.Origin, err)
		}
	}
	return out
}

// passOver tells of a setting that cannot be used.
func (r *Runtime) passOver(key string, o config.Origin, err error) {
	w := config.Warning{File: o.File, Line: o.Line, Key: key, Problem: err.Error()}
	r.note(oh.Warning, w.String())
}

// vision is the model that reads images for image_to_text.
func (r *Runtime) vision() (image.Vision, error) {
	v := r.loaded.Settings.Vision
	if v.Model == "" || v.Key.IsZero() && v.BaseURL == "" {
		return image.Vision{}, nil
	}
	if err := r.service.priced(v.Model, r.opts.MaxCost); err != nil {
		return image.Vision{}, err
	}
	base := v.BaseURL
	if base == "" {
		base = openai.DefaultURL
	}
	return image.Vision{Provider: openai.New(provider.Config{Profile: "vision", BaseURL: base, Key: v.Key.Reveal(), Client: r.httpClient(), Idle: idle(r.loaded.Settings)}),
		Profile: "vision", Model: v.Model, URL: base}, nil
}

// imageService is what makes images for image_generation: the one that is set,
// or OpenAI's own with OpenAI's key.
func (r *Runtime) imageService() (image.Service, error) {
	g := r.loaded.Settings.ImageGeneration
	if err := r.service.priced(g.Model, r.opts.MaxCost); err != nil {
		return image.Service{}, err
	}
	s := image.Service{Provider: g.Provider, BaseURL: g.BaseURL, Key: image.Key(g.Key.Reveal()), Model: g.Model}
	if s.Key == "" && s.BaseURL == "" {
		if openAI, ok := catalog.Find("openai-compatible"); ok && r.service.profile.Name == openAI.Name && r.service.profile.BaseURL == openAI.BaseURL {
			s.Key = image.Key(r.service.key)
		}
	}
	return s, nil
}

// settings are the settings of the session for the tool config.
type settings struct{ r *Runtime }

// List implements [setting.Settings].
func (s settings) List() ([]setting.Entry, error) {
	loaded, err := config.Load(s.r.settingsOptions())
	if err != nil {
		return nil, err
	}
	var out []setting.Entry
	for _, e := range loaded.List() {
		out = append(out, settingEntry(e))
	}
	return out, nil
}

// Get implements [setting.Settings].
func (s settings) Get(key string) (setting.Entry, error) {
	loaded, err := config.Load(s.r.settingsOptions())
	if err != nil {
		return setting.Entry{}, err
	}
	e, ok := loaded.Get(key)
	if !ok {
		return setting.Entry{}, fmt.Errorf("there is no setting %q", key)
	}
	return settingEntry(e), nil
}

func settingEntry(e config.Entry) setting.Entry {
	out := setting.Entry{Key: e.Key, Value: json.RawMessage(e.Value)}
	if e.Origin.Scope != config.Default {
		out.Origin = e.Origin.String()
	}
	return out
}

// Set implements [setting.Settings].
func (s settings) Set(ctx context.Context, key, value string) error {
	raw, err := config.ParseValue(key, value)
	if err != nil {
		return err
	}
	return config.Set(ctx, s.r.paths, config.User, key, raw)
}

// File implements [setting.Settings].
func (s settings) File() string {
	file, err := s.r.paths.File(config.User)
	if err != nil {
		return s.r.paths.Config
	}
	return file
}

func (r *Runtime) settingsOptions() config.Options { return r.opts.Config() }
