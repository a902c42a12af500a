package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/wire"
)

// Nobody's limit is no limit: only the service knows what fits.
func TestNoLimitIsSentUnasked(t *testing.T) {
	for _, tt := range []struct {
		model string
		limit int
		want  string
	}{
		{"my-own-model", 0, ""},
		{"qwen/qwen3:8b", 0, ""},
		{"my-own-model", 500, `"max_tokens":500,`},
		{"gpt-5", 500, `"max_completion_tokens":500,`},
	} {
		traits := func(model string) (t provider.Traits) {
			if model == "gpt-5" {
				t.TokenField = "max_completion_tokens"
			}
			return t
		}
		c := New(provider.Config{Traits: traits}).(*codec)
		b, err := c.encode(&oh.Request{Model: tt.model, MaxTokens: tt.limit})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(b.Bytes()); tt.want == "" && strings.Contains(got, "tokens") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.model, got, tt.want)
		}
	}
}

// A limit that is too large is not healed by a shorter conversation; one that
// leaves room for no conversation of this length is.
func TestLimitTooLarge(t *testing.T) {
	const advice = "; lower the setting max_tokens"
	type verdict struct {
		Kind  oh.Kind
		Words string
	}
	link := wire.New("openai: chat", provider.Config{}, rules[:])
	for words, want := range map[string]oh.Kind{
		"max_tokens is too large: 16384. This model's maximum context length is 8192 tokens and your request has 300 input tokens (16384 > 8192 - 300).":                              oh.KindInvalid,
		"'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens and your request has 300 input tokens (16384 > 8192 - 300).": oh.KindInvalid,
		"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.":                                                          oh.KindInvalid,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                                                                                        oh.KindInvalid,
		"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the context window for this model":                                        oh.KindInvalid,
		"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]":                                                                                          oh.KindInvalid,
		"'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 8192 tokens and your request has 7000 input tokens (2000 > 8192 - 7000).": oh.KindTooLong,
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.":                               oh.KindTooLong,
	} {
		raw, err := oh.Marshal(map[string]any{"error": map[string]any{"message": words, "type": "BadRequestError", "code": 400}})
		if err != nil {
			t.Fatal(err)
		}
		e := link.Fault(400, nil, raw)
		if want == oh.KindInvalid {
			words += advice
		}
		words = strings.ReplaceAll(words, "."+advice, advice)
		if d := cmp.Diff(verdict{want, words}, verdict{e.Kind, errors.Unwrap(e).Error()}); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}
