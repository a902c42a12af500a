package auth

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync"

	"github.com/openharness/oh"
)

// Renewing returns a model service whose key is fetched anew when it is old,
// and once more when the service refuses it. build makes the service for a key;
// it is called for each new key, one at a time.
func Renewing(c *Credential, build func(key Secret) (oh.Provider, error)) oh.Provider {
	return &renewing{credential: c, build: build}
}

type renewing struct {
	credential *Credential
	build      func(Secret) (oh.Provider, error)

	mu      sync.Mutex // guards what follows
	key     Secret
	current oh.Provider
}

// Stream implements [oh.Provider].
func (r *renewing) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		key, again := r.attempt(ctx, req, yield, true)
		if !again {
			return
		}
		r.credential.Forget(key)
		r.attempt(ctx, req, yield, false)
	}
}

// attempt makes one attempt. again says that nothing was yielded, because the
// key was refused and may try another.
func (r *renewing) attempt(ctx context.Context, req *oh.Request, yield func(oh.Chunk, error) bool, may bool) (key Secret, again bool) {
	key, p, err := r.service(ctx)
	if err != nil {
		yield(nil, err)
		return key, false
	}
	for chunk, err := range p.Stream(ctx, req) {
		if e, ok := errors.AsType[*oh.Error](err); may && ok && e.Status == http.StatusUnauthorized {
			return key, true
		}
		may = false
		if !yield(chunk, err) {
			return key, false
		}
	}
	return key, false
}

func (r *renewing) service(ctx context.Context) (Secret, oh.Provider, error) {
	key, err := r.credential.Key(ctx)
	if err != nil {
		kind := oh.KindAuth
		if ctx.Err() != nil {
			kind = oh.KindCancelled
		}
		return key, nil, &oh.Error{Op: "key", Kind: kind, Err: err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || !r.key.Equal(key) {
		p, err := r.build(key)
		if err != nil {
			return key, nil, err
		}
		r.key, r.current = key, p
	}
	return key, r.current, nil
}
