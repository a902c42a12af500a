package provider

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// What is wrong with a file is told for requests without TLS too.
func TestPlainRequest(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer srv.Close()
	const bad = "# mine\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	good := write(t, "good.pem", bad+newIdentity(t, "x").pem)
	for _, tt := range []struct {
		file string
		ok   bool
	}{{good, true}, {good + ".gone", false}, {write(t, "bad.pem", bad), false}} {
		client := ClientConfig{CAFiles: []string{tt.file}}.NewClient()
		client.Transport.(*lazyTransport).secure = func() (*http.Transport, error) { return nil, errors.New("the authorities were read") }
		resp, err := client.Get(srv.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		if _, told := errors.AsType[*TLSError](err); (err == nil) != tt.ok || told == tt.ok {
			t.Errorf("%s: %v", tt.file, err)
		}
	}
}

// Only a request that needs them has the system's authorities read.
func TestLazyTransport(t *testing.T) {
	plain, secure := errors.New("plain"), errors.New("secure")
	for _, tt := range []struct {
		url, proxy string
		want       error
	}{
		{"http://a", "", plain}, {"http://a", "http://p", plain}, {"http://a", "socks5://p", plain}, {"http://a", "https://p", secure},
		{"https://a", "", secure}, {"https://a", "http://p", secure},
	} {
		l := &lazyTransport{
			plain:  func() (*http.Transport, error) { return nil, plain },
			secure: func() (*http.Transport, error) { return nil, secure },
			proxy: func(*http.Request) (*url.URL, error) {
				if tt.proxy == "" {
					return nil, nil
				}
				return url.Parse(tt.proxy)
			},
		}
		req, err := http.NewRequest(http.MethodPost, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := l.RoundTrip(req)
		if resp != nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s by %q: %v", tt.url, tt.proxy, err)
		}
	}
}
