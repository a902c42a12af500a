package app

import (
	"context"
	"net/http"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/cloud"
	"github.com/openharness/oh/internal/cloud/aws"
	"github.com/openharness/oh/internal/cloud/google"
	"github.com/openharness/oh/provider"
)

// signer is a cloud's account: where its services are, and its signature.
type signer struct {
	url    func(ctx context.Context) (string, error)
	sign   func(*http.Request) error
	forget func()
}

// inCloud makes a codec of a service whose address and credentials are those of
// a cloud's account. Both are looked for at the first request. An address and a
// key that are given count more.
func (r *Runtime) inCloud(p catalog.Profile, cfg provider.Config, build func(provider.Config) oh.Provider) oh.Provider {
	s := r.account(p.Chain)
	if cfg.Key == "" && cfg.Token == "" {
		cfg.Sign = s.sign
	}
	url := s.url
	if cfg.BaseURL != "" {
		url = func(context.Context) (string, error) { return cfg.BaseURL, nil }
	}
	return cloud.Service{Op: p.Name, URL: url, Forget: s.forget, Build: func(url string) (oh.Provider, error) {
		cfg.BaseURL = url
		return build(cfg), nil
	}}.Provider()
}

// account returns the account that the environment and the files of this user
// name. Nothing is read yet.
func (r *Runtime) account(chain string) signer {
	env := func(name string) (string, bool) {
		text, _, ok := r.loaded.Env(name)
		return text, ok
	}
	if chain == catalog.Google {
		s := google.New(google.Config{LookupEnv: env, Home: r.paths.Home, Client: r.accountClient()})
		return signer{s.URL, s.Sign, s.Forget}
	}
	s := aws.New(aws.Config{LookupEnv: env, Home: r.paths.Home, Client: r.accountClient()})
	return signer{s.URL, s.Sign, s.Forget}
}
