//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestProviders: a profile is defined, used, changed and removed; the rest of
// the file stays.
func TestProviders(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI, ohtest.Reply(ohtest.Text("hello")))
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENHARNESS_MODEL"} {
		delete(b.env, name)
	}
	b.env["GW_KEY"] = openaiKey
	file := b.settings("{\n  // mine\n  \"theme\": \"dark\",\n}\n")
	r := b.oh("provider", "add", "gw", "--base-url", b.srv.URL+"/v1", "--model", "m-1", "--label", "Our gateway", "--api-key-env", "GW_KEY", "--use")
	r.wantCode(t, 0)
	if r.err != "" {
		t.Error(r)
	}
	if r := b.oh("provider", "list"); !strings.Contains(r.out, "* gw ") || !strings.Contains(r.out, "Our gateway") || !strings.Contains(r.out, "claude-api") {
		t.Error(r)
	}
	if r := b.oh("provider", "list", "--json"); !strings.Contains(r.out, `"active":true`) || !strings.Contains(r.out, `"source":"GW_KEY"`) || strings.Contains(r.out, openaiKey) {
		t.Error(r)
	}
	b.oh("-p", "hi").wantCode(t, 0)
	if req := b.done(1)[0]; !strings.Contains(string(req.Body), `"m-1"`) {
		t.Errorf("%s", req.Body)
	}
	b.oh("provider", "edit", "gw", "--model", "m-2", "--context-window-tokens", "9000", "--label", "").wantCode(t, 0)
	if r := b.oh("provider", "edit", "gw", "--base-url", "https://other.example/v1"); !strings.Contains(r.err, "its key (GW_KEY) goes to https://other.example/v1") {
		t.Error(r)
	}
	if got := b.read(file); !strings.Contains(got, "// mine") || !strings.Contains(got, "m-2") || !strings.Contains(got, "9000") || strings.Contains(got, "gateway") {
		t.Error(got)
	}
	r = b.oh("provider", "remove", "gw")
	r.wantCode(t, 2)
	r.wantErr(t, "is in use", "oh provider use")
	b.oh("provider", "use", "ollama").wantCode(t, 0)
	b.oh("provider", "remove", "gw").wantCode(t, 0)
	if got := b.read(file); strings.Contains(got, "m-2") || !strings.Contains(got, `"active_profile": "ollama"`) || !strings.Contains(got, "// mine") {
		t.Error(got)
	}
}

// TestProviderRefuses: mistakes are told before anything is written.
func TestProviderRefuses(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	for _, tt := range []struct {
		args string
		says string
	}{
		{"provider use clode-api", "did you mean claude-api?"},
		{"provider use codex", "openai-compatible"},
		{"provider remove groq", "is built in"},
		{"provider remove nothing-like-it", "is no profile"},
		{"provider edit nothing-like-it --model m", "is no profile"},
		{"provider edit groq", "nothing to change"},
		{"provider add groq --base-url https://x.example", "there is a profile groq already"},
		{"provider add a.b --base-url https://x.example", "letters, digits"},
		{"provider add gw", "--base-url"},
		{"provider add gw --base-url x.example", "begins with http"},
		{"provider add gw --base-url https://u:p@x.example", "must not hold a password"},
		{"provider add gw --provider opnai", "did you mean openai?"},
		{"provider add gw --base-url https://x.example --api-format soap", "is not one of anthropic"},
		{"provider add gw --base-url https://x.example --api-key-env sk-ant-1", "the name of a variable"},
		{"provider add gw --base-url https://api.groq.com/openai/v1 --api-key sk-ant-1", "looks like one of"},
		{"provider lst", "did you mean list?"},
		{"model use", "takes one argument"},
		{"model list --all --profile groq", "exclude each other"},
		{"auth switch clode-api", "did you mean claude-api?"},
		{"setup", "needs a terminal"},
	} {
		r := b.oh(strings.Fields(tt.args)...)
		r.wantCode(t, 2)
		r.wantErr(t, tt.says)
	}
	if _, err := os.Stat(filepath.Join(b.home, ".openharness")); err == nil {
		t.Error("something was written")
	}
	b.oh("provider", "add", "gw", "--base-url", "https://x.example/v1", "--api-key", "env:K").wantCode(t, 2)
	b.env["K"] = openaiKey
	r := b.oh("provider", "add", "gw", "--base-url", "https://x.example/v1", "--api-key", "env:K")
	r.wantCode(t, 0)
	if strings.Contains(r.out+r.err, openaiKey) || !strings.Contains(b.read(b.credentials()), "profile:gw") {
		t.Error(r)
	}
	b.oh("provider", "remove", "gw").wantCode(t, 0)
	if strings.Contains(b.read(b.credentials()), openaiKey) {
		t.Error("the key of a profile that is gone is still stored")
	}
}

