package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRules(t *testing.T) {
	rules := func(allowed, denied string) *Rules {
		r, err := Parse(strings.Fields(allowed), strings.Fields(denied))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		allowed, denied, host string
		want                  string
	}{
		{"", "", "any.example", ""},
		{"a.example", "", "a.example", ""},
		{"a.example", "", "A.Example.", ""},
		{"a.example", "", "b.a.example", "allowed"},
		{"a.example", "", "xa.example", "allowed"},
		{"*.a.example", "", "b.a.example", ""},
		{"*.a.example", "", "c.b.a.example", ""},
		{"*.a.example", "", "a.example", "allowed"},
		{"*.a.example", "", "xa.example", "allowed"},
		{"*", "", "any.example", ""},
		{"*", "b.example", "b.example", "denied"},
		{"", "b.example", "b.example", "denied"},
		{"", "b.example", "a.example", ""},
		{"", "*.b.example", "x.b.example", "denied"},
		{"a.example", "a.example", "a.example", "denied"},
		{"", "*", "a.example", "denied"},
		{"10.0.0.0/8", "", "10.1.2.3", ""},
		{"10.0.0.0/8", "", "11.1.2.3", "allowed"},
		{"", "::1", "::1", "denied"},
		{"", "", "", "no name"},
	} {
		got := rules(c.allowed, c.denied).Judge(c.host)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("allowed %q, denied %q: %s: %q, want %q", c.allowed, c.denied, c.host, got, c.want)
		}
	}
	for _, bad := range []string{"", "http://a", "a:80", "a/b", "a b", "*.*", "*a", "user@a", "[x]", "fe80::1%eth0"} {
		if _, err := Parse(nil, []string{bad}); err == nil || !strings.Contains(err.Error(), "sandbox.network.denied_domains") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	r, err := Parse([]string{"*", "db.corp", "10.1.0.0/16", "169.254.169.254"}, []string{"8.8.8.8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, addr string
		ok         bool
	}{
		{"a.example", "1.1.1.1", true}, {"a.example", "2606:4700::1111", true}, {"a.example", "8.8.8.8", false}, {"a.example", "::ffff:8.8.8.8", false},
		{"a.example", "127.0.0.1", false}, {"a.example", "10.2.0.1", false}, {"a.example", "10.1.0.1", true}, {"db.corp", "10.2.0.1", true},
		{"db.corp", "127.0.0.1", true}, {"db.corp", "169.254.169.254", false}, {"169.254.169.254", "169.254.169.254", false},
		{"a.example", "::1", false}, {"a.example", "::ffff:127.0.0.1", false}, {"a.example", "fd00:ec2::254", false}, {"a.example", "fe80::1", false},
		{"a.example", "100.100.100.200", false}, {"a.example", "0.0.0.0", false}, {"a.example", "224.0.0.1", false}, {"a.example", "255.255.255.255", false},
		{"a.example", "64:ff9b::7f00:1", false}, {"a.example", "64:ff9b::101:101", true}, {"a.example", "2002:7f00:1::", false}, {"a.example", "2001::1", false},
		{"a.example", "192.168.1.1", false}, {"a.example", "172.16.0.1", false}, {"a.example", "::", false},
	} {
		if got := r.judgeAddr(c.host, netip.MustParseAddr(c.addr)); (got == "") != c.ok {
			t.Errorf("%s at %s: %q", c.host, c.addr, got)
		}
	}
}

// world is a proxy and what names it knows.
func world(t *testing.T, allowed, denied string, names map[string]string, upstream string) *Proxy {
	t.Helper()
	rules, err := Parse(strings.Fields(allowed), strings.Fields(denied))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Rules: rules, Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, a := range strings.Fields(names[host]) {
			out = append(out, netip.MustParseAddr(a))
		}
		if out == nil {
			return nil, errors.New("no such name")
		}
		return out, nil
	}}
	if upstream != "" {
		u, err := url.Parse(upstream)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Upstream = func(*url.URL) (*url.URL, error) { return u, nil }
	}
	p, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func client(t *testing.T, p *Proxy) *http.Client {
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: p.Addr()}), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: time.Minute}
}

