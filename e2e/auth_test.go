//go:build unix

package e2e

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// keyless is a box without a key in the environment.
func keyless(t *testing.T, turns ...ohtest.Turn) *box {
	t.Helper()
	b := newBox(t, ohtest.Anthropic, turns...)
	delete(b.env, "ANTHROPIC_API_KEY")
	return b
}

func (b *box) credentials() string { return filepath.Join(b.home, ".openharness", "credentials.json") }

// TestLogin: a key from a pipe is stored, found, used and removed.
func TestLogin(t *testing.T) {
	t.Parallel()
	b := newBoxWith(t, ohtest.Anthropic, ohtest.Config{OnViolation: func(ohtest.Violation) {}, Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("ok"))}})
	delete(b.env, "ANTHROPIC_API_KEY")
	b.oh("-p", "hi").wantCode(t, 3)
	r := b.run(call{args: []string{"auth", "login", "anthropic"}, stdin: strings.NewReader(anthropicKey + "\n")})
	r.wantCode(t, 0)
	if hasKey(r.out+r.err) || !strings.Contains(r.out, "is stored in "+b.credentials()) {
		t.Error(r)
	}
	info, err := os.Stat(b.credentials())
	must(t, err)
	if info.Mode().Perm() != 0o600 || !strings.Contains(b.read(b.credentials()), anthropicKey) {
		t.Errorf("%v %s", info.Mode(), b.read(b.credentials()))
	}
	if r := b.oh("auth", "status"); !strings.Contains(r.out, "* claude-api") || !strings.Contains(r.out, b.credentials()) || hasKey(r.out+r.err) {
		t.Error(r)
	}
	b.oh("-p", "hi").wantCode(t, 0)
	b.oh("auth", "logout").wantCode(t, 0)
	if hasKey(b.read(b.credentials())) {
		t.Error("the key is still there")
	}
	b.oh("auth", "logout", "claude-api").wantCode(t, 1)
	b.oh("-p", "hi").wantCode(t, 3)
}

// TestKeyInASwitchedOffKeyring: it is said where the key is.
func TestKeyInASwitchedOffKeyring(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	b.file(b.credentials(), `{"groq": {"keyring": true}}`)
	r := b.oh("-p", "--profile", "groq", "hi")
	r.wantCode(t, 3)
	r.wantErr(t, "the key of groq is in the system's keyring", "OPENHARNESS_KEYRING")
	b.oh("auth", "logout", "groq").wantCode(t, 1)
}

// TestLoginRefuses: what is no key, no profile or of another vendor.
func TestLoginRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ profile, key, says string }{
		{"groq", anthropicKey, "looks like one of Anthropic"},
		{"groq", "", "no key was given"},
		{"groq", "two words", "white space"},
		{"claud-api", anthropicKey, "did you mean claude-api?"},
		{"codex", "k", "openai-compatible"},
		{"claude-subscription", "k", "claude-api"},
		{"vertex", "k", "gcloud auth application-default login"},
		{"copilot", "", "copilot_client_id"},
	} {
		t.Run(tt.profile+" "+tt.key, func(t *testing.T) {
			t.Parallel()
			b := keyless(t)
			r := b.run(call{args: []string{"auth", "login", tt.profile}, stdin: strings.NewReader(tt.key)})
			r.wantCode(t, 2)
			r.wantErr(t, tt.says)
			if _, err := os.Stat(b.credentials()); err == nil || hasKey(r.out+r.err) {
				t.Errorf("%v %v", err, r)
			}
		})
	}
	b := keyless(t)
	for args, says := range map[string]string{"codex-login": "openai-compatible", "claude-login": "claude-api", "copilot-login": "copilot_client_id"} {
		r := b.oh("auth", args)
		r.wantCode(t, 2)
		r.wantErr(t, says)
	}
	b.file(b.credentials(), `{"anthropic": `)
	r := b.run(call{args: []string{"auth", "login", "groq"}, stdin: strings.NewReader("gsk_x")})
	r.wantCode(t, 1)
	r.wantErr(t, "damaged")
	if b.read(b.credentials()) != `{"anthropic": ` {
		t.Error("a damaged file was overwritten")
	}
}

// TestHiddenLogin: a key that is typed is not shown, and an interrupt stores
// nothing.
func TestHiddenLogin(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	f := b.attach("auth", "login", "claude-api")
	f.expect("not shown")
	f.typed(anthropicKey + "\r")
	f.expect("is stored in")
	f.ends(0)
	if hasKey(f.all()) || !strings.Contains(b.read(b.credentials()), anthropicKey) {
		t.Errorf("%q", f.all())
	}
	b = keyless(t)
	f = b.attach("auth", "login", "claude-api")
	f.expect("not shown")
	f.typed("sk-ant-half\x03")
	f.ends(130)
	if _, err := os.Stat(b.credentials()); err == nil {
		t.Error("something was stored")
	}
	f = b.attach("auth", "login")
	f.expect("Number or name [claude-api]: ")
	f.typed("clude-api\r")
	f.expect("did you mean claude-api?")
	f.typed("\x04")
	f.expect("nothing is changed")
	f.ends(1)
}

