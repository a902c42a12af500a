package web

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhy(t *testing.T) {
	for addr, want := range map[string]string{
		"8.8.8.8": "", "1.1.1.1": "", "93.184.215.14": "", "172.15.255.255": "", "172.32.0.0": "", "100.63.255.255": "", "100.128.0.0": "",
		"198.17.255.255": "", "198.20.0.0": "", "223.255.255.255": "", "2606:4700::1111": "", "2001:4860:4860::8888": "", "2a00:1450::1": "",
		"64:ff9b::8.8.8.8": "", "2002:808:808::1": "", "::ffff:8.8.8.8": "",

		"0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "10.1.2.3": "private", "100.64.0.1": "carrier-grade NAT", "100.127.255.255": "carrier-grade NAT",
		"127.0.0.1": "loopback", "127.255.0.1": "loopback", "169.254.1.1": "link-local", "169.254.169.254": "cloud metadata", "100.100.100.200": "cloud metadata",
		"172.16.0.1": "private", "172.31.255.255": "private", "192.0.0.1": "protocol assignment", "192.0.2.1": "documentation", "192.88.99.1": "6to4 relay",
		"192.168.255.255": "private", "198.18.0.1": "benchmark", "198.19.255.255": "benchmark", "198.51.100.7": "documentation", "203.0.113.9": "documentation",
		"224.0.0.1": "multicast", "239.255.255.255": "multicast", "240.0.0.1": "reserved", "255.255.255.255": "reserved",

		"::": "unspecified", "::1": "loopback", "::127.0.0.1": "IPv4-compatible", "::8.8.8.8": "IPv4-compatible",
		"::ffff:127.0.0.1": "loopback", "::ffff:10.0.0.1": "private", "::ffff:169.254.169.254": "cloud metadata",
		"64:ff9b::127.0.0.1": "loopback (as NAT64)", "64:ff9b::10.0.0.1": "private (as NAT64)", "64:ff9b::169.254.169.254": "cloud metadata (as NAT64)",
		"64:ff9b:1::1": "local NAT64", "100::1": "discard-only", "2001::1": "Teredo", "2001:0:7f00:1::": "Teredo", "2001:20::1": "protocol assignment",
		"2001:db8::1": "documentation", "3fff::1": "documentation", "2002:7f00:1::": "loopback (as 6to4)", "2002:a9fe:a9fe::1": "cloud metadata (as 6to4)",
		"2002:c0a8:101::": "private (as 6to4)", "2606:4700::5efe:10.0.0.1": "private (as ISATAP)", "2606:4700::200:5efe:127.0.0.1": "loopback (as ISATAP)",
		"fc00::1": "private", "fd12:3456::1": "private", "fd00:ec2::254": "cloud metadata", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
		"fec0::1": "site-local", "ff02::1": "multicast", "5f00::1": "segment routing", "4000::1": "reserved", "::ffff:0:127.0.0.1": "reserved",
		"1::1": "reserved",
	} {
		if got := why(netip.MustParseAddr(addr)); got != want {
			t.Errorf("why(%s) = %q, want %q", addr, got, want)
		}
	}
	if got := why(netip.Addr{}); got != "invalid" {
		t.Errorf("why(no address) = %q", got)
	}
}

