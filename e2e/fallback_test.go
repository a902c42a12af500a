//go:build unix

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// busy is an overloaded service that asks to wait for so long that no try
// follows.
func busy() ohtest.Turn {
	return ohtest.Turn{Err: &oh.Error{Kind: oh.KindOverloaded, After: time.Hour}}
}

// second is a model of each wire beside the one that tests begin with.
func second(wire ohtest.Wire) string {
	if wire == ohtest.Anthropic {
		return "claude-haiku-4-5"
	}
	return "gpt-5-mini"
}

func models(reqs []*ohtest.Request) (out []string) {
	for _, r := range reqs {
		out = append(out, r.Model())
	}
	return out
}

// frame is the result frame of the json formats.
type frame struct {
	Type    string          `json:"type"`
	Subtype string          `json:"subtype"`
	IsError bool            `json:"is_error"`
	Result  string          `json:"result"`
	Output  json.RawMessage `json:"structured_output"`
	Errors  []string        `json:"errors"`
	Cost    float64         `json:"total_cost_usd"`
	Known   bool            `json:"cost_known"`
	Session string          `json:"session_id"`
	Usage   struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
	Models map[string]struct {
		Input  int     `json:"inputTokens"`
		Output int     `json:"outputTokens"`
		Cost   float64 `json:"costUSD"`
	} `json:"modelUsage"`
}

func (r result) frame(t *testing.T) (f frame) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &f); err != nil || f.Type != "result" {
		t.Fatalf("no result frame: %v", r)
	}
	return f
}

// TestFallback: an overloaded model hands over for one prompt; what answers is
// named, and the next prompt begins with the first model again.
func TestFallback(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, busy(),
			ohtest.Reply(ohtest.Thinking("hm"), named(bash(t, "echo x >> $M/ran"), "c1")), ohtest.Reply(ohtest.Text("one")),
			ohtest.Reply(ohtest.Text("two")))
		r := b.auto("--output-format", "json", "--fallback-model", second(wire), "go")
		r.wantCode(t, 0)
		r.wantErr(t, "is overloaded", second(wire)+" answers for the rest of this run")
		f := r.frame(t)
		if f.Result != "one" || len(f.Models) != 1 || f.Models[second(wire)].Output == 0 || !f.Known || f.Cost <= 0 {
			t.Errorf("%+v", f)
		}
		b.auto("-c", "--fallback-model", second(wire), "again").wantCode(t, 0)
		reqs := b.done(4)
		first := reqs[0].Model()
		if diff := cmp.Diff([]string{first, second(wire), second(wire), first}, models(reqs)); diff != "" {
			t.Error(diff)
		}
		if n := b.marked("ran"); n != 1 {
			t.Errorf("the call ran %d times", n)
		}
	})
}

// TestFallbackAfterThree: the third overload in a row is the last one.
func TestFallbackAfterThree(t *testing.T) {
	t.Parallel()
	over := ohtest.Turn{Err: &oh.Error{Kind: oh.KindOverloaded}}
	b := newBox(t, ohtest.Anthropic, over, over, over, ohtest.Reply(ohtest.Text("done")))
	b.settings(`{"fallback_model": ["claude-haiku-4-5"]}`)
	r := b.oh("-p", "--output-format", "stream-json", "go")
	r.wantCode(t, 0)
	if got := strings.Count(r.out, `"api_retry"`); got != 2 {
		t.Errorf("%d retries told, want 2: %v", got, r)
	}
	if got := models(b.done(4)); got[2] == got[3] || got[3] != "claude-haiku-4-5" {
		t.Error(got)
	}
}

func TestFallbackOnlyForOverload(t *testing.T) {
	t.Parallel()
	for kind, code := range map[oh.Kind]int{oh.KindQuota: 4, oh.KindAuth: 3, oh.KindInvalid: 4} {
		b := newBox(t, ohtest.Anthropic, ohtest.Turn{Err: &oh.Error{Kind: kind}})
		b.oh("-p", "--fallback-model", "haiku", "go").wantCode(t, code)
		b.done(1)
	}
}

func TestFallbackFlag(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.settings(`{"profiles": {"mine": {"provider": "anthropic", "api_format": "anthropic", "base_url": "` + b.srv.URL + `", "api_key_env": "ANTHROPIC_API_KEY", "allowed_models": ["claude-sonnet-4-6"]}}}`)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--fallback-model", " , "}, "--fallback-model names no model"},
		{[]string{"--model", "sonnet", "--fallback-model", "claude-sonnet-4-6"}, "is the model itself"},
		{[]string{"--profile", "mine", "--model", "claude-sonnet-4-6", "--fallback-model", "claude-haiku-4-5"}, "limited to the models"},
		{[]string{"--max-budget-usd", "1", "--fallback-model", "unheard-of"}, "the price of unheard-of is not known"},
	} {
		r := b.oh(append(append([]string{"-p"}, tt.args...), "go")...)
		r.wantCode(t, 2)
		r.wantErr(t, tt.want)
	}
	b.done(0)
}