// TestKeyHelper: its key is used, fetched again once when it is refused, and in
// nobody's sight.
func TestKeyHelper(t *testing.T) {
	t.Parallel()
	helper := `echo x >> $M/helper; if [ $(wc -l < $M/helper) = 1 ]; then echo sk-ant-stale-secret; else echo ` + anthropicKey + `; fi`
	b := newBoxWith(t, ohtest.Anthropic, ohtest.Config{OnViolation: func(ohtest.Violation) {}, Turns: []ohtest.Turn{
		ohtest.Reply(named(bash(t, "env"), "e")), ohtest.Reply(ohtest.Text("done"))}})
	delete(b.env, "ANTHROPIC_API_KEY")
	b.file(filepath.Join(b.home, ".claude", "settings.json"), `{"apiKeyHelper": `+quote(t, helper)+`}`)
	r := b.auto("--verbose", "--debug", "--profile", "claude-api", "hi")
	r.wantCode(t, 0)
	reqs := b.srv.Requests()
	if n := b.marked("helper"); n != 2 || len(reqs) != 3 {
		t.Errorf("the helper ran %d times for %d requests", n, len(reqs))
	}
	if hasKey(r.out+r.err) || strings.Contains(r.out+r.err, "stale-secret") {
		t.Error(r)
	}
	noKeyIn(t, filepath.Join(b.home, ".openharness"))

	b = keyless(t)
	b.file(filepath.Join(b.home, ".claude", "settings.json"), `{"apiKeyHelper": "echo locked >&2; exit 4"}`)
	r = b.oh("-p", "--profile", "claude-api", "hi")
	r.wantCode(t, 3)
	r.wantErr(t, "exit status 4: locked")
}

// TestHelperOfAStranger: an untrusted folder runs no helper and names no files.
func TestHelperOfAStranger(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	b.file(".claude/settings.json", `{"apiKeyHelper": "touch $M/owned; echo k"}`)
	b.file(".openharness/settings.json", `{"api_key_helper": "touch $M/owned; echo k", "profiles": {"claude-api": {"api_key_helper": "touch $M/owned; echo k"}}, "tls": {"ca_file": "/x"}, "copilot_client_id": "x", "keyring": true}`)
	r := b.oh("-p", "--profile", "claude-api", "hi")
	r.wantCode(t, 3)
	r.wantErr(t, "not trusted", "tls.ca_file", "copilot_client_id", "keyring", "api_key_helper")
	if _, err := os.Stat(filepath.Join(b.marks, "owned")); err == nil {
		t.Error("it ran")
	}
}

func quote(t *testing.T, s string) string {
	t.Helper()
	raw, err := json.Marshal(s)
	must(t, err)
	return string(raw)
}

// TestNoKeyAnywhere: wherever a key comes from, it is in no output, no file but
// its own, and no child's environment or arguments.
func TestNoKeyAnywhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		args  []string
		place func(b *box)
		keeps string // the file that may hold it
		shown bool   // to commands, since the user says so
	}{
		{"variable", nil, func(b *box) { b.env["ANTHROPIC_API_KEY"] = anthropicKey }, "", false},
		{"flag", []string{"--api-key", anthropicKey}, func(*box) {}, "", true},
		{"store", nil, func(b *box) { b.file(b.credentials(), `{"anthropic": {"api_key": "`+anthropicKey+`"}}`) }, "credentials.json", false},
		{"settings", nil, func(b *box) { b.settings(`{"profiles": {"claude-api": {"api_key": "` + anthropicKey + `"}}}`) }, "settings.json", false},
		{"env of the settings", nil, func(b *box) { b.settings(`{"env": {"ANTHROPIC_API_KEY": "` + anthropicKey + `"}}`) }, "settings.json", true},
		{"helper", nil, func(b *box) {
			b.file(filepath.Join(b.home, "key"), anthropicKey)
			b.settings(`{"profiles": {"claude-api": {"api_key_helper": "cat ~/key"}}}`)
		}, "key", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			look := "true"
			if !tt.shown {
				look = "env; cat /proc/$$/cmdline /proc/$PPID/cmdline /proc/$PPID/environ 2>/dev/null | tr '\\0' ' '"
			}
			b := keyless(t, ohtest.Reply(named(bash(t, look), "e")), ohtest.Reply(ohtest.Text("done")))
			tt.place(b)
			for _, args := range [][]string{
				append([]string{"-p", "--permission-mode", "full_auto", "--profile", "claude-api", "--verbose", "--debug", "--output-format", "stream-json"}, append(tt.args, "go")...),
				{"config"}, {"config", "list", "--json"}, {"auth", "status"}, {"auth", "status", "--json"}, {"provider", "list", "--json"}, {"session", "list"},
				append([]string{"--dry-run", "-p", "--profile", "claude-api"}, append(tt.args, "go")...),
			} {
				r := b.oh(args...)
				if hasKey(r.out + r.err) {
					t.Errorf("%v shows the key: %v", args, r)
				}
			}
			reqs := b.done(2)
			for _, req := range reqs {
				if hasKey(string(req.Body)) {
					t.Errorf("a key is in request %d: %s", req.N, req.Body)
				}
			}
			must(t, filepath.WalkDir(b.home, func(path string, d os.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() || filepath.Base(path) == tt.keeps {
					return err
				}
				if data, _ := os.ReadFile(path); hasKey(string(data)) {
					t.Errorf("a key is in %s", path)
				}
				return nil
			}))
		})
	}
}

