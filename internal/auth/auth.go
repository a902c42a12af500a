// Package auth decides which model service is used and which key it gets.
//
// The settings say what a user wants (package config), the catalogue what
// there is (package catalog); this package brings both together with the
// environment and the credentials file. It speaks to no service.
//
// Guarantees: a key goes only to the profile it belongs to: a vendor's variable
// to that vendor's profiles, a stored key to the profile it was stored for, a
// key in a settings file to the profile named in that file. Keys print as
// [hidden], and no error holds one. Nothing that comes from the environment or
// a flag is written to disk.
package auth

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// Secret is a key or token that prints as [hidden].
type Secret = config.Secret

// Request asks for access to a model service.
type Request struct {
	Settings *config.Loaded
	Key      string    // --api-key as written: env:NAME, file:PATH, - or the key itself
	Stdin    io.Reader // for -

	// Local finds servers to name when there is no key; nil asks the usual
	// ports of this machine.
	Local func(ctx context.Context) []catalog.Server
	Store *Store // nil: that of the settings
	Known bool   // the keyring is asked only for what the credentials file says it holds
}

// Access is a model service with what is needed to use it.
type Access struct {
	Profile catalog.Profile // with the user's changes laid over it
	Why     string          // who chose the profile, for people
	Asked   string          // the model as it was chosen; see [Access.Model]
	Key     Secret          // for the vendor's key header; none for local servers
	Token   Secret          // a bearer token instead of Key
	Source  string          // where the key came from, for people; "" without one

	// Credential is set instead of Key when a key must be fetched, and fetched
	// anew from time to time; see [Renewing].
	Credential *Credential

	Allowed   []string // models that the profile is limited to; nil for all
	Window    int      // tokens; 0 unless the profile sets it
	CompactAt int      // tokens; 0 unless the profile sets it
	Notes     []string // to be told to the user
	Warnings  []string // likewise, and not to be missed
}

// Model returns the id to ask for. "" means that the server is to be asked
// what it has (only local profiles). plan is whether the mode is plan.
func (a Access) Model(plan bool) string { return catalog.Alias(a.Profile, a.Asked, plan) }

// With returns the access with a fetched key. On Anthropic's wire a gateway of
// the user's own gets it as a bearer token too, which some want.
func (a Access) With(key Secret) Access {
	a.Key, a.Credential = key, nil
	if own, ok := catalog.ByURL(a.Profile.BaseURL); a.Profile.Wire == catalog.Anthropic && !(ok && own.Wire == catalog.Anthropic) {
		a.Token = key
	}
	return a
}

// Resolve chooses the profile, its address and model, and finds its key. A
// wrong choice or key flag is an [*config.Error], a missing key a [*NoKey].
func Resolve(ctx context.Context, r Request) (Access, error) {
	a, err := Choose(ctx, r)
	if err != nil {
		return Access{}, err
	}
	if err := r.key(ctx, &a); err != nil {
		return Access{}, err
	}
	if err := astray(a); err != nil {
		return Access{}, err
	}
	return a, nil
}

// astray refuses to send a key that is plainly one vendor's to another's
// address. A gateway of the user's own may take any key.
func astray(a Access) error {
	owner, known := catalog.ByKey(a.Key.Reveal())
	to, vendor := catalog.ByURL(a.Profile.BaseURL)
	if a.Key.IsZero() || !known || !vendor || owner.Provider == to.Provider {
		return nil
	}
	return &config.Error{File: a.Source, Problem: fmt.Sprintf("the key looks like one of %s and is not sent to %s; choose --profile %s, or give a key of %s",
		owner.Label, to.Label, owner.Name, to.Label)}
}

// Choose is Resolve without the key: for listings and for storing one.
func Choose(ctx context.Context, r Request) (Access, error) {
	a, c, err := r.choose(ctx)
	if err != nil {
		return Access{}, err
	}
	if a.Profile.Missing != "" {
		o := r.Settings.Origin("active_profile")
		return Access{}, &config.Error{File: place(o), Line: o.Line, Key: "active_profile",
			Problem: fmt.Sprintf("%s: %s", a.Profile.Name, a.Profile.Missing)}
	}
	r.address(&a, c)
	if err := r.checkAddress(a.Profile); err != nil {
		return Access{}, err
	}
	r.model(&a, c)
	return a, nil
}