func TestAllowList(t *testing.T) {
	allow, err := AllowList([]string{"10.1.0.0/16", "192.168.7.7", "[fd00::1]", "Wiki.Corp.", "*.intra"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, addr string
		want       bool
	}{
		{"10.1.2.3", "10.1.2.3", true}, {"10.2.0.1", "10.2.0.1", false}, {"x", "::ffff:10.1.0.1", true}, {"x", "192.168.7.7", true},
		{"x", "192.168.7.8", false}, {"x", "fd00::1", true}, {"wiki.corp", "10.9.9.9", true}, {"sub.wiki.corp", "10.9.9.9", false},
		{"a.b.intra", "10.9.9.9", true}, {"intra", "10.9.9.9", false}, {"xintra", "10.9.9.9", false},
	} {
		if got := allow(c.host, netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("allow(%s, %s) = %t", c.host, c.addr, got)
		}
	}
	for _, bad := range []string{"", "*.", "http://x", "a b", "10.0.0.0/99", "*.*.x"} {
		if _, err := AllowList([]string{bad}); err == nil {
			t.Errorf("AllowList(%q) is accepted", bad)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: " HTTPS://Example.COM:443/a?b#frag ", want: "https://example.com/a?b"},
		{in: "http://example.com", want: "http://example.com/"},
		{in: "http://example.com.:8080/x y", want: "http://example.com:8080/x%20y"},
		{in: "http://bücher.example/ü", want: "http://xn--bcher-kva.example/%C3%BC"},
		{in: "http://under_score.example/", want: "http://under_score.example/"},
		{in: "http://[2606:4700:0::1]:80/", want: "http://[2606:4700::1]/"},
		{in: "http://[::FFFF:8.8.8.8]/", want: "http://[::ffff:8.8.8.8]/"},
		{in: "", err: "empty"},
		{in: "example.com/x", err: "scheme"},
		{in: "//example.com/x", err: "scheme"},
		{in: "ftp://example.com/", err: "scheme"},
		{in: "file:///etc/passwd", err: "scheme"},
		{in: "javascript:alert(1)", err: "scheme"},
		{in: "http://user:pw@example.com/", err: "user name"},
		{in: "http://user@example.com/", err: "user name"},
		{in: "http:///x", err: "no host"},
		{in: "http://:80/", err: "no host"},
		{in: "http://example.com:0/", err: "port"},
		{in: "http://example.com:65536/", err: "port"},
		{in: "http://example.com\\@10.0.0.1/", err: "backslash"},
		{in: "http://127.1/", err: "usual form"},
		{in: "http://2130706433/", err: "usual form"},
		{in: "http://0x7f000001/", err: "usual form"},
		{in: "http://0x7f.0.0.0x1/", err: "usual form"},
		{in: "http://0177.0.0.01/", err: "usual form"},
		{in: "http://１２７.０.０.１.1/", err: "usual form"},
		{in: "http://[fe80::1%25eth0]/", err: "link-local"},
		{in: "http://exa mple.com/", err: "invalid"},
		{in: "http://a..b/", err: "host name"},
		{in: "http://example.com/" + strings.Repeat("x", maxURL), err: "longer"},
	} {
		u, err := address(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("address(%q): error %v, want one with %q", c.in, err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), "pw") {
				t.Errorf("address(%q): the error shows the password: %v", c.in, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("address(%q): %v", c.in, err)
		} else if u.String() != c.want {
			t.Errorf("address(%q) = %s, want %s", c.in, u, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	public, private := netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("10.0.0.7")
	g := guard{resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "good.example":
			return []netip.Addr{public}, nil
		case "mixed.example":
			return []netip.Addr{public, private}, nil
		case "none.example":
			return nil, nil
		}
		return nil, errors.New("unreachable server")
	}}
	got, err := g.find(t.Context(), "good.example")
	if diff := cmp.Diff([]netip.Addr{public}, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	var p *PrivateError
	if _, err := g.find(t.Context(), "mixed.example"); !errors.As(err, &p) || *p != (PrivateError{"mixed.example", private, "private"}) {
		t.Errorf("one private address among public ones: %v", err)
	}
	if _, err := g.find(t.Context(), "127.0.0.1"); !errors.As(err, &p) {
		t.Errorf("a literal address: %v", err)
	}
	for host, want := range map[string]string{"none.example": "has no address", "odd.example": "look up odd.example: unreachable server"} {
		if _, err := g.find(t.Context(), host); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("find(%s): %v, want %q", host, err, want)
		}
	}
}

// A name that is public when first asked for and private when asked for again
// must not lead to the private address.
func TestRebinding(t *testing.T) {
	asked := 0
	g := guard{resolve: func(context.Context, string) ([]netip.Addr, error) {
		if asked++; asked == 1 {
			return []netip.Addr{netip.MustParseAddr("2001:4860::1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing may really be dialled
	if conn, err := g.dial(ctx, "tcp", "rebind.example:80"); err == nil {
		t.Fatalf("connected to %s", conn.RemoteAddr())
	}
	if asked != 1 {
		t.Errorf("the name was looked up %d times for one connection", asked)
	}
	var p *PrivateError
	if _, err := g.dial(t.Context(), "tcp", "rebind.example:80"); !errors.As(err, &p) || p.Why != "loopback" {
		t.Errorf("second connection: %v", err)
	}
}
