package setting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// table is a Settings in memory.
type table struct {
	entries []Entry
	file    string
	bad     error // of Set
	broken  error // of List
	wrote   []string
}

func (t *table) List() ([]Entry, error) { return t.entries, t.broken }

func (t *table) Get(key string) (Entry, error) {
	if key == "permissions.defaultMode" {
		key = "permission.mode"
	}
	for _, e := range t.entries {
		if e.Key == key {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("%q is no setting", key)
}

func (t *table) Set(_ context.Context, key, value string) error {
	if t.bad == nil {
		t.wrote = append(t.wrote, key+"="+value)
	}
	return t.bad
}

func (t *table) File() string { return t.file }

func newTable(t *testing.T) *table {
	return &table{file: filepath.Join(t.TempDir(), "settings.json"), entries: []Entry{
		{Key: "api_key", Value: json.RawMessage(`"sk-secret"`), Origin: "user"},
		{Key: "theme", Value: json.RawMessage(`"default"`)},
		{Key: "max_turns", Value: json.RawMessage(`7`), Origin: "/p/settings.json:3"},
		{Key: "memory.max_files", Value: json.RawMessage(`5`)},
		{Key: "memory.enabled", Value: json.RawMessage(`true`), Origin: "user"},
		{Key: "permission.mode", Value: json.RawMessage(`"default"`)},
		{Key: "image_generation.api_key", Value: json.RawMessage(`""`)},
	}}
}

func prepare(t *testing.T, s Settings, input string) (oh.Action, error) {
	t.Helper()
	return New(s).Prepare(t.Context(), &oh.Call{ID: "c", Name: name, Input: json.RawMessage(input), Env: &oh.Env{}})
}

func run(t *testing.T, act oh.Action) (string, error) {
	t.Helper()
	res, err := act.Run(t.Context(), func(e oh.Event) { t.Errorf("emits %v", e) })
	return res.Content.Text(), err
}

func TestReads(t *testing.T) {
	for _, c := range []struct{ input, want, fails string }{
		{input: `{}`, want: "api_key = [hidden] (user)\nmax_turns = 7 (/p/settings.json:3)\nmemory.enabled = true (user)\n3 of 7 settings set; give a key to see defaults too."},
		{input: `{"action":"show","key":"memory"}`, want: "memory.max_files = 5 (default)\nmemory.enabled = true (user)"},
		{input: `{"action":"show","key":"theme"}`, want: `theme = "default" (default)`},
		{input: `{"action":"get","key":" theme "}`, want: `theme = "default" (default)`},
		{input: `{"action":"get","key":"api_key"}`, want: `api_key = [hidden] (user)`},
		{input: `{"action":"get","key":"image_generation.api_key"}`, want: `image_generation.api_key = "" (default)`},
		{input: `{"action":"show","key":"permissions.defaultMode"}`, want: `permission.mode = "default" (default)`},
		{input: `{"action":"show","key":"themes"}`, fails: `"themes" is no setting`},
		{input: `{"action":"get","key":"mem"}`, fails: `"mem" is no setting`},
	} {
		act, err := prepare(t, newTable(t), c.input)
		if err != nil {
			t.Errorf("%s: %v", c.input, err)
			continue
		}
		if diff := cmp.Diff(oh.Access{ReadOnly: true}, act.Access); diff != "" {
			t.Error(diff)
		}
		got, err := run(t, act)
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%s: %q, %v", c.input, got, err)
		}
	}
}

func TestListFails(t *testing.T) {
	s := newTable(t)
	s.broken = errors.New("disk")
	act, err := prepare(t, s, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, act); !errors.Is(err, s.broken) {
		t.Errorf("got %v", err)
	}
}

func TestLongListIsCut(t *testing.T) {
	s := &table{}
	for i := range 1000 {
		s.entries = append(s.entries, Entry{Key: fmt.Sprintf("enabled_plugins.n%d", i), Value: json.RawMessage(`"` + strings.Repeat("é", 1000) + `"`), Origin: "user"})
	}
	act, err := prepare(t, s, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(t, act)
	if err != nil || len(got) > mostText+2*mostValue+1000 || !strings.Contains(got, " more: give a key") || !strings.HasSuffix(got, "\n1,000 of 1,000 settings set; give a key to see defaults too.") {
		t.Errorf("%d bytes, %v: …%s", len(got), err, got[max(0, len(got)-200):])
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct{ input, wrote, text, preview string }{
		{`{"action":"set","key":"theme","value":"dark"}`, `theme=dark`, `Set theme to dark in {file}. It counts from the next session on.`, `theme: "default" → dark`},
		{`{"action":"set","key":"max_turns","value":12345678901234}`, `max_turns=12345678901234`, `Set max_turns to 12345678901234 in {file}. It counts from the next session on.`, `max_turns: 7 → 12345678901234`},
		{`{"action":"set","key":"theme","value":""}`, `theme=`, `Set theme to "" in {file}. It counts from the next session on.`, `theme: "default" → ""`},
		{`{"action":"set","key":"memory.enabled","value":"false"}`, `memory.enabled=false`, `Set memory.enabled to false in {file}. It counts from the next session on.`, `memory.enabled: true → false`},
	} {
		s := newTable(t)
		act, err := prepare(t, s, c.input)
		if err != nil {
			t.Errorf("%s: %v", c.input, err)
			continue
		}
		want := oh.Access{Paths: []oh.PathUse{{Path: s.file, Write: true}}}
		if diff := cmp.Diff(want, act.Access); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(oh.Display(oh.Markdown{Text: c.preview}), act.Preview); diff != "" {
			t.Error(diff)
		}
		if len(s.wrote) != 0 {
			t.Errorf("%s: written before it runs", c.input)
		}
		got, err := run(t, act)
		if err != nil || got != strings.Replace(c.text, "{file}", s.file, 1) {
			t.Errorf("%s: %q, %v", c.input, got, err)
		}
		if diff := cmp.Diff([]string{c.wrote}, s.wrote); diff != "" {
			t.Errorf("%s: %s", c.input, diff)
		}
	}
}

func TestSetFails(t *testing.T) {
	s := newTable(t)
	s.bad = errors.New("theme must be one of a, b")
	act, err := prepare(t, s, `{"action":"set","key":"theme","value":"c"}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, act); !errors.Is(err, s.bad) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.bad = nil
	if _, err := act.Run(ctx, func(oh.Event) {}); !errors.Is(err, context.Canceled) || len(s.wrote) != 0 {
		t.Errorf("cancelled: %v, wrote %v", err, s.wrote)
	}
}

// What a model must never set, also where the key is not known (yet) or goes by
// another name.
func TestSetRefused(t *testing.T) {
	s := newTable(t)
	for _, key := range []string{
		"permission.mode", "permissions.defaultMode", "permissions.allow", "permission.allowed_tools", "permission", "sandbox.enabled",
		"sandbox.network.allowed_domains", "hooks", "hooks.PreToolUse", "env.PATH", "env", "mcp_servers.x", "api_key", "api_key_helper",
		"base_url", "profiles.a.base_url", "active_profile", "provider", "api_format", "vision.base_url", "vision.api_key",
		"image_generation.base_url", "image_generation.provider", "status_line", "enabled_plugins.x", "allow_project_plugins",
		"project_skill_dirs", "system_prompt", "trust", "trusted_folders", "some.new.setting", "memory",
	} {
		input := `{"action":"set","key":` + string(quote(key)) + `,"value":"x"}`
		if _, err := prepare(t, s, input); err == nil || !strings.Contains(err.Error(), "A person has to do that: oh config set ") {
			t.Errorf("%s: %v", key, err)
		}
	}
	s.entries = append(s.entries, Entry{Key: "base_url", Value: json.RawMessage(`""`)})
	if _, err := prepare(t, s, `{"action":"set","key":"base_url","value":"http://evil"}`); err == nil || !strings.HasPrefix(err.Error(), "base_url is not for you to set.") {
		t.Errorf("known: %v", err)
	}
	if len(s.wrote) != 0 {
		t.Errorf("wrote %v", s.wrote)
	}
}

func quote(s string) []byte {
	raw, _ := json.Marshal(s)
	return raw
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{"action":"drop"}`, "show"},
		{`{"action":"get"}`, "key is missing: get needs"},
		{`{"action":"set","value":1}`, "key is missing: set needs"},
		{`{"action":"set","key":"theme"}`, "value is missing"},
		{`{"action":"set","key":"theme","value":null}`, "value is missing"},
		{`{"action":"set","key":"memory.nothing","value":1}`, `"memory.nothing" is no setting`},
	} {
		if _, err := prepare(t, newTable(t), c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.input, err)
		}
	}
	if _, err := prepare(t, nil, `{}`); err == nil || err.Error() != "there are no settings here" {
		t.Errorf("no settings: %v", err)
	}
	if _, err := prepare(t, &table{entries: newTable(t).entries}, `{"action":"set","key":"theme","value":"x"}`); err == nil || !strings.Contains(err.Error(), "no settings file") {
		t.Errorf("no file: %v", err)
	}
}

func TestSecretNames(t *testing.T) {
	for key, want := range map[string]bool{
		"api_key": true, "profiles.a.api_key": true, "env.GITHUB_TOKEN": true, "x.X-Secret": true, "env.ANY": true, "sandbox.docker.extra_env.A": true, "vision.api_key": true,
		"api_key_helper": false, "profiles.a.api_key_env": false, "max_tokens": false, "context_window_tokens": false, "theme": false,
	} {
		if got := secret(key); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}

func TestSpec(t *testing.T) {
	s := New(nil).Spec()
	for _, v := range ohtest.CheckSpec(s) {
		t.Error(v)
	}
	if n := len(s.Description) + len(s.Schema); n > 700 {
		t.Errorf("%d bytes: %s", n, s.Schema)
	}
}