func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		return "error: " + err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.Status + ": " + string(body)
}

func TestProxy(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s%s", r.Method, r.Host, r.URL, body)
		if len(r.Header["Proxy-Connection"])+len(r.Header["Proxy-Authorization"]) > 0 {
			t.Errorf("headers for the proxy were passed on: %v", r.Header)
		}
	}))
	defer plain.Close()
	secret := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hidden") }))
	defer secret.Close()
	port := func(s *httptest.Server) string { return s.URL[strings.LastIndexByte(s.URL, ':'):] }
	p := world(t, "a.example inner.example *.b.example 127.0.0.1", "no.b.example", map[string]string{
		"a.example": "127.0.0.1", "x.b.example": "10.0.0.1", "no.b.example": "127.0.0.1", "inner.example": "169.254.169.254",
	}, "")
	c := client(t, p)
	for _, tc := range []struct{ url, want string }{
		{"http://a.example" + port(plain) + "/p?q=1", "200 OK: GET a.example" + port(plain) + " /p?q=1"},
		{"http://127.0.0.1" + port(plain) + "/", "200 OK: GET 127.0.0.1" + port(plain) + " /"},
		{"https://a.example" + port(secret) + "/", "200 OK: hidden"},
		{"http://other.example/", "403 Refused by the sandbox: the sandbox does not let commands reach other.example: it is not in sandbox.network.allowed_domains\n"},
		{"http://no.b.example/", "403 Refused by the sandbox: the sandbox does not let commands reach no.b.example: it is in sandbox.network.denied_domains\n"},
		{"http://x.b.example/", "403 Refused by the sandbox: the sandbox does not let commands reach x.b.example: its address 10.0.0.1 is not public (private); a person can allow it by its own name in sandbox.network.allowed_domains\n"},
		{"http://inner.example/latest/meta-data", "403 Refused by the sandbox: the sandbox does not let commands reach inner.example: its address 169.254.169.254 is not public (not of one public host)\n"},
		{"http://b.b.example/", "502 Bad Gateway: the sandbox's proxy cannot reach b.b.example: no such name\n"},
	} {
		if got := get(t, c, tc.url); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.url, got, tc.want)
		}
	}
	if got := get(t, c, "https://other.example/"); !strings.Contains(got, "Refused by the sandbox") {
		t.Errorf("a tunnel to a refused host: %s", got)
	}
	want := []string{"other.example", "no.b.example", "x.b.example", "inner.example"}
	if got := p.Refused(); !slices.Equal(got, want) {
		t.Errorf("refused: %v", got)
	}
	resp, err := c.Post("http://a.example"+port(plain)+"/", "text/plain", strings.NewReader(" body"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if !strings.HasSuffix(string(body), "/ body") {
		t.Errorf("a body: %q", body)
	}
}

func TestProxyBehindAnother(t *testing.T) {
	secret := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hidden") }))
	defer secret.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "plain") }))
	defer plain.Close()
	outer := world(t, "127.0.0.1 far.example", "", map[string]string{"far.example": "127.0.0.1"}, "")
	p := world(t, "far.example", "", nil, "http://user:pass@"+outer.Addr())
	c := client(t, p)
	port := secret.URL[strings.LastIndexByte(secret.URL, ':'):]
	if got := get(t, c, "https://far.example"+port+"/"); got != "200 OK: hidden" {
		t.Errorf("got %q", got)
	}
	if got := get(t, c, "http://far.example"+plain.URL[strings.LastIndexByte(plain.URL, ':'):]+"/"); got != "200 OK: plain" {
		t.Errorf("got %q", got)
	}
	if got := get(t, c, "https://near.example/"); !strings.Contains(got, "Refused by the sandbox") {
		t.Errorf("got %q", got)
	}
	if got := outer.Refused(); got != nil {
		t.Errorf("the other proxy was asked for %v", got)
	}
	p = world(t, "far.example", "", nil, "socks5://127.0.0.1:1")
	if got := get(t, client(t, p), "https://far.example/"); !strings.Contains(got, "Bad Gateway") {
		t.Errorf("got %q", got)
	}
}

