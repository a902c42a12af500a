package app

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/cassette"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// replayKey stands for the key when a cassette answers.
const replayKey = "cassette"

// tape is the cassette of a session, written or played. The zero value is none.
type tape struct {
	recorder *cassette.Recorder
	player   *cassette.Player

	mu      sync.Mutex
	differs []string // guarded by mu: what a person has not been told yet
}

// openCassette opens the one that is played. What it was recorded with counts
// as chosen, unless the command line says otherwise.
func (r *Runtime) openCassette() ([]config.Flag, error) {
	if r.opts.Replay == "" {
		return nil, nil
	}
	p, err := cassette.Open(r.opts.Replay, cassette.Scrubber{Home: r.paths.Home, Secrets: []string{replayKey}})
	if err != nil {
		return nil, &config.Error{File: "--replay", Problem: strings.TrimPrefix(err.Error(), "replay: ")}
	}
	p.Strict = r.opts.ReplayStrict
	p.Differs = func(n int, where string) {
		r.tape.mu.Lock()
		defer r.tape.mu.Unlock()
		r.tape.differs = append(r.tape.differs, fmt.Sprintf("replay: request %d differs from the recorded one: %s", n, where))
	}
	r.tape.player = p
	head := p.Head()
	profile := head.Profile
	if _, ok := catalog.Find(profile); !ok {
		for _, known := range catalog.Profiles() {
			if known.Wire == head.Wire && known.Missing == "" {
				profile = known.Name
				break
			}
		}
	}
	var flags []config.Flag
	for key, value := range map[string]string{"active_profile": profile, "model": head.Model, "base_url": head.BaseURL, "api_format": head.Wire} {
		if value != "" {
			flags = append(flags, config.Flag{Name: "the cassette", Key: key, Value: value})
		}
	}
	return flags, nil
}

// access is the service that is asked, and its key. A cassette needs none.
func (r *Runtime) access(ctx context.Context, req auth.Request) (auth.Access, error) {
	if r.tape.player == nil {
		return auth.Resolve(ctx, req)
	}
	a, err := auth.Choose(ctx, req)
	a.Key, a.Token, a.Credential, a.Source = config.NewSecret(replayKey), auth.Secret{}, nil, "none: a cassette answers"
	return a, err
}

// record begins the cassette that is written, once the service is known.
func (r *Runtime) record(s *service) error {
	if r.opts.Record == "" || r.opts.DryRun {
		return nil
	}
	scrub := cassette.Scrubber{Home: r.paths.Home, Secrets: s.secrets}
	for _, name := range auth.Scrub(r.loaded, r.opts.APIKey) {
		if value, _, ok := r.loaded.Env(name); ok {
			scrub.Secrets = append(scrub.Secrets, strings.TrimSpace(value))
		}
	}
	var err error
	r.tape.recorder, err = cassette.Create(r.opts.Record, cassette.Head{Program: r.opts.Version, Profile: s.profile.Name, Model: s.model,
		Wire: s.profile.Wire, BaseURL: config.HideUser(s.profile.BaseURL)}, scrub)
	if err != nil {
		return &config.Error{File: "--record", Problem: strings.TrimPrefix(err.Error(), "record: ")}
	}
	client := r.httpClient()
	client.Transport = r.tape.recorder.Wrap(client.Transport)
	return nil
}

// told returns what the cassette had to say since it was asked last.
func (t *tape) told() []oh.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []oh.Event
	for _, s := range t.differs {
		out = append(out, oh.Notice{Level: oh.Warning, Text: s})
	}
	t.differs = nil
	return out
}

// close ends the cassette that is written.
func (t *tape) close() error {
	if t.recorder == nil {
		return nil
	}
	return t.recorder.Close()
}
