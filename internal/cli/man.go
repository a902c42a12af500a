package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand is `oh man`: the manual page, made of the command tree.
func (p *program) manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "man", Short: "print the manual page (try: oh man | man -l -)", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.out.Write(manPage(root))
			return err
		}}
}

func manPage(root *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH OH 1 \"\" \"oh %s\" \"User Commands\"\n.SH NAME\noh \\- %s\n", Version, roff(root.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B oh\n[flags] [prompt]\n.br\n.B oh\ncommand [flags]\n.SH DESCRIPTION\n")
	manText(&b, root.Long)
	b.WriteString(".SH OPTIONS\n")
	manFlags(&b, root.Flags())
	b.WriteString(".SH COMMANDS\n")
	manCommands(&b, root)
	b.WriteString(".SH EXIT STATUS\n")
	for _, row := range [...]string{"0 done", "1 another failure", "2 usage or configuration", "3 authentication", "4 the model service failed",
		"5 turn limit or budget", "6 done, but something was refused because nobody could be asked", "130, 143 stopped by SIGINT, SIGTERM"} {
		code, what, _ := strings.Cut(row, " ")
		if code == "130," {
			code, what = "130, 143", "stopped by SIGINT, SIGTERM"
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", code, roff(what))
	}
	return b.Bytes()
}

func manCommands(b *bytes.Buffer, c *cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if sub.HasSubCommands() {
			manCommands(b, sub)
			continue
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(strings.TrimSuffix(sub.UseLine(), " [flags]")), roff(sub.Short))
		manFlags(b, sub.Flags())
	}
}

func manFlags(b *bytes.Buffer, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			name += " " + kind
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(usage))
	})
}

// manText keeps indented lines as they are and fills the others.
func manText(b *bytes.Buffer, s string) {
	for _, line := range strings.Split(s, "\n") {
		switch {
		case line == "":
			b.WriteString(".PP\n")
		case strings.HasPrefix(line, "  "):
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(line))
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
}

// roff escapes what roff would take for a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
