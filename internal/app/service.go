package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/anthropic"
	"github.com/openharness/oh/provider/bedrock"
	"github.com/openharness/oh/provider/gemini"
	"github.com/openharness/oh/provider/ollama"
	"github.com/openharness/oh/provider/openai"
	"github.com/openharness/oh/provider/responses"
)

// codecs are the wires with what speaks them.
func codecs(wire string) (build func(provider.Config) oh.Provider, ok bool) {
	switch wire {
	case catalog.Anthropic:
		return anthropic.New, true
	case catalog.OpenAI, "":
		return openai.New, true
	case catalog.Responses:
		return responses.New, true
	case catalog.Gemini:
		return gemini.New, true
	case catalog.Bedrock:
		return bedrock.New, true
	case catalog.Ollama:
		return ollama.New, true
	}
	return nil, false
}

// service is the model service of a session. It is an [oh.Provider].
type service struct {
	profile   catalog.Profile
	model     string
	keySource string
	window    int      // tokens, 0 unless the profile sets it
	allowed   []string // models that the profile is limited to; nil for all
	key       string   // for other services of the same vendor; never shown
	secrets   []string // not to be recorded
	loaded    *config.Loaded
	catalog   *catalog.Catalog
	client    *http.Client
	met       *sync.Map // models that the server was asked about
	codec     oh.Provider
	fallback  []string // models that stand in for an overloaded one
	missing   error    // why it cannot be used, for a dry run
}

// openService is step 3: which service, which model, which key. Nothing is
// connected.
func (r *Runtime) openService(ctx context.Context) (err error) {
	if r.service, err = r.findService(ctx, r.loaded, r.opts.APIKey); err != nil {
		return err
	}
	return r.record(r.service)
}

// findService finds the service that settings mean. keyFlag is the key as the
// command line gives it, if it does.
func (r *Runtime) findService(ctx context.Context, loaded *config.Loaded, keyFlag string) (*service, error) {
	access, err := r.access(ctx, auth.Request{Settings: loaded, Key: keyFlag, Stdin: r.opts.Stdin})
	noKey, isNoKey := errors.AsType[*auth.NoKey](err)
	switch {
	case isNoKey && (r.opts.DryRun || r.opts.NoModel):
		access.Profile = noKey.Profile
		if a, err := auth.Choose(ctx, auth.Request{Settings: loaded}); err == nil {
			access = a
		}
	case err != nil:
		return nil, err
	}
	for _, n := range access.Notes {
		r.note(oh.Info, n)
	}
	for _, w := range access.Warnings {
		r.note(oh.Warning, w)
	}
	s := &service{profile: access.Profile, keySource: access.Source, window: access.Window, allowed: access.Allowed, key: access.Key.Reveal(), loaded: loaded,
		secrets: []string{access.Key.Reveal(), access.Token.Reveal()},
		catalog: r.catalog, client: r.httpClient(), met: &sync.Map{}}
	if isNoKey {
		s.missing = err
	}
	s.model = access.Model(loaded.Settings.Permission.Mode == oh.ModePlan)
	if s.model == "" && s.missing == nil {
		if s.model, err = r.askModel(ctx, access); err != nil {
			return nil, err
		}
	}
	if s.missing == nil {
		if err := s.permits(s.model); err != nil {
			return nil, &config.Error{File: "--model", Problem: err.Error()}
		}
	}
	r.debug("service", "profile", s.profile.Name, "why", access.Why, "url", config.HideUser(s.profile.BaseURL), "wire", s.profile.Wire, "model", s.model, "key", s.keySource)
	s.codec, err = r.newCodec(access, loaded.Settings)
	return s, err
}

// permits holds a model to the profile's list.
func (s *service) permits(model string) error {
	if s.allowed == nil || slices.Contains(s.allowed, model) {
		return nil
	}
	return fmt.Errorf("the profile %s is limited to the models %s", s.profile.Name, strings.Join(s.allowed, ", "))
}

