package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// guard connects to public addresses only.
type guard struct {
	allow   func(host string, addr netip.Addr) bool
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// PrivateError says that a host is not on the public Internet.
type PrivateError struct {
	Host string
	Addr netip.Addr
	Why  string // what kind of address it is
}

// Error implements error, worded for the model.
func (e *PrivateError) Error() string {
	at := ""
	if e.Addr.IsValid() && e.Addr.String() != e.Host {
		at = " has the address " + e.Addr.Unmap().String() + ", which"
	}
	return fmt.Sprintf("%s%s is not public (%s): the web tools reach public addresses only; for a server of the user's own use a command, such as curl", e.Host, at, e.Why)
}

// check judges one address of a host.
func (g guard) check(host string, a netip.Addr) error {
	w := why(a)
	if w == "" || g.allow != nil && g.allow(host, a) {
		return nil
	}
	return &PrivateError{Host: host, Addr: a, Why: w}
}

// find returns the addresses of a host when all of them may be reached.
func (g guard) find(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, g.check(host, a)
	}
	resolve := g.resolve
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addrs, err := resolve(ctx, host)
	if err != nil {
		var dns *net.DNSError
		if errors.As(err, &dns) && dns.IsNotFound {
			return nil, fmt.Errorf("the name %s does not exist; check its spelling", host)
		}
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("the name %s has no address", host)
	}
	for _, a := range addrs {
		if err := g.check(host, a); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// dialTime is how long one of several addresses may take to answer.
const dialTime = 5 * time.Second

// dial connects to the first address of a host that answers. It never asks for
// the name again: what was judged is what is dialled.
func (g guard) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	addrs, err := g.find(ctx, host)
	if err != nil {
		return nil, err
	}
	var errs []error
	for i, a := range addrs {
		d := net.Dialer{}
		if i < len(addrs)-1 {
			d.Timeout = dialTime
		}
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(a.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}
