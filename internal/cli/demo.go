package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/demo"
	"github.com/openharness/oh/internal/plain"
)

// demoCommand is `oh demo`: the real loop on a real project, with a scripted
// model.
func (p *program) demoCommand() *cobra.Command {
	var keep bool
	c := &cobra.Command{Use: "demo", Short: "see it work on a small project: no key, no network", Args: noArgs,
		Long: `A small shell project with a failing test is written to a temporary folder.
A scripted model server is started on this machine, and the loop of oh mends the
project: it reads, runs the test, edits, runs it again. Only the model is
scripted; its requests, the tools, the permissions and the session are real.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context(), keep) }}
	c.Flags().BoolVar(&keep, "keep", false, "keep the folder")
	return c
}

func (p *program) demo(ctx context.Context, keep bool) (err error) {
	dir, err := os.MkdirTemp("", "oh-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if keep {
			fmt.Fprintln(p.out, "The folder is kept: "+dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	project := filepath.Join(dir, "total")
	if err := os.Mkdir(project, 0o755); err != nil {
		return err
	}
	if err := demo.Write(project); err != nil {
		return err
	}
	server, err := demo.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()

	fmt.Fprintf(p.out, "A demo of oh. The model is SCRIPTED (%s); everything else is real:\n", server.URL)
	fmt.Fprintf(p.out, "the loop, the HTTP requests, the tools, the files and commands in %s.\n\n", project)
	rt, err := app.Build(ctx, demoOptions(dir, project, server.URL))
	if err != nil {
		return err
	}
	p.signals.kills(rt.Kill)
	defer func() { err = errors.Join(err, rt.Close()) }()
	face := plain.New(plain.Config{In: strings.NewReader(""), First: demo.Prompt, Out: p.out, Terminal: isTerminal(p.out),
		Width: width(p.out), Dir: project})
	if err := face.Run(ctx, &lines{rt: rt}); err != nil {
		return err
	}
	return p.demoEnd(ctx, project, server)
}

// demoEnd checks with the project's own test, outside of the loop, what became
// of it.
func (p *program) demoEnd(ctx context.Context, project string, server *demo.Server) error {
	if err := server.Err(); err != nil {
		return fmt.Errorf("the scripted model refused a request: %w", err)
	}
	test := exec.CommandContext(ctx, "sh", "./test.sh")
	test.Dir = project
	out, err := test.CombinedOutput()
	fmt.Fprintf(p.out, "\nChecked outside of the loop: sh test.sh\n%s", out)
	if err != nil {
		return fmt.Errorf("the project is not mended: %w", err)
	}
	fmt.Fprintf(p.out, "\n%d requests went over HTTP to the scripted model, all legal. To use a real one: oh setup\n", server.Requests())
	return nil
}

// demoOptions keep the demo apart from everything of the user's.
func demoOptions(dir, project, url string) app.Options {
	env := map[string]string{
		"OPENHARNESS_CONFIG_DIR": filepath.Join(dir, "config"),
		"CLAUDE_CONFIG_DIR":      filepath.Join(dir, "claude"),
		"ANTHROPIC_API_KEY":      "demo",
		"PATH":                   os.Getenv("PATH"),
	}
	return app.Options{
		Version: Version, Dir: project, Home: dir, Profile: "claude-api", Model: "scripted-model", BaseURL: url,
		Mode:      string(oh.ModeFullAuto),
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}
}