// checkAddress refuses a profile without an address, unless it is found by
// where in its cloud the account is.
func (r Request) checkAddress(p catalog.Profile) error {
	switch err := CheckURL(p.BaseURL); {
	case p.BaseURL == "" && p.Chain != "":
		return nil
	case p.BaseURL == "":
		problem := "is missing: say where the service is"
		if len(p.Bases) > 0 {
			problem += ", here or in " + strings.Join(p.Bases, " or ")
		}
		return &config.Error{File: "settings", Key: "profiles." + p.Name + ".base_url", Problem: problem}
	case err != nil:
		o := r.Settings.Origin("base_url")
		return &config.Error{File: place(o), Line: o.Line, Key: "base_url", Problem: err.Error()}
	}
	return nil
}

// CheckURL says what is wrong with the address of a service.
func CheckURL(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%q must be an address that begins with http:// or https://", config.HideUser(base))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("%q: a port is a number from 1 to 65535", config.HideUser(base))
		}
	}
	return nil
}

// CheckKey refuses to store a key that is plainly one of another vendor than
// the profile's.
func CheckKey(p catalog.Profile, key Secret) error {
	if astray(Access{Profile: p, Key: key}) == nil {
		return nil
	}
	owner, _ := catalog.ByKey(key.Reveal())
	return &config.Error{File: "the key", Problem: fmt.Sprintf("it looks like one of %s and is not stored for %s; for that profile: oh auth login %s", owner.Label, p.Name, owner.Name)}
}

func place(o config.Origin) string {
	if o.File == "" {
		return "settings"
	}
	return o.File
}

// NoKey says that a profile has no key, or that no profile could be chosen for
// want of any key.
type NoKey struct {
	Profile catalog.Profile  // the zero value when none could be chosen
	Expired bool             // there was one, which does not count any more
	Found   []catalog.Server // on this machine
	Path    string           // of the credentials file
}

// Error implements error: what is missing and what to do, in three lines.
func (e *NoKey) Error() string {
	var b strings.Builder
	name, login := "ANTHROPIC_API_KEY (or another vendor's)", "claude-api"
	if e.Profile.Name == "" {
		b.WriteString("no model is set up: there is no key in the environment and none is stored")
	} else {
		login = e.Profile.Name
		if fmt.Fprintf(&b, "there is no key for the profile %s", e.Profile.Name); e.Expired {
			b.WriteString(" any more: the login has expired")
		}
		if name = strings.Join(e.Profile.Keys, " or "); name == "" {
			name = "profiles." + e.Profile.Name + ".api_key_env in your settings to the name of a variable"
		}
	}
	if e.Profile.Provider == "copilot" {
		fmt.Fprintf(&b, "\nlog in with: oh auth login %s", login)
	} else {
		fmt.Fprintf(&b, "\nset %s, or store a key with: oh auth login %s (oh setup asks for all of it)", name, login)
	}
	if len(e.Found) == 0 {
		b.WriteString("\nor use a model on this machine (Ollama, llama.cpp, LM Studio, vLLM): none is running now")
		return b.String()
	}
	b.WriteString("\nor use what runs on this machine: ")
	for i, s := range e.Found {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (oh --profile %s", s.Label, s.Profile)
		if p, _ := catalog.Find(s.Profile); s.BaseURL != "" && s.BaseURL != p.BaseURL {
			fmt.Fprintf(&b, " --base-url %s", s.BaseURL)
		}
		if len(s.Models) > 0 {
			fmt.Fprintf(&b, " --model %s", s.Models[0])
		}
		b.WriteString(")")
	}
	return b.String()
}

// Scrub returns the names of variables that no child process may get: keys and
// tokens of all profiles, the one that --api-key names, and what tells that an
// SDK drives this process.
func Scrub(l *config.Loaded, keyFlag string) []string {
	names := append(catalog.Variables(), "OPENHARNESS_VISION_API_KEY", "OPENHARNESS_IMAGE_GENERATION_API_KEY",
		"CLAUDE_AGENT_SDK_VERSION", "CLAUDE_CODE_ENTRYPOINT")
	if name, ok := strings.CutPrefix(keyFlag, "env:"); ok {
		names = append(names, strings.TrimSpace(name))
	}
	if l != nil {
		for _, p := range l.Settings.Profiles {
			if p.KeyEnv != "" {
				names = append(names, p.KeyEnv)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// loopback reports whether an address is this machine's own.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

func sameHost(a, b string) bool {
	x, err1 := url.Parse(a)
	y, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && x.Host != "" && strings.EqualFold(x.Host, y.Host) && x.Scheme == y.Scheme
}
