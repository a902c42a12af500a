package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// authCommand is `oh auth`: keys in the credentials file.
func (p *program) authCommand() *cobra.Command {
	c := group("auth", "store and remove keys of model services")
	login := &cobra.Command{Use: "login [PROFILE]", Short: "store the key of a profile (read hidden, or from stdin)", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.login(cmd.Context(), profileArg(args)) }}
	logout := &cobra.Command{Use: "logout [PROFILE]", Short: "remove the stored key of a profile", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.logout(cmd.Context(), profileArg(args)) }}
	status := &cobra.Command{Use: "status", Short: "which profiles have a key, and where from", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.authStatus(cmd.Context()) }}
	c.AddCommand(login, logout, status)
	return c
}

func profileArg(args []string) string {
	if len(args) == 0 {
		return "claude-api"
	}
	return args[0]
}

// slot returns where the key of a profile is stored.
func (p *program) slot(profile string) (auth.Store, string, error) {
	loaded, err := p.loadConfig()
	if err != nil {
		return auth.Store{}, "", err
	}
	slot, err := auth.Slot(loaded, profile)
	return auth.Open(loaded.Paths), slot, err
}

func (p *program) login(ctx context.Context, profile string) error {
	store, slot, err := p.slot(profile)
	if err != nil {
		return err
	}
	key, err := p.readKey(ctx, profile)
	if err != nil {
		return err
	}
	if err := store.Put(ctx, slot, config.NewSecret(key)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.out, "The key of %s is stored in %s.\n", profile, store.Path); err != nil {
		return err
	}
	if built, ok := catalog.Find(profile); ok {
		for _, name := range append(built.Keys, built.Tokens...) {
			if getenv(name) != "" {
				fmt.Fprintf(p.errOut, "oh: the variable %s is set and wins over the stored key; unset it to use this one\n", name)
			}
		}
	}
	return nil
}

// readKey reads a key that is never shown.
func (p *program) readKey(ctx context.Context, profile string) (string, error) {
	var raw []byte
	var err error
	if isTerminal(p.in) {
		fmt.Fprintf(p.errOut, "Key for %s (not shown): ", profile)
		raw, err = p.readHidden(ctx)
		fmt.Fprintln(p.errOut)
	} else {
		raw, err = io.ReadAll(io.LimitReader(p.in, 64<<10))
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(string(raw))
	switch {
	case key == "":
		return "", usageError{errors.New("no key was given; nothing is stored")}
	case strings.ContainsAny(key, " \t\r\n"):
		return "", usageError{errors.New("that is no key: it holds white space; nothing is stored")}
	}
	return key, nil
}

// readHidden reads a line that is not shown. An interrupt ends it with the
// terminal as it was.
func (p *program) readHidden(ctx context.Context) ([]byte, error) {
	fd := int(p.in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	type result struct {
		raw []byte
		err error
	}
	done := make(chan result, 1)
	go func() { // ends with the line, or with the program
		raw, err := term.ReadPassword(fd)
		done <- result{raw, err}
	}()
	select {
	case r := <-done:
		return r.raw, r.err
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}

func (p *program) logout(ctx context.Context, profile string) error {
	store, slot, err := p.slot(profile)
	if err != nil {
		return err
	}
	had, err := store.Clear(ctx, slot)
	if err != nil {
		return err
	}
	if !had {
		return fmt.Errorf("no key is stored for %s", profile)
	}
	_, err = fmt.Fprintf(p.out, "The key of %s is removed.\n", profile)
	return err
}

// authStatus lists the built-in profiles with where their key comes from.
func (p *program) authStatus(ctx context.Context) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, profile := range catalog.Profiles() {
		loaded, err := config.Load(config.Options{Flags: []config.Flag{{Name: "oh auth status", Key: "active_profile", Value: profile.Name}}})
		if err != nil {
			return err
		}
		source := ""
		access, err := auth.Resolve(ctx, auth.Request{Settings: loaded, Local: func(context.Context) []catalog.Server { return nil }})
		_, noKey := errors.AsType[*auth.NoKey](err)
		switch {
		case profile.Missing != "":
			source = "not available"
		case noKey:
			source = "missing"
		case err != nil:
			source = "error: " + err.Error()
		case access.Source != "":
			source = access.Source
		default:
			source = "needs none"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", profile.Name, profile.Label, source)
	}
	return w.Flush()
}
