package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/auth/ring"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// authCommand is `oh auth`: keys in the keyring or the credentials file.
func (p *program) authCommand() *cobra.Command {
	c := group("auth", "store and remove keys of model services")
	var domain string
	login := &cobra.Command{Use: "login [PROFILE]", Short: "store the key of a profile (read hidden, or from stdin), or log in to copilot", Args: optionalArg("the name of a profile"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.login(cmd.Context(), args, domain) }}
	login.Flags().StringVar(&domain, "domain", "", "with copilot: the domain of your enterprise, such as company.ghe.com")
	logout := &cobra.Command{Use: "logout [PROFILE]", Short: "remove the stored key of a profile", Args: optionalArg("the name of a profile"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.logout(cmd.Context(), args) }}
	var asJSON bool
	status := &cobra.Command{Use: "status", Short: "which profiles have a key, and where from", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.authStatus(cmd.Context(), asJSON) }}
	status.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object a line")
	change := &cobra.Command{Use: "switch PROFILE", Short: "use a profile from now on (as oh provider use)", Args: oneArg("the name of a profile"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.useProfile(cmd.Context(), args[0]) }}
	c.AddCommand(login, logout, status, change)
	c.AddCommand(p.oldLogins(&domain)...)
	for _, sub := range []*cobra.Command{login, logout, change} {
		sub.ValidArgsFunction = completeProfiles
	}
	return c
}

// oldLogins are the names that OpenHarness has for logins of one vendor.
func (p *program) oldLogins(domain *string) []*cobra.Command {
	old := func(use string, run func(ctx context.Context) error) *cobra.Command {
		return &cobra.Command{Use: use, Hidden: true, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context()) }}
	}
	login := func(profile string) func(context.Context) error {
		return func(ctx context.Context) error { return p.login(ctx, []string{profile}, *domain) }
	}
	copilot := old("copilot-login", login("copilot"))
	copilot.Flags().StringVar(domain, "domain", "", "the domain of your enterprise")
	return []*cobra.Command{
		copilot, old("copilot-logout", func(ctx context.Context) error { return p.logout(ctx, []string{"copilot"}) }),
		old("codex-login", login("codex")), old("claude-login", login("claude-subscription")),
	}
}

func completeProfiles(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	own, how := completeOwn(cmd, args, word)
	return append(profileNames(), own...), how
}

