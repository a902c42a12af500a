package cloud

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync"

	"github.com/openharness/oh"
)

// Service is a model service in a cloud: where it is, is asked at the first
// request, and credentials that it refuses are looked for once more.
type Service struct {
	Op string // names the service in errors

	// URL returns the base URL. Its error is one of the configuration, unless it
	// is an [*oh.Error]; the next request asks again.
	URL func(ctx context.Context) (string, error)

	// Build makes the service at a base URL. It is called once.
	Build func(url string) (oh.Provider, error)

	// Forget drops the credentials, see the signers. It may be nil.
	Forget func()
}

// Provider returns the service. It is safe for concurrent use.
func (s Service) Provider() oh.Provider { return &located{Service: s} }

type located struct {
	Service

	mu    sync.Mutex
	built oh.Provider // guarded by mu
}

// Stream implements [oh.Provider].
func (l *located) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		p, err := l.provider(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		if again := attempt(p.Stream(ctx, req), yield, l.Forget != nil); again {
			l.Forget()
			attempt(p.Stream(ctx, req), yield, false)
		}
	}
}

// attempt passes on what a stream says. again says that nothing was passed on,
// because old credentials were refused.
func attempt(stream iter.Seq2[oh.Chunk, error], yield func(oh.Chunk, error) bool, may bool) (again bool) {
	for chunk, err := range stream {
		if may && stale(err) {
			return true
		}
		may = false
		if !yield(chunk, err) {
			return false
		}
	}
	return false
}

// stale reports whether a service says that credentials count no longer.
func stale(err error) bool {
	e, ok := errors.AsType[*oh.Error](err)
	if !ok {
		return false
	}
	switch e.Code {
	case "ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException":
		return true
	}
	return e.Status == http.StatusUnauthorized
}

func (l *located) provider(ctx context.Context) (oh.Provider, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.built != nil {
		return l.built, nil
	}
	url, err := l.URL(ctx)
	if err == nil {
		l.built, err = l.Build(url)
	}
	if err == nil {
		return l.built, nil
	}
	if _, ok := errors.AsType[*oh.Error](err); ok {
		return nil, err
	}
	kind := oh.KindInvalid
	if ctx.Err() != nil {
		kind = oh.KindCancelled
	}
	return nil, &oh.Error{Op: l.Op, Kind: kind, Err: err}
}