// TestModels: a model is chosen for a profile and back again.
func TestModels(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("a")), ohtest.Reply(ohtest.Text("b")))
	file := b.settings(`{"model": "sonnet"}`)
	r := b.oh("model", "use", "opus")
	r.wantCode(t, 0)
	if !strings.Contains(r.out, "claude-opus-4-6") || r.err != "" || strings.Contains(b.read(file), "sonnet") {
		t.Error(r, b.read(file))
	}
	b.oh("-p", "hi").wantCode(t, 0)
	if r := b.oh("model", "list"); !strings.Contains(r.out, "* claude-opus-4-6") || !strings.Contains(r.out, "claude-sonnet-4-6") {
		t.Error(r)
	}
	b.oh("model", "use", "default").wantCode(t, 0)
	b.oh("-p", "hi").wantCode(t, 0)
	reqs := b.done(2)
	if !strings.Contains(string(reqs[0].Body), "claude-opus-4-6") || !strings.Contains(string(reqs[1].Body), "claude-sonnet-4-6") {
		t.Errorf("%.200s\n%.200s", reqs[0].Body, reqs[1].Body)
	}
	b.env["OPENHARNESS_MODEL"] = "haiku"
	r = b.oh("model", "use", "opus")
	r.wantCode(t, 0)
	r.wantErr(t, "counts instead", "OPENHARNESS_MODEL")
	if r := b.oh("model", "list", "--all", "--json"); !strings.Contains(r.out, `"profile":"gemini"`) || !strings.Contains(r.out, `"input_price":`) {
		t.Errorf("%.500s", r.out)
	}
}

// TestSetup: the questions from the first to the last.
func TestSetup(t *testing.T) {
	t.Parallel()
	b := keyless(t, ohtest.Reply(ohtest.Text("ready")), ohtest.Reply(ohtest.Text("hello")))
	f := b.attach("setup")
	f.expect("Which model service")
	f.expect("claude-api")
	f.expect("Number or name [")
	f.typed("anthropi\r")
	f.expect("is none of them")
	f.typed("claude-api\r")
	f.expect("not shown): ")
	f.typed("two words\r")
	f.expect("white space")
	f.expect("not shown): ")
	f.typed(anthropicKey + "\r")
	f.expect("Model, by number or name [claude-sonnet-4-6]: ")
	f.typed("opus\r")
	f.expect("[Y/n] ")
	f.typed("\r")
	f.expect("It works.")
	f.expect("claude-api with claude-opus-4-6 is used from now on")
	f.ends(0)
	if hasKey(f.all()) || !strings.Contains(b.read(b.credentials()), anthropicKey) {
		t.Errorf("%q", f.all())
	}
	if got := b.read(filepath.Join(b.home, ".openharness", "settings.json")); !strings.Contains(got, `"active_profile": "claude-api"`) || !strings.Contains(got, `"last_model": "opus"`) {
		t.Error(got)
	}
	b.oh("-p", "hi").wantCode(t, 0)
	b.done(2)
}

// TestSetupStopped: whoever stops, or does not want what does not work, finds
// everything as it was.
func TestSetupStopped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		code int
		end  func(f *terminal)
	}{
		{"interrupt", 130, func(f *terminal) { f.typed("\x03") }},
		{"end of input", 1, func(f *terminal) { f.typed("\x04") }},
		{"refused", 1, func(f *terminal) {
			f.typed("\r")
			f.expect("It does not work: ")
			f.expect("Enter another key? [Y/n] ")
			f.typed("n\r")
			f.expect("[y/N] ")
			f.typed("\r")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBoxWith(t, ohtest.Anthropic, ohtest.Config{Key: "another", OnViolation: func(ohtest.Violation) {}, Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("x"))}})
			delete(b.env, "ANTHROPIC_API_KEY")
			f := b.attach("setup", "claude-api")
			f.expect("not shown): ")
			f.typed(anthropicKey + "\r")
			f.expect("Model, by number or name")
			f.typed("\r")
			f.expect("[Y/n] ")
			tt.end(f)
			f.ends(tt.code)
			if _, err := os.Stat(filepath.Join(b.home, ".openharness")); err == nil || hasKey(f.all()) {
				t.Errorf("something was written: %q", f.all())
			}
		})
	}
}

// TestSetupOfAServerHere: no key is asked for, and its models are listed.
func TestSetupOfAServerHere(t *testing.T) {
	t.Parallel()
	b := newBoxWith(t, ohtest.OpenAI, ohtest.Config{Rules: ohtest.Rules{NoAuth: true}, Models: []string{"small", "large"}, Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("hello"))}})
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENHARNESS_MODEL"} {
		delete(b.env, name)
	}
	b.env["OLLAMA_HOST"] = b.srv.URL + "/v1"
	f := b.attach("setup", "ollama")
	f.expect("2  large")
	f.expect("Model, by number or name [small]: ")
	f.typed("2\r")
	f.expect("[Y/n] ")
	f.typed("n\r")
	f.expect("ollama with large is used from now on")
	f.ends(0)
	b.oh("-p", "hi").wantCode(t, 0)
	if body := string(b.done(1)[0].Body); !strings.Contains(body, `"large"`) {
		t.Error(body)
	}
}

// TestSetupOfAzure: the address is asked for where nothing says it.
func TestSetupOfAzure(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	f := b.attach("setup", "azure")
	f.expect("Address of your Azure OpenAI resource")
	f.typed("there\r")
	f.expect("must be an address that begins with")
	f.expect("Address of")
	f.typed("https://corp.openai.azure.com\r")
	f.expect("Key for azure")
	f.typed("k-1\r")
	f.expect("Model, by number or name [gpt-5.4]: ")
	f.typed("our-deployment\r")
	f.expect("[Y/n] ")
	f.typed("n\r")
	f.expect("azure with our-deployment is used from now on")
	f.ends(0)
	got := b.read(filepath.Join(b.home, ".openharness", "settings.json"))
	if !strings.Contains(got, `"base_url": "https://corp.openai.azure.com"`) || !strings.Contains(got, `"last_model": "our-deployment"`) {
		t.Error(got)
	}
}
