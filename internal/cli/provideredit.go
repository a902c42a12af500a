package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// profileFlags are what can be said of a profile on the command line.
type profileFlags struct {
	set    *pflag.FlagSet
	text   map[string]*string // by flag
	number map[string]*int
	models []string
	key    string
	use    bool
}

// profileField is a flag and the member of the profile that it sets.
type profileField struct{ flag, member, usage string }

func profileTexts() []profileField {
	return []profileField{
		{"base-url", "base_url", "address of the service"},
		{"api-format", "api_format", "wire: " + strings.Join(catalog.Wires(), ", ")},
		{"model", "default_model", "model to use when none is chosen"},
		{"label", "label", "a name for people"},
		{"provider", "provider", "vendor, whose key and address count if no others are given"},
		{"api-key-env", "api_key_env", "name of the variable that holds the key"},
		{"api-key-helper", "api_key_helper", "command that prints the key"},
		{"credential-slot", "credential_slot", "name of the stored key, to share it between profiles"},
		{"auth-source", "auth_source", ""},
	}
}

func profileNumbers() []profileField {
	return []profileField{
		{"context-window-tokens", "context_window_tokens", "context window in tokens"},
		{"auto-compact-threshold-tokens", "auto_compact_threshold_tokens", "when to compact, in tokens"},
	}
}

func (f *profileFlags) register(s *pflag.FlagSet) {
	f.set, f.text, f.number = s, map[string]*string{}, map[string]*int{}
	s.SortFlags = false
	for _, t := range profileTexts() {
		f.text[t.flag] = s.String(t.flag, "", t.usage)
	}
	for _, n := range profileNumbers() {
		f.number[n.flag] = s.Int(n.flag, 0, n.usage)
	}
	s.StringArrayVar(&f.models, "allowed-model", nil, "limit the profile to this model (repeatable)")
	s.StringVarP(&f.key, "api-key", "k", "", "store the key: env:NAME, file:PATH or - for stdin")
	s.BoolVar(&f.use, "use", false, "use the profile from now on")
	_ = s.MarkHidden("auth-source")
}

func (p *program) addCommand() *cobra.Command {
	f := &profileFlags{}
	c := &cobra.Command{Use: "add NAME", Short: "define a profile", Args: oneArg("a name for the profile"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.addProvider(cmd.Context(), args[0], f) }}
	f.register(c.Flags())
	return c
}

func (p *program) editCommand() *cobra.Command {
	f := &profileFlags{}
	c := &cobra.Command{Use: "edit NAME", Short: "change a profile; an empty value takes the setting out", Args: oneArg("the name of a profile"), ValidArgsFunction: completeProfiles,
		RunE: func(cmd *cobra.Command, args []string) error { return p.editProvider(cmd.Context(), args[0], f) }}
	f.register(c.Flags())
	return c
}

