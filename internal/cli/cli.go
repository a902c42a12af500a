// Package cli is the command line: one file per subcommand, flags, signals,
// exit codes. It builds a runtime and hands its events to a face.
//
// It holds no logic of a run: what a flag means is said to internal/app.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openharness/oh/internal/text"
)

// Main runs the program and returns its exit code.
func Main(args []string) int {
	return run(args, os.Stdin, os.Stdout, os.Stderr)
}

// program is what a command works with.
type program struct {
	inv         invocation
	in          *os.File
	out, errOut io.Writer
	flags       flags
	signals     *signals
}

func run(args []string, in *os.File, out, errOut io.Writer) int {
	if versionOnly(args) {
		fmt.Fprintln(out, Version)
		return exitOK
	}
	// The HTTP library tells of odd answers there, with pieces of them.
	log.SetOutput(io.Discard)
	p := &program{inv: parseInvocation(args, getenv), in: in, out: out, errOut: errOut}
	p.signals = watchSignals()
	defer p.signals.stop()
	root := p.rootCommand()
	root.SetArgs(p.inv.args)
	err := root.ExecuteContext(p.signals.ctx)
	return p.report(err)
}

// report says what went wrong and returns the exit code.
func (p *program) report(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitOther // nobody reads any more: in silence
	}
	if p.signals.caught() != 0 && errors.Is(err, context.Canceled) {
		return p.signals.exitCode()
	}
	p.warnUnbuilt(err)
	code := exitCode(err)
	if msg := err.Error(); msg != "" {
		fmt.Fprintln(p.errOut, "oh: "+text.Clean(msg))
	}
	return code
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "oh [flags] [prompt]",
		Short: "An agent harness for the terminal",
		Long: `oh talks to a language model and lets it work on the files of this folder:
it reads, edits, searches and runs commands, under permissions you control.

  oh                      a conversation in this terminal
  oh -p "fix the test"    one prompt, the answer on stdout
  oh -c                   go on with the last conversation of this folder
  oh setup                choose a model service, store its key, try it
  oh demo                 see it work: no key, no network`,
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		RunE:              func(cmd *cobra.Command, args []string) error { return p.root(cmd.Context(), cmd, args) },
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.errOut)
	root.SetFlagErrorFunc(flagError)
	p.flags.register(root.Flags())
	root.Flags().SetNormalizeFunc(normalizeFlag)
	completeFlags(root)
	if p.inv.sdk {
		root.FParseErrWhitelist.UnknownFlags = true
	}
	if p.inv.print {
		// With -p no word is a subcommand.
		root.CompletionOptions.DisableDefaultCmd = true
		root.SetHelpCommand(&cobra.Command{Hidden: true})
		return root
	}
	for _, c := range []*cobra.Command{p.sessionCommand(), p.statsCommand(), p.configCommand(), p.authCommand(), p.setupCommand(), p.providerCommand(), p.modelCommand(), p.toolCommand(), p.permissionsCommand(), p.demoCommand(), p.manCommand(root)} {
		c.SetFlagErrorFunc(flagError)
		root.AddCommand(c)
	}
	return root
}

// flagError says which flag may have been meant.
func flagError(cmd *cobra.Command, err error) error {
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "unknown flag: --"); ok {
		name, _, _ = strings.Cut(name, "=")
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := text.Nearest(name, names); near != "" {
			msg += fmt.Sprintf(": did you mean --%s?", near)
		}
	}
	if head, _, ok := strings.Cut(msg, " flag: strconv."); ok {
		msg = head + ": it takes a number"
	}
	return usageError{fmt.Errorf("%s (oh --help lists all flags)", msg)}
}

// aliases are other names of flags.
var aliases = map[string]string{
	"allowedTools":    "allowed-tools",
	"disallowedTools": "disallowed-tools",
	"denied-tools":    "disallowed-tools",
}

func normalizeFlag(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if full, ok := aliases[name]; ok {
		name = full
	}
	return pflag.NormalizedName(name)
}
