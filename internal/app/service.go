package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
	"github.com/openharness/oh/provider/openai"
)

// service is the model service of a session. It is an [oh.Provider].
type service struct {
	profile   catalog.Profile
	model     string
	keySource string
	window    int      // tokens, 0 unless the profile sets it
	allowed   []string // models that the profile is limited to; nil for all
	key       string   // for other services of the same vendor; never shown
	codec     oh.Provider
	missing   error // why it cannot be used, for a dry run
}

// openService is step 3: which service, which model, which key. Nothing is
// connected.
func (r *Runtime) openService(ctx context.Context) error {
	access, err := auth.Resolve(ctx, auth.Request{Settings: r.loaded, Key: r.opts.APIKey, Stdin: r.opts.Stdin})
	noKey, isNoKey := errors.AsType[*auth.NoKey](err)
	switch {
	case isNoKey && (r.opts.DryRun || r.opts.NoModel):
		access.Profile = noKey.Profile
		if a, err := auth.Choose(ctx, auth.Request{Settings: r.loaded}); err == nil {
			access = a
		}
	case err != nil:
		return err
	}
	for _, n := range access.Notes {
		r.note(oh.Info, n)
	}
	for _, w := range access.Warnings {
		r.note(oh.Warning, w)
	}
	s := &service{profile: access.Profile, keySource: access.Source, window: access.Window, allowed: access.Allowed, key: access.Key.Reveal()}
	if isNoKey {
		s.missing = err
	}
	r.service = s
	s.model = access.Model(r.loaded.Settings.Permission.Mode == oh.ModePlan)
	if s.model == "" && s.missing == nil {
		if s.model, err = r.askModel(ctx, access); err != nil {
			return err
		}
	}
	if s.missing == nil {
		if err := s.permits(s.model); err != nil {
			return &config.Error{File: "--model", Problem: err.Error()}
		}
	}
	r.debug("service", "profile", s.profile.Name, "why", access.Why, "url", config.HideUser(s.profile.BaseURL), "wire", s.profile.Wire, "model", s.model, "key", s.keySource)
	s.codec, err = newCodec(access, r.loaded.Settings)
	return err
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
	models, err := catalog.ServerModels(ctx, a.Profile.BaseURL, a.Key.Reveal())
	if err != nil {
		return "", &oh.Error{Op: a.Profile.Name, Kind: oh.KindUnavailable,
			Err: fmt.Errorf("no model is chosen, and %s cannot be asked for one: %w", config.HideUser(a.Profile.BaseURL), err)}
	}
	if len(models) == 0 {
		return "", &config.Error{File: "--model", Problem: "the server at " + config.HideUser(a.Profile.BaseURL) + " lists no model; name one"}
	}
	return models[0], nil
}

func newCodec(a auth.Access, s config.Settings) (oh.Provider, error) {
	cfg := provider.Config{Profile: a.Profile.Name, BaseURL: a.Profile.BaseURL, Key: a.Key.Reveal(), Token: a.Token.Reveal(),
		Idle:   time.Duration(s.Timeout * float64(time.Second)),
		Traits: memoTraits(func(model string) provider.Traits { return traits(a.Profile.Name, model, s.EmptyReasoning) })}
	switch a.Profile.Wire {
	case catalog.Anthropic:
		return anthropic.New(cfg), nil
	case catalog.OpenAI, "":
		return openai.New(cfg), nil
	}
	return nil, &config.Error{File: "settings", Key: "api_format", Problem: fmt.Sprintf("%q is not one of anthropic, openai", a.Profile.Wire)}
}

// memoTraits asks the catalogue once per model: its table is built for each
// question, and codecs ask at each request.
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

// traits says to a codec what the catalogue knows of a model.
func traits(profile, model string, emptyReasoning bool) provider.Traits {
	info := catalog.Model(profile, model)
	t := provider.DefaultTraits(model)
	if info.MaxOutput > 0 {
		t.MaxOutput = info.MaxOutput
	}
	if info.TokenField != "" {
		t.TokenField = info.TokenField
	}
	t.NoImages = info.Known && !info.Vision
	t.EmptyReasoning = emptyReasoning
	switch info.Thinking {
	case catalog.ThinkBudget:
		t.Thinking = provider.ThinkBudget
		t.Budgets = map[string]int{}
		for _, e := range Efforts() {
			t.Budgets[e] = info.Budget(e)
		}
	case catalog.ThinkAdaptive, catalog.ThinkEffort:
		t.Thinking = provider.ThinkEffort
		t.Efforts = map[string]string{}
		for _, e := range Efforts() {
			t.Efforts[e] = info.Effort(e)
		}
	case catalog.ThinkNone:
		t.Thinking = provider.ThinkNone
	}
	return t
}

// Stream implements [oh.Provider].
func (s *service) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	if s.missing != nil {
		return func(yield func(oh.Chunk, error) bool) { yield(nil, s.missing) }
	}
	return s.codec.Stream(ctx, req)
}

func (s *service) info(profile, model string) catalog.Info { return catalog.Model(profile, model) }

func (s *service) cost(profile, model string, u oh.Usage) (float64, bool) {
	if profile == "" {
		profile = s.profile.Name
	}
	return catalog.Cost(profile, model, u)
}
