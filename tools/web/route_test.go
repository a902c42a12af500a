package web

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestExtraCA(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "safe") }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "bad.pem")
	if err := os.WriteFile(good, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, want string }{
		{good, "safe"}, {"", "unknown authority"}, {bad, "holds no certificate"}, {filepath.Join(dir, "none"), "NODE_EXTRA_CA_CERTS"},
	} {
		if got := call(t, Config{Allow: local, ExtraCA: c.file}, "web_fetch", arg("url", srv.URL)).Content.Text(); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s", c.file, got)
		}
	}
}

func TestProxy(t *testing.T) {
	var seen atomic.Pointer[string]
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		u := r.URL.String()
		seen.Store(&u)
		fmt.Fprint(w, "by proxy")
	})
	withUser := strings.Replace(proxy, "http://", "http://me:s3cret@", 1)
	for _, c := range []struct {
		name string
		cfg  Config
		url  string
		want string
		via  bool
	}{
		{"url", Config{Proxy: withUser}, "http://public.example/x", "by proxy", true},
		{"env", Config{Proxy: "env", HTTPProxy: proxy}, "http://public.example/x", "by proxy", true},
		{"not asked for", Config{HTTPProxy: proxy, HTTPSProxy: proxy}, "http://public.example/x", "stop here", false},
		{"no proxy", Config{Proxy: proxy, NoProxy: ".example"}, "http://public.example/x", "stop here", false},
		{"private address", Config{Proxy: proxy}, "http://10.0.0.1/", "not public", false},
		{"local name", Config{Proxy: proxy}, "http://printer.local/", "not public", false},
		{"bare name", Config{Proxy: proxy}, "http://intranet/", "not public", false},
		{"metadata name", Config{Proxy: proxy}, "http://metadata.google.internal/", "not public", false},
		{"loopback goes direct and is refused", Config{Proxy: proxy}, proxy, "not public", false},
		{"bad", Config{Proxy: "ftp://x:s3cret@y"}, "http://public.example/", "OPENHARNESS_WEB_PROXY", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen.Store(nil)
			c.cfg.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("stop here") }
			got := call(t, c.cfg, "web_fetch", arg("url", c.url)).Content.Text()
			if !strings.Contains(got, c.want) || (seen.Load() != nil) != c.via || strings.Contains(got, "s3cret") {
				t.Errorf("by proxy %t: %s", seen.Load() != nil, got)
			}
		})
	}
	dead := Config{Proxy: "http://me:s3cret@127.0.0.1:1", Timeout: 5 * time.Second}
	if got := call(t, dead, "web_fetch", arg("url", "https://public.example/")); !got.IsError || strings.Contains(got.Content.Text(), "s3cret") {
		t.Error(got.Content.Text())
	}
}

func wait(t *testing.T, ch <-chan error, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(5 * time.Second): // a transport alone takes 10 s
		t.Fatalf("%s did not end with the call", what)
	}
}

// What a call began ends with it: a look-up, and a connection in the midst of
// its handshake.
func TestNothingIsLeft(t *testing.T) {
	looked := make(chan error, 1)
	cfg := Config{Timeout: 50 * time.Millisecond, Resolve: func(ctx context.Context, _ string) ([]netip.Addr, error) {
		<-ctx.Done()
		looked <- ctx.Err()
		return nil, ctx.Err()
	}}
	if res := call(t, cfg, "web_fetch", `{"url":"https://slow.example/"}`); !res.IsError || !strings.Contains(res.Content.Text(), "no complete answer") {
		t.Error(res.Content.Text())
	}
	wait(t, looked, "the look-up")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = io.Copy(io.Discard, conn) // never answers the handshake
			conn.Close()
		}
		ended <- err
	}()
	call(t, Config{Allow: local, Timeout: 50 * time.Millisecond}, "web_fetch", arg("url", "https://"+l.Addr().String()))
	wait(t, ended, "the connection")
}

func TestEnv(t *testing.T) {
	env := map[string]string{"BRAVE_API_KEY": " b ", "EXA_API_KEY": "e", "TAVILY_API_KEY": "t", "OPENHARNESS_WEB_SEARCH_URL": "http://s", "OPENHARNESS_WEB_PROXY": "env",
		"https_proxy": "p1", "HTTP_PROXY": "p2", "http_proxy": "p3", "NO_PROXY": "n", "NODE_EXTRA_CA_CERTS": "/ca"}
	got := Env(func(k string) string { return env[k] })
	want := Config{SearchURL: "http://s", Brave: "b", Tavily: "t", Exa: "e", Proxy: "env", HTTPSProxy: "p1", HTTPProxy: "p2", NoProxy: "n", ExtraCA: "/ca"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s := fmt.Sprintf("%v %+v %#v %s", got, got, got, got.Brave); strings.Contains(s, `"b"`) || strings.Contains(s, " b ") {
		t.Errorf("a key is shown: %s", s)
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://example.com/", "http://[::1]:80/x", "http://0x7f.1/", "HTTP://ü.example:443#x", "http://a@b", "//x", "http://%31%32/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := address(raw)
		if err != nil {
			return
		}
		again, err := address(u.String())
		if err != nil || again.String() != u.String() {
			t.Errorf("address(%q) = %q; again: %v, %v", raw, u, again, err)
		}
		if parsed, err := url.Parse(u.String()); err != nil || parsed.Hostname() != u.Hostname() || parsed.User != nil {
			t.Errorf("%q is read back as %v, %v", u, parsed, err)
		}
	})
}
