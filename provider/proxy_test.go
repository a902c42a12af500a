package provider

import (
	"net/http"
	"testing"
)

func TestEnvironment(t *testing.T) {
	const unread = "HTTPS_PROXY cannot be read; write it like http://host:port"
	for _, tt := range []struct{ value, none, at, want, err string }{
		{"", "", "https://a.test", "", ""},
		{"http://p.test:8080", "", "https://a.test", "http://p.test:8080", ""},
		{"p.test:8080", "", "https://a.test", "http://p.test:8080", ""},
		{"socks5://p.test", "", "https://a.test", "socks5://p.test", ""},
		{"http://p.test", "a.test", "https://a.test", "", ""},
		{"http://p.test", "", "https://localhost", "", ""},
		{"http://p.test", "", "http://a.test", "", ""},
		{"http://u:secret@[::1", "", "https://a.test", "", unread},
		{"http://u:sec%zz@p.test", "", "https://a.test", "", unread},
		{"://secret", "", "https://a.test", "", unread},
		{"http://", "", "https://a.test", "", unread},
		{" ", "", "https://a.test", "", unread},
		{"ftp://p.test", "", "https://a.test", "", unread},
		{"http://[::1", "a.test", "https://a.test", "", ""},
		{"http://[::1", "", "https://127.0.0.1", "", ""},
		{"http://[::1", "", "http://a.test", "", ""},
	} {
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "https_proxy", "no_proxy", "REQUEST_METHOD"} {
			t.Setenv(name, "")
		}
		t.Setenv("HTTPS_PROXY", tt.value)
		t.Setenv("NO_PROXY", tt.none)
		req, err := http.NewRequest(http.MethodPost, tt.at, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, said := "", ""
		u, err := environment()(req)
		if u != nil {
			got = u.String()
		}
		if err != nil {
			said = err.Error()
		}
		if got != tt.want || said != tt.err {
			t.Errorf("%q (none %q) for %s: %q, %q; want %q, %q", tt.value, tt.none, tt.at, got, said, tt.want, tt.err)
		}
	}
}