// changes are the settings that the flags mean, under profiles.NAME.
func (f *profileFlags) changes(name string) ([]config.Change, error) {
	var out []config.Change
	add := func(member string, value any, unset bool) error {
		c := config.Change{Key: "profiles." + name + "." + member}
		if !unset {
			raw, err := oh.Marshal(value)
			if err != nil {
				return err
			}
			c.Value = raw
		}
		out = append(out, c)
		return nil
	}
	for _, t := range profileTexts() {
		if !f.set.Changed(t.flag) {
			continue
		}
		value := strings.TrimSpace(*f.text[t.flag])
		if err := checkProfileFlag(t.flag, value); err != nil {
			return nil, err
		}
		if err := add(t.member, value, value == ""); err != nil {
			return nil, err
		}
	}
	for _, n := range profileNumbers() {
		if !f.set.Changed(n.flag) {
			continue
		}
		value := *f.number[n.flag]
		if value < 0 {
			return nil, usageError{fmt.Errorf("--%s is %d, but must be at least 1, or 0 to take it out", n.flag, value)}
		}
		if err := add(n.member, value, value == 0); err != nil {
			return nil, err
		}
	}
	if f.set.Changed("allowed-model") {
		models := slices.DeleteFunc(slices.Clone(f.models), func(m string) bool { return strings.TrimSpace(m) == "" })
		if err := add("allowed_models", models, len(models) == 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func checkProfileFlag(flag, value string) error {
	bad := func(format string, args ...any) error {
		return usageError{fmt.Errorf("--"+flag+": "+format, args...)}
	}
	if value == "" {
		return nil
	}
	switch flag {
	case "base-url":
		if err := checkBase(value); err != nil {
			return bad("%w", err)
		}
	case "api-format":
		known := append(catalog.Wires(), "openai_compat", "copilot")
		if !slices.Contains(known, value) {
			return bad("%q is not one of %s", text.Clean(value), strings.Join(catalog.Wires(), ", "))
		}
	case "api-key-env":
		if strings.ContainsAny(value, " =$\t\n") || !isVariable(value) {
			return bad("it takes the name of a variable, such as MY_KEY, not a key")
		}
	}
	return nil
}

// checkBase holds an address that is written to the settings to what may stand
// there.
func checkBase(value string) error {
	if err := auth.CheckURL(value); err != nil {
		return err
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return errors.New("an address in the settings must not hold a password; store a key with: oh auth login")
	}
	return nil
}

// isVariable tells names of variables from keys that were given by mistake.
func isVariable(s string) bool {
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	_, known := catalog.ByKey(s)
	return !known
}

func (p *program) addProvider(ctx context.Context, name string, f *profileFlags) error {
	if err := checkName(name); err != nil {
		return err
	}
	l, err := p.loadConfig()
	if err != nil {
		return err
	}
	if _, err := auth.Profile(l, name); err == nil {
		return usageError{fmt.Errorf("there is a profile %s already; change it with: oh provider edit %s", name, name)}
	}
	if *f.text["base-url"] == "" && *f.text["provider"] == "" && *f.text["api-format"] != "copilot" {
		return usageError{errors.New("say where the service is, with --base-url (or whose it is, with --provider)")}
	}
	if vendor := *f.text["provider"]; vendor != "" && *f.text["base-url"] == "" {
		if err := knownVendor(vendor); err != nil {
			return err
		}
	}
	changes, err := f.changes(name)
	if err != nil {
		return err
	}
	// One object, so that a profile is there as a whole or not at all.
	members := map[string]json.RawMessage{}
	for _, c := range changes {
		if c.Value != nil {
			members[strings.TrimPrefix(c.Key, "profiles."+name+".")] = c.Value
		}
	}
	raw, err := oh.Marshal(members)
	if err != nil {
		return err
	}
	return p.saveProvider(ctx, l, name, f, []config.Change{{Key: "profiles." + name, Value: raw}}, "defined")
}

func knownVendor(vendor string) error {
	var known []string
	for _, b := range catalog.Profiles() {
		if b.Missing == "" && !slices.Contains(known, b.Provider) {
			known = append(known, b.Provider)
		}
	}
	if slices.Contains(known, vendor) {
		return nil
	}
	msg := fmt.Sprintf("--provider: no vendor %q is known, so give --base-url too", text.Clean(vendor))
	if near := text.Nearest(vendor, known); near != "" {
		msg += "; did you mean " + near + "?"
	}
	return usageError{errors.New(msg)}
}

func (p *program) editProvider(ctx context.Context, name string, f *profileFlags) error {
	l, err := p.loadConfig()
	if err != nil {
		return err
	}
	if _, err := auth.Profile(l, name); err != nil {
		return err
	}
	changes, err := f.changes(name)
	if err != nil {
		return err
	}
	if len(changes) == 0 && f.key == "" && !f.use {
		return usageError{errors.New("nothing to change is given; oh provider edit --help lists what can be")}
	}
	if f.set.Changed("model") && l.Settings.Profiles[name].LastModel != "" {
		changes = append(changes, config.Change{Key: "profiles." + name + ".last_model"})
	}
	return p.saveProvider(ctx, l, name, f, changes, "changed")
}

// saveProvider writes the changes, then the key, then what is used.
func (p *program) saveProvider(ctx context.Context, l *config.Loaded, name string, f *profileFlags, changes []config.Change, done string) error {
	key, err := p.flagKey(l, f)
	if err != nil {
		return err
	}
	if err := keyFits(name, key, changes); err != nil {
		return err
	}
	if f.use {
		if err := p.activate(ctx, l, name, changes...); err != nil {
			return err
		}
	} else if err := config.Apply(ctx, l.Paths, config.User, changes...); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.out, "%s is %s.\n", name, done); err != nil {
		return err
	}
	after, err := config.Load(config.Options{})
	if err != nil {
		return err
	}
	if !key.IsZero() {
		profile, err := auth.Profile(after, name)
		if err != nil {
			return err
		}
		if err := p.storeKey(ctx, after, profile, key, nil); err != nil {
			return err
		}
	}
	moved := done == "changed" && f.set.Changed("base-url") && key.IsZero()
	p.sayWhatLacks((auth.Request{Settings: after}).StatusOf(ctx, name), moved)
	if f.use {
		p.sayWhatWins("active_profile", name)
	}
	return nil
}

// flagKey reads the key of --api-key, if one is given.
func (p *program) flagKey(l *config.Loaded, f *profileFlags) (auth.Secret, error) {
	switch {
	case !f.set.Changed("api-key"):
		return auth.Secret{}, nil
	case strings.TrimSpace(f.key) == "":
		return auth.Secret{}, usageError{errors.New("--api-key is empty; give env:NAME, file:PATH or -, or leave it out")}
	}
	key, warning, err := (auth.Request{Settings: l, Key: f.key, Stdin: p.in}).ReadKey()
	if err == nil && warning != "" {
		fmt.Fprintln(p.errOut, "oh: "+warning)
	}
	return key, err
}

// sayWhatLacks says what keeps a profile from use. moved is whether its address
// is a new one, which gets the key that was there.
func (p *program) sayWhatLacks(s auth.Status, moved bool) {
	switch {
	case s.State == auth.Faulty || s.State == auth.NoKeyYet && s.Source != "":
		fmt.Fprintf(p.errOut, "oh: it cannot be used yet: %s\n", text.Clean(s.Source))
	case s.State == auth.NoKeyYet && s.Profile.Missing == "":
		fmt.Fprintln(p.errOut, noKeyYet(s.Profile))
	case s.State == auth.Ready && moved:
		fmt.Fprintf(p.errOut, "oh: its key (%s) goes to %s from now on\n", text.Clean(s.Source), text.Clean(config.HideUser(s.Profile.BaseURL)))
	}
}

// keyFits refuses a key of another vendor, before anything is written.
func keyFits(name string, key auth.Secret, changes []config.Change) error {
	if key.IsZero() {
		return nil
	}
	var o config.Options
	for _, c := range changes {
		if c.Value != nil {
			o.Flags = append(o.Flags, config.Flag{Name: "oh provider", Key: c.Key, Value: c.Value})
		}
	}
	l, err := config.Load(o)
	if err != nil {
		return err
	}
	profile, err := auth.Profile(l, name)
	if err != nil {
		return err
	}
	return auth.CheckKey(profile, key)
}
