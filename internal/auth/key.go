package auth

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// maxKey bounds a key that is read from a file or from stdin, in bytes.
const maxKey = 64 << 10

// key finds the key of the chosen profile: the flag's, the vendor's variable,
// the stored one, the one in the user's own settings, what a helper prints; else
// a cloud's own credentials.
func (r Request) key(ctx context.Context, a *Access) error {
	if r.Key != "" {
		return r.flagKey(a)
	}
	if found, err := r.variable(a); found || err != nil {
		return err
	}
	l, p := r.Settings, a.Profile
	own := settingsKey(l, p.Name)
	command, source := helper(l, p)
	keyless := p.Local || loopback(p.BaseURL)
	store, get := r.store(), Store.Get
	if r.Known || keyless || !own.IsZero() || command != "" || p.Chain != "" {
		get = Store.GetKnown
	}
	key, where, err := get(store, ctx, slot(p, l.Settings.Profiles[p.Name]))
	switch {
	case err != nil:
		return err
	case !key.IsZero() && expired(store, slot(p, l.Settings.Profiles[p.Name])):
		return &NoKey{Profile: p, Expired: true, Found: r.local(ctx), Path: store.Path}
	case !key.IsZero():
		a.Hold(key, where)
		if where == store.Path && open(where) {
			a.Warnings = append(a.Warnings, "others on this machine can read "+where+"; close it with: chmod 600 "+where)
		}
	case !own.IsZero():
		a.Source = "settings"
		a.Key, err = clean(own.Reveal(), a.Source)
		return err
	case command != "":
		a.helped(l, command, source)
	case p.Chain != "":
		a.Source, _ = chainSource(l, p.Chain)
	case !keyless:
		return &NoKey{Profile: p, Found: r.local(ctx), Path: store.Path}
	}
	return nil
}

// open reports whether others than its owner may read a file. Where modes do not
// say that, it does not.
func open(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o044 != 0
}

// Hold takes a key of the store: a bearer token where the service knows no other.
func (a *Access) Hold(key Secret, where string) {
	a.Key, a.Token, a.Credential = Secret{}, Secret{}, nil
	if a.Source = where; len(a.Profile.Keys) == 0 && len(a.Profile.Tokens) > 0 {
		a.Token = key
	} else {
		a.Key = key
	}
}

// helped makes the helper's command the source of keys.
func (a *Access) helped(l *config.Loaded, command, source string) {
	c, warnings := helperCredential(l, command, source)
	fetch, to := c.fetch, *a
	c.fetch = func(ctx context.Context) (Secret, error) {
		key, err := fetch(ctx)
		if err == nil {
			to.Key, to.Source = key, source
			err = astray(to)
		}
		return key, err
	}
	a.Credential, a.Source = c, source
	a.Warnings = append(a.Warnings, warnings...)
}

func (r Request) store() Store {
	if r.Store != nil {
		return *r.Store
	}
	return Open(r.Settings)
}

// variable takes the key or token of the first of the profile's variables that
// is set.
func (r Request) variable(a *Access) (found bool, err error) {
	keys := a.Profile.Keys
	for i, v := range append(slices.Clone(keys), a.Profile.Tokens...) {
		text, o, ok := r.Settings.Env(v)
		if !ok || strings.TrimSpace(text) == "" {
			continue
		}
		key, err := clean(text, v)
		if err != nil {
			return false, err
		}
		if a.Source = v; o.Scope != config.Env {
			a.Source = v + " in " + o.String()
		}
		if i < len(keys) {
			a.Key = key
		} else {
			a.Token = key
		}
		return true, nil
	}
	return false, nil
}

// slot is the name of a profile's key in the store. A profile of a user's own
// shares its vendor's only when it shares the vendor's variables too.
func slot(p catalog.Profile, user config.Profile) string {
	if user.Slot != "" {
		return "profile:" + user.Slot
	}
	if _, builtIn := catalog.Find(p.Name); builtIn {
		return p.Provider
	}
	return "profile:" + p.Name
}

// settingsKey returns the key that a file of the user's own gives for this very
// profile. A key that stands alone in a file is for the profile that the file
// names or implies, else for claude-api.
func settingsKey(l *config.Loaded, name string) Secret {
	if key := l.Settings.Profiles[name].Key; !key.IsZero() {
		return key
	}
	for _, c := range slices.Backward(l.Choices) {
		if c.Key.IsZero() {
			continue
		}
		owner := c.Profile
		if owner == "" {
			owner = implies(c)
		}
		if owner == "" && c.BaseURL == "" {
			owner = "claude-api"
		}
		if owner == name {
			return c.Key
		}
	}
	return Secret{}
}

// ReadKey reads the key that --api-key gives, apart from any profile. warning is
// to be told; "" for none.
func (r Request) ReadKey() (key Secret, warning string, err error) {
	var a Access
	if err := r.flagKey(&a); err != nil {
		return Secret{}, "", err
	}
	return a.Key, strings.Join(a.Warnings, "; "), nil
}

// flagKey reads --api-key.
func (r Request) flagKey(a *Access) error {
	fault := func(problem string) error { return &config.Error{File: "--api-key", Problem: problem} }
	var text string
	switch {
	case r.Key == "-":
		if r.Stdin == nil {
			return fault("- reads the key from stdin, but there is none")
		}
		data, err := io.ReadAll(io.LimitReader(r.Stdin, maxKey+1))
		if err != nil {
			return fault("stdin cannot be read: " + err.Error())
		}
		text, a.Source = string(data), "stdin"
	case strings.HasPrefix(r.Key, "env:"):
		name := strings.TrimSpace(strings.TrimPrefix(r.Key, "env:"))
		if !variableName(name) {
			return fault("env: takes the name of a variable, such as env:MY_KEY")
		}
		v, _, ok := r.Settings.Env(name)
		if !ok || strings.TrimSpace(v) == "" {
			return fault(fmt.Sprintf("the variable %s is not set", name))
		}
		text, a.Source = v, name
	case strings.HasPrefix(r.Key, "file:"):
		var err error
		if text, a.Source, err = r.keyFile(strings.TrimPrefix(r.Key, "file:")); err != nil {
			return fault(err.Error())
		}
	default:
		text, a.Source = r.Key, "--api-key"
		a.Warnings = append(a.Warnings, "a key on the command line can be seen by other programs and stays in the shell's history; use --api-key env:NAME, file:PATH or -")
	}
	key, err := clean(text, a.Source)
	if err != nil {
		return err
	}
	a.Key = key
	return nil
}

// variableName tells the name of a variable from a key that was given by
// mistake, which no error may show.
func variableName(s string) bool {
	if _, key := catalog.ByKey(s); s == "" || key {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

func (r Request) keyFile(path string) (text, name string, err error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(r.Settings.Paths.Home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Settings.Paths.Dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", "", fmt.Errorf("the key file cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", "", fmt.Errorf("the key file cannot be read: %w", err)
	}
	return string(data), path, nil
}

// clean trims a key and refuses one that no header can carry. The error never
// shows it.
func clean(text, source string) (Secret, error) {
	text = strings.TrimSpace(text)
	problem := ""
	switch {
	case text == "":
		problem = "the key is empty"
	case len(text) > maxKey:
		problem = "the key is longer than any key is"
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f {
			problem = "the key holds white space or characters that no key has; check how it was copied"
			break
		}
	}
	if problem != "" {
		return Secret{}, &config.Error{File: source, Problem: problem}
	}
	return config.NewSecret(text), nil
}
