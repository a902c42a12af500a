package web

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/openharness/oh/internal/text"
)

// maxURL is the longest URL, in bytes.
const maxURL = 8000

// address reads a URL that a model gave and returns it in the form in which it
// is judged and asked for: lower-case host in ASCII, no default port, no
// fragment.
func address(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	switch {
	case raw == "":
		return nil, errors.New("url is empty: give an address such as https://example.com/page")
	case len(raw) > maxURL:
		return nil, fmt.Errorf("url is longer than %s bytes", text.Number(maxURL))
	case strings.ContainsRune(raw, '\\'):
		return nil, fmt.Errorf("url %q holds a backslash: write / or %%5C", text.Cut(raw, 200))
	}
	u, err := url.Parse(raw)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("url %q: %w", text.Cut(raw, 200), err)
	}
	return u, tidy(u)
}

// tidy checks a URL and brings it into the form of address.
func tidy(u *url.URL) error {
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme == "" && u.Host == "":
		return fmt.Errorf("url %q has no scheme: begin it with https://", text.Cut(u.String(), 200))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the scheme %q is not supported: only http and https are", text.Cut(u.Scheme, 40))
	case u.User != nil:
		return errors.New("the URL holds a user name or password: leave it out, credentials are not sent")
	case u.Hostname() == "":
		return errors.New("the URL has no host")
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return err
	}
	port := u.Port()
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("the port %s is not between 1 and 65535", text.Cut(port, 20))
		}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host += ":" + port
	}
	u.Host, u.Fragment, u.RawFragment = host, "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return nil
}

// asciiHost returns a host as it is looked up. Numbers that some resolvers
// take for an address, such as 127.1 or 0x7f000001, are refused.
func asciiHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", &PrivateError{Host: host, Why: "link-local"}
		}
		return a.String(), nil
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil && !plainHost(host) {
		return "", fmt.Errorf("%q is no valid host name", text.Cut(host, 100))
	}
	if err == nil {
		host = strings.TrimSuffix(ascii, ".")
	}
	if len(host) > 253 || strings.Contains(host, "..") || strings.HasPrefix(host, ".") {
		return "", fmt.Errorf("%q is no valid host name", text.Cut(host, 100))
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || last == "" || strings.Trim(last, "0123456789") == "" {
		return "", fmt.Errorf("%q is neither a host name nor an IP address in its usual form", text.Cut(host, 100))
	}
	return host, nil
}

// plainHost reports whether a name that is against the rules, as with an
// underscore, can be looked up all the same.
func plainHost(host string) bool {
	for _, r := range host {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return true
}

// judgeName judges a host by its name alone, where a proxy will look it up.
func (g guard) judgeName(host string) error {
	if a, err := netip.ParseAddr(host); err == nil {
		return g.check(host, a)
	}
	if !localName(host) || g.allow != nil && g.allow(host, netip.Addr{}) {
		return nil
	}
	return &PrivateError{Host: host, Why: "a local name"}
}

// localName reports whether a name is for local use by its form.
func localName(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, end := range [...]string{".localhost", ".local", ".internal", ".home.arpa", ".localdomain", ".intranet", ".lan"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}
