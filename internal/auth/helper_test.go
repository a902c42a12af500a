//go:build unix

package auth

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestHelper(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"echo sk-secret-1", "sk-secret-1"},
		{"printf '  k\\n\\n'; echo chatter >&2", "k"},
		{"exit 3", "the helper gave no key: exit status 3"},
		{"echo sk-secret-1; echo no vault for sk-secret-1 >&2; exit 1", "the helper gave no key: exit status 1: no vault for [hidden]"},
		{"true", "the helper gave no key: it printed nothing"},
		{"echo asleep >&2", "the helper gave no key: it printed nothing: asleep"},
		{"echo sk-secret two", "the helper gave no key: what it printed is no key: one line without white space"},
		{"head -c 100000 /dev/zero | tr '\\0' x", "the helper gave no key: what it printed is no key: one line without white space"},
		{"no-such-command-at-all", "the helper gave no key: exit status 127: "},
		{"sleep 5 & echo k", "k"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			key, err := runHelper(t.Context(), tt.command, t.TempDir(), os.Environ(), "the helper")
			got := key.Reveal()
			if err != nil {
				got = err.Error()
				if _, ok := errors.AsType[*HelperError](err); !ok {
					t.Errorf("%T", err)
				}
			}
			if !strings.HasPrefix(got, tt.want) || strings.Contains(got, "sk-secret ") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runHelper(ctx, "echo k", t.TempDir(), os.Environ(), "h"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCredential: one fetch at a time, kept until it is old or refused.
func TestCredential(t *testing.T) {
	now, n := time.Unix(0, 0), 0
	c := newCredential(time.Minute, func(context.Context) (Secret, error) { n++; return newSecret(fmt.Sprint("k", n)), nil })
	c.now = func() time.Time { return now }
	get := func() string {
		key, err := c.Key(t.Context())
		if err != nil {
			t.Error(err)
		}
		return key.Reveal()
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := get(); got != "k1" {
				t.Error(got)
			}
		})
	}
	wg.Wait()
	now = now.Add(59 * time.Second)
	got := []string{get()}
	now = now.Add(time.Second)
	got = append(got, get())
	c.Forget(newSecret("k1"))
	got = append(got, get())
	c.Forget(newSecret("k2"))
	got = append(got, get())
	if diff := cmp.Diff([]string{"k1", "k2", "k2", "k3"}, got); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.turn <- struct{}{}
	if _, err := c.Key(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// service answers 401 to all keys but one.
type service struct {
	key, good string
	seen      *[]string
	began     bool // the refusal comes after a chunk
}

func (s service) Stream(context.Context, *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		*s.seen = append(*s.seen, s.key)
		if s.began && !yield(oh.TextDelta{Text: "x"}, nil) {
			return
		}
		if s.key != s.good {
			yield(nil, &oh.Error{Op: "s", Kind: oh.KindAuth, Status: 401})
			return
		}
		yield(oh.MessageDone{}, nil)
	}
}

func TestRenewing(t *testing.T) {
	for _, tt := range []struct {
		name, good string
		began      bool
		fail       error
		seen       []string
		want       string
	}{
		{"at once", "k1", false, nil, []string{"k1"}, "done"},
		{"the second", "k2", false, nil, []string{"k1", "k2"}, "done"},
		{"never", "x", false, nil, []string{"k1", "k2"}, "s: 401 auth"},
		{"after a chunk", "k2", true, nil, []string{"k1"}, "chunk s: 401 auth"},
		{"no key", "k1", false, errors.New("no vault"), nil, "key auth: no vault"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			c := newCredential(time.Hour, func(context.Context) (Secret, error) { n++; return newSecret(fmt.Sprint("k", n)), tt.fail })
			var seen, got []string
			p := Renewing(c, func(key Secret) (oh.Provider, error) { return service{key.Reveal(), tt.good, &seen, tt.began}, nil })
			for chunk, err := range p.Stream(t.Context(), &oh.Request{}) {
				switch {
				case err != nil:
					got = append(got, err.Error())
				case chunk == oh.Chunk(oh.TextDelta{Text: "x"}):
					got = append(got, "chunk")
				default:
					got = append(got, "done")
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
			if diff := cmp.Diff(tt.seen, seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWhoseHelper: a helper's key goes to the profile that its file means, and
// everything else comes first.
func TestWhoseHelper(t *testing.T) {
	const own = `{"profiles": {"groq": {"api_key_helper": "echo gsk_h"}}}`
	for _, tt := range []struct {
		name, profile string
		s             scene
		want          string // the key, or the beginning of the error
	}{
		{"claude's file", "claude-api", scene{claude: `{"apiKeyHelper": "echo k"}`}, "k"},
		{"not for others", "openai-compatible", scene{claude: `{"apiKeyHelper": "echo k"}`}, "!there is no key"},
		{"of the file's profile", "groq", scene{user: `{"active_profile": "groq", "api_key_helper": "echo k"}`}, "k"},
		{"not of another", "claude-api", scene{user: `{"active_profile": "groq", "api_key_helper": "echo k"}`}, "!there is no key"},
		{"claude's name in our file", "claude-api", scene{user: `{"apiKeyHelper": "echo k"}`}, "k"},
		{"a profile's own", "groq", scene{user: own, claude: `{"apiKeyHelper": "echo k"}`}, "gsk_h"},
		{"a variable first", "groq", scene{user: own, env: "GROQ_API_KEY=v"}, "v"},
		{"a stored key first", "groq", scene{user: own, credentials: `{"groq": {"api_key": "st"}}`}, "st"},
		{"a key of the settings first", "groq", scene{user: `{"profiles": {"groq": {"api_key": "set", "api_key_helper": "echo gsk_h"}}}`}, "set"},
		{"a trusted project's", "claude-api", scene{project: `{"api_key_helper": "echo k"}`}, "k"},
		{"another vendor's key", "groq", scene{user: `{"profiles": {"groq": {"api_key_helper": "echo sk-ant-x"}}}`}, "!the helper in "},
		{"the folder", "claude-api", scene{claude: `{"apiKeyHelper": "basename $PWD"}`}, "p"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.flags = profileFlag(tt.profile)
			r := tt.s.request(t)
			a, err := Resolve(t.Context(), r)
			key := a.Key
			if err == nil && a.Credential != nil {
				key, err = a.Credential.Key(t.Context())
			}
			got := key.Reveal()
			if err != nil {
				got = "!" + err.Error()
			}
			if strings.HasPrefix(tt.want, "!") && strings.HasPrefix(got, tt.want) {
				return
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHelperRunsLate: resolving runs nothing.
func TestHelperRunsLate(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	r := scene{claude: `{"apiKeyHelper": "touch ` + mark + `; echo k"}`, flags: profileFlag("claude-api"), env: "CLAUDE_CODE_API_KEY_HELPER_TTL_MS=soon"}.request(t)
	a, err := Resolve(t.Context(), r)
	if err != nil || a.Credential == nil || !strings.HasPrefix(a.Source, "the helper in ") {
		t.Fatalf("%+v %v", a, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the helper ran")
	}
	if len(a.Warnings) != 1 || !strings.HasPrefix(a.Warnings[0], "CLAUDE_CODE_API_KEY_HELPER_TTL_MS must be") {
		t.Error(a.Warnings)
	}
	if _, err := a.Credential.Key(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("the helper did not run")
	}
	if own := (Access{}).With(newSecret("k")); own.Key.Reveal() != "k" || !own.Token.IsZero() {
		t.Errorf("%+v", own)
	}
	a.Profile.BaseURL = "https://gateway.example"
	if own := a.With(newSecret("k")); own.Token.Reveal() != "k" || own.Credential != nil {
		t.Errorf("%+v", own)
	}
}

func TestSaid(t *testing.T) {
	for _, tt := range []struct{ errOut, printed, want string }{
		{"oops", "", ": oops"},
		{"bad secret1", "secret1", ": bad [hidden]"},
		{"CANARY-7f3a9e1b", "", ": [hidden]"},
		{"the key is 'eyJhbGciOi1.abc.d', and old", "", ": the key is '[hidden]', and old"},
		{"token=sk-ant-x", "", ": [hidden]"},
		{"sk-ant-x", "", ": [hidden]"},
		{"/bin/sh: 1: /opt/helper-1.22.333/run: not found", "", ": /bin/sh: 1: /opt/helper-1.22.333/run: not found"},
		{"2026-12-01T10:00:00Z unauthorised: authentication-failed", "", ": 2026-12-01T10:00:00Z unauthorised: authentication-failed"},
	} {
		if got := said(tt.errOut, tt.printed); got != tt.want {
			t.Errorf("%q is told as %q, want %q", tt.errOut, got, tt.want)
		}
	}
}

// TestHelperEnviron: a helper has the environment, without the keys of other
// services, which may not be gone from it yet.
func TestHelperEnviron(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-other")
	t.Setenv("MY_THING", "own")
	t.Setenv("VAULT_TOKEN", "vault")
	r := scene{user: `{"active_profile": "gw", "profiles": {"gw": {"base_url": "https://gw.example/v1", "api_key_helper": "echo ${OPENAI_API_KEY:-none}-${MY_THING:-none}-$VAULT_TOKEN"}, "other": {"base_url": "https://o.example", "api_key_env": "MY_THING"}}}`}.request(t)
	a, err := Resolve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := a.Credential.Key(t.Context()); key.Reveal() != "none-none-vault" || err != nil {
		t.Errorf("%q %v", key.Reveal(), err)
	}
}
