package bedrock

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/bridge"
)

func TestFamily(t *testing.T) {
	full := family{name: claude, cache: true, toolCache: true, status: true, thoughtful: true}
	old := family{name: claude, status: true, thoughtful: true}
	for model, want := range map[string]family{
		"anthropic.claude-sonnet-4-5-20250929-v1:0":                                        full,
		"global.anthropic.claude-opus-4-6-v1":                                              full,
		"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-v1:0": full,
		"anthropic.claude-3-7-sonnet-20250219-v1:0":                                        full,
		"anthropic.claude-3-5-haiku-20241022-v1:0":                                         full,
		"anthropic.claude-3-haiku-20240307-v1:0":                                           old,
		"anthropic.claude-3-5-sonnet-20240620-v1:0":                                        old,
		"anthropic.claude-v2:1":                                                            old,
		"us.amazon.nova-pro-v1:0":                                                          {name: nova, cache: true, status: true, dialect: bridge.Bedrock},
		"us.meta.llama3-3-70b-instruct-v1:0":                                               {apart: true, dialect: bridge.Bedrock},
		"mistral.mistral-large-2407-v1:0":                                                  {apart: true, dialect: bridge.Bedrock},
		"openai.gpt-oss-120b-1:0":                                                          {thoughtful: true, dialect: bridge.Bedrock},
		"us.deepseek.r1-v1:0":                                                              {thoughtful: true, dialect: bridge.Bedrock},
		"arn:aws:bedrock:us-east-1:1:application-inference-profile/abc":                    {status: true, thoughtful: true, dialect: bridge.Bedrock},
		"m": {status: true, thoughtful: true, dialect: bridge.Bedrock},
	} {
		if d := cmp.Diff(want, familyOf(model, &provider.Traits{}), cmp.AllowUnexported(family{})); d != "" {
			t.Errorf("%s (-want +got)\n%s", model, d)
		}
	}
	if f := familyOf("anthropic.claude-sonnet-4-5", &provider.Traits{NoCache: true}); f.cache || f.toolCache {
		t.Errorf("%+v", f)
	}
}

func TestThinking(t *testing.T) {
	const (
		sonnet = "anthropic.claude-sonnet-4-5-20250929-v1:0"
		lite   = "amazon.nova-2-lite-v1:0"
	)
	effort := provider.Traits{Thinking: provider.ThinkEffort, Efforts: map[string]string{"xhigh": "high", "low": ""}}
	budget := provider.Traits{Thinking: provider.ThinkBudget}
	for _, tt := range []struct {
		model, effort string
		limit         int
		traits        provider.Traits
		want          string
	}{
		{sonnet, "high", 64000, budget, `{"inferenceConfig":{"maxTokens":64000},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":24000}},`},
		{sonnet, "high", 0, budget, `{"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":24000}},`},
		{sonnet, "high", 3000, budget, `{"inferenceConfig":{"maxTokens":3000},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1976}},`},
		{sonnet, "high", 800, budget, `{"inferenceConfig":{"maxTokens":800},`},
		{sonnet, "", 100, budget, `{"inferenceConfig":{"maxTokens":100},`},
		{sonnet, "xhigh", 9, effort, `{"inferenceConfig":{"maxTokens":9},"additionalModelRequestFields":{"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}},`},
		{sonnet, "low", 0, effort, `{`},
		{sonnet, "", 0, provider.Traits{Betas: []string{"a<b"}}, `{"additionalModelRequestFields":{"anthropic_beta":["a<b"]},`},
		{lite, "medium", 9, effort, `{"inferenceConfig":{"maxTokens":9},"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"medium"}},`},
		{lite, "high", 9, effort, `{"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"high"}},`},
		{lite, "", 9, provider.Traits{Betas: []string{"a"}}, `{"inferenceConfig":{"maxTokens":9},`},
		{"openai.gpt-oss-20b-1:0", "medium", 0, effort, `{"additionalModelRequestFields":{"reasoning_effort":"medium"},`},
		{sonnet, "high", 0, provider.Traits{}, `{`},
	} {
		e := encoder{traits: &tt.traits, family: familyOf(tt.model, &tt.traits)}
		if got := string(e.head(&oh.Request{Effort: tt.effort, MaxTokens: tt.limit})); got != tt.want {
			t.Errorf("%s %s %d: %s", tt.model, tt.effort, tt.limit, got)
		}
	}
}

