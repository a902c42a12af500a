package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// setupCommand is `oh setup`: profile, key and model by questions.
func (p *program) setupCommand() *cobra.Command {
	return &cobra.Command{Use: "setup [PROFILE]", Short: "choose a profile, its key and its model by answering questions", Args: optionalArg("the name of a profile"),
		ValidArgsFunction: completeProfiles, RunE: func(cmd *cobra.Command, args []string) error { return p.setup(cmd.Context(), args) }}
}

// setup is one way through the questions. Nothing is written before the last is
// answered.
type setup struct {
	*program
	l       *config.Loaded
	flags   []config.Flag // what was answered, as settings
	changes []config.Change
	profile catalog.Profile
	access  auth.Access
	entered auth.Secret       // a key to store; zero for none
	details map[string]string // to store beside it
}

func (p *program) setup(ctx context.Context, args []string) error {
	if !isTerminal(p.in) {
		return usageError{errors.New("oh setup asks questions and needs a terminal; without one: oh auth login PROFILE, oh provider use PROFILE, oh model use NAME")}
	}
	l, err := p.loadConfig()
	if err != nil {
		return err
	}
	s := &setup{program: p, l: l}
	if len(args) > 0 {
		if s.profile, err = profileOf(l, args[0]); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(p.out, "Which model service do you want to use?")
		if s.profile, err = p.pickProfile(ctx, l, active(ctx, l)); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{s.address, s.key, s.model, s.test} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	// From here on an interrupt comes too late: all is written, or what went
	// wrong is told.
	return s.save(context.WithoutCancel(ctx))
}

// pickProfile shows all profiles with what is there for each, and asks for one.
func (p *program) pickProfile(ctx context.Context, l *config.Loaded, usual string) (catalog.Profile, error) {
	servers := catalog.FindLocal(ctx)
	var names []string
	var rows bytes.Buffer
	w := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for _, s := range statuses(ctx, l) {
		if s.State == auth.Unsupported {
			continue
		}
		names = append(names, s.Profile.Name)
		found := found(s, servers)
		if usual == "" && (s.State == auth.Ready || found != "" && s.Profile.Local) {
			usual = s.Profile.Name
		}
		fmt.Fprintf(w, "%3d  %s\t%s\t%s\n", len(names), s.Profile.Name, text.Clean(s.Profile.Label), text.OneLine(text.Clean(found), 80))
	}
	if err := w.Flush(); err != nil {
		return catalog.Profile{}, err
	}
	if err := p.writeLines(rows.String()); err != nil {
		return catalog.Profile{}, err
	}
	if !slices.Contains(names, usual) {
		usual = names[0]
	}
	name, err := p.choose(ctx, "Number or name", names, usual, false)
	if err != nil {
		return catalog.Profile{}, err
	}
	return profileOf(l, name)
}

// writeLines writes a table to choose from: a line stays one line, also on a
// narrow terminal.
func (p *program) writeLines(table string) error {
	w := width(p.out)
	for line := range strings.Lines(table) {
		line = strings.TrimRight(line, " \n")
		if w > 1 {
			line = text.Cut(line, w-1)
		}
		if _, err := fmt.Fprintln(p.out, line); err != nil {
			return err
		}
	}
	return nil
}

// found says what there is for a profile.
func found(s auth.Status, servers []catalog.Server) string {
	for _, server := range servers {
		if server.Profile == s.Profile.Name {
			return "running here: " + strings.Join(server.Models, ", ")
		}
	}
	if s.State == auth.Ready {
		return "key: " + s.Source
	}
	return ""
}

// put notes an answer that is a setting.
func (s *setup) put(key, value string) {
	s.flags = append(s.flags, config.Flag{Name: "oh setup", Key: key, Value: value})
	s.changes = append(s.changes, config.Change{Key: key, Value: jsonText(value)})
}

// resolve looks at the profile with the answers so far.
func (s *setup) resolve(ctx context.Context, key bool) (a auth.Access, err error) {
	l, err := config.Load(config.Options{Flags: append([]config.Flag{{Name: "oh setup", Key: "active_profile", Value: s.profile.Name}}, s.flags...)})
	if err != nil {
		return a, err
	}
	s.l = l
	req := auth.Request{Settings: l, Local: func(context.Context) []catalog.Server { return nil }}
	if key {
		return auth.Resolve(ctx, req)
	}
	return auth.Choose(ctx, req)
}

// address asks where the service is, if nothing says it.
func (s *setup) address(ctx context.Context) (err error) {
	if s.access, err = s.resolve(ctx, false); err == nil {
		return s.moved(ctx)
	}
	fault, ok := errors.AsType[*config.Error](err)
	if !ok || !strings.HasSuffix(fault.Key, ".base_url") {
		return err
	}
	for {
		line, err := s.ask(ctx, fmt.Sprintf("Address of your %s resource, such as https://NAME.openai.azure.com: ", s.profile.Label))
		if err != nil {
			return err
		}
		if line == "" {
			continue
		}
		if err := checkBase(line); err != nil {
			fmt.Fprintln(s.out, sentence(err))
			continue
		}
		s.put("profiles."+s.profile.Name+".base_url", line)
		s.access, err = s.resolve(ctx, false)
		return err
	}
}

// moved takes the address at which a server on this machine was found, where
// that is not its usual one and nothing else was said.
func (s *setup) moved(ctx context.Context) (err error) {
	if !s.profile.Local || s.access.Profile.BaseURL != s.profile.BaseURL {
		return nil
	}
	for _, server := range catalog.FindLocal(ctx) {
		if server.Profile != s.profile.Name || server.BaseURL == s.profile.BaseURL {
			continue
		}
		s.put("profiles."+s.profile.Name+".base_url", server.BaseURL)
		s.access, err = s.resolve(ctx, false)
	}
	return err
}

// key finds the key or asks for one.
func (s *setup) key(ctx context.Context) error {
	a, err := s.resolve(ctx, true)
	_, none := errors.AsType[*auth.NoKey](err)
	switch {
	case err != nil && !none:
		return err
	case none:
		return s.newKey(ctx, false)
	case a.Source == "":
		if s.access = a; a.Profile.Local {
			return nil
		}
		fmt.Fprintf(s.out, "%s is on this machine and may need no key; then press Enter.\n", text.Clean(config.HideUser(a.Profile.BaseURL)))
		return s.newKey(ctx, true)
	}
	s.access = a
	if a.Key.IsZero() && a.Token.IsZero() && a.Credential == nil {
		fmt.Fprintf(s.out, "%s.\n", text.Clean(a.Source))
		return nil
	}
	fmt.Fprintf(s.out, "Its key comes from %s.\n", text.Clean(a.Source))
	store := auth.Open(s.l)
	if slot, err := auth.Slot(s.l, s.profile.Name); err != nil {
		return err
	} else if held, _, err := store.GetKnown(ctx, slot); err != nil || held.IsZero() || a.Key.Reveal()+a.Token.Reveal() != held.Reveal() {
		return err
	}
	again, err := s.yes(ctx, "Replace it?", false)
	if err != nil || !again {
		return err
	}
	return s.newKey(ctx, false)
}

// newKey asks for a key until it is given one that can be right, or none where
// that is allowed.
func (s *setup) newKey(ctx context.Context, mayLack bool) error {
	if s.profile.Provider == "copilot" {
		return s.newGrant(ctx)
	}
	for {
		key, err := s.readKey(ctx, keyQuestion(s.profile))
		if _, usage := errors.AsType[usageError](err); usage {
			fmt.Fprintln(s.out, sentence(err))
			continue
		}
		if err != nil {
			return err
		}
		if key == "" && mayLack {
			return nil
		}
		if key == "" {
			fmt.Fprintln(s.out, "A key is needed; Ctrl-C stops.")
			continue
		}
		secret := config.NewSecret(key)
		if err := auth.CheckKey(s.access.Profile, secret); err != nil {
			fmt.Fprintln(s.out, text.Clean(err.Error()))
			continue
		}
		s.entered = secret
		s.access.Hold(secret, "oh setup")
		return nil
	}
}

func (s *setup) newGrant(ctx context.Context) error {
	domain, err := s.ask(ctx, "Domain of your enterprise at GitHub (empty: github.com): ")
	if err != nil {
		return err
	}
	grant, domain, err := s.deviceGrant(ctx, s.l, domain)
	if err != nil {
		return err
	}
	s.entered, s.details = grant.Token, map[string]string{"domain": domain, "expires": grant.Expiry()}
	s.access.Hold(grant.Token, "oh setup")
	if domain != "" {
		s.access.Profile.BaseURL = auth.CopilotURL(domain) + "/chat/completions"
	}
	return nil
}

// maxShown is how many models are listed to choose from.
const maxShown = 30

// model asks which model is used.
func (s *setup) model(ctx context.Context) error {
	models, err := s.models(ctx, s.l, s.access)
	if err != nil {
		fmt.Fprintf(s.errOut, "oh: %s\n", text.Clean(err.Error()))
	}
	var names []string
	var rows bytes.Buffer
	w := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for i, m := range models {
		if i == maxShown {
			fmt.Fprintf(w, "     and %d more: oh model list --profile %s\n", len(models)-maxShown, s.profile.Name)
			break
		}
		names = append(names, m.name)
		fmt.Fprintf(w, "%3d  %s\t%s\t%s\n", i+1, text.Clean(m.name), tokens(m.info), cost(m.info))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := s.writeLines(rows.String()); err != nil {
		return err
	}
	usual := s.access.Model(false)
	if usual == "" && len(names) > 0 {
		usual = names[0]
	}
	name, err := s.chooseModel(ctx, names, usual)
	if err != nil {
		return err
	}
	if s.access.Allowed != nil && !slices.Contains(s.access.Allowed, catalog.Alias(s.access.Profile, name, false)) {
		return usageError{fmt.Errorf("the profile %s is limited to the models %s", s.profile.Name, strings.Join(s.access.Allowed, ", "))}
	}
	s.access.Asked = name
	if catalog.Alias(s.access.Profile, name, false) == s.profile.Model {
		name = "default"
	}
	s.changes = append(s.changes, modelChanges(s.l, s.profile.Name, name)...)
	return nil
}

func (s *setup) chooseModel(ctx context.Context, names []string, usual string) (string, error) {
	for {
		name, err := s.choose(ctx, "Model, by number or name", names, usual, true)
		if err != nil {
			return "", err
		}
		if err := notKey(name); err != nil {
			fmt.Fprintln(s.out, sentence(err))
			continue
		}
		return name, nil
	}
}

// sentence makes an error one that stands alone.
func sentence(err error) string {
	s := text.Clean(err.Error())
	return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] + "."
}

// test asks whether to try the connection, and tries it.
func (s *setup) test(ctx context.Context) error {
	try, err := s.yes(ctx, "Send one tiny request to see whether it works?", true)
	if err != nil || !try {
		return err
	}
	for {
		err = app.Try(ctx, s.l, s.access, s.access.Model(false))
		if err == nil {
			fmt.Fprintln(s.out, "It works.")
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(s.out, "It does not work: %s\n", text.Clean(err.Error()))
		again, err := s.anotherKey(ctx, err)
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	keep, err := s.yes(ctx, "Keep these settings all the same?", false)
	if err == nil && !keep {
		err = errNobody
	}
	return err
}

// anotherKey asks for a key in place of one that was just entered and refused.
func (s *setup) anotherKey(ctx context.Context, refusal error) (bool, error) {
	if oh.KindOf(refusal) != oh.KindAuth || s.entered.IsZero() {
		return false, nil
	}
	again, err := s.yes(ctx, "Enter another key?", true)
	if err != nil || !again {
		return false, err
	}
	return true, s.newKey(ctx, false)
}

func (s *setup) save(ctx context.Context) error {
	l, err := config.Load(config.Options{})
	if err != nil {
		return err
	}
	if !s.entered.IsZero() {
		if err := s.storeKey(ctx, l, s.profile, s.entered, s.details); err != nil {
			return err
		}
	}
	if err := s.activate(ctx, l, s.profile.Name, s.changes...); err != nil {
		return err
	}
	model := s.access.Model(false)
	if model == "" {
		model = "the first model its server lists"
	}
	file, err := l.Paths.File(config.User)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.out, "%s with %s is used from now on (%s).\nBegin with: oh\n", s.profile.Name, text.Clean(model), shortPath(file)); err != nil {
		return err
	}
	s.sayWhatWins("active_profile", s.profile.Name)
	return nil
}

// shortPath writes the home folder as ~.
func shortPath(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return path
}
