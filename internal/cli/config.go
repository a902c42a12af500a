package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// configCommand is `oh config`: the effective settings with the origin of each.
func (p *program) configCommand() *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, args []string) error {
		if err := noArgs(cmd, args); err != nil {
			return err
		}
		return p.listConfig(asJSON)
	}
	c := &cobra.Command{Use: "config", Short: "show and change settings", Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf("oh config has no %q; it takes one of list, get, set, unset", args[0])}
		}
		return list(cmd, args)
	}}
	c.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	l := &cobra.Command{Use: "list", Short: "all effective settings, and where each was written", RunE: list}
	l.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	get := &cobra.Command{Use: "get KEY", Short: "print one setting", Args: oneArg("the key of a setting, such as permission.mode"),
		RunE: func(_ *cobra.Command, args []string) error { return p.getConfig(args[0], asJSON) }}
	get.Flags().BoolVar(&asJSON, "json", false, "with its origin, as JSON")

	scope := string(config.User)
	set := &cobra.Command{Use: "set KEY VALUE", Short: "change one setting in its file", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("oh config set takes a key and a value, such as: oh config set model opus")}
			}
			return p.setConfig(cmd, scope, args[0], args[1])
		}}
	unset := &cobra.Command{Use: "unset KEY", Short: "remove one setting from its file", Args: oneArg("the key of a setting"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.unsetConfig(cmd, scope, args[0]) }}
	for _, s := range []*cobra.Command{set, unset} {
		s.Flags().StringVar(&scope, "scope", string(config.User), "which file: user, project or local")
	}
	c.AddCommand(l, get, set, unset)
	return c
}

// loadConfig loads the settings as a session in this folder would have them,
// and says on stderr what is wrong with them.
func (p *program) loadConfig() (*config.Loaded, error) {
	loaded, err := config.Load(config.Options{})
	if err != nil {
		return nil, err
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintln(p.errOut, "oh: "+text.Clean(w.String()))
	}
	return loaded, nil
}

func (p *program) listConfig(asJSON bool) error {
	loaded, err := p.loadConfig()
	if err != nil {
		return err
	}
	if asJSON {
		out, err := oh.Marshal(map[string]any{"settings": loaded.List(), "rules": loaded.Rules, "files": loaded.Files})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s\n", out)
		return err
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, e := range loaded.List() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Key, text.Clean(string(e.Value)), origin(e))
	}
	return w.Flush()
}

// origin names where a setting comes from; a list may come from several
// places.
func origin(e config.Entry) string {
	seen := map[string]bool{}
	var from []string
	for _, o := range e.From {
		if s := o.String(); !seen[s] {
			seen[s] = true
			from = append(from, s)
		}
	}
	if len(from) == 0 {
		return e.Origin.String()
	}
	return strings.Join(from, ", ")
}

func (p *program) getConfig(key string, asJSON bool) error {
	loaded, err := p.loadConfig()
	if err != nil {
		return err
	}
	e, ok := loaded.Get(key)
	if !ok {
		return unknownKey(loaded, key)
	}
	if asJSON {
		out, err := oh.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s\n", out)
		return err
	}
	value := string(e.Value)
	var plain string
	if decodeString(e.Value, &plain) {
		value = plain
	}
	_, err = fmt.Fprintln(p.out, text.Clean(value))
	return err
}

func unknownKey(loaded *config.Loaded, key string) error {
	var keys []string
	for _, e := range loaded.List() {
		keys = append(keys, e.Key)
	}
	msg := fmt.Sprintf("there is no setting %q", key)
	if near := text.Nearest(key, keys); near != "" {
		msg += ": did you mean " + near + "?"
	}
	return usageError{fmt.Errorf("%s (oh config list shows all)", msg)}
}

func (p *program) setConfig(cmd *cobra.Command, scope, key, value string) error {
	raw, err := config.ParseValue(key, value)
	if err != nil {
		return err
	}
	var address string
	if strings.HasSuffix(key, "base_url") && decodeString(raw, &address) && address != "" {
		if err := checkBase(address); err != nil {
			return usageError{fmt.Errorf("%s: %w", key, err)}
		}
	}
	paths, file, err := settingsFile(scope)
	if err != nil {
		return err
	}
	if err := config.Set(cmd.Context(), paths, config.Scope(scope), key, raw); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s = %s in %s\n", key, raw, file)
	return err
}

func (p *program) unsetConfig(cmd *cobra.Command, scope, key string) error {
	paths, file, err := settingsFile(scope)
	if err != nil {
		return err
	}
	if err := config.Unset(cmd.Context(), paths, config.Scope(scope), key); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s is not set in %s any more\n", key, file)
	return err
}

func settingsFile(scope string) (config.Paths, string, error) {
	paths, err := config.FindPaths(config.Options{})
	if err != nil {
		return paths, "", err
	}
	file, err := paths.File(config.Scope(scope))
	if err != nil {
		return paths, "", usageError{fmt.Errorf("--scope: %w", err)}
	}
	return paths, file, nil
}
