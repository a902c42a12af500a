package wire

import (
	"net/http"
	"net/url"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// proxy makes an error of a proxy's refusal. It has no status: the service did
// not speak, and no other key would help.
func (l *Link) proxy(e *provider.ProxyError) *oh.Error {
	if e.Status >= 500 {
		return l.Fail(oh.KindUnavailable, e)
	}
	return l.Fail(oh.KindInvalid, e)
}

// proxy returns the host of the proxy that the request went to, "" when it is
// not known.
func (s *Stream) proxy() string {
	var find func(*http.Request) (*url.URL, error)
	switch t := s.link.client().Transport.(type) {
	case *http.Transport:
		find = t.Proxy
	case interface {
		ProxyOf(*http.Request) (*url.URL, error)
	}:
		find = t.ProxyOf
	}
	if find == nil || s.resp.Request == nil {
		return ""
	}
	u, err := find(s.resp.Request)
	if u == nil || err != nil {
		return ""
	}
	return u.Host
}
