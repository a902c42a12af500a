package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "<none>"
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *place) paths() Paths {
	p.t.Helper()
	paths, err := FindPaths(p.options(false))
	if err != nil {
		p.t.Fatal(err)
	}
	return paths
}

func TestEdit(t *testing.T) {
	const commented = `// my settings
{
  // the model
  "model": "opus", // good
  "permissions": {
    "deny": [
      "Read(.env)" // secrets
      // more to come
    ],
  },
  // the end
}
`
	for _, c := range []struct {
		name, before, op, key, value, after string
	}{
		{"new file", "<none>", "set", "model", `"opus"`, "{\n  \"model\": \"opus\"\n}\n"},
		{"empty file", " \n", "set", "memory.enabled", `false`, "{\n  \"memory\": {\n    \"enabled\": false\n  }\n}\n"},
		{"new list", "<none>", "add", "permissions.allow", "Bash(ls:*)", "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls:*)\"\n    ]\n  }\n}\n"},
		{"one line", `{"a": 1}`, "set", "theme", `"dark"`, `{"a": 1, "theme": "dark"}`},
		{"one line, list", `{"permissions": {"deny": ["A"]}}`, "add", "permissions.deny", "B", `{"permissions": {"deny": ["A", "B"]}}`},
		{"tabs", "{\n\t\"a\": 1\n}\n", "set", "enabled_plugins.x", `true`, "{\n\t\"a\": 1,\n\t\"enabled_plugins\": {\n\t  \"x\": true\n\t}\n}\n"},
		{"replace", commented, "set", "model", `"haiku"`, strings.Replace(commented, `"opus"`, `"haiku"`, 1)},
		{"append", commented, "set", "theme", `"dark"`, strings.Replace(commented, "  // the end\n", "  // the end\n  \"theme\": \"dark\",\n", 1)},
		{"append to a list", commented, "add", "permissions.deny", "Bash", strings.Replace(commented, "\"Read(.env)\" // secrets\n      // more to come\n", "\"Read(.env)\", // secrets\n      // more to come\n      \"Bash\"\n", 1)},
		{"already there", commented, "add", "permissions.deny", "Read(.env)", commented},
		{"Claude's name", commented, "set", "permissions.defaultMode", `"plan"`, strings.Replace(commented, "  // the end\n", "  // the end\n  \"permission\": {\n    \"mode\": \"plan\"\n  },\n", 1)},
		{"unset", commented, "unset", "permissions", "", "// my settings\n{\n  // the model\n  \"model\": \"opus\",\n  // the end\n}\n"},
		{"unset nothing", commented, "unset", "memory.enabled", "", commented},
		{"unset without a file", "<none>", "unset", "model", "", "<none>"},
		{"drop", `{"permissions": {"deny": ["A", "B"]}}`, "drop", "permissions.deny", "B", `{"permissions": {"deny": ["A"]}}`},
		{"drop the last one with a comma", "{\"permissions\": {\"deny\": [\n  \"A\",\n  \"B\",\n]}}", "drop", "permissions.deny", "B", "{\"permissions\": {\"deny\": [\n  \"A\",\n]}}"},
		{"twice", `{"theme": "a", "theme": "b"}`, "set", "theme", `"c"`, `{"theme": "a", "theme": "c"}`},
		{"a list for null", `{"permissions": {"deny": null}}`, "add", "permissions.deny", "B", "{\"permissions\": {\"deny\": [\n      \"B\"\n    ]}}"},
		{"a profile with a dot", "<none>", "set", "profiles.my.gw.base_url", `"https://x.example"`, "{\n  \"profiles\": {\n    \"my.gw\": {\n      \"base_url\": \"https://x.example\"\n    }\n  }\n}\n"},
		{"an object", "<none>", "set", "mcp_servers.x", `{"command":"y","env":{"TOKEN":"${TOKEN}"}}`, "{\n  \"mcp_servers\": {\n    \"x\": {\n      \"command\": \"y\",\n      \"env\": {\n        \"TOKEN\": \"${TOKEN}\"\n      }\n    }\n  }\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, nil)
			if c.before != "<none>" {
				p.write(p.path("user"), c.before)
			}
			var err error
			switch c.op {
			case "set":
				err = Set(t.Context(), p.paths(), User, c.key, json.RawMessage(c.value))
			case "unset":
				err = Unset(t.Context(), p.paths(), User, c.key)
			case "add":
				err = Add(t.Context(), p.paths(), User, c.key, c.value)
			case "drop":
				err = Drop(t.Context(), p.paths(), User, c.key, c.value)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, p.read("user")); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(p.path("user") + ".lock"); !errors.Is(err, fs.ErrNotExist) && filepath.Separator == '/' {
				t.Error("the lock file is left")
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct{ before, key, value, want string }{
		{"{}", "modle", `"x"`, `oh config: "modle" is no setting; did you mean "model"?`},
		{"{}", "mode", `"plan"`, `oh config: "mode" is no setting; did you mean "permission.mode"?`},
		{"{}", "quite.else", `1`, `oh config: "quite.else" is no setting (oh config list shows all)`},
		{"{}", "permission.mode", `"yolo"`, `user: "permission.mode": "yolo" is not one of plan, dontAsk, default, acceptEdits, full_auto`},
		{"{}", "max_turns", `"x"`, `user: "max_turns": must be a whole number, not a text`},
		{"{}", "tool_output_inline_chars", `3`, `user: "tool_output_inline_chars": 3 is too small; the least value 256 counts`},
		{"{}", "api_key", `"sk-secret"`, `oh config: "api_key": it looks like a secret and is not written to a settings file: set it in the environment (a settings file may name it as ${NAME}), or store a key with: oh auth login`},
		{"{}", "mcp_servers.x", `{"env": {"GITHUB_TOKEN": "sk-secret"}}`, `oh config: "mcp_servers.x.env.GITHUB_TOKEN": it looks like a secret and is not written to a settings file: set it in the environment (a settings file may name it as ${NAME}), or store a key with: oh auth login`},
		{"{}", "env.A_KEY", `"sk-secret"`, `oh config: "env.A_KEY": it looks like a secret and is not written to a settings file: set it in the environment (a settings file may name it as ${NAME}), or store a key with: oh auth login`},
		{"{", "model", `"x"`, "user:1: the file is no valid JSON (comments and trailing commas are allowed): parsing value: unexpected EOF (column 2)"},
		{"{\n\"memory\": 5}", "memory.enabled", `true`, `user:2: "memory": is no object, so nothing can be set in it; correct it by hand`},
	} {
		p := newPlace(t, map[string]string{"user": c.before})
		err := Set(t.Context(), p.paths(), User, c.key, json.RawMessage(c.value))
		if err == nil || p.short(err.Error()) != c.want {
			t.Errorf("%s: %v\nwant %s", c.key, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "sk-secret") {
			t.Error("the error shows the secret")
		}
		if p.read("user") != c.before {
			t.Errorf("%s: the file was changed", c.key)
		}
	}
	p := newPlace(t, nil)
	if err := Set(t.Context(), p.paths(), Managed, "model", json.RawMessage(`"x"`)); err == nil || err.Error() != `there is no settings file to write for "managed": use user, project or local` {
		t.Error(err)
	}
}

func TestEditKeepsModeAndLink(t *testing.T) {
	p := newPlace(t, map[string]string{"project": "{}"})
	if err := os.Chmod(p.path("project"), 0o664); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(p.home, "dotfiles", "settings.json")
	p.write(real, "{}")
	if err := os.MkdirAll(filepath.Dir(p.path("user")), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, p.path("user")); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Scope{User, Project, Local} {
		if err := Set(t.Context(), p.paths(), s, "theme", json.RawMessage(`"dark"`)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]fs.FileMode{"user": fs.ModeSymlink | 0o777, "project": 0o664, "local": 0o600} {
		info, err := os.Lstat(p.path(name))
		if err != nil || filepath.Separator == '/' && info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
		}
	}
	if data, _ := os.ReadFile(real); !strings.Contains(string(data), "dark") {
		t.Error("the linked file was not written")
	}
}

func TestEditNeverWritesTheEnvironment(t *testing.T) {
	p := newPlace(t, nil)
	p.env["OPENHARNESS_MODEL"], p.env["OPENHARNESS_VISION_API_KEY"], p.env["ANTHROPIC_API_KEY"] = "from-env", "sk-env", "sk-env"
	l := p.load(false)
	if l.Settings.Model != "from-env" {
		t.Fatal(l.Settings.Model)
	}
	if err := Set(t.Context(), l.Paths, User, "theme", json.RawMessage(`"dark"`)); err != nil {
		t.Fatal(err)
	}
	if got := p.read("user"); got != "{\n  \"theme\": \"dark\"\n}\n" {
		t.Error(got)
	}
}

func TestConcurrentEdits(t *testing.T) {
	p := newPlace(t, nil)
	paths := p.paths()
	const writers, each = 4, 12
	var wg sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				errs <- Set(t.Context(), paths, User, fmt.Sprintf("enabled_plugins.p%d-%d", w, i), json.RawMessage("true"))
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if n := len(p.load(false).Settings.EnabledPlugins); n != writers*each {
		t.Errorf("%d of %d edits are there", n, writers*each)
	}
	entries, err := os.ReadDir(filepath.Dir(p.path("user")))
	if err != nil || filepath.Separator == '/' && len(entries) != 1 {
		t.Errorf("files are left over: %v %v", entries, err)
	}
}

func TestParseValue(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{
		{"model", "opus", `"opus"`},
		{"model", "3", `"3"`},
		{"verbose", "yes", `true`},
		{"verbose", "perhaps", `!oh config: "verbose": must be true or false, not "perhaps"`},
		{"max_turns", "7", `7`},
		{"max_turns", "seven", `!oh config: "max_turns": must be a number, not "seven"`},
		{"permissions.deny", "Bash(rm:*)", `["Bash(rm:*)"]`},
		{"permissions.deny", `["A"]`, `["A"]`},
		{"profiles.x.base_url", "https://x.example", `"https://x.example"`},
		{"profiles.x", `{"label": "X"}`, `{"label":"X"}`},
		{"env.A", "1", `"1"`},
		{"enabled_plugins.a", "true", `true`},
		{"nothing", "1", `!oh config: "nothing" is no setting (oh config list shows all)`},
	} {
		got, err := ParseValue(c.key, c.text)
		text := string(got)
		if err != nil {
			text = "!" + err.Error()
		}
		if text != c.want {
			t.Errorf("ParseValue(%s, %s) = %s, want %s", c.key, c.text, text, c.want)
		}
	}
}

func TestList(t *testing.T) {
	p := newPlace(t, map[string]string{
		"user": `{"api_key": "sk-secret", "base_url": "https://me:sk-secret@gw.example/v1", "env": {"A_TOKEN": "sk-secret", "B": "plain"},
"profiles": {"x": {"api_key": "sk-secret", "label": "X"}},
"mcp_servers": {"s": {"url": "u", "headers": {"Authorization": "sk-secret"}, "env": {"WHATEVER": "sk-secret"}}},
"permissions": {"deny": ["A"]}}`,
		"local": `{"permissions": {"deny": ["B"]}, "model": "m"}`,
	})
	l := p.load(true)
	all, err := json.Marshal(l.List())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(all), fmt.Sprintf("%v %+v %#v", l.Settings, l.Settings, l.Choices)} {
		if strings.Contains(text, "sk-secret") && !strings.Contains(text, "plain") {
			t.Error("a listing shows a secret: " + text)
		}
	}
	if strings.Contains(string(all), "sk-secret") {
		t.Errorf("a listing shows a secret: %s", all)
	}
	u, c := p.path("user"), p.path("local")
	for _, want := range []Entry{
		{"api_key", json.RawMessage(`"[hidden]"`), Origin{User, u, 1}, nil},
		{"base_url", json.RawMessage(`"https://[hidden]@gw.example/v1"`), Origin{User, u, 1}, nil},
		{"env.A_TOKEN", json.RawMessage(`"[hidden]"`), Origin{User, u, 1}, nil},
		{"env.B", json.RawMessage(`"plain"`), Origin{User, u, 1}, nil},
		{"profiles.x.label", json.RawMessage(`"X"`), Origin{User, u, 2}, nil},
		{"mcp_servers.s", json.RawMessage(`{"url":"u","headers":{"Authorization":"[hidden]"},"env":{"WHATEVER":"[hidden]"}}`), Origin{User, u, 3}, nil},
		{"permissions.deny", json.RawMessage(`["A","B"]`), Origin{Local, c, 1}, []Origin{{User, u, 4}, {Local, c, 1}}},
		{"model", json.RawMessage(`"m"`), Origin{Local, c, 1}, nil},
		{"permission.mode", json.RawMessage(`"default"`), Origin{Scope: Default}, nil},
		{"permission.path_rules", json.RawMessage(`[]`), Origin{Scope: Default}, nil},
	} {
		got, ok := l.Get(want.Key)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %s", want.Key, diff)
		}
	}
	for key, want := range map[string]string{
		"env": `{"A_TOKEN":"[hidden]","B":"plain"}`, "profiles": `{"x":{"api_key":"[hidden]","label":"X"}}`, "lspServers": `{}`, "enabled_plugins": `{}`,
	} {
		if e, ok := l.Get(key); !ok || string(e.Value) != want {
			t.Errorf("%s: %s, want %s", key, e.Value, want)
		}
	}
	if e, ok := l.Get("permissions.defaultMode"); !ok || e.Key != "permission.mode" {
		t.Errorf("Claude's name gives %+v", e)
	}
	if _, ok := l.Get("nothing"); ok {
		t.Error("an unknown key is found")
	}
}

func TestSecret(t *testing.T) {
	s := NewSecret("sk-secret")
	got := fmt.Sprintf("%v %s %q %x %d %+v %#v %v", s, s, s, s, s, s, s, struct{ K Secret }{s})
	if strings.Contains(got, "sk-secret") || strings.Contains(got, "736b") {
		t.Error(got)
	}
	data, err := json.Marshal(map[string]any{"k": s, "p": &s, "none": Secret{}})
	if err != nil || string(data) != `{"k":"[hidden]","none":"","p":"[hidden]"}` {
		t.Errorf("%s %v", data, err)
	}
	if s.Reveal() != "sk-secret" || s.IsZero() || !(Secret{}).IsZero() {
		t.Error("Reveal")
	}
}

// TestApply: all changes or none.
func TestApply(t *testing.T) {
	p := newPlace(t, map[string]string{"user": "{\n  \"model\": \"m\",\n  // mine\n  \"theme\": \"dark\"\n}\n"})
	paths := p.load(false).Paths
	file, err := paths.File(User)
	if err != nil {
		t.Fatal(err)
	}
	read := func() string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := read()
	for _, bad := range []Change{{Key: "modle", Value: json.RawMessage(`"x"`)}, {Key: "max_turns", Value: json.RawMessage("0")}, {Key: "profiles.a.api_key", Value: json.RawMessage(`"sk-secret"`)}, {Key: "nothing"}} {
		if err := Apply(t.Context(), paths, User, Change{Key: "theme", Value: json.RawMessage(`"light"`)}, bad); err == nil || read() != before {
			t.Errorf("%v: %v %s", bad, err, read())
		}
	}
	if err := Apply(t.Context(), paths, User, Change{Key: "model"}, Change{Key: "profiles.a.last_model", Value: json.RawMessage(`"x"`)}, Change{Key: "tls.client_key", Value: json.RawMessage(`"~/k.pem"`)},
		Change{Key: "profiles.a.api_key_helper", Value: json.RawMessage(`"pass show a"`)}); err != nil {
		t.Fatal(err)
	}
	l := p.load(false)
	if l.Settings.Model != "" || l.Settings.Profiles["a"].LastModel != "x" || l.Settings.TLS.Key != "~/k.pem" || l.Settings.Profiles["a"].KeyHelper != "pass show a" ||
		l.Settings.Theme != "dark" || !strings.Contains(read(), "// mine") {
		t.Errorf("%+v\n%s", l.Settings, read())
	}
}

// TestChoosing: as a flag would choose, and the settings before stay.
func TestChoosing(t *testing.T) {
	l := newPlace(t, map[string]string{"user": `{"active_profile": "a", "model": "m"}`}).load(false)
	c := l.Choosing("--profile", "b")
	if c.Settings.ActiveProfile != "b" || c.Origin("active_profile") != (Origin{Scope: FlagSet, File: "--profile"}) || len(c.Choices) != len(l.Choices)+1 {
		t.Errorf("%+v", c)
	}
	if l.Settings.ActiveProfile != "a" || l.Origin("active_profile").Scope != User {
		t.Errorf("%+v", l)
	}
}