// completeOwn completes the names of profiles that the user defined.
func completeOwn(*cobra.Command, []string, string) (names []string, how cobra.ShellCompDirective) {
	if l, err := config.Load(config.Options{}); err == nil {
		for _, name := range auth.Names(l) {
			if _, builtIn := catalog.Find(name); !builtIn {
				names = append(names, name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// profileOf finds the profile that a person means: its name, or its vendor's.
func profileOf(l *config.Loaded, word string) (catalog.Profile, error) {
	p, err := auth.Profile(l, word)
	if err != nil {
		for _, b := range catalog.Profiles() {
			if b.Provider == word && b.Missing == "" {
				return auth.Profile(l, b.Name)
			}
		}
		return p, err
	}
	if p.Missing != "" {
		return p, &auth.Unavailable{Profile: p.Name, Why: p.Missing}
	}
	return p, nil
}

// active returns the name of the profile that a session would use now; "" when
// none can be chosen.
func active(ctx context.Context, l *config.Loaded) string {
	a, err := auth.Choose(ctx, auth.Request{Settings: l, Known: true, Local: func(context.Context) []catalog.Server { return nil }})
	if err != nil {
		return l.Settings.ActiveProfile
	}
	return a.Profile.Name
}

// profileArg is the profile of an argument, else the one in use, else
// claude-api.
func (p *program) profileArg(ctx context.Context, args []string) (*config.Loaded, catalog.Profile, error) {
	l, err := p.loadConfig()
	if err != nil {
		return nil, catalog.Profile{}, err
	}
	name := "claude-api"
	if len(args) > 0 {
		name = args[0]
	} else if now := active(ctx, l); now != "" {
		name = now
	}
	profile, err := profileOf(l, name)
	return l, profile, err
}

func (p *program) login(ctx context.Context, args []string, domain string) error {
	l, profile, err := p.profileArg(ctx, args)
	if err != nil {
		return err
	}
	if len(args) == 0 && isTerminal(p.in) {
		if profile, err = p.pickProfile(ctx, l, profile.Name); err != nil {
			return err
		}
	}
	if domain != "" && profile.Provider != "copilot" {
		return usageError{errors.New("--domain goes with copilot")}
	}
	switch {
	case profile.Provider == "copilot":
		return p.deviceLogin(ctx, l, profile, domain)
	case profile.Chain == catalog.Google && len(profile.Keys)+len(profile.Tokens) == 0:
		return usageError{fmt.Errorf("%s uses the credentials of Google's own tools; log in with: gcloud auth application-default login (or set GOOGLE_APPLICATION_CREDENTIALS)", profile.Name)}
	}
	key, err := p.readKey(ctx, keyQuestion(profile))
	if err != nil {
		return err
	}
	if key == "" {
		return usageError{errors.New("no key was given; nothing is stored")}
	}
	if err := auth.CheckKey(profile, config.NewSecret(key)); err != nil {
		return err
	}
	return p.storeKey(ctx, l, profile, config.NewSecret(key), nil)
}

func keyQuestion(profile catalog.Profile) string {
	hint := "not shown"
	if profile.Get != "" {
		hint = "from " + profile.Get + "; not shown"
	}
	return fmt.Sprintf("Key for %s (%s): ", profile.Name, hint)
}

// storeKey stores a key and says where it is and what counts more.
func (p *program) storeKey(ctx context.Context, l *config.Loaded, profile catalog.Profile, key auth.Secret, details map[string]string) error {
	slot, err := auth.Slot(l, profile.Name)
	if err != nil {
		return err
	}
	where, why, err := auth.Open(l).Put(ctx, slot, key, details)
	if err != nil {
		return err
	}
	if why != nil && !errors.Is(why, ring.ErrNone) {
		fmt.Fprintf(p.errOut, "oh: %s is not used: %s\n", "the system's keyring", text.Clean(why.Error()))
	}
	if _, err := fmt.Fprintf(p.out, "The key of %s is stored in %s.\n", profile.Name, where); err != nil {
		return err
	}
	for _, name := range append(profile.Keys[:len(profile.Keys):len(profile.Keys)], profile.Tokens...) {
		if v, _, ok := l.Env(name); ok && strings.TrimSpace(v) != "" {
			fmt.Fprintf(p.errOut, "oh: the variable %s is set and wins over the stored key; unset it to use this one\n", name)
		}
	}
	return nil
}

func (p *program) logout(ctx context.Context, args []string) error {
	l, profile, err := p.profileArg(ctx, args)
	if err != nil {
		return err
	}
	slot, err := auth.Slot(l, profile.Name)
	if err != nil {
		return err
	}
	had, err := auth.Open(l).Clear(ctx, slot)
	if err != nil {
		return err
	}
	if !had {
		return fmt.Errorf("no key is stored for %s", profile.Name)
	}
	_, err = fmt.Fprintf(p.out, "The key of %s is removed.\n", profile.Name)
	return err
}

// statuses says of all profiles how they stand.
func statuses(ctx context.Context, l *config.Loaded) []auth.Status {
	var out []auth.Status
	for _, name := range auth.Names(l) {
		out = append(out, auth.Request{Settings: l}.StatusOf(ctx, name))
	}
	return out
}

// keyState says in words where a profile's key comes from.
func keyState(s auth.Status) string {
	switch s.State {
	case auth.Ready:
		return s.Source
	case auth.Keyless:
		return "needs none"
	case auth.NoKeyYet:
		if s.Source != "" {
			return "not set up: " + s.Source
		}
		return "missing"
	case auth.Unsupported:
		return "not available"
	}
	return "error: " + s.Source
}

// authStatus lists all profiles with where their key comes from.
func (p *program) authStatus(ctx context.Context, asJSON bool) error {
	l, err := p.loadConfig()
	if err != nil {
		return err
	}
	list := statuses(ctx, l)
	if asJSON {
		return p.writeStatuses(ctx, l, list)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	now := active(ctx, l)
	for _, s := range list {
		fmt.Fprintf(w, "%s%s\t%s\t%s\n", mark(s.Profile.Name == now), s.Profile.Name, text.Clean(s.Profile.Label), text.OneLine(text.Clean(keyState(s)), 200))
	}
	return w.Flush()
}

// mark is what stands before the one in use.
func mark(on bool) string {
	if on {
		return "* "
	}
	return "  "
}

// writeStatuses writes profiles as JSON, one object a line.
func (p *program) writeStatuses(ctx context.Context, l *config.Loaded, list []auth.Status) error {
	now := active(ctx, l)
	for _, s := range list {
		_, builtIn := catalog.Find(s.Profile.Name)
		line, err := oh.Marshal(map[string]any{"name": s.Profile.Name, "label": s.Profile.Label, "provider": s.Profile.Provider, "api_format": s.Profile.Wire,
			"base_url": config.HideUser(s.Profile.BaseURL), "model": s.Model, "state": s.State, "source": s.Source, "active": s.Profile.Name == now, "built_in": builtIn})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func optionalArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{fmt.Errorf("%s takes at most one argument: %s", cmd.CommandPath(), what)}
		}
		return nil
	}
}