// askModel takes the first model that a local server has.
func (r *Runtime) askModel(ctx context.Context, a auth.Access) (string, error) {
	if r.opts.DryRun || r.opts.NoModel {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if a.Credential != nil {
		key, err := a.Credential.Key(ctx)
		if err != nil {
			return "", &oh.Error{Op: a.Profile.Name, Kind: oh.KindAuth, Err: err}
		}
		a = a.With(key)
	}
	models, err := catalog.ServerModels(ctx, r.httpClient(), a.Profile, a.Key.Reveal())
	if err != nil {
		return "", &oh.Error{Op: a.Profile.Name, Kind: oh.KindUnavailable,
			Err: fmt.Errorf("no model is chosen, and %s cannot be asked for one: %w", config.HideUser(a.Profile.BaseURL), err)}
	}
	if len(models) == 0 {
		return "", &config.Error{File: "--model", Problem: "the server at " + config.HideUser(a.Profile.BaseURL) + " lists no model; name one"}
	}
	return models[0], nil
}

// newCodec makes what speaks to a service: over and over where its key has to be
// fetched anew from time to time.
func (r *Runtime) newCodec(a auth.Access, s config.Settings) (oh.Provider, error) {
	build, ok := codecs(a.Profile.Wire)
	if !ok {
		return nil, &config.Error{File: "settings", Key: "api_format", Problem: fmt.Sprintf("%q is not one of %s", a.Profile.Wire, strings.Join(catalog.Wires(), ", "))}
	}
	cfg := provider.Config{Profile: a.Profile.Name, BaseURL: a.Profile.BaseURL, Key: a.Key.Reveal(), Token: a.Token.Reveal(),
		Client: r.httpClient(),
		Idle:   idle(s),
		Host:   a.Profile.Host, Headers: a.Profile.Headers, Traits: memoTraits(func(model string) provider.Traits { return r.catalog.Traits(a.Profile, model) })}
	if a.Profile.Chain != "" {
		return r.inCloud(a.Profile, cfg, build), nil
	}
	if a.Credential == nil {
		return build(cfg), nil
	}
	return auth.Renewing(a.Credential, func(key auth.Secret) (oh.Provider, error) {
		cfg, with := cfg, a.With(key)
		cfg.Key, cfg.Token = with.Key.Reveal(), with.Token.Reveal()
		return build(cfg), nil
	}), nil
}

// idle is how long a service may be silent.
func idle(s config.Settings) time.Duration { return time.Duration(s.Timeout * float64(time.Second)) }

// httpClient returns the client by which all model services of the session are
// reached. Its transport is the one place that their traffic passes, and no
// place for what is said about credentials: see accountClient.
func (r *Runtime) httpClient() *http.Client {
	if r.client == nil {
		r.client = Client(r.loaded)
		own := *r.client
		r.accounts = &own
		if r.tape.player != nil {
			r.client.Transport = r.tape.player
		}
	}
	return r.client
}

// accountClient returns the client by which the services are reached that give
// out credentials. No cassette sees what it carries.
func (r *Runtime) accountClient() *http.Client {
	r.httpClient()
	return r.accounts
}

// memoTraits asks the catalogue once per model: codecs ask at each request.
func memoTraits(find func(string) provider.Traits) func(string) provider.Traits {
	var known sync.Map // of provider.Traits by model
	return func(model string) provider.Traits {
		if t, ok := known.Load(model); ok {
			return t.(provider.Traits)
		}
		t := find(model)
		known.Store(model, t)
		return t
	}
}

// Stream implements [oh.Provider]. What the service tells of a model on the way
// is learned: a server on this machine is asked how large its window is, and a
// prompt that is too long often brings the number.
func (s *service) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		if s.missing != nil {
			yield(nil, s.missing)
			return
		}
		s.meet(ctx, req.Model)
		for chunk, err := range s.codec.Stream(ctx, req) {
			if oh.KindOf(err) == oh.KindTooLong {
				if n, ok := catalog.WindowFromError(err.Error()); ok {
					s.catalog.Learn(s.profile.Name, req.Model, catalog.Window(n))
				}
			}
			if done, ok := chunk.(oh.MessageDone); ok {
				done.Message.Model = s.named(req.Model, done.Message.Model)
				chunk = done
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// named is the name under which a reply of a model counts. Gateways and local
// servers tell names of their own, of which nothing is known: then it is the one
// that was asked for, whose price and window the tables or the user told.
func (s *service) named(asked, told string) string {
	if told == "" || told == asked {
		return asked
	}
	if s.info(asked).Price.Known && (s.profile.Local || !s.info(told).Price.Known) {
		return asked
	}
	return told
}

// meet asks a server what a model is like, once, where it is one to ask.
func (s *service) meet(ctx context.Context, model string) {
	if !s.profile.Asked() {
		return
	}
	if _, met := s.met.LoadOrStore(model, true); met {
		return
	}
	if facts, ok := catalog.AskServer(ctx, s.client, s.profile, s.key, model); ok {
		s.catalog.Learn(s.profile.Name, model, facts)
	}
}

func (s *service) info(model string) catalog.Info { return s.catalog.Of(s.profile, model) }

func (s *service) cost(profile, model string, u oh.Usage) (float64, bool) {
	if profile == "" {
		profile = s.profile.Name
	}
	return s.catalog.Cost(profile, model, u)
}