func TestDocuments(t *testing.T) {
	for _, tt := range []struct{ media, name, format string }{
		{"application/pdf", "a", "pdf"}, {"TEXT/CSV; charset=utf-8", "a", "csv"}, {"text/html", "a", "html"}, {"text/markdown", "", "md"},
		{"text/plain", "x.md", "md"}, {"text/plain", "x.go", "txt"}, {"text/x-go", "", "txt"}, {"application/msword", "", "doc"},
		{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "", "docx"}, {"application/vnd.ms-excel", "", "xls"},
		{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "", "xlsx"}, {"application/zip", "a.pdf", ""}, {"", "", ""},
	} {
		if got := documentFormat(tt.media, tt.name); got != tt.format {
			t.Errorf("%s %s: %q", tt.media, tt.name, got)
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{"report.pdf", "report.pdf", "", "../../etc/a  b_c.txt", "é", strings.Repeat("x", 300), "a\xff\u202e"} {
		got := documentName(name, strings.Repeat("p", len(seen)))
		ok := got != "" && len(got) <= 200 && !strings.Contains(got, "  ") && !seen[got]
		for _, r := range got {
			ok = ok && (r == ' ' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
		}
		if seen[got] = true; !ok {
			t.Errorf("%q is called %q", name, got)
		}
	}
	if documentName("a", "p") != documentName("a", "p") {
		t.Error("names move")
	}
}

// A document goes with a text; blank texts do not go.
func TestMessage(t *testing.T) {
	pdf := oh.Document{MediaType: "application/pdf", Name: "a.pdf", Data: []byte("x")}
	e := encoder{origin: "p/m", traits: &provider.Traits{}, family: family{thoughtful: true}}
	for want, content := range map[string]oh.Blocks{
		`{"role":"user","content":[{"text":"(empty)"}]}`: {oh.Text{Text: " \n"}},
		`{"role":"user","content":[{"document":{"format":"pdf","name":"a-695c9723a38e","source":{"bytes":"eA=="}}},{"text":"a.pdf"}]}`: {pdf, oh.Text{Text: " "}},
		`{"role":"user","content":[{"document":{"format":"pdf","name":"a-695c9723a38e","source":{"bytes":"eA=="}}},{"text":"see"}]}`:   {pdf, oh.Text{Text: "see"}},
		`{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"(no output)"}]}},{"text":"x"}]}`:                 {oh.Text{Text: "x"}, oh.ToolResult{ToolUseID: "c", IsError: true}},
	} {
		got := string(e.message(&oh.Message{ID: "u1", Role: oh.User, Content: content}))
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	apart := encoder{origin: "p/m", traits: &provider.Traits{}, family: family{apart: true}}
	m := oh.Message{ID: "u1", Role: oh.User, Content: oh.Blocks{oh.ToolResult{ToolUseID: "c", Content: oh.Blocks{oh.Text{Text: "r"}}}, oh.Text{Text: "x"}}}
	if got := string(apart.message(&m)); got != `{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"r"},{"text":"x"}]}}]}` {
		t.Error(got)
	}
	if len(m.Content[0].(oh.ToolResult).Content) != 1 {
		t.Error("the history was changed")
	}
}

func TestNoTools(t *testing.T) {
	e := encoder{origin: "p/m", traits: &provider.Traits{NoTools: true}, family: family{apart: true}}
	m := oh.Message{ID: "u1", Role: oh.User, Content: oh.Blocks{
		oh.ToolResult{ToolUseID: "c", Content: oh.Blocks{oh.Document{MediaType: "application/pdf", Name: "a.pdf", Data: []byte("x")}}}, oh.Text{Text: "x"}}}
	got := string(e.message(&m)) + string(e.message(&oh.Message{ID: "a1", Role: oh.Assistant, Content: oh.Blocks{oh.ToolUse{ID: "c", Name: "f"}}}))
	if strings.Contains(got, "toolResult") || strings.Contains(got, "toolUse") || !strings.Contains(got, `{"document":`) || !strings.Contains(got, `{"text":"x"}`) {
		t.Error(got)
	}
	c := New(provider.Config{}).(*codec)
	req := &oh.Request{Tools: []oh.ToolSpec{{Name: "f"}}, Messages: []oh.Message{m}}
	if raw := c.toolList(req, &e); raw != nil {
		t.Errorf("%s", raw)
	}
}
