package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/print"
	"github.com/openharness/oh/internal/text"
)

// completeFlags tells the shell completion what the values of flags can be.
// Nothing is looked up before a completion is asked for.
func completeFlags(root *cobra.Command) {
	fixed := map[string][]string{
		"output-format": {string(print.Text), string(print.JSON), string(print.StreamJSON), string(print.Events)},
		"effort":        app.Efforts(),
		"api-format":    catalog.Wires(),
		"sandbox":       {"on", "off"},
	}
	for _, m := range oh.Modes {
		fixed["permission-mode"] = append(fixed["permission-mode"], string(m))
	}
	for name, values := range fixed {
		_ = root.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	for name, list := range map[string]func() []string{"profile": profileNames, "model": modelNames, "resume": sessionIDs} {
		_ = root.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

func profileNames() []string {
	var out []string
	for _, p := range catalog.Profiles() {
		if p.Missing == "" {
			out = append(out, p.Name+"\t"+p.Label)
		}
	}
	return out
}

// modelNames are the models that the built-in profiles use, and the short names.
func modelNames() []string {
	out := []string{"sonnet", "opus", "haiku"}
	for _, p := range catalog.Profiles() {
		if p.Model != "" && !slices.Contains(out, p.Model) {
			out = append(out, p.Model)
		}
	}
	return out
}

func sessionIDs() []string {
	paths, err := config.FindPaths(config.Options{})
	if err != nil {
		return nil
	}
	list, err := app.Store(paths, Version).List(20)
	if err != nil {
		return nil
	}
	var out []string
	for _, s := range list {
		out = append(out, s.ID+"\t"+text.OneLine(title(s), 60))
	}
	return out
}