func TestUpstreamVariables(t *testing.T) {
	f := FromEnv(func(n string) (string, bool) {
		v, ok := map[string]string{"https_proxy": "http://p.corp:3128", "NO_PROXY": "in.corp"}[n]
		return v, ok
	})
	for target, want := range map[string]string{"https://x.example": "http://p.corp:3128", "http://x.example": "<nil>", "https://in.corp": "<nil>"} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f(u)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v", target, got, err)
		}
	}
}

// raw sends bytes and returns the first line of the answer.
func raw(t *testing.T, p *Proxy, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		_, _ = io.WriteString(conn, request)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line)
}

func TestProxyBadRequests(t *testing.T) {
	p := world(t, "*", "", nil, "")
	for _, c := range []struct{ request, want string }{
		{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"GET https://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"CONNECT x:0 HTTP/1.1\r\nHost: x:0\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"CONNECT x:ssh HTTP/1.1\r\nHost: x:ssh\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 Refused by the sandbox"},
		{"CONNECT [::1]:22 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 Refused by the sandbox"},
		{"GET http://127.0.0.1/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n", "HTTP/1.1 403 Refused by the sandbox"},
		{"\x16\x03\x01\x00\x05hello\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"", ""},
	} {
		if got := raw(t, p, c.request); got != c.want {
			t.Errorf("%q: %q, want %q", c.request, got, c.want)
		}
	}
	head := "GET http://x/ HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: "+strings.Repeat("x", 1000)+"\r\n", 2000) + "\r\n"
	if got := raw(t, p, head); got != "HTTP/1.1 431 Request Header Fields Too Large" && got != "" { // reset while it still sends
		t.Errorf("a long header: %q", got)
	}
}

// TestCloseEndsTunnels holds that nothing outlives the proxy.
func TestCloseEndsTunnels(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	p := world(t, "127.0.0.1", "", nil, "")
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\nearly", ln.Addr())
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	buf := make([]byte, 5)
	if _, err := io.ReadFull(far, buf); err != nil || string(buf) != "early" {
		t.Errorf("what came with the request: %q, %v", buf, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := far.Read(buf); err == nil {
		t.Error("the tunnel is still open")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzProxyRequest(f *testing.F) {
	f.Add([]byte("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"))
	f.Add([]byte("GET http://a.example/x HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add([]byte("POST http://[::1]:80/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"))
	rules, err := Parse([]string{"never.example"}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		p := &Proxy{cfg: Config{Rules: rules, Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return nil, errors.New("no names here")
		}}, conns: map[net.Conn]bool{}}
		p.ctx, p.cancel = context.WithCancel(t.Context())
		defer p.cancel()
		p.direct = &http.Transport{DialContext: p.dial}
		ours, theirs := net.Pipe()
		done := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(theirs)
			done <- all
		}()
		go func() { p.serve(&fed{Conn: ours, r: bytes.NewReader(request)}); _ = ours.Close() }()
		if all := <-done; bytes.HasPrefix(all, []byte("HTTP/1.1 2")) {
			t.Errorf("%q was let through: %q", request, all)
		}
	})
}

// fed reads from a text and writes to a connection.
type fed struct {
	net.Conn
	r io.Reader
}

func (c *fed) Read(p []byte) (int, error)      { return c.r.Read(p) }
func (c *fed) SetReadDeadline(time.Time) error { return nil }

func FuzzParseRules(f *testing.F) {
	for _, s := range []string{"a.example", "*.x", "*", "10.0.0.0/8", "[::1]", "http://x", ""} {
		f.Add(s, "a.example")
	}
	f.Fuzz(func(t *testing.T, entry, host string) {
		r, err := Parse(nil, []string{entry})
		if err != nil {
			return
		}
		all, err := Parse(nil, []string{"*"})
		if err != nil {
			t.Fatal(err)
		}
		if r.Judge(host) != "" && all.Judge(host) == "" {
			t.Errorf("%q denies %q, and * does not", entry, host)
		}
	})
}
