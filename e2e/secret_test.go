//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/ohtest"
)

// canary is a secret that no vendor's keys look like.
const canary = "CANARY-7f3a9e1b"

// TestSecretInAddress: no command shows a password or a key that stands in an
// address, also where the address cannot be read.
func TestSecretInAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://u:" + canary + "%zz@127.0.0.1:1/v1", "http://u:" + canary + " x@127.0.0.1:1/v1", "u:" + canary + "@127.0.0.1:1", "http://u:" + canary + "/x@127.0.0.1:1",
		"http://127.0.0.1:1/v1?api_key=" + canary, "http://127.0.0.1:1/v1#" + canary, "http://127.0.0.1:99999/v1?x=" + canary,
	} {
		b := newBox(t, "")
		raw, err := json.Marshal(address)
		must(t, err)
		b.settings(`{"active_profile": "me", "profiles": {"me": {"base_url": ` + string(raw) + `, "api_key_env": "MY_THING", "default_model": "m"}},
			"env": {"MY_THING": "` + canary + `"}, "mcp_servers": {"x": {"type": "http", "url": ` + string(raw) + `}}}`)
		for _, args := range [][]string{{"config", "list"}, {"config", "--json"}, {"auth", "status", "--json"}, {"provider", "list"}, {"provider", "list", "--json"},
			{"--dry-run", "--debug", "hi"}, {"--dry-run", "--output-format", "json", "hi"}, {"-p", "--debug", "/status"}, {"model", "list"}} {
			if r := b.oh(args...); strings.Contains(r.out+r.err, canary) {
				t.Errorf("%v shows %s: %v", args, address, r)
			}
		}
	}
}

// TestKeysApart: with the keys of all vendors in the environment, a service
// sees its own only, wherever its address leads.
func TestKeysApart(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprint(r.URL, map[string][]string(r.Header), string(body)))
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer srv.Close()
	b := newBox(t, "")
	variables := append(catalog.Variables(), "HF_TOKEN", "GITHUB_TOKEN")
	for _, name := range variables {
		b.env[name] = "is-" + name + "-is"
	}
	b.env["AWS_REGION"] = "us-east-1"
	for _, p := range catalog.Profiles() {
		if p.Missing != "" || p.Chain == catalog.Google {
			continue
		}
		mu.Lock()
		seen = nil
		mu.Unlock()
		b.oh("-p", "--profile", p.Name, "--base-url", srv.URL+"/v1", "--model", "m", "hi")
		mu.Lock()
		if len(seen) == 0 {
			t.Errorf("%s: nothing was asked", p.Name)
		}
		for _, name := range variables {
			own := slices.Contains(p.Keys, name) || slices.Contains(p.Tokens, name)
			if strings.Contains(strings.Join(seen, ""), b.env[name]) && !own {
				t.Errorf("%s gets %s", p.Name, name)
			}
		}
		mu.Unlock()
	}
}

// TestLongKey: what is longer than any key is refused, not cut.
func TestLongKey(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	long := strings.Repeat("k", 1<<20)
	r := b.run(call{args: []string{"auth", "login", "groq"}, stdin: strings.NewReader(long)})
	r.wantCode(t, 2)
	r.wantErr(t, "longer than any key")
	if _, err := os.Stat(b.credentials()); err == nil {
		t.Error("something was stored")
	}
}

// TestHelperOutput: a key on the wrong output of a helper is not shown, and the
// helper sees no vendor's key.
func TestHelperOutput(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI)
	b.settings(`{"active_profile": "me", "profiles": {"me": {"base_url": "` + b.srv.URL + `/v1", "default_model": "m", "api_key_helper": "env > $M/env; echo ` + canary + ` >&2"}}}`)
	r := b.oh("-p", "--debug", "hi")
	r.wantCode(t, 3)
	r.wantErr(t, "it printed nothing: [hidden]")
	if strings.Contains(r.out+r.err, canary) {
		t.Error(r)
	}
	raw, err := os.ReadFile(b.marks + "/env")
	if err != nil || hasKey(string(raw)) {
		t.Errorf("%s %v", raw, err)
	}
}

