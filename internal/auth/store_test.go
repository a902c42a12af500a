package auth

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openharness/oh/internal/config"
)

func fileStore(path string) Store { return Store{Path: path} }

func TestStore(t *testing.T) {
	s := fileStore(filepath.Join(t.TempDir(), "new", "credentials.json"))
	if key, _, err := s.Get(t.Context(), "anthropic"); !key.IsZero() || err != nil {
		t.Fatal(key, err)
	}
	if _, err := os.Stat(filepath.Dir(s.Path)); !errors.Is(err, os.ErrNotExist) {
		t.Error("reading made the folder")
	}
	for name, key := range map[string]string{"anthropic": " sk-secret-a\n", "profile:w": "sk-secret-w"} {
		if _, _, err := s.Put(t.Context(), name, config.NewSecret(key), nil); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(s.Path)
	if err != nil || filepath.Separator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	key, where, err := s.Get(t.Context(), "anthropic")
	if err != nil || where != s.Path || key.Reveal() != "sk-secret-a" || fmt.Sprint(key) != "[hidden]" {
		t.Error(key, where, err)
	}
	names, err := s.Names()
	if err != nil || strings.Join(names, " ") != "anthropic profile:w" {
		t.Error(names, err)
	}
	if was, err := s.Clear(t.Context(), "anthropic"); !was || err != nil {
		t.Error(was, err)
	}
	if was, err := s.Clear(t.Context(), "anthropic"); was || err != nil {
		t.Error(was, err)
	}
	if key, _, _ := s.Get(t.Context(), "anthropic"); !key.IsZero() {
		t.Error("the key is still there")
	}
}

func TestStoreKeepsWhatItDoesNotKnow(t *testing.T) {
	s := fileStore(filepath.Join(t.TempDir(), "c.json"))
	before := `{"openai_codex": {"external_binding": {"provider": "openai_codex", "n": 12345678901234567890}}, "openai": {"api_key": "old", "x": [1]}}`
	if err := os.WriteFile(s.Path, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(t.Context(), "openai", config.NewSecret("a&b<c>"), nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.Path)
	want := "{\n  \"openai\": {\n    \"api_key\": \"a&b<c>\",\n    \"x\": [\n      1\n    ]\n  },\n  \"openai_codex\": {\n    \"external_binding\": {\n      \"provider\": \"openai_codex\",\n      \"n\": 12345678901234567890\n    }\n  }\n}\n"
	if err != nil || string(data) != want {
		t.Errorf("%s %v", data, err)
	}
	if info, err := os.Stat(s.Path); err != nil || filepath.Separator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v: others could read the keys", info.Mode())
	}
}

func TestDamagedStoreIsNeverOverwritten(t *testing.T) {
	for _, text := range []string{"{", "[]", "null", `{"a": 1}`, `"sk-secret"`} {
		s := fileStore(filepath.Join(t.TempDir(), "c.json"))
		if err := os.WriteFile(s.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err1 := s.Get(t.Context(), "x")
		_, err2 := s.Names()
		_, _, err3 := s.Put(t.Context(), "x", config.NewSecret("k"), nil)
		_, err4 := s.Clear(t.Context(), "x")
		for _, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, ErrCorrupt) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", text, err)
			}
		}
		if data, _ := os.ReadFile(s.Path); string(data) != text {
			t.Errorf("%s was overwritten by %s", text, data)
		}
	}
	s := fileStore(filepath.Join(t.TempDir(), "c.json"))
	if err := os.WriteFile(s.Path, []byte(`{"x": {"api_key": 7}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(t.Context(), "x"); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestStoreRefusesBadKeys(t *testing.T) {
	s := fileStore(filepath.Join(t.TempDir(), "c.json"))
	for _, key := range []string{"", "  ", "a b", "a\nb", "ключ", strings.Repeat("x", maxKey+1)} {
		if _, _, err := s.Put(t.Context(), "x", config.NewSecret(key), nil); err == nil {
			t.Errorf("%q was stored", key)
		}
	}
	if _, _, err := s.Put(t.Context(), "", config.NewSecret("k"), nil); err == nil {
		t.Error("a key without a name was stored")
	}
	if _, err := os.Stat(s.Path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file was made")
	}
}

func TestConcurrentPuts(t *testing.T) {
	s := fileStore(filepath.Join(t.TempDir(), "c.json"))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, _, err := s.Put(t.Context(), fmt.Sprintf("p%d", i), config.NewSecret("k"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if names, err := s.Names(); len(names) != 20 || err != nil {
		t.Errorf("%d names: %v", len(names), err)
	}
}

func TestSlot(t *testing.T) {
	r := scene{user: `{"profiles": {"gw": {"base_url": "https://gw.example"}, "s": {"credential_slot": "x"}}}`}.request(t)
	for name, want := range map[string]string{"claude-api": "anthropic", "qwen": "dashscope", "gw": "profile:gw", "s": "profile:x"} {
		if got, err := Slot(r.Settings, name); got != want || err != nil {
			t.Errorf("Slot(%s) = %s %v", name, got, err)
		}
	}
	for _, name := range []string{"nobody", "codex"} {
		if _, err := Slot(r.Settings, name); err == nil {
			t.Errorf("%s has a slot", name)
		}
	}
}

func FuzzStore(f *testing.F) {
	f.Add([]byte(`{"anthropic": {"api_key": "k"}}`))
	f.Add([]byte(`{"a": {"api_key": null}, "b": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := fileStore("c.json")
		c, err := s.decode(data)
		if (err == nil) != (c != nil) {
			t.Error("neither content nor error")
		}
	})
}
