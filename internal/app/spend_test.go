package app

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
)

func priceList(t *testing.T) *Runtime {
	t.Helper()
	p, ok := catalog.Find("claude-api")
	if !ok {
		t.Fatal("no profile claude-api")
	}
	return &Runtime{service: &service{profile: p, catalog: catalog.Load(catalog.Config{})}}
}

// TestBudget: a session's cost counts every model; one without a price counts
// as the dearest that may have been asked.
func TestBudget(t *testing.T) {
	million := oh.Usage{InputTokens: 1_000_000}
	for _, tt := range []struct {
		name     string
		spend    []oh.Spend
		fallback []string
		limit    float64
		over     bool
	}{
		{"no limit", []oh.Spend{{Profile: "claude-api", Model: "claude-opus-4-6", Usage: million}}, nil, 0, false},
		{"nothing spent", nil, nil, 1, false},
		{"below", []oh.Spend{{Profile: "claude-api", Model: "claude-sonnet-4-6", Usage: oh.Usage{InputTokens: 1000}}}, nil, 1, false},
		{"the sum of two", []oh.Spend{{Profile: "claude-api", Model: "claude-sonnet-4-6", Usage: million}, {Profile: "claude-api", Model: "claude-haiku-4-5", Usage: million}}, nil, 3.5, true},
		{"unknown, as the session's", []oh.Spend{{Profile: "claude-api", Model: "renamed", Usage: million}}, nil, 2.5, true},
		{"unknown, as a fallback", []oh.Spend{{Profile: "claude-api", Model: "renamed", Usage: million}}, []string{"claude-opus-4-6"}, 4.5, true},
		{"unknown, of another profile", []oh.Spend{{Profile: "elsewhere", Model: "renamed", Usage: million}}, nil, 2.5, true},
	} {
		r := priceList(t)
		r.opts.MaxCost, r.config.Fallback = tt.limit, tt.fallback
		err := r.budget(oh.State{Profile: "claude-api", Model: "claude-sonnet-4-6", Spend: tt.spend})
		if (err != nil) != tt.over {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestPriced(t *testing.T) {
	s := priceList(t).service
	if err := s.priced("unheard-of", 0); err != nil {
		t.Error(err)
	}
	if err := s.priced("claude-sonnet-4-6", 1); err != nil {
		t.Error(err)
	}
	if err := s.priced("unheard-of", 1); err == nil || !strings.Contains(err.Error(), "unheard-of is not known") {
		t.Error(err)
	}
}

func TestLimitRows(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	told := oh.RateLimit{Limits: []oh.Limit{
		{Name: "requests", Limit: 5000, Remaining: 4999, Reset: now.Add(90 * time.Second)},
		{Name: "tokens", Remaining: 7, Reset: now.Add(-time.Second)},
	}}
	want := [][2]string{{"limit of requests", "4,999 of 5,000 left, whole again in 1m30s"}, {"limit of tokens", "7 left"}}
	if diff := cmp.Diff(want, limitRows(told, now)); diff != "" {
		t.Error(diff)
	}
}

func TestTokens(t *testing.T) {
	u := oh.Usage{InputTokens: 1000, OutputTokens: 30, CacheReadTokens: 5, CacheWriteTokens: 6, ReasoningTokens: 20}
	if got, want := tokens(u), "1,000 in, 5 cache read, 6 cache write, 30 out (20 reasoning)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNamed: a reply counts for a model whose price is known, where there is
// one.
func TestNamed(t *testing.T) {
	own := catalog.Load(catalog.Config{Models: map[string]catalog.Fields{"mine": {"input_price": []byte("1"), "output_price": []byte("2")}}})
	for _, tt := range []struct{ profile, asked, told, want string }{
		{"claude-api", "claude-sonnet-4-6", "", "claude-sonnet-4-6"},
		{"claude-api", "claude-sonnet-4-6", "claude-haiku-4-5", "claude-haiku-4-5"},
		{"claude-api", "claude-sonnet-4-6", "gw-7", "claude-sonnet-4-6"},
		{"openai-compatible", "mine", "/models/x.gguf", "mine"},
		{"openai-compatible", "unheard-of", "gpt-5.4", "gpt-5.4"},
		{"openai-compatible", "unheard-of", "gw-7", "gw-7"},
		{"ollama", "here", "sha256:77", "here"},
	} {
		p, ok := catalog.Find(tt.profile)
		if !ok {
			t.Fatalf("no profile %s", tt.profile)
		}
		s := &service{profile: p, catalog: own, met: &sync.Map{}, codec: replies{oh.MessageDone{Message: oh.Message{Model: tt.told}}}}
		s.met.Store(tt.asked, true)
		for chunk, err := range s.Stream(t.Context(), &oh.Request{Model: tt.asked}) {
			if done, ok := chunk.(oh.MessageDone); err != nil || !ok || done.Message.Model != tt.want {
				t.Errorf("%+v: %+v, %v", tt, chunk, err)
			}
		}
	}
}

// replies is a provider that always says the same.
type replies []oh.Chunk

func (r replies) Stream(context.Context, *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		for _, c := range r {
			if !yield(c, nil) {
				return
			}
		}
	}
}
