package wire

import (
	"net/http"

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
	t, ok := s.link.client().Transport.(*http.Transport)
	if !ok || t.Proxy == nil || s.resp.Request == nil {
		return ""
	}
	u, err := t.Proxy(s.resp.Request)
	if u == nil || err != nil {
		return ""
	}
	return u.Host
}
