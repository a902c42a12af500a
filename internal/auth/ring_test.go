package auth

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/internal/auth/ring"
	"github.com/openharness/oh/internal/config"
)

// fakeRing is a keyring in memory. With err it is one that does not work.
type fakeRing struct {
	entries map[string]string
	err     error
	asked   int
}

func (f *fakeRing) Get(_ context.Context, entry string) (string, error) {
	f.asked++
	if f.err != nil {
		return "", f.err
	}
	if s, ok := f.entries[entry]; ok {
		return s, nil
	}
	return "", ring.ErrNoEntry
}

func (f *fakeRing) Set(_ context.Context, entry, secret string) error {
	if f.err == nil {
		f.entries[entry] = secret
	}
	return f.err
}

func (f *fakeRing) Delete(_ context.Context, entry string) error {
	if f.err != nil {
		return f.err
	}
	if _, ok := f.entries[entry]; !ok {
		return ring.ErrNoEntry
	}
	delete(f.entries, entry)
	return nil
}

func ringStore(t *testing.T, file string) (Store, *fakeRing) {
	t.Helper()
	r := &fakeRing{entries: map[string]string{}}
	s := Store{Path: filepath.Join(t.TempDir(), "c.json"), Ring: r}
	if file != "" {
		if err := os.WriteFile(s.Path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s, r
}

func content(t *testing.T, s Store) string {
	t.Helper()
	data, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(data)), "")
}

// TestRing: a key goes to the keyring, and then the file has it no more.
func TestRing(t *testing.T) {
	s, r := ringStore(t, `{"openai": {"api_key": "old", "x": 1}}`)
	where, why, err := s.Put(t.Context(), "openai", config.NewSecret("sk-new"), map[string]string{"domain": "d.example", "gone": ""})
	if where != inRing || why != nil || err != nil {
		t.Fatal(where, why, err)
	}
	if diff := cmp.Diff(map[string]string{"openai:api_key": "sk-new"}, r.entries); diff != "" {
		t.Error(diff)
	}
	if got := content(t, s); got != `{"openai":{"domain":"d.example","keyring":true,"x":1}}` {
		t.Error(got)
	}
	key, where, err := s.Get(t.Context(), "openai")
	if key.Reveal() != "sk-new" || where != inRing || err != nil {
		t.Error(key, where, err)
	}
	if names, err := s.Names(); strings.Join(names, " ") != "openai" || err != nil {
		t.Error(names, err)
	}
	if d, err := s.Detail("openai", "domain"); d != "d.example" || err != nil {
		t.Error(d, err)
	}
	if was, err := s.Clear(t.Context(), "openai"); !was || err != nil || len(r.entries) != 0 {
		t.Error(was, err, r.entries)
	}
	if got := content(t, s); got != "{}" {
		t.Error(got)
	}
}

// TestRingThatDoesNotWork: the file takes the key instead, and what only the
// keyring has is told.
func TestRingThatDoesNotWork(t *testing.T) {
	s, r := ringStore(t, `{"a": {"keyring": true}}`)
	r.err = ring.ErrSilent
	where, why, err := s.Put(t.Context(), "b", config.NewSecret("kb"), nil)
	if where != s.Path || !errors.Is(why, ring.ErrSilent) || err != nil {
		t.Error(where, why, err)
	}
	if got := content(t, s); got != `{"a":{"keyring":true},"b":{"api_key":"kb"}}` {
		t.Error(got)
	}
	if _, _, err := s.Get(t.Context(), "a"); !errors.Is(err, ring.ErrSilent) || !strings.Contains(err.Error(), "the key of a is in the system's keyring and cannot be read") {
		t.Error(err)
	}
	if _, err := s.Clear(t.Context(), "a"); !errors.Is(err, ring.ErrSilent) {
		t.Error(err)
	}
	if key, _, err := s.Get(t.Context(), "c"); !key.IsZero() || err != nil {
		t.Error(key, err)
	}
	if was, err := s.Clear(t.Context(), "b"); !was || err != nil {
		t.Error(was, err)
	}
	off := Store{Path: s.Path}
	if _, _, err := off.Get(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Error(err)
	}
	if _, err := off.Clear(t.Context(), "a"); err == nil {
		t.Error("a key that stays in the keyring is told to be gone")
	}
}

// TestRingOfOthers: what another program stored under the same names is found
// when it is asked for, and is not asked for where it rarely is.
func TestRingOfOthers(t *testing.T) {
	s, r := ringStore(t, "")
	r.entries["groq:api_key"] = "gsk_x"
	if key, where, err := s.Get(t.Context(), "groq"); key.Reveal() != "gsk_x" || where != inRing || err != nil {
		t.Error(key, where, err)
	}
	before := r.asked
	if key, _, err := s.GetKnown(t.Context(), "groq"); !key.IsZero() || err != nil || r.asked != before {
		t.Error(key, err, r.asked)
	}
	if was, err := s.Clear(t.Context(), "groq"); !was || err != nil || len(r.entries) != 0 {
		t.Error(was, err)
	}
}

// TestDamagedStoreKeepsTheRing: with a damaged file nothing is put anywhere.
func TestDamagedStoreKeepsTheRing(t *testing.T) {
	s, r := ringStore(t, "{")
	if _, _, err := s.Put(t.Context(), "x", config.NewSecret("k"), nil); !errors.Is(err, ErrCorrupt) || len(r.entries) != 0 {
		t.Error(err, r.entries)
	}
}

func TestOpen(t *testing.T) {
	for env, want := range map[string]bool{"": true, "OPENHARNESS_KEYRING=off": false} {
		if got := Open(scene{env: env}.request(t).Settings).Ring != nil; got != want {
			t.Errorf("%q: a keyring is %v", env, got)
		}
	}
}

func newSecret(s string) Secret { return config.NewSecret(s) }
