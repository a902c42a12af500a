// Package wire makes one HTTP attempt at a model service and reads its answer:
// the request with its headers, a limit on silence, the classification of all
// that can go wrong into [oh.Error] values. It never retries, knows no message
// format, and no error of it holds a key. Every request that was opened ends
// with Close or with the context.
package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
)

// Link is one service as a codec reaches it. It is safe for concurrent use.
type Link struct {
	op     string
	cfg    provider.Config
	rules  []Rule
	veil   veil
	client func() *http.Client
	lines  bool // see ByLine
}

// New returns a link. op names the wire in errors, such as "anthropic"; rules
// are the vendor's words in order of precedence, before those that all share.
func New(op string, cfg provider.Config, rules []Rule) *Link {
	cfg.Key, cfg.Token = strings.TrimSpace(cfg.Key), strings.TrimSpace(cfg.Token)
	if cfg.Idle == 0 {
		cfg.Idle = provider.DefaultIdle
	}
	l := &Link{op: op, cfg: cfg, rules: rules}
	l.veil.add(secrets(&cfg)...)
	l.client = sync.OnceValue(func() *http.Client { return guarded(cfg.Client) })
	return l
}

// Config returns the configuration, with keys trimmed and Idle set.
func (l *Link) Config() *provider.Config { return &l.cfg }

// Origin names who may get back what only this service can read: see
// [oh.Origin].
func (l *Link) Origin(req *oh.Request) string {
	return oh.Origin(cmp.Or(l.cfg.Profile, req.Profile), req.Model)
}

// Bearer returns a header with the token, or else the key, as bearer; an empty
// one without either.
func (l *Link) Bearer() http.Header {
	h := http.Header{}
	if secret := cmp.Or(l.cfg.Token, l.cfg.Key); secret != "" {
		h.Set("Authorization", "Bearer "+secret)
	}
	return h
}

// guarded returns a client that follows a redirect only to the host and scheme
// that was asked and with the same method: anything else would take the key, or
// the conversation, to where nobody meant it to go.
func guarded(c *http.Client) *http.Client {
	if c == nil {
		c = provider.NewClient()
	}
	own := *c
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if len(via) > 5 || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
			return http.ErrUseLastResponse
		}
		if c.CheckRedirect != nil {
			return c.CheckRedirect(req, via)
		}
		return nil
	}
	return &own
}

