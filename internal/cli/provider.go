package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// providerCommand is `oh provider`: the profiles, built in and of the user's
// own.
func (p *program) providerCommand() *cobra.Command {
	c := group("provider", "list, choose and define profiles of model services")
	var asJSON bool
	list := &cobra.Command{Use: "list", Short: "all profiles, the one in use marked", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.listProviders(cmd.Context(), asJSON) }}
	list.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object a line")
	use := &cobra.Command{Use: "use NAME", Short: "use a profile from now on", Args: oneArg("the name of a profile"), ValidArgsFunction: completeProfiles,
		RunE: func(cmd *cobra.Command, args []string) error { return p.useProfile(cmd.Context(), args[0]) }}
	remove := &cobra.Command{Use: "remove NAME", Short: "remove a profile of your own, and its key", Args: oneArg("the name of a profile"), ValidArgsFunction: completeOwn,
		RunE: func(cmd *cobra.Command, args []string) error { return p.removeProvider(cmd.Context(), args[0]) }}
	c.AddCommand(list, use, p.addCommand(), p.editCommand(), remove)
	return c
}

func (p *program) listProviders(ctx context.Context, asJSON bool) error {
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
		state := s.State
		switch {
		case state == auth.NoKeyYet && s.Source == "":
			state = "no key"
		case state == auth.NoKeyYet:
			state = "not set up"
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\t%s\n", mark(s.Profile.Name == now), s.Profile.Name, text.Clean(s.Profile.Label), orDash(s.Profile.Wire),
			orDash(s.Model), orDash(config.HideUser(s.Profile.BaseURL)), state)
	}
	return w.Flush()
}

// useProfile makes a profile the one of all sessions to come.
func (p *program) useProfile(ctx context.Context, name string) error {
	l, err := p.loadConfig()
	if err != nil {
		return err
	}
	profile, err := profileOf(l, name)
	if err != nil {
		return err
	}
	if err := p.activate(ctx, l, profile.Name); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.out, "%s is used from now on.\n", profile.Name); err != nil {
		return err
	}
	p.sayWhatWins("active_profile", profile.Name)
	if s := (auth.Request{Settings: l}).StatusOf(ctx, profile.Name); s.Source != "" && s.State != auth.Ready {
		fmt.Fprintf(p.errOut, "oh: %s\n", text.Clean(s.Source))
	} else if s.State == auth.NoKeyYet {
		fmt.Fprintln(p.errOut, noKeyYet(profile))
	}
	return nil
}

// noKeyYet says where a profile that lacks a key can get one.
func noKeyYet(profile catalog.Profile) string {
	set := ""
	if names := slices.Concat(profile.Keys, profile.Tokens); len(names) > 0 {
		set = "set " + strings.Join(names, " or ") + ", or "
	}
	return fmt.Sprintf("oh: it has no key yet; %sstore one with: oh auth login %s", set, profile.Name)
}

// activate makes a profile the one in use, together with other changes.
func (p *program) activate(ctx context.Context, l *config.Loaded, name string, others ...config.Change) error {
	changes, from, err := auth.Activate(l, name, active(ctx, l))
	if err != nil {
		return err
	}
	if err := config.Apply(ctx, l.Paths, config.User, append(changes, others...)...); err != nil {
		return err
	}
	if from != "" {
		fmt.Fprintf(p.errOut, "oh: what your settings said without a profile was for %s and now stands under profiles.%s\n", from, from)
	}
	return nil
}

// sayWhatWins says what else sets a key, so that a change in the user's file
// does not count here.
func (p *program) sayWhatWins(key, want string) {
	l, err := config.Load(config.Options{})
	if err != nil {
		return
	}
	e, ok := l.Get(key)
	var got string
	if ok && json.Unmarshal(e.Value, &got) == nil && got != want {
		fmt.Fprintf(p.errOut, "oh: here %s counts instead, which is set by %s\n", text.Clean(got), e.Origin)
	}
}

func jsonText(s string) json.RawMessage {
	raw, err := oh.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}

// removeProvider removes a profile that the user defined, and its own key.
func (p *program) removeProvider(ctx context.Context, name string) error {
	l, err := p.loadConfig()
	if err != nil {
		return err
	}
	profile, err := auth.Profile(l, name)
	if err != nil {
		return err
	}
	key := "profiles." + name
	if _, builtIn := catalog.Find(name); builtIn {
		if _, changed := l.Settings.Profiles[name]; changed {
			return usageError{fmt.Errorf("%s is built in and cannot be removed; to drop your changes of it: oh config unset %s", name, key)}
		}
		return usageError{fmt.Errorf("%s is built in and cannot be removed", name)}
	}
	if l.Settings.ActiveProfile == name {
		return usageError{fmt.Errorf("%s is in use (%s); choose another first: oh provider use NAME", name, l.Origin("active_profile"))}
	}
	if err := config.Apply(ctx, l.Paths, config.User, config.Change{Key: key}); err != nil {
		return err
	}
	if after, err := config.Load(config.Options{}); err == nil {
		if _, still := after.Settings.Profiles[name]; still {
			return fmt.Errorf("%s is also defined elsewhere than in your own settings; oh config shows where", name)
		}
	}
	note := ""
	if slot, err := auth.Slot(l, name); err == nil && slot == "profile:"+name {
		had, err := auth.Open(l).Clear(ctx, slot)
		if err != nil {
			return fmt.Errorf("%s is removed from the settings, but its key is still there: %w", name, err)
		}
		if had {
			note = " Its key is removed too."
		}
	}
	_, err = fmt.Fprintf(p.out, "%s is removed.%s\n", profile.Name, note)
	return err
}

// checkName holds names of profiles to what can be typed and be part of a key.
func checkName(name string) error {
	ok := name != "" && len(name) <= 64
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	}
	if !ok || strings.HasPrefix(name, "-") {
		return usageError{errors.New("the name of a profile is made of letters, digits, - and _, at most 64")}
	}
	return nil
}
