package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// github answers as GitHub does, from memory, and notes when it was asked.
type github struct {
	begun time.Time
	log   []string
	code  string   // its first answer
	polls []string // the answers after that, the last one for ever; "status body"
}

func (g *github) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	g.log = append(g.log, fmt.Sprintf("%v %s %s %s", time.Since(g.begun), req.Method, req.URL, body))
	answer := g.code
	if strings.HasSuffix(req.URL.Path, "/access_token") {
		if answer = g.polls[0]; len(g.polls) > 1 {
			g.polls = g.polls[1:]
		}
	}
	status, text := 200, answer
	if n, rest, ok := strings.Cut(answer, " "); ok && len(n) == 3 {
		if _, err := fmt.Sscan(n, &status); err != nil {
			return nil, err
		}
		text = rest
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

const (
	code    = `{"device_code": "dc", "user_code": "AB-12", "verification_uri": "https://github.com/login/device", "interval": 5, "expires_in": 900}`
	pending = `{"error": "authorization_pending"}`
	token   = `{"access_token": "gho_secret", "token_type": "bearer"}`
)

func TestDevice(t *testing.T) {
	for _, tt := range []struct {
		name   string
		code   string
		polls  []string
		want   string // token or error
		at     time.Duration
		within string // expiry of the grant
	}{
		{"at the third time", code, []string{pending, pending, token}, "gho_secret", 18 * time.Second, ""},
		{"slow down", code, []string{`{"error": "slow_down", "interval": 12}`, `{"error": "slow_down"}`, token}, "gho_secret", 37 * time.Second, ""},
		{"no interval", strings.Replace(code, `"interval": 5, `, "", 1), []string{token}, "gho_secret", 6 * time.Second, ""},
		{"a token that ends", code, []string{`{"access_token": "ghu_x", "expires_in": 28800}`}, "ghu_x", 6 * time.Second, "2000-01-01T08:00:06Z"},
		{"refused", code, []string{pending, `{"error": "access_denied"}`}, "wait for GitHub's token: the login was refused on GitHub's page", 12 * time.Second, ""},
		{"expired there", code, []string{`{"error": "expired_token"}`}, "wait for GitHub's token: the code was not used in time and is void; run the command again", 6 * time.Second, ""},
		{"expired here", strings.Replace(code, "900", "20", 1), []string{pending}, "the code was not used in time and is void; run the command again", 20 * time.Second, ""},
		{"a server that stumbles", code, []string{pending, "502 <html>", "429 x", token}, "gho_secret", 39 * time.Second, ""},
		{"a server that is down", code, []string{"503 x"}, "wait for GitHub's token: github.com answered 503", 80 * time.Second, ""},
		{"a page instead", code, []string{"404 <html>"}, "wait for GitHub's token: github.com answered 404", 6 * time.Second, ""},
		{"the code in words", code, []string{`{"error": "odd", "error_description": "no dc here"}`}, "wait for GitHub's token: no [hidden] here", 6 * time.Second, ""},
		{"no such app", `404 {"error": "Not Found"}`, nil, "ask GitHub for a code: 404: Not Found", 0, ""},
		{"unknown client", `{"error": "incorrect_client_credentials", "error_description": "secret?"}`, nil, "ask GitHub for a code: GitHub knows no OAuth app of this client id (setting copilot_client_id)", 0, ""},
		{"no device flow", `{"error": "device_flow_disabled"}`, nil, "ask GitHub for a code: the OAuth app does not allow the device flow; enable it in the app's settings at GitHub", 0, ""},
		{"a page", "502 <html>", nil, "ask GitHub for a code: github.com answered 502", 0, ""},
		{"no JSON", "<html>", nil, "ask GitHub for a code: github.com gave an answer that is not JSON", 0, ""},
		{"no code", `{"user_code": "x", "verification_uri": "https://github.com"}`, nil, "ask GitHub for a code: its answer names no code or no page", 0, ""},
		{"an odd page", strings.Replace(code, "https://github", "file:///github", 1), nil, "ask GitHub for a code: its answer names no code or no page", 0, ""},
		{"a page without TLS", strings.Replace(code, "https://github", "http://github", 1), nil, "ask GitHub for a code: its answer names no code or no page", 0, ""},
		{"an empty token", code, []string{`{}`}, "wait for GitHub's token: GitHub's answer: the key is empty", 6 * time.Second, ""},
		{"other words", code, []string{`{"error": "odd", "error_description": "no\u001b[31m"}`}, "wait for GitHub's token: no", 6 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &github{begun: time.Now(), code: tt.code, polls: tt.polls}
				shown := ""
				d := Device{Client: &http.Client{Transport: g}, ClientID: "cid", Show: func(url, code string) { shown = url + " " + code }}
				grant, err := d.Login(t.Context())
				got := grant.Token.Reveal()
				if err != nil {
					got = err.Error()
				}
				if got != tt.want || time.Since(g.begun) != tt.at || grant.Expiry() != tt.within {
					t.Errorf("got %q after %v till %q, want %q after %v till %q", got, time.Since(g.begun), grant.Expiry(), tt.want, tt.at, tt.within)
				}
				if len(tt.polls) > 0 && shown != "https://github.com/login/device AB-12" {
					t.Errorf("shown: %q", shown)
				}
			})
		})
	}
}

func TestDeviceRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &github{begun: time.Now(), code: code, polls: []string{token}}
		d := Device{Client: &http.Client{Transport: g}, ClientID: "cid", Domain: "corp.ghe.com", Show: func(string, string) {}}
		if _, err := d.Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			`0s POST https://corp.ghe.com/login/device/code {"client_id":"cid","scope":"read:user"}`,
			`6s POST https://corp.ghe.com/login/oauth/access_token {"client_id":"cid","device_code":"dc","grant_type":"urn:ietf:params:oauth:grant-type:device_code"}`,
		}
		if diff := cmp.Diff(want, g.log); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDeviceCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		g := &github{begun: time.Now(), code: code, polls: []string{pending}}
		_, err := Device{Client: &http.Client{Transport: g}, ClientID: "cid", Show: func(string, string) {}}.Login(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || len(g.log) != 2 {
			t.Error(err, g.log)
		}
	})
	if _, err := (Device{}).Login(t.Context()); err == nil || !strings.Contains(err.Error(), "copilot_client_id") {
		t.Error(err)
	}
}

func TestCheckDomain(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "github.com": "", "https://github.com/": "", "Corp.GHE.com": "corp.ghe.com", " https://corp.ghe.com ": "corp.ghe.com",
		"http://127.0.0.1:8080": "http://127.0.0.1:8080", "corp.ghe.com:8443": "corp.ghe.com:8443",
		"http://corp.ghe.com": "!", "corp": "!", "corp.ghe.com/path": "!", "u:pass@corp.ghe.com": "!", "a b.c": "!", "10.0.0.1": "!", "http://127.0.0.1/x": "!", "https://": "!",
	} {
		got, err := CheckDomain(in)
		if err != nil {
			got = "!"
		}
		if got != want || err != nil && strings.Contains(err.Error(), "pass") {
			t.Errorf("CheckDomain(%q) = %q, want %q (%v)", in, got, want, err)
		}
	}
}

// TestCopilot: the token of the store, at the address of its domain.
func TestCopilot(t *testing.T) {
	for _, tt := range []struct{ name, file, url, key string }{
		{"github.com", `{"copilot": {"api_key": "gho_x"}}`, "https://api.githubcopilot.com/chat/completions", "gho_x"},
		{"an enterprise", `{"copilot": {"api_key": "gho_x", "domain": "corp.ghe.com"}}`, "https://copilot-api.corp.ghe.com/chat/completions", "gho_x"},
		{"it lasts", `{"copilot": {"api_key": "gho_x", "expires": "2999-01-01T00:00:00Z"}}`, "https://api.githubcopilot.com/chat/completions", "gho_x"},
		{"it has ended", `{"copilot": {"api_key": "gho_x", "expires": "2020-01-01T00:00:00Z"}}`, "", "there is no key for the profile copilot any more: the login has expired\nlog in with: oh auth login copilot"},
		{"none", "", "", "there is no key for the profile copilot\nlog in with: oh auth login copilot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := scene{credentials: tt.file, flags: profileFlag("copilot")}.request(t)
			if p, _ := Profile(r.Settings, "copilot"); p.Missing != "" {
				t.Skip("copilot is not in the table yet")
			}
			a, err := Resolve(t.Context(), r)
			got := a.Key.Reveal()
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, tt.key) || a.Profile.BaseURL != tt.url {
				t.Errorf("%q at %q, want %q at %q", got, a.Profile.BaseURL, tt.key, tt.url)
			}
		})
	}
}

// FuzzDevice: whatever GitHub answers, there is a code and a page, or an error.
func FuzzDevice(f *testing.F) {
	for _, seed := range []string{code, pending, token, "502 <html>", `{"interval": "5"}`, `{"device_code": 1}`, "{", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		g := &github{begun: time.Now(), code: answer}
		got, err := Device{Client: &http.Client{Transport: g}, ClientID: "cid"}.begin(t.Context())
		if err == nil && (got.Code == "" || got.User == "" || !strings.HasPrefix(got.URL, "http")) {
			t.Errorf("%+v", got)
		}
	})
}