// BaseURL reads the base URL of the configuration, or fallback when there is
// none: white space, slashes and a fragment at the end are dropped, path and
// query are kept.
func (l *Link) BaseURL(fallback string) (*url.URL, error) {
	raw := strings.TrimSpace(l.cfg.BaseURL)
	if raw == "" {
		raw = fallback
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, l.Fail(oh.KindInvalid, errors.New("the base URL cannot be read; write it like https://host/v1"))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, l.Fail(oh.KindInvalid, fmt.Errorf("the base URL %q must begin with http:// or https:// and name a host", l.hide(raw)))
	}
	u.Fragment = ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// Open posts the body and waits for the answer's headers and first bytes. The
// error is an [*oh.Error]. Headers of the configuration replace those given.
func (l *Link) Open(ctx context.Context, u *url.URL, header http.Header, b *body.Body) (*Stream, error) {
	ctx2, cancel := context.WithCancelCause(ctx)
	s := &Stream{link: l, ctx: ctx, inner: ctx2, cancel: cancel}
	s.idle.start(l.cfg.Idle, func() { cancel(errIdle) })
	if err := s.open(u, header, b); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stream) open(u *url.URL, header http.Header, b *body.Body) error {
	send := func() io.ReadCloser { return io.NopCloser(touching{b.Reader(), &s.idle}) }
	req, err := http.NewRequestWithContext(s.inner, http.MethodPost, u.String(), send())
	if err != nil {
		return s.link.Fail(oh.KindInvalid, errors.New("the request cannot be made; check the base URL"))
	}
	req.ContentLength = b.Size()
	req.GetBody = func() (io.ReadCloser, error) { return send(), nil }
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "openharness")
	for _, h := range []http.Header{header, s.link.cfg.Headers} {
		for name, values := range h {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if err := s.link.sign(req); err != nil {
		return err
	}
	s.idle.arm()
	resp, err := s.link.client().Do(req)
	s.idle.rest()
	if err != nil {
		what := "no answer from " + u.Host
		if _, file := errors.AsType[*provider.TLSError](err); file {
			what = "" // nobody was asked
		}
		return s.transport(what, err)
	}
	s.resp = resp
	if err := s.decode(); err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return s.refused()
	}
	return s.sniff()
}

// refused makes an error of an answer that is no success.
func (s *Stream) refused() error {
	raw, err := io.ReadAll(io.LimitReader(s, maxFault))
	if s.ctx.Err() != nil {
		return s.transport("", err)
	}
	if s.resp.StatusCode == http.StatusProxyAuthRequired {
		return s.link.proxy(&provider.ProxyError{Proxy: s.proxy(), Status: s.resp.StatusCode})
	}
	if code := s.resp.StatusCode; code >= 300 && code < 400 {
		to := "another address"
		if u, err := s.resp.Location(); err == nil {
			to = u.Scheme + "://" + u.Host
		}
		return s.link.failed(code, "redirect", oh.KindInvalid, 0,
			fmt.Sprintf("the service redirects to %s, where the request is not sent; if that is right, make it the base URL", s.link.hide(to)))
	}
	return s.link.Fault(s.resp.StatusCode, s.resp.Header, raw)
}

// Fail returns an error of this link.
func (l *Link) Fail(kind oh.Kind, err error) *oh.Error {
	return &oh.Error{Op: l.op, Kind: kind, Err: err}
}

func (l *Link) failed(status int, code string, kind oh.Kind, after int64, words string) *oh.Error {
	e := l.Fail(kind, errors.New(words))
	e.Status, e.Code = status, code
	e.After = msec(after)
	return e
}

// secrets lists what must not show in an error: the keys, the values of headers
// that by their name may hold one, and passwords and long values in the URL.
func secrets(cfg *provider.Config) []string {
	var out []string
	add := func(s string) {
		if len(s) >= 6 {
			out = append(out, s)
		}
	}
	add(cfg.Key)
	add(cfg.Token)
	for _, v := range credentials(cfg.Headers) {
		add(v)
	}
	if u, err := url.Parse(cfg.BaseURL); err == nil {
		if pass, ok := u.User.Password(); ok {
			add(pass)
		}
		for _, values := range u.Query() {
			for _, v := range values {
				if len(v) >= 16 {
					add(v)
				}
			}
		}
	}
	return out
}

// credentials lists the values of headers that by their name may hold a key,
// with and without the word before it.
func credentials(h http.Header) []string {
	var out []string
	for name, values := range h {
		if !secretName(name) {
			continue
		}
		for _, v := range values {
			out = append(out, strings.TrimSpace(v))
			if _, bare, ok := strings.Cut(v, " "); ok {
				out = append(out, strings.TrimSpace(bare))
			}
		}
	}
	return out
}

func secretName(header string) bool {
	header = strings.ToLower(header)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password"} {
		if strings.Contains(header, word) {
			return true
		}
	}
	return false
}

// Join returns u with a path under its own: prefix, one segment in which
// everything but letters, digits and -._~ is escaped, and suffix.
func Join(u *url.URL, prefix, segment, suffix string) *url.URL {
	out := *u
	base := u.EscapedPath()
	out.Path = u.Path + prefix + segment + suffix
	out.RawPath = base + prefix + escape(segment) + suffix
	return &out
}

// escape escapes a segment of a path. It goes further than [url.PathEscape],
// which some services' signatures do not.
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
