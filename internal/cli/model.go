package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// modelCommand is `oh model`.
func (p *program) modelCommand() *cobra.Command {
	c := group("model", "list and choose models")
	var profile string
	var asJSON, all bool
	list := &cobra.Command{Use: "list", Short: "the models of the profile in use, as far as the catalogue or the server knows them", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.listModels(cmd.Context(), profile, all, asJSON) }}
	list.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object a line")
	list.Flags().BoolVar(&all, "all", false, "of all profiles")
	use := &cobra.Command{Use: "use NAME", Short: "use a model with the profile from now on; default sets it back", Args: oneArg("a model, or default"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.useModel(cmd.Context(), profile, args[0]) }}
	for _, sub := range []*cobra.Command{list, use} {
		sub.Flags().StringVar(&profile, "profile", "", "of this profile")
		_ = sub.RegisterFlagCompletionFunc("profile", completeProfiles)
	}
	refresh := &cobra.Command{Use: "refresh", Short: "read the newest list of models and prices", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.refreshModels(cmd.Context()) }}
	c.AddCommand(list, use, refresh)
	return c
}

// chosen loads the settings with the profile of a flag, else the one in use.
func (p *program) chosen(ctx context.Context, profile string) (*config.Loaded, auth.Access, error) {
	l, err := p.loadConfig()
	if err != nil {
		return nil, auth.Access{}, err
	}
	if profile != "" {
		found, err := profileOf(l, profile)
		if err != nil {
			return nil, auth.Access{}, err
		}
		l = l.Choosing("--profile", found.Name)
	}
	a, err := auth.Choose(ctx, auth.Request{Settings: l, Known: true})
	return l, a, err
}

// offered is a model that a profile has.
type offered struct {
	name string
	info catalog.Info
}

