package auth

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// chosen says how the profile was chosen.
type chosen struct {
	rank int            // of the layer that named it; -1 when nobody did
	user config.Profile // what the user's settings say of it
}

func rank(s config.Scope) int {
	return slices.Index([]config.Scope{config.Default, config.User, config.Project, config.Local, config.Env, config.FlagSet, config.Managed}, s)
}

// choose finds the profile: named, else implied by what the settings say of
// the service, else by the key that is there.
func (r Request) choose(ctx context.Context) (Access, chosen, error) {
	l := r.Settings
	if name := l.Settings.ActiveProfile; name != "" {
		o := l.Origin("active_profile")
		p, user, ok := profile(l, name)
		if !ok {
			problem := fmt.Sprintf("%q is no profile; there are %s", name, strings.Join(names(l), ", "))
			if near := near(l, name); near != "" {
				problem = (&Unknown{name, near}).Error()
			}
			return Access{}, chosen{}, &config.Error{File: place(o), Line: o.Line, Key: "active_profile", Problem: problem}
		}
		return Access{Profile: p, Why: "chosen by " + o.String()}, chosen{rank(o.Scope), user}, nil
	}
	name, why, err := r.implied()
	if err != nil {
		return Access{}, chosen{}, err
	}
	if name == "" {
		return Access{}, chosen{}, &NoKey{Found: r.local(ctx), Path: r.store().Path}
	}
	p, user, _ := profile(l, name)
	return Access{Profile: p, Why: why, Notes: []string{fmt.Sprintf("using %s (%s)", p.Name, why)}}, chosen{-1, user}, nil
}

func (r Request) local(ctx context.Context) []catalog.Server {
	if r.Local != nil {
		return r.Local(ctx)
	}
	return catalog.FindLocal(ctx)
}

