package proxy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// Rules judges hosts.
type Rules struct {
	allow, deny []hostRule
}

// hostRule is one entry of a list.
type hostRule struct {
	name   string // in lower case, without a dot at the end; "" is any
	below  bool   // what is below the name, not itself
	prefix netip.Prefix
}

// Parse reads lists of hosts: a name (example.com, itself only), *.name
// (all below it), * (all), an address or a prefix (10.0.0.0/8). Denied ones win.
// When nothing is allowed by name, all that is not denied is. The error names
// the entry that is none of these.
func Parse(allowed, denied []string) (*Rules, error) {
	r := &Rules{}
	for _, list := range []struct {
		key     string
		entries []string
		to      *[]hostRule
	}{{"allowed_domains", allowed, &r.allow}, {"denied_domains", denied, &r.deny}} {
		for _, e := range list.entries {
			rule, ok := parseHost(e)
			if !ok {
				return nil, fmt.Errorf("sandbox.network.%s: %q is no host: write a name, *.name, an address or a prefix such as 10.0.0.0/8, without scheme, port and path", list.key, text.Cut(e, 100))
			}
			*list.to = append(*list.to, rule)
		}
	}
	return r, nil
}

func parseHost(s string) (hostRule, bool) {
	s = cleanHost(s)
	if p, err := netip.ParsePrefix(s); err == nil {
		return hostRule{prefix: p.Masked()}, true
	}
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return hostRule{prefix: netip.PrefixFrom(a, a.BitLen())}, true
	}
	if s == "*" {
		return hostRule{below: true}, true
	}
	name, below := strings.CutPrefix(s, "*.")
	return hostRule{name: name, below: below}, name != "" && !strings.ContainsAny(name, " \t/:*@?#[]\\")
}

func cleanHost(s string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), ".")
}

// matches judges a clean host name or address.
func (r hostRule) matches(host string) bool {
	if r.prefix.IsValid() {
		a, err := netip.ParseAddr(host)
		return err == nil && r.prefix.Contains(a.Unmap())
	}
	if r.below {
		return r.name == "" || strings.HasSuffix(host, "."+r.name)
	}
	return host == r.name
}

// Judge says why a host may not be reached, "" when it may. Its addresses have
// to be judged too.
func (r *Rules) Judge(host string) string {
	host = cleanHost(host)
	any := func(list []hostRule) bool {
		return slices.ContainsFunc(list, func(h hostRule) bool { return h.matches(host) })
	}
	switch {
	case host == "":
		return "it has no name"
	case any(r.deny):
		return "it is in sandbox.network.denied_domains"
	case len(r.allow) > 0 && !any(r.allow):
		return "it is not in sandbox.network.allowed_domains"
	}
	return ""
}

// judgeAddr says why an address of a host may not be reached, "" when it may.
// One that is not public is reached only when the host is allowed by its own
// name, or the address by its own rule; that of a cloud's metadata never.
func (r *Rules) judgeAddr(host string, a netip.Addr) string {
	a = a.Unmap()
	literal := a.WithZone("").String()
	if slices.ContainsFunc(r.deny, func(h hostRule) bool { return h.prefix.IsValid() && h.matches(literal) }) {
		return "its address " + literal + " is in sandbox.network.denied_domains"
	}
	what := kindOf(a)
	if what == "" {
		return ""
	}
	host = cleanHost(host)
	named := slices.ContainsFunc(r.allow, func(h hostRule) bool {
		return !h.below && h.name != "" && h.name == host || h.prefix.IsValid() && h.matches(literal)
	})
	if named && !a.IsLinkLocalUnicast() {
		return ""
	}
	hint := ""
	if !a.IsLinkLocalUnicast() {
		hint = "; a person can allow it by its own name in sandbox.network.allowed_domains"
	}
	return "its address " + literal + " is not public (" + what + ")" + hint
}

// kindOf says what an address is that is not on the public Internet, else "".
func kindOf(a netip.Addr) string {
	switch {
	case !a.IsValid() || a.Zone() != "":
		return "of one link"
	case a.IsLoopback():
		return "this machine"
	case a.IsPrivate():
		return "private"
	case a.IsLinkLocalUnicast(), a.IsMulticast(), a.IsUnspecified(), !a.IsGlobalUnicast():
		return "not of one public host"
	}
	for _, special := range [...]string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		if netip.MustParsePrefix(special).Contains(a) {
			return "reserved"
		}
	}
	if b := a.As16(); a.Is6() {
		switch {
		case [12]byte(b[:12]) == [12]byte{0, 0x64, 0xff, 0x9b}: // NAT64
			return kindOf(netip.AddrFrom4([4]byte(b[12:])))
		case b[0] == 0x20 && b[1] == 0x02: // 6to4
			return kindOf(netip.AddrFrom4([4]byte(b[2:6])))
		}
	}
	return ""
}