// TestSetupAfterRefusal: whoever mistook the key gives another; a key where the
// model is asked for is not taken for one.
func TestSetupAfterRefusal(t *testing.T) {
	t.Parallel()
	b := newBoxWith(t, ohtest.Anthropic, ohtest.Config{Key: anthropicKey, OnViolation: func(ohtest.Violation) {}, Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("x"))}})
	delete(b.env, "ANTHROPIC_API_KEY")
	f := b.attach("setup", "claude-api")
	f.expect("not shown): ")
	f.typed("sk-ant-mistaken\r")
	f.expect("Model, by number or name")
	f.typed("sk-ant-model\r")
	f.expect("That looks like a key of ")
	f.expect("Model, by number or name")
	f.typed("\r")
	f.expect("[Y/n] ")
	f.typed("\r")
	f.expect("Enter another key? [Y/n] ")
	f.typed("\r")
	f.expect("not shown): ")
	f.typed("\x1b[200~" + anthropicKey + "\x1b[201~\r") // as a terminal pastes
	f.expect("It works.")
	f.ends(0)
	if kept := b.read(b.credentials()); hasKey(f.all()) || !strings.Contains(kept, `"`+anthropicKey+`"`) {
		t.Errorf("%s kept, %q shown", kept, f.all())
	}
	b.oh("model", "use", "sk-ant-model").wantCode(t, 2)
}

// TestNarrowTable: a line of the list of services stays one on a narrow
// terminal, and a question that is left ends its line.
func TestNarrowTable(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	f := b.attachSized(40, "setup")
	f.expect("Number or name [claude-api]: ")
	f.typed("\x04")
	f.expect("\r\noh: stopped; nothing is changed")
	f.ends(1)
	for line := range strings.SplitSeq(f.all(), "\r\n") {
		if len([]rune(line)) > 40 || strings.HasSuffix(line, " ") && !strings.HasSuffix(line, ": ") {
			t.Errorf("%q", line)
		}
	}
}

// TestEmptyFlag: a variable of a script that is not set does not mean another
// service or key; a key in place of a variable's name is not shown.
func TestEmptyFlag(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("x")))
	for _, args := range [][]string{{"--api-key", ""}, {"--base-url", " "}, {"--profile", ""}, {"--api-key", "env:"}, {"--api-key", "env:" + anthropicKey}} {
		r := b.oh(append([]string{"-p", "hi"}, args...)...)
		r.wantCode(t, 2)
		if hasKey(r.err) {
			t.Error(r)
		}
	}
	b.oh("provider", "add", "gw", "--base-url", b.srv.URL, "--api-key", "").wantCode(t, 2)
	if n := len(b.srv.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestAddressInSettings: no command writes a password into the settings.
func TestAddressInSettings(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	for _, args := range [][]string{
		{"config", "set", "base_url", "http://u:" + canary + "@h/v1"}, {"config", "set", "profiles.me.base_url", "u:" + canary + "@h"},
		{"provider", "add", "me", "--base-url", "http://u:" + canary + "@h/v1"},
	} {
		r := b.oh(args...)
		r.wantCode(t, 2)
		if strings.Contains(r.out+r.err, canary) {
			t.Error(r)
		}
	}
	if _, err := os.Stat(b.home + "/.openharness/settings.json"); err == nil {
		t.Error("something was written")
	}
	b.oh("config", "set", "base_url", "http://127.0.0.1:1/v1").wantCode(t, 0)
}

// TestNearestProfile: a vendor's name leads to its profile, a slip to the
// nearest.
func TestNearestProfile(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	for given, want := range map[string]string{"openai": "openai-compatible", "Anthropic": "claude-api", "opnai-compatible": "openai-compatible", "GROQ": "groq"} {
		r := b.oh("-p", "--profile", given, "hi")
		r.wantCode(t, 2)
		r.wantErr(t, "did you mean "+want+"?")
	}
}

// TestWarnedBefore: where nothing can be started because a setting was passed
// over, that is said too.
func TestWarnedBefore(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	b.file(".openharness/settings.json", `{"active_profile": "gw", "profiles": {"gw": {"base_url": "http://127.0.0.1:1/v1", "api_key_helper": "touch $M/ran"}}}`)
	for _, args := range [][]string{{"-p", "hi"}, {"-p", "--output-format", "json", "hi"}} {
		r := b.oh(args...)
		r.wantCode(t, 3)
		r.wantErr(t, "this folder is not trusted", "active_profile, profiles")
		if strings.Count(r.err, "not trusted") != 1 || b.marked("ran") != 0 {
			t.Error(r)
		}
	}
}

// TestOpenCredentials: a file of keys that others can read is used, with a
// warning.
func TestOpenCredentials(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("a")), ohtest.Reply(ohtest.Text("b")))
	delete(b.env, "ANTHROPIC_API_KEY")
	b.run(call{args: []string{"auth", "login", "claude-api"}, stdin: strings.NewReader(anthropicKey)}).wantCode(t, 0)
	if r := b.oh("-p", "hi"); r.code != 0 || strings.Contains(r.err, "chmod") {
		t.Error(r)
	}
	must(t, os.Chmod(b.credentials(), 0o644))
	r := b.oh("-p", "hi")
	r.wantCode(t, 0)
	r.wantErr(t, "chmod 600 "+b.credentials())
}
