package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openharness/oh/internal/text"
)

// group is a command that only holds others. Without one of them it says which
// there are, and that is a mistake.
func group(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			if len(args) == 0 {
				return usageError{fmt.Errorf("%s takes one of %s", cmd.CommandPath(), strings.Join(names, ", "))}
			}
			msg := fmt.Sprintf("%s has no %q; it takes one of %s", cmd.CommandPath(), args[0], strings.Join(names, ", "))
			if near := text.Nearest(args[0], names); near != "" {
				msg += fmt.Sprintf(": did you mean %s?", near)
			}
			return usageError{fmt.Errorf("%s", msg)}
		}}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, but got %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s takes one argument: %s", cmd.CommandPath(), what)}
		}
		return nil
	}
}