// TestCopilotLogin: the device flow, then a prompt with the token.
func TestCopilotLogin(t *testing.T) {
	t.Parallel()
	const token = "gho_e2e_5ecret"
	b := newBoxWith(t, ohtest.OpenAI, ohtest.Config{Key: token, Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("hello"))}})
	to, err := url.Parse(b.srv.URL)
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	polls := 0
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login/device/code", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"device_code": "dc", "user_code": "WXYZ-1234", "verification_uri": "http://%s/login/device", "interval": 0.01, "expires_in": 900}`, r.Host)
	})
	mux.HandleFunc("POST /login/oauth/access_token", func(w http.ResponseWriter, _ *http.Request) {
		if polls++; polls == 1 {
			_, _ = io.WriteString(w, `{"error": "authorization_pending"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token": "`+token+`"}`)
	})
	mux.HandleFunc("/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Openai-Intent") == "" && r.Header.Get("User-Agent") != "openharness" {
			t.Error(r.Header)
		}
		r.URL.Path = "/v1" + r.URL.Path
		proxy.ServeHTTP(w, r)
	})
	github := httptest.NewServer(mux)
	defer github.Close()
	delete(b.env, "OPENAI_API_KEY")
	delete(b.env, "OPENAI_BASE_URL")
	b.settings(`{"copilot_client_id": "cid"}`)
	r := b.oh("auth", "login", "copilot", "--domain", github.URL)
	r.wantCode(t, 0)
	r.wantErr(t, "WXYZ-1234", github.URL+"/login/device")
	if strings.Contains(r.out+r.err, token) || !strings.Contains(b.read(b.credentials()), token) {
		t.Error(r)
	}
	b.oh("-p", "--profile", "copilot", "--model", "gpt-4o", "hi").wantCode(t, 0)
	b.done(1)
	b.oh("auth", "copilot-logout").wantCode(t, 0)
	b.oh("-p", "--profile", "copilot", "hi").wantCode(t, 3)
}

// TestCopilotInterrupt: whoever stops waiting has stored nothing.
func TestCopilotInterrupt(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"device_code": "dc", "user_code": "WXYZ-1234", "verification_uri": "http://%s/login/device", "interval": 600, "expires_in": 900}`, r.Host)
	}))
	defer github.Close()
	b.env["OPENHARNESS_COPILOT_CLIENT_ID"] = "cid"
	b.env["PATH"] = "/nonexistent" // no browser
	f := b.attach("auth", "login", "copilot", "--domain", github.URL)
	f.expect("WXYZ-1234")
	f.expect("Ctrl-C stops")
	f.typed("\x03")
	f.ends(130)
	if _, err := os.Stat(b.credentials()); err == nil {
		t.Error("something was stored")
	}
}

// TestOwnAuthority: a service whose certificate the system does not know is
// reached when its authority is named, and only then.
func TestOwnAuthority(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("one")), ohtest.Reply(ohtest.Text("two")))
	to, err := url.Parse(b.srv.URL)
	must(t, err)
	srv := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(to))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	defer srv.Close()
	ca := b.file(filepath.Join(b.home, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})))
	b.env["ANTHROPIC_BASE_URL"] = srv.URL
	r := b.oh("-p", "hi")
	r.wantCode(t, 4)
	r.wantErr(t, "NODE_EXTRA_CA_CERTS")
	r = b.run(call{args: []string{"-p", "hi"}, env: map[string]string{"NODE_EXTRA_CA_CERTS": ca}})
	r.wantCode(t, 0)
	b.settings(`{"tls": {"ca_file": "~/ca.pem"}}`)
	b.oh("-p", "hi").wantCode(t, 0)
	b.done(2)
	b.settings(`{"tls": {"ca_file": "~/gone.pem"}}`)
	r = b.oh("-p", "hi")
	r.wantCode(t, 4)
	r.wantErr(t, filepath.Join(b.home, "gone.pem")+": it cannot be read")
}

// TestHelperEnds: a helper that hangs ends with the program.
func TestHelperEnds(t *testing.T) {
	t.Parallel()
	b := keyless(t)
	b.file(filepath.Join(b.home, ".claude", "settings.json"), `{"apiKeyHelper": "echo x >> $M/begun; sleep 300"}`)
	p := b.start(call{args: []string{"-p", "--profile", "claude-api", "hi"}})
	until(t, "the helper runs", func() bool { return b.marked("begun") == 1 })
	p.signal(syscall.SIGINT)
	p.wait().wantCode(t, 130)
}
