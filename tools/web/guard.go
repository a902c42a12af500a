package web

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
)

// block is a range of addresses that are not on the public Internet.
type block struct {
	prefix netip.Prefix
	why    string
}

// blocks lists the ranges of the IANA registries of special-purpose addresses
// that are not globally reachable, and those that lead somewhere else.
var blocks = sync.OnceValue(func() []block {
	var out []block
	for _, b := range [...]struct{ prefix, why string }{
		{"169.254.169.254/32", "cloud metadata"},
		{"fd00:ec2::254/128", "cloud metadata"},
		{"100.100.100.200/32", "cloud metadata"},
		{"0.0.0.0/8", "unspecified"},
		{"10.0.0.0/8", "private"},
		{"100.64.0.0/10", "carrier-grade NAT"},
		{"127.0.0.0/8", "loopback"},
		{"169.254.0.0/16", "link-local"},
		{"172.16.0.0/12", "private"},
		{"192.0.0.0/24", "protocol assignment"},
		{"192.0.2.0/24", "documentation"},
		{"192.31.196.0/24", "AS112"},
		{"192.52.193.0/24", "AMT relay"},
		{"192.88.99.0/24", "6to4 relay"},
		{"192.168.0.0/16", "private"},
		{"192.175.48.0/24", "AS112"},
		{"198.18.0.0/15", "benchmark"},
		{"198.51.100.0/24", "documentation"},
		{"203.0.113.0/24", "documentation"},
		{"224.0.0.0/4", "multicast"},
		{"240.0.0.0/4", "reserved"},
		{"::/128", "unspecified"},
		{"::1/128", "loopback"},
		{"::/96", "IPv4-compatible"},
		{"64:ff9b:1::/48", "local NAT64"},
		{"100::/64", "discard-only"},
		{"2001::/32", "Teredo"},
		{"2001::/23", "protocol assignment"},
		{"2001:db8::/32", "documentation"},
		{"2620:4f:8000::/48", "AS112"},
		{"3fff::/20", "documentation"},
		{"5f00::/16", "segment routing"},
		{"fc00::/7", "private"},
		{"fe80::/10", "link-local"},
		{"fec0::/10", "site-local"},
		{"ff00::/8", "multicast"},
	} {
		out = append(out, block{netip.MustParsePrefix(b.prefix), b.why})
	}
	return out
})

// why returns the reason why an address is not on the public Internet, or "".
// An address that carries an IPv4 address is judged by that one too.
func why(a netip.Addr) string {
	if !a.IsValid() {
		return "invalid"
	}
	if a.Zone() != "" {
		return "link-local"
	}
	a = a.Unmap()
	for _, b := range blocks() {
		if b.prefix.Contains(a) {
			return b.why
		}
	}
	if a.Is4() {
		return ""
	}
	v4, form := inner(a)
	if v4.IsValid() {
		if w := why(v4); w != "" {
			return w + " (as " + form + ")"
		}
	}
	if b := a.As16(); b[0]>>5 != 1 && form != "NAT64" {
		return "reserved" // only 2000::/3 is given out
	}
	return ""
}

// inner returns the IPv4 address that an IPv6 address leads to, if any, and
// the form in which it is written.
func inner(a netip.Addr) (v4 netip.Addr, form string) {
	b := a.As16()
	switch {
	case [12]byte(b[:12]) == [12]byte{0, 0x64, 0xff, 0x9b}:
		return netip.AddrFrom4([4]byte(b[12:])), "NAT64"
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6])), "6to4"
	case b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe:
		return netip.AddrFrom4([4]byte(b[12:])), "ISATAP"
	}
	return netip.Addr{}, ""
}

// AllowList makes a [Config.Allow] of names (wiki.example, *.intranet),
// addresses and prefixes (10.1.0.0/16). The error names the entry that is none
// of these.
func AllowList(entries []string) (func(host string, addr netip.Addr) bool, error) {
	var prefixes []netip.Prefix
	var names []string
	for _, e := range entries {
		e = strings.ToLower(strings.TrimSpace(e))
		if p, err := netip.ParsePrefix(e); err == nil {
			prefixes = append(prefixes, p.Masked())
		} else if a, err := netip.ParseAddr(strings.Trim(e, "[]")); err == nil {
			a = a.Unmap().WithZone("")
			prefixes = append(prefixes, netip.PrefixFrom(a, a.BitLen()))
		} else if name := strings.TrimPrefix(e, "*."); name == "" || strings.ContainsAny(name, " /:*@?#[]") {
			return nil, fmt.Errorf("%q is no host name, no address and no prefix such as 10.0.0.0/8", e)
		} else {
			names = append(names, strings.TrimSuffix(e, "."))
		}
	}
	return func(host string, addr netip.Addr) bool {
		addr = addr.Unmap()
		for _, p := range prefixes {
			if p.Contains(addr) {
				return true
			}
		}
		for _, n := range names {
			domain, below := strings.CutPrefix(n, "*.")
			if host == n || below && strings.HasSuffix(host, "."+domain) {
				return true
			}
		}
		return false
	}, nil
}