func names(l *config.Loaded) []string {
	var list []string
	for _, p := range catalog.Profiles() {
		list = append(list, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Settings.Profiles)) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// implied returns the profile that nobody named but that what is there points
// to.
func (r Request) implied() (name, why string, err error) {
	l := r.Settings
	for _, c := range slices.Backward(l.Choices) {
		if name := implies(c); name != "" {
			return name, "by the provider, format or address in " + layerName(c), nil
		}
	}
	if name := r.byFlag(); name != "" {
		return name, "by the key given with --api-key", nil
	}
	for _, p := range catalog.Profiles() {
		for _, v := range append(p.Keys, p.Tokens...) {
			if text, _, ok := l.Env(v); ok && strings.TrimSpace(text) != "" {
				return p.Name, v + " is set", nil
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Settings.Profiles)) {
		p := l.Settings.Profiles[name]
		if text, _, ok := l.Env(p.KeyEnv); ok && p.KeyEnv != "" && strings.TrimSpace(text) != "" {
			return name, p.KeyEnv + " is set", nil
		}
	}
	for _, p := range catalog.Profiles() {
		for _, v := range p.Bases {
			if text, _, ok := l.Env(v); ok && strings.TrimSpace(text) != "" {
				return p.Name, v + " is set", nil
			}
		}
	}
	return r.stored()
}

// byFlag returns the profile whose key --api-key plainly is.
func (r Request) byFlag() string {
	if v, ok := strings.CutPrefix(r.Key, "env:"); ok {
		for _, name := range names(r.Settings) {
			p, _, _ := profile(r.Settings, name)
			if slices.Contains(p.Keys, strings.TrimSpace(v)) {
				return name
			}
		}
		return ""
	}
	p, _ := catalog.ByKey(r.Key)
	return p.Name
}

// stored returns the first profile that has a key in the store or in the
// user's settings, or the one that is implied by a local address.
func (r Request) stored() (name, why string, err error) {
	l := r.Settings
	have, err := r.store().Names()
	if err != nil {
		return "", "", err
	}
	for _, name := range names(l) {
		p, user, _ := profile(l, name)
		if p.Missing == "" && (slices.Contains(have, slot(p, user)) || !settingsKey(l, p.Name).IsZero()) {
			return p.Name, "a key for it is stored", nil
		}
	}
	for _, name := range names(l) {
		p, _, _ := profile(l, name)
		if command, source := helper(l, p); command != "" && p.Missing == "" {
			return p.Name, source + " gives keys for it", nil
		}
	}
	for _, c := range slices.Backward(l.Choices) {
		if loopback(c.BaseURL) {
			return "openai-compatible", "by the local address in " + layerName(c), nil
		}
	}
	if r.Key != "" {
		return "", "", &config.Error{File: "--api-key", Problem: "it does not show which service the key is for; add --profile NAME"}
	}
	return "", "", nil
}

func layerName(c config.Choice) string {
	if c.File != "" {
		return c.File
	}
	return map[config.Scope]string{config.Env: "the environment", config.FlagSet: "the flags"}[c.Scope]
}

// implies returns the built-in profile that a layer means without naming it,
// or "".
func implies(c config.Choice) string {
	for _, p := range catalog.Profiles() {
		if c.Provider != "" && (p.Provider == c.Provider || p.Name == c.Provider) {
			return p.Name
		}
	}
	if p, ok := catalog.ByURL(c.BaseURL); ok {
		return p.Name
	}
	switch c.Format {
	case "":
		return ""
	case catalog.Anthropic:
		return "claude-api"
	case catalog.OpenAI:
		return "openai-compatible"
	case "copilot":
		return "copilot"
	}
	for _, p := range catalog.Profiles() {
		if p.Wire == c.Format && p.Missing == "" {
			return p.Name
		}
	}
	return ""
}

// profile lays what the user wrote over the built-in profile of that name, or
// makes a profile of it.
func profile(l *config.Loaded, name string) (catalog.Profile, config.Profile, bool) {
	user, own := l.Settings.Profiles[name]
	p, builtIn := catalog.Find(name)
	if !builtIn {
		if !own {
			return p, user, false
		}
		p = custom(name, user)
	}
	if user.BaseURL != "" {
		p.BaseURL, p.Bases = user.BaseURL, nil
	}
	if user.Model != "" {
		p.Model = user.Model
	}
	if user.KeyEnv != "" {
		p.Keys, p.Tokens = []string{user.KeyEnv}, nil
	}
	if wire := wireOf(user.APIFormat); wire != "" {
		p.Wire = wire
	}
	return p, user, true
}

// custom makes a profile of a user's own. It takes its vendor's variables only
// when it also keeps to the vendor's address.
func custom(name string, user config.Profile) catalog.Profile {
	p := catalog.Profile{Provider: user.Provider, Wire: catalog.OpenAI}
	if b, ok := vendor(user); ok {
		p.Wire, p.Missing = b.Wire, b.Missing
		if user.BaseURL == "" || ofVendor(user.BaseURL, b) {
			p = b
		}
	}
	p.Name, p.Label = name, user.Label
	if p.Label == "" {
		p.Label = name
	}
	return p
}

// vendor returns the built-in profile that a profile of a user's own is another
// of: the first of its vendor, of several the one that speaks its wire.
func vendor(user config.Profile) (best catalog.Profile, found bool) {
	name := user.Provider
	if name == "" && user.APIFormat == "copilot" {
		name = "copilot"
	}
	for _, b := range catalog.Profiles() {
		if name == "" || b.Provider != name {
			continue
		}
		if !found || best.Wire != wireOf(user.APIFormat) && b.Wire == wireOf(user.APIFormat) {
			best, found = b, true
		}
	}
	return best, found
}

// ofVendor reports whether an address is one of the vendor's own.
func ofVendor(base string, b catalog.Profile) bool {
	at, ok := catalog.ByURL(base)
	return sameHost(base, b.BaseURL) || ok && at.Provider == b.Provider && strings.HasPrefix(base, "https://")
}

// wireOf returns the wire that a format names; "" for copilot, which is one
// service, and for none.
func wireOf(format string) string {
	if format == "copilot" {
		return ""
	}
	return format
}

// applies reports whether what a layer says without naming a profile is meant
// for this one.
func (c chosen) applies(p catalog.Profile, l config.Choice) bool {
	if l.Profile != "" {
		return l.Profile == p.Name
	}
	if l.Scope == config.Env || l.Scope == config.FlagSet && l.File == "" || l.Scope == config.Managed {
		return true
	}
	if name := implies(l); name != "" {
		return name == p.Name
	}
	return rank(l.Scope) >= c.rank
}

// address finds where the service is and how it is spoken to.
func (r Request) address(a *Access, c chosen) {
	p := &a.Profile
	var base, wire string
	for _, l := range r.Settings.Choices {
		if !c.applies(*p, l) {
			continue
		}
		if l.BaseURL != "" {
			base = l.BaseURL
		}
		if w := wireOf(l.Format); w != "" {
			wire = w
		}
	}
	if wire != "" {
		p.Wire = wire
	}
	switch {
	case base != "":
		p.BaseURL = base
	case p.Provider == "copilot" && c.user.BaseURL == "":
		// A damaged store is told when the key is looked for.
		if domain, err := r.store().Detail(slot(*p, c.user), "domain"); err == nil && domain != "" {
			p.BaseURL = CopilotURL(domain)
		}
	default:
		for _, v := range p.Bases {
			if text, _, ok := r.Settings.Env(v); ok && strings.TrimSpace(text) != "" {
				p.BaseURL = strings.TrimSpace(text)
				if p.Local {
					p.BaseURL = hostURL(p.BaseURL, p.Name)
				}
				break
			}
		}
	}
	p.BaseURL = r.versioned(*p, strings.TrimRight(strings.TrimSpace(p.BaseURL), "/"))
	if u, err := url.Parse(p.BaseURL); err == nil && p.Provider == "copilot" && p.Wire == catalog.OpenAI && u.Path == "" {
		p.BaseURL += "/chat/completions" // other services of this wire have /v1 before it
	}
	a.Allowed, a.Window, a.CompactAt = c.user.Models, c.user.Window, c.user.CompactAt
}

// versioned names the version of the API in an address, where a variable gives
// it and the address does not.
func (r Request) versioned(p catalog.Profile, base string) string {
	u, err := url.Parse(base)
	if err != nil || base == "" || u.Query().Has("api-version") {
		return base
	}
	for _, v := range p.Versions {
		if text, _, ok := r.Settings.Env(v); ok && strings.TrimSpace(text) != "" {
			query := u.Query()
			query.Set("api-version", strings.TrimSpace(text))
			u.RawQuery = query.Encode()
			return u.String()
		}
	}
	return base
}

// hostURL makes an address of what OLLAMA_HOST may hold: a host, a port, both,
// or an address; 0.0.0.0 is where a server listens, not where it is reached.
func hostURL(text, name string) string {
	built, _ := catalog.Find(name)
	usual, err := url.Parse(built.BaseURL)
	if err != nil {
		return text
	}
	port := usual.Port()
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	host := u.Hostname()
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	if u.Port() != "" {
		port = u.Port()
	} else if u.Scheme == "https" {
		port = "443"
	}
	u.Host = net.JoinHostPort(host, port)
	if strings.Trim(u.Path, "/") == "" {
		u.Path = usual.Path
	}
	return u.String()
}

// model finds the model that was chosen for this profile.
func (r Request) model(a *Access, c chosen) {
	l := r.Settings
	for _, x := range slices.Backward(l.Choices) {
		if x.Model == "" || x.Claude && a.Profile.Wire != catalog.Anthropic || x.Profile != "" && x.Profile != a.Profile.Name {
			continue
		}
		if rank(x.Scope) < rank(config.Env) && foreign(x.Model, a.Profile) {
			a.Warnings = append(a.Warnings, fmt.Sprintf("the model %s in %s is of another vendor and is not used with %s", x.Model, x.File, a.Profile.Name))
			continue
		}
		a.Asked = x.Model
		return
	}
	if a.Asked = strings.TrimSpace(c.user.LastModel); a.Asked != "" {
		return
	}
	if a.Profile.Provider == "anthropic" {
		if text, _, ok := l.Env("ANTHROPIC_MODEL"); ok {
			a.Asked = strings.TrimSpace(text)
		}
	}
}

// foreign reports whether a model is plainly made by another vendor than the
// profile's.
func foreign(model string, p catalog.Profile) bool {
	m := strings.ToLower(model)
	switch p.Provider {
	case "anthropic":
		return strings.HasPrefix(m, "gpt-") || strings.HasPrefix(m, "gemini-")
	case "openai", "gemini", "deepseek", "moonshot", "mistral", "xai":
		short, _ := strings.CutSuffix(m, "[1m]")
		return strings.HasPrefix(m, "claude-") || slices.Contains([]string{"sonnet", "opus", "haiku", "opusplan"}, short) ||
			p.Provider != "openai" && strings.HasPrefix(m, "gpt-")
	}
	return false
}