// models are those that a profile has: what a server on this machine lists,
// else what the catalogue knows.
func (p *program) models(ctx context.Context, l *config.Loaded, a auth.Access) ([]offered, error) {
	c := l.Catalog()
	var out []offered
	if a.Profile.Local {
		if full, err := auth.Resolve(ctx, auth.Request{Settings: l, Known: true}); err == nil && a.Key.IsZero() && full.Profile.Name == a.Profile.Name {
			a.Key = full.Key
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		names, err := catalog.ServerModels(ctx, app.Client(l), a.Profile, a.Key.Reveal())
		for _, name := range names {
			out = append(out, offered{name, c.Of(a.Profile, name)})
		}
		return out, err
	}
	for _, m := range c.Models(a.Profile.Name) {
		if a.Allowed == nil || slices.Contains(a.Allowed, m.Name) {
			out = append(out, offered{m.Name, m.Info})
		}
	}
	for _, name := range append(slices.Clone(a.Allowed), a.Profile.Model, a.Model(false)) {
		if name != "" && !slices.ContainsFunc(out, func(o offered) bool { return o.name == name }) {
			out = append(out, offered{name, c.Of(a.Profile, name)})
		}
	}
	return out, nil
}

func (p *program) listModels(ctx context.Context, profile string, all, asJSON bool) error {
	if all && profile != "" {
		return usageError{errors.New("--all and --profile exclude each other")}
	}
	l, a, err := p.chosen(ctx, profile)
	if err != nil && !all {
		return err
	}
	if l == nil {
		return err
	}
	if warning := l.Catalog().Warning(); warning != nil {
		fmt.Fprintln(p.errOut, "oh: "+text.Clean(warning.Error()))
	}
	if !all {
		return p.writeModels(ctx, l, []auth.Access{a}, a, asJSON)
	}
	var list []auth.Access
	for _, name := range auth.Names(l) {
		one, err := auth.Choose(ctx, auth.Request{Settings: l.Choosing("--profile", name), Known: true})
		if err == nil && !one.Profile.Local {
			list = append(list, one)
		}
	}
	return p.writeModels(ctx, l, list, a, asJSON)
}

func (p *program) writeModels(ctx context.Context, l *config.Loaded, list []auth.Access, now auth.Access, asJSON bool) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, a := range list {
		models, err := p.models(ctx, l, a)
		if err != nil {
			return err
		}
		current := a.Model(false)
		for _, m := range models {
			used := a.Profile.Name == now.Profile.Name && m.name == current
			if asJSON {
				err = p.writeModel(a, m, used)
			} else {
				_, err = fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\n", mark(used), text.Clean(m.name), a.Profile.Name, tokens(m.info), able(m.info), cost(m.info))
			}
			if err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

func (p *program) writeModel(a auth.Access, m offered, used bool) error {
	row := map[string]any{"name": m.name, "profile": a.Profile.Name, "active": used, "known": m.info.Known, "context_window": m.info.Window,
		"max_output_tokens": m.info.MaxOutput, "vision": m.info.Vision, "thinking": m.info.Thinking, "efforts": m.info.Efforts}
	if m.info.Price.Known {
		row["input_price"], row["output_price"] = m.info.Price.In, m.info.Price.Out
		row["cache_read_price"], row["cache_write_price"] = m.info.Price.CacheRead, m.info.Price.CacheWrite
	}
	line, err := oh.Marshal(row)
	if err == nil {
		_, err = fmt.Fprintf(p.out, "%s\n", line)
	}
	return err
}

// tokens shows a window; one that is only assumed is marked.
func tokens(i catalog.Info) string {
	n := strconv.Itoa(i.Window/1000) + "k"
	if i.Window >= 1_000_000 {
		n = strconv.FormatFloat(float64(i.Window/100_000)/10, 'f', -1, 64) + "M"
	}
	if !i.Sure {
		n = "~" + n
	}
	return n
}

func able(i catalog.Info) string {
	var words []string
	if i.Vision {
		words = append(words, "images")
	}
	if i.Thinking != catalog.ThinkNone {
		words = append(words, "thinking")
	}
	return orDash(strings.Join(words, ", "))
}

// cost shows the list price of a million tokens in and out.
func cost(i catalog.Info) string {
	if !i.Price.Known {
		return "-"
	}
	if i.Price.In == 0 && i.Price.Out == 0 {
		return "free"
	}
	return fmt.Sprintf("$%v in, $%v out", i.Price.In, i.Price.Out)
}

// useModel makes a model the one that a profile uses from now on.
func (p *program) useModel(ctx context.Context, profile, name string) error {
	if name = strings.TrimSpace(name); name == "" {
		return usageError{errors.New("the name of a model is empty")}
	}
	if err := notKey(name); err != nil {
		return err
	}
	l, a, err := p.chosen(ctx, profile)
	if err != nil {
		return err
	}
	if a.Allowed != nil && name != "default" && !slices.Contains(a.Allowed, catalog.Alias(a.Profile, name, false)) {
		return usageError{fmt.Errorf("the profile %s is limited to the models %s", a.Profile.Name, strings.Join(a.Allowed, ", "))}
	}
	changes := modelChanges(l, a.Profile.Name, name)
	if err := config.Apply(ctx, l.Paths, config.User, changes...); err != nil {
		return err
	}
	after, err := config.Load(config.Options{})
	if err != nil {
		return err
	}
	now, err := auth.Choose(ctx, auth.Request{Settings: after.Choosing("--profile", a.Profile.Name), Known: true})
	if err != nil {
		return err
	}
	got := now.Model(false)
	if got == "" {
		got = "whatever its server lists first"
	}
	if _, err := fmt.Fprintf(p.out, "%s uses %s from now on.\n", a.Profile.Name, text.Clean(got)); err != nil {
		return err
	}
	want := catalog.Alias(now.Profile, name, false)
	if now.Model(false) != want {
		fmt.Fprintf(p.errOut, "oh: %s is kept, but %s counts instead, which is set by %s\n", text.Clean(want), text.Clean(got), after.Origin("model"))
	}
	return nil
}

// notKey refuses a key where a model is asked for: it would be kept and shown.
func notKey(name string) error {
	if owner, is := catalog.ByKey(name); is {
		return usageError{fmt.Errorf("that looks like a key of %s, not like a model; store a key with: oh auth login %s", owner.Label, owner.Name)}
	}
	return nil
}

// modelChanges are the settings that make a model the profile's. A model that
// stands in the user's own file for all profiles would win, so it goes.
func modelChanges(l *config.Loaded, profile, name string) []config.Change {
	change := config.Change{Key: "profiles." + profile + ".last_model", Value: jsonText(name)}
	if name == "default" {
		change.Value = nil
	}
	changes := []config.Change{change}
	if file, err := l.Paths.File(config.User); err == nil && l.Origin("model").File == file {
		changes = append(changes, config.Change{Key: "model"})
	}
	return changes
}

func (p *program) refreshModels(ctx context.Context) error {
	l, err := p.loadConfig()
	if err != nil {
		return err
	}
	got, err := catalog.Refresh(ctx, app.Client(l), l.Settings.CatalogURL, l.Paths.CatalogFile())
	if err != nil {
		return err
	}
	what := "The catalogue is as it was"
	if !got.Same {
		what = "The catalogue is refreshed"
	}
	_, err = fmt.Fprintf(p.out, "%s: %s of %s, from %s.\n", what, text.Plural(got.Models, "model"), text.Plural(got.Services, "service"), text.Clean(config.HideUser(got.Source)))
	return err
}
