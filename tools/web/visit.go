package web

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openharness/oh/internal/text"
)

// maxHops is how many redirects are followed.
const maxHops = 5

// visit is a GET with its redirects.
type visit struct {
	url  *url.URL // that answered
	hops []string // URLs that were redirected from
	away *url.URL // a redirect to another host, not followed
	resp *http.Response
}

// open asks for a URL and follows redirects on the same host, or with pinned
// those that change neither scheme nor port. The body has to be closed unless
// there is an error or a redirect away.
func (s *set) open(ctx context.Context, u *url.URL, head http.Header, own, pinned bool) (*visit, error) {
	v := &visit{url: u}
	for {
		resp, err := s.send(ctx, http.MethodGet, v.url, head, nil, own)
		if err != nil {
			return nil, err
		}
		next, err := target(v.url, resp)
		if next == nil && err == nil {
			v.resp = resp
			return v, nil
		}
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		v.hops = append(v.hops, v.url.String())
		if next.Hostname() != v.url.Hostname() || pinned && (next.Host != v.url.Host || next.Scheme != v.url.Scheme) {
			v.away = next
			return v, nil
		}
		if len(v.hops) > maxHops {
			return nil, fmt.Errorf("%s redirects more than %d times; the last was to %s", place(u), maxHops, place(next))
		}
		v.url = next
	}
}

// target returns where an answer redirects to, nil when it does not.
func target(from *url.URL, resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return nil, nil
	}
	raw := resp.Header.Get("Location")
	if raw == "" {
		return nil, fmt.Errorf("%s answered with status %d and names no place to go to", place(from), resp.StatusCode)
	}
	to, err := url.Parse(raw)
	if err == nil {
		to = from.ResolveReference(to)
		err = tidy(to)
	}
	if err == nil && len(to.String()) > maxURL {
		err = fmt.Errorf("it is longer than %s bytes", text.Number(maxURL))
	}
	if err != nil {
		return nil, fmt.Errorf("%s redirects to %q, which is refused: %w", place(from), text.Cut(text.Clean(raw), 200), err)
	}
	return to, nil
}

// place names a URL without what may be secret in it.
func place(u *url.URL) string {
	return text.Cut((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), 300)
}

// send makes one request.
func (s *set) send(ctx context.Context, method string, u *url.URL, head http.Header, body io.Reader, own bool) (*http.Response, error) {
	carrier, err := s.route(ctx, u, own)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make a request to %s: %w", u.Host, err)
	}
	for k, v := range head {
		req.Header[k] = v
	}
	if u.User != nil {
		pass, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), pass)
	}
	setAgent(req.Header)
	resp, err := carrier.RoundTrip(req)
	if err != nil {
		return nil, s.explain(ctx, u, err)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		resp.Body.Close()
		return nil, fmt.Errorf("%s answered in the encoding %q, which was not asked for", u.Host, text.Cut(text.Clean(enc), 40))
	}
	return resp, nil
}

// explain words an error of the network for the model.
func (s *set) explain(ctx context.Context, u *url.URL, err error) error {
	var private *PrivateError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &private):
		return private
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is signed by an unknown authority; the user can name further ones with NODE_EXTRA_CA_CERTS or SSL_CERT_FILE", u.Host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s closed the connection before its answer was complete", u.Host)
	}
	return fmt.Errorf("connect to %s: %s", u.Host, text.OneLine(text.Clean(err.Error()), 400))
}

// within bounds a call; what ends it then says so.
func within(ctx context.Context, d time.Duration, host string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%s gave no complete answer within %s; try again later, or another source", host, d))
}

// readAll reads a body up to a limit in bytes; more says that there was more.
func (s *set) readAll(ctx context.Context, u *url.URL, r io.Reader, limit int64) (data []byte, more bool, err error) {
	data, err = io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, false, s.explain(ctx, u, err)
	}
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, false, nil
}
