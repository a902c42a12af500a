package catalog

import (
	"strings"

	"github.com/openharness/oh/provider"
)

// Traits says to a codec what is known of a model. p is the profile with the
// user's changes laid over it; what suits only a vendor's own address is left
// out at any other.
func (c *Catalog) Traits(p Profile, model string) provider.Traits {
	i := c.model(p, model)
	t := i.Quirks
	t.MaxOutput = i.MaxOutput
	t.TokenField = i.TokenField
	if p.Wire == Ollama {
		t.Window = i.Window
	}
	t.NoImages = !i.Vision && (i.listed || i.seen)
	t.Documents = i.Documents && (p.Wire != OpenAI || i.files)
	t.CacheKey = t.CacheKey && p.home(c.profiles())
	if t.Schema == "" && p.Wire == Gemini {
		t.Schema = provider.GeminiSchema
	}
	if _, _, isLong := normal(model); isLong {
		t.Name = strings.TrimSpace(model)
		t.Name = t.Name[:len(t.Name)-len(long)]
		if i.beta != "" {
			t.Betas = []string{i.beta}
		}
	}
	i.think(&t)
	return t
}

// efforts are all words for an effort, the lowest first.
func efforts() []string { return []string{"minimal", "low", "medium", "high", "xhigh", "max"} }

// think says how an effort is sent.
func (i Info) think(t *provider.Traits) {
	switch i.Thinking {
	case ThinkNone:
		t.ToolEffort = ""
	case ThinkBudget:
		t.Thinking = provider.ThinkBudget
		t.Budgets = map[string]int{}
		for _, e := range efforts() {
			t.Budgets[e] = i.Budget(e)
		}
	case ThinkAdaptive, ThinkEffort, ThinkLevels:
		t.Thinking = provider.ThinkEffort
		t.Levels = i.Thinking == ThinkLevels
		t.Efforts = map[string]string{}
		for _, e := range efforts() {
			t.Efforts[e] = i.Effort(e)
		}
	}
}
