package provider

import "testing"

func TestModel(t *testing.T) {
	c := Config{Traits: func(string) Traits { return Traits{MaxOutput: 7} }}
	if got := c.Model("gpt-5"); got.MaxOutput != 7 || got.TokenField != "" {
		t.Errorf("%+v", got)
	}
	if got := (&Config{}).Model("gpt-5"); got.MaxOutput != 0 || got.TokenField != "" || got.Thinking != ThinkNone || got.NoImages {
		t.Errorf("traits out of a name: %+v", got)
	}
}

func TestEffort(t *testing.T) {
	words := map[string]string{"xhigh": "high", "low": ""}
	for _, c := range []struct {
		traits Traits
		effort string
		tools  bool
		want   string
	}{
		{Traits{}, "high", true, ""},
		{Traits{Thinking: ThinkBudget}, "high", true, ""},
		{Traits{Thinking: ThinkEffort}, "high", true, "high"},
		{Traits{Thinking: ThinkEffort}, "", true, ""},
		{Traits{Thinking: ThinkEffort, Efforts: words}, "xhigh", false, "high"},
		{Traits{Thinking: ThinkEffort, Efforts: words}, "low", false, ""},
		{Traits{Thinking: ThinkEffort, ToolEffort: OmitEffort}, "high", true, ""},
		{Traits{Thinking: ThinkEffort, ToolEffort: OmitEffort}, "high", false, "high"},
		{Traits{Thinking: ThinkEffort, ToolEffort: "none"}, "high", true, "none"},
		{Traits{Thinking: ThinkEffort, ToolEffort: "none"}, "", true, "none"},
		{Traits{Thinking: ThinkEffort, ToolEffort: "none"}, "", false, ""},
	} {
		if got := c.traits.ChatEffort(c.effort, c.tools); got != c.want {
			t.Errorf("%+v: ChatEffort(%q, %v) = %q, want %q", c.traits, c.effort, c.tools, got, c.want)
		}
	}
}

func TestBudget(t *testing.T) {
	tr := Traits{Budgets: map[string]int{"low": 2000}}
	for effort, want := range map[string]int{"low": 2000, "minimal": 1024, "medium": 10000, "high": 24000, "xhigh": 32000, "max": 32000, "": 0, "odd": 0} {
		if got := tr.Budget(effort); got != want {
			t.Errorf("Budget(%q) = %d, want %d", effort, got, want)
		}
	}
}
