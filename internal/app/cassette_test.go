package app

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestRecordLeavesCredentialsOut: what a cloud's account is asked for is no
// part of a cassette, also when the service is changed while one is written.
func TestRecordLeavesCredentialsOut(t *testing.T) {
	said := "" // by the client to the token service
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		said += string(raw)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token": "access.secret", "expires_in": 3600, "token_type": "Bearer"}`)
	}))
	t.Cleanup(tokens.Close)
	o, server := options(t, ohtest.Reply(ohtest.Text("one")), ohtest.Reply(ohtest.Text("two")))
	account := filepath.Join(o.Home, "account.json")
	write(t, account, `{"type": "authorized_user", "client_id": "me", "client_secret": "client-secret", "refresh_token": "refresh-secret", "token_uri": "`+tokens.URL+`/token"}`)
	write(t, filepath.Join(o.Home, ".openharness", "settings.json"), `{"profiles": {"vertex": {"base_url": "`+server.URL+`"}}}`)
	env := o.LookupEnv
	o.LookupEnv = func(name string) (string, bool) {
		switch name {
		case "GOOGLE_APPLICATION_CREDENTIALS":
			return account, true
		case "GOOGLE_CLOUD_PROJECT":
			return "project", true
		}
		return env(name)
	}
	o.Record = filepath.Join(o.Home, "a.cassette")
	r := build(t, o)
	for _, line := range []string{"hi", "/provider vertex", "hi"} {
		handle(t, r, line)
	}
	if !strings.Contains(said, "refresh-secret") || len(server.Requests()) != 2 {
		t.Fatalf("nothing was tested: the token service was told %q, and %d requests came", said, len(server.Requests()))
	}
	raw, err := os.ReadFile(o.Record)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"access.secret", "refresh-secret", "client-secret", "/token", base64.StdEncoding.EncodeToString([]byte(said))} {
		if strings.Contains(string(raw), secret) {
			t.Errorf("%s is on the cassette", secret)
		}
	}
	if n := strings.Count(string(raw), `"request":`); n != 2 {
		t.Errorf("%d requests are on the cassette", n)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
