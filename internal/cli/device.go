package cli

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// deviceLogin logs in to GitHub Copilot: a person types a code on a page of
// GitHub's.
func (p *program) deviceLogin(ctx context.Context, l *config.Loaded, profile catalog.Profile, domain string) error {
	grant, domain, err := p.deviceGrant(ctx, l, domain)
	if err != nil {
		return err
	}
	return p.storeKey(ctx, l, profile, grant.Token, map[string]string{"domain": domain, "expires": grant.Expiry()})
}

func (p *program) deviceGrant(ctx context.Context, l *config.Loaded, domain string) (auth.Grant, string, error) {
	domain, err := auth.CheckDomain(domain)
	if err != nil {
		return auth.Grant{}, "", usageError{fmt.Errorf("--domain: %w", err)}
	}
	d := auth.Device{Client: app.Client(l), ClientID: l.Settings.CopilotClientID, Domain: domain, Show: func(page, code string) {
		fmt.Fprintf(p.errOut, "Open %s\nand type the code %s\nWaiting (Ctrl-C stops)\n", page, code)
		if isTerminal(p.errOut) && isTerminal(p.in) {
			browse(page, auth.Environ(l))
		}
	}}
	grant, err := d.Login(ctx)
	return grant, domain, err
}

// browse tries to open a page in the user's browser, without a shell and
// without the keys of this program. That it fails is no matter: the address is
// shown.
func browse(page string, env []string) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return
	}
	name, args := "xdg-open", []string{u.String()}
	switch runtime.GOOS {
	case "darwin":
		name = "/usr/bin/open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", u.String()}
	}
	cmd := exec.Command(name, args...)
	cmd.Env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return config.SecretName(name)
	})
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // ends with the browser, or with the program
	}
}
