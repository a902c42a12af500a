package app

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/provider"
)

// Client returns the client for all calls to model services, with the
// certificates that the settings name. They are read at the first request.
func Client(l *config.Loaded) *http.Client {
	at := func(path string) string {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(l.Paths.Home, rest)
		}
		if path != "" && !filepath.IsAbs(path) {
			path = filepath.Join(l.Paths.Dir, path)
		}
		return path
	}
	s := l.Settings.TLS
	c := provider.ClientConfig{Cert: at(s.Cert), Key: at(s.Key)}
	if s.CAFile != "" {
		c.CAFiles = append(c.CAFiles, at(s.CAFile))
	}
	if extra, _, ok := l.Env("NODE_EXTRA_CA_CERTS"); ok && extra != "" {
		c.CAFiles = append(c.CAFiles, at(extra))
	}
	return c.NewClient()
}

// tryLimit is how long a service may take to answer a test.
const tryLimit = time.Minute

// Try sends one tiny request to a model and returns nil when it was answered.
func Try(ctx context.Context, l *config.Loaded, a auth.Access, model string) error {
	codec, err := (&Runtime{catalog: l.Catalog(), loaded: l, paths: l.Paths}).newCodec(a, l.Settings)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	req := &oh.Request{Profile: a.Profile.Name, Model: model, MaxTokens: 64,
		Messages: []oh.Message{{ID: "setup", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "Answer with the word: ready"}}}}}
	for _, err := range codec.Stream(ctx, req) {
		if err != nil {
			return err
		}
	}
	return nil
}
