package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultTraits(t *testing.T) {
	effort := func(max int, words map[string]string) Traits {
		return Traits{MaxOutput: max, Thinking: ThinkEffort, Efforts: words}
	}
	openai := Traits{TokenField: "max_completion_tokens", Thinking: ThinkEffort, Efforts: map[string]string{"xhigh": "high", "max": "high"}}
	newest := effort(64000, map[string]string{"minimal": "low"})
	for model, want := range map[string]Traits{
		"":                                  {},
		"llama3.2:8b":                       {},
		"qwen/qwen3":                        {},
		"gpt-4o":                            {},
		"gpt-5":                             openai,
		"openai/gpt-5-mini":                 openai,
		"gpt-5.1":                           openai,
		"GPT-5.2-codex":                     {TokenField: "max_completion_tokens", Thinking: ThinkEffort, Efforts: map[string]string{"max": "xhigh"}},
		"o3":                                openai,
		"o4-mini":                           openai,
		"o1-mini":                           {TokenField: "max_completion_tokens", NoImages: true},
		"claude-2.1":                        {MaxOutput: 4096, NoImages: true},
		"claude-3-opus-20240229":            {MaxOutput: 4096},
		"claude-3-5-sonnet-20241022":        {MaxOutput: 8192},
		"claude-3-7-sonnet-20250219":        {MaxOutput: 64000, Thinking: ThinkBudget},
		"claude-sonnet-4-20250514":          {MaxOutput: 64000, Thinking: ThinkBudget},
		"claude-opus-4-20250514":            {MaxOutput: 32000, Thinking: ThinkBudget},
		"claude-opus-4-1-20250805":          {MaxOutput: 32000, Thinking: ThinkBudget},
		"claude-sonnet-4-5":                 {MaxOutput: 64000, Thinking: ThinkBudget},
		"claude-haiku-4-5-20251001":         {MaxOutput: 64000, Thinking: ThinkBudget},
		"anthropic/claude-opus-4.5":         {MaxOutput: 64000, Thinking: ThinkBudget},
		"us.anthropic.claude-opus-4-6-v1:0": effort(64000, map[string]string{"xhigh": "max", "minimal": "low"}),
		"claude-opus-4-7":                   newest,
		"claude-sonnet-5":                   newest,
	} {
		if d := cmp.Diff(want, DefaultTraits(model)); d != "" {
			t.Errorf("%s (-want +got)\n%s", model, d)
		}
	}
}

func TestModel(t *testing.T) {
	c := Config{Traits: func(string) Traits { return Traits{MaxOutput: 7} }}
	if got := c.Model("gpt-5"); got.MaxOutput != 7 || got.TokenField != "" {
		t.Errorf("%+v", got)
	}
}
