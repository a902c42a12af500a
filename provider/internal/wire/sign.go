package wire

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/openharness/oh"
)

// sign puts credentials on a request, if they are put on each anew.
func (l *Link) sign(req *http.Request) error {
	if l.cfg.Sign == nil {
		return nil
	}
	err := l.cfg.Sign(req)
	l.veil.add(credentials(req.Header)...)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*oh.Error](err); ok {
		return e
	}
	if ctxErr := req.Context().Err(); ctxErr != nil {
		return l.Fail(oh.KindCancelled, ctxErr)
	}
	return l.Fail(oh.KindAuth, l.veiled(err))
}

// hide replaces whatever in s is a key of this link.
func (l *Link) hide(s string) string { return l.veil.hide(s) }

// maxVeiled bounds how many keys are remembered; a token lives an hour.
const maxVeiled = 64

// veil knows what must not show. It is safe for concurrent use.
type veil struct {
	mu   sync.Mutex
	keys []string // guarded by mu
}

// add takes keys to hide. Short ones are not: they may be words.
func (v *veil) add(keys ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, k := range keys {
		if len(k) >= 6 && !slices.Contains(v.keys, k) {
			v.keys = append(v.keys, k)
		}
	}
	if n := len(v.keys); n > maxVeiled {
		v.keys = slices.Clone(v.keys[n-maxVeiled:])
	}
}

func (v *veil) hide(s string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, k := range v.keys {
		s = strings.ReplaceAll(s, k, "[key]")
	}
	return s
}