// TestBudgetCountsAll: what a fallback and an empty reply cost counts too.
func TestBudgetCountsAll(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		use := ohtest.Usage{InputTokens: 1_000_000, OutputTokens: 1000}
		b := newBox(t, wire, busy(), ohtest.Reply(named(bash(t, "true"), "c1"), use), ohtest.Reply(ohtest.Text("unpaid")))
		b.srv.Add()
		r := b.auto("--output-format", "json", "--max-budget-usd", "0.2", "--fallback-model", second(wire), "go")
		r.wantCode(t, 5)
		f := r.frame(t)
		if f.Subtype != "error_max_budget_usd" || !f.IsError || f.Cost < 0.2 || f.Usage.Input != 1_000_000 {
			t.Errorf("%+v", f)
		}
		if n := len(b.srv.Requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestUsageOfSideRequests: an empty reply is paid for and counted.
func TestUsageOfSideRequests(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		use := ohtest.Usage{InputTokens: 1000, OutputTokens: 10}
		b := newBox(t, wire, ohtest.Reply(use), ohtest.Reply(ohtest.Text("done"), use))
		f := b.oh("-p", "--output-format", "json", "go").frame(t)
		var sum int
		for _, m := range f.Models {
			sum += m.Input
		}
		if f.Usage.Input != 2000 || sum != 2000 {
			t.Errorf("%+v", f)
		}
		r := b.oh("-p", "-c", "/usage")
		r.wantCode(t, 0)
		if !strings.Contains(r.out, "2,000 in") {
			t.Errorf("%v", r)
		}
	})
}

// TestRateLimits: what the service says of its limits is shown.
func TestRateLimits(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		header := http.Header{"X-Ratelimit-Limit-Requests": {"50"}, "X-Ratelimit-Remaining-Requests": {"3"}, "X-Ratelimit-Reset-Requests": {"1m0s"}}
		if wire == ohtest.Anthropic {
			header = http.Header{"Anthropic-Ratelimit-Requests-Limit": {"50"}, "Anthropic-Ratelimit-Requests-Remaining": {"3"},
				"Anthropic-Ratelimit-Requests-Reset": {time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}}
		}
		turn := func() ohtest.Turn {
			turn := ohtest.Reply(ohtest.Text("done"))
			turn.Header = header
			return turn
		}
		b := newBox(t, wire, turn(), turn(), turn())
		r := b.oh("-p", "--output-format", "stream-json", "--verbose", "hi")
		r.wantCode(t, 0)
		r.wantErr(t, "limit of requests: 3 of 50 left")
		if !strings.Contains(r.out, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":`) {
			t.Errorf("%v", r)
		}
		if r := b.oh("-p", "--output-format", "events", "hi"); !strings.Contains(r.out, `"type":"rate_limit","limits":[{"name":"requests","limit":50,"remaining":3,`) {
			t.Errorf("%v", r)
		}
		if r := b.oh("-p", "hi"); r.err != "" && strings.Contains(r.err, "limit of") {
			t.Errorf("%v", r)
		}
		b.done(3)
	})
}

// TestUsageOfAFailedAttempt: what a reply used that broke off is counted, as far
// as the service told.
func TestUsageOfAFailedAttempt(t *testing.T) {
	t.Parallel()
	use := ohtest.Usage{InputTokens: 1000, OutputTokens: 10}
	b := newBox(t, ohtest.Anthropic, ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("half"), use}, Err: &oh.Error{Kind: oh.KindOverloaded}},
		ohtest.Reply(ohtest.Text("done"), use))
	f := b.oh("-p", "--output-format", "json", "go").frame(t)
	if f.Usage.Input != 2000 || len(f.Models) != 1 || f.Result != "done" {
		t.Errorf("%+v", f)
	}
	b.done(2)
}

// TestFallbackOnAllWires: an overloaded model hands a history with its own
// reasoning and calls over to another one, and takes it back.
func TestFallbackOnAllWires(t *testing.T) {
	allVoices(t, func(t *testing.T, v voice) {
		other := map[ohtest.Wire]string{ohtest.Anthropic: "claude-haiku-4-5", ohtest.Gemini: "gemini-2.5-flash-lite"}[v.wire]
		if other == "" {
			other = "gpt-5-mini"
		}
		b := v.box(t, ohtest.Config{Turns: []ohtest.Turn{
			ohtest.Reply(ohtest.Thinking("first"), named(bash(t, "echo a"), "c1")), busy(),
			ohtest.Reply(ohtest.Thinking("second"), named(bash(t, "echo b"), "c2")), ohtest.Reply(ohtest.Text("done")),
			ohtest.Reply(ohtest.Text("again")),
		}})
		r := b.oh(v.args(b, "--fallback-model", other, "--output-format", "json", "go")...)
		r.wantCode(t, 0)
		if f := r.frame(t); f.Result != "done" || len(f.Models) != 2 {
			t.Errorf("%+v", f)
		}
		b.oh(v.args(b, "-c", "more")...).wantCode(t, 0)
		reqs := b.done(5)
		first := reqs[0].Model()
		if diff := cmp.Diff([]string{first, first, other, other, first}, models(reqs)); diff != "" {
			t.Error(diff)
		}
		// Gemini names no ids of calls that another model made.
		var got []string
		for _, line := range said(reqs[4]) {
			if strings.HasPrefix(line, "call ") || strings.HasPrefix(line, "result ") {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff([]string{"call bash", "result a", "call bash", "result b"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
