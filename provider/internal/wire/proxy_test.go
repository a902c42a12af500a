package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// environ sets the proxies of the environment.
func environ(t *testing.T, proxy, none string) {
	t.Helper()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		t.Setenv(name, proxy)
	}
	t.Setenv("NO_PROXY", none)
	t.Setenv("no_proxy", none)
	t.Setenv("REQUEST_METHOD", "")
}

// A proxy that refuses is named, and it is not the key that is at fault.
func TestProxyRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, at string
		status   int
		kind     oh.Kind
		words    string
	}{
		{"CONNECT wants a password", "https://service.test/v1", 407, oh.KindInvalid, "407 Proxy Authentication Required"},
		{"CONNECT is forbidden", "https://service.test/v1", 403, oh.KindInvalid, "403 Forbidden"},
		{"CONNECT finds nothing", "https://service.test/v1", 502, oh.KindUnavailable, "502 Bad Gateway"},
		{"request wants a password", "http://service.test/v1", 407, oh.KindInvalid, "407 Proxy Authentication Required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, "<html>go away</html>")
			}))
			defer srv.Close()
			host := strings.TrimPrefix(srv.URL, "http://")
			environ(t, "http://someone:hunter2hunter2@"+host, "")
			_, err := open(t, tt.at, provider.Config{Key: "sk-secret"})
			if oh.KindOf(err) != tt.kind || !strings.Contains(err.Error(), "the proxy "+host) || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("error %v, want kind %s, the proxy %s and %s", err, tt.kind, host, tt.words)
			}
			for _, bad := range []string{"hunter2", "someone", "sk-secret"} {
				if strings.Contains(err.Error(), bad) {
					t.Errorf("%v holds %s", err, bad)
				}
			}
		})
	}
}

// Who wrote a proxy down means that the service is not to be reached without.
func TestProxyThatCannotBeRead(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: x\n\n")
	}))
	defer srv.Close()
	for _, value := range []string{"http://user:hunter2hunter2@[::1", "http://user:hunter2%zz@host:1", "://hunter2"} {
		environ(t, value, "")
		for at, name := range map[string]string{"https://service.test/v1": "HTTPS_PROXY", "http://service.test/v1": "HTTP_PROXY"} {
			_, err := open(t, at, provider.Config{})
			if oh.KindOf(err) != oh.KindInvalid || !strings.Contains(err.Error(), name+" ") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s by %q: %v", at, value, err)
			}
		}
		s, err := open(t, srv.URL, provider.Config{})
		if err != nil {
			t.Errorf("a loopback address, which no proxy is used for: %v", err)
			continue
		}
		s.Close()
	}
	environ(t, "", "")
	if s, err := open(t, srv.URL, provider.Config{}); err != nil {
		t.Errorf("no proxy: %v", err)
	} else {
		s.Close()
	}
}

// Where nothing is known of a proxy it is still no matter of a key.
func TestProxyUnknown(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(407) }))
	defer srv.Close()
	_, err := open(t, srv.URL, provider.Config{Key: "sk-secret"})
	if oh.KindOf(err) != oh.KindInvalid || !strings.Contains(err.Error(), "a proxy") {
		t.Error(err)
	}
}
