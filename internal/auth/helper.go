package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// helperLimit is how long a helper may take; helperTTL how long its key counts
// when the user does not say.
const (
	helperLimit = 30 * time.Second
	helperTTL   = 5 * time.Minute
)

// Credential is a key that is fetched when a request needs it and fetched again
// when it is old or refused. It is safe for concurrent use; callers that come
// while one fetches wait for its key.
type Credential struct {
	fetch func(ctx context.Context) (Secret, error)
	ttl   time.Duration
	now   func() time.Time

	turn chan struct{} // held by who reads or changes what follows
	key  Secret
	till time.Time
}

func newCredential(ttl time.Duration, fetch func(context.Context) (Secret, error)) *Credential {
	return &Credential{fetch: fetch, ttl: ttl, now: time.Now, turn: make(chan struct{}, 1)}
}

// Key returns the key for a request now.
func (c *Credential) Key(ctx context.Context) (Secret, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return Secret{}, context.Cause(ctx)
	}
	defer func() { <-c.turn }()
	if !c.key.IsZero() && c.now().Before(c.till) {
		return c.key, nil
	}
	key, err := c.fetch(ctx)
	if err != nil {
		return Secret{}, err
	}
	c.key, c.till = key, c.now().Add(c.ttl)
	return key, nil
}

// Forget drops a key that was refused, so that the next [Credential.Key]
// fetches one. A newer key stays.
func (c *Credential) Forget(refused Secret) {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	if c.key.Equal(refused) {
		c.key = Secret{}
	}
}

// helper returns the command that prints keys for a profile, and who wrote it.
// A command that stands alone in a file is for the profile that the file names
// or implies, else for claude-api.
func helper(l *config.Loaded, p catalog.Profile) (command, source string) {
	if command := l.Settings.Profiles[p.Name].KeyHelper; strings.TrimSpace(command) != "" {
		return command, "the helper in " + l.Origin("profiles."+p.Name+".api_key_helper").String()
	}
	for _, c := range slices.Backward(l.Choices) {
		if c.Helper == "" {
			continue
		}
		owner := c.Profile
		if owner == "" {
			owner = implies(c)
		}
		if owner == "" && c.BaseURL == "" {
			owner = "claude-api"
		}
		if owner == p.Name {
			return c.Helper, "the helper in " + layerName(c)
		}
	}
	return "", ""
}

// helperCredential makes a credential of a helper's command. Nothing is run yet.
func helperCredential(l *config.Loaded, command, source string) (*Credential, []string) {
	var warnings []string
	ttl := helperTTL
	const name = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS"
	if written, _, ok := l.Env(name); ok && strings.TrimSpace(written) != "" {
		ms, err := strconv.ParseInt(strings.TrimSpace(written), 10, 64)
		if err != nil || ms < 0 || ms > int64(time.Duration(1<<62)/time.Millisecond) {
			warnings = append(warnings, name+" must be a number of milliseconds; a key of the helper counts for "+helperTTL.String())
		} else {
			ttl = time.Duration(ms) * time.Millisecond
		}
	}
	return newCredential(ttl, func(ctx context.Context) (Secret, error) {
		return runHelper(ctx, command, l.Paths.Dir, Environ(l), source)
	}), warnings
}

// HelperError says that a helper gave no key.
type HelperError struct {
	Source string // whose helper
	Err    error
}

// Error implements error.
func (e *HelperError) Error() string {
	return fmt.Sprintf("%s gave no key: %v; correct api_key_helper, or remove it and store a key with: oh auth login", e.Source, e.Err)
}

// Unwrap returns the cause.
func (e *HelperError) Unwrap() error { return e.Err }

// Environ is the environment of this process for a child that is no tool:
// without the keys of model services.
func Environ(l *config.Loaded) []string {
	keys := Scrub(l, "")
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(keys, name)
	})
}

// runHelper runs a command of the shell and returns what it prints.
func runHelper(ctx context.Context, command, dir string, env []string, source string) (Secret, error) {
	limited, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	cmd := shell(limited, command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	out, errOut := &capped{max: maxKey + 1}, &capped{max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errOut
	err := cmd.Run()
	printed := strings.TrimSpace(out.String())
	switch {
	case ctx.Err() != nil:
		return Secret{}, context.Cause(ctx)
	case limited.Err() != nil:
		return Secret{}, &HelperError{source, fmt.Errorf("it took longer than %v", helperLimit)}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return Secret{}, &HelperError{source, fmt.Errorf("%w%s", err, said(errOut.String(), printed))}
	case printed == "":
		return Secret{}, &HelperError{source, fmt.Errorf("it printed nothing%s", said(errOut.String(), ""))}
	}
	key, err := clean(printed, source)
	if err != nil {
		return Secret{}, &HelperError{source, errors.New("what it printed is no key: one line without white space")}
	}
	return key, nil
}

// said shows what a helper wrote to stderr, without what it printed and without
// what may be a key that went astray.
func said(errOut, printed string) string {
	words := strings.Fields(printed)
	for _, word := range strings.Fields(errOut) {
		if word = strings.Trim(word, `"'(),;:`); mayBeKey(word) {
			words = append(words, word)
		}
	}
	for _, word := range words {
		if len(word) >= 6 {
			errOut = strings.ReplaceAll(errOut, word, "[hidden]")
		}
	}
	if errOut = text.OneLine(text.Clean(errOut), 300); errOut == "" {
		return ""
	}
	return ": " + errOut
}

// mayBeKey reports whether a word of a message may be a key: long, of letters
// and digits, and no path, address or time.
func mayBeKey(word string) bool {
	if i := strings.LastIndexByte(word, '='); i >= 0 && i < len(word)-1 {
		word = word[i+1:]
	}
	if _, known := catalog.ByKey(word); known {
		return true
	}
	return len(word) >= 12 && !strings.ContainsAny(word, "/:") && strings.ContainsAny(word, "0123456789") &&
		strings.ContainsFunc(word, unicode.IsLetter)
}

// capped keeps the beginning of what is written to it.
type capped struct {
	bytes.Buffer
	max int
}

// Write implements [io.Writer].
func (c *capped) Write(p []byte) (int, error) {
	if room := c.max - c.Len(); room > 0 {
		_, _ = c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
