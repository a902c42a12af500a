package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// TestDecisionsOfRecord: who decided, by which rule and why, whoever it was,
// and what a person allowed for later.
func TestDecisionsOfRecord(t *testing.T) {
	verdict := func(d oh.Decision) oh.Verdict {
		return oh.Verdict{Decision: d, Reason: "a rule", Rule: "W (f:1)", Suggest: "W(x)"}
	}
	guarded := verdict(oh.Ask)
	guarded.Guarded = true
	want := oh.Decided{ID: "a", Tool: "w", Decision: oh.Allow, By: oh.ByPerson, Reason: "a rule", Rule: "W (f:1)"}
	with := func(f func(*oh.Decided)) oh.Decided { d := want; f(&d); return d }
	for name, c := range map[string]struct {
		verdict oh.Verdict
		asker   oh.Asker
		want    oh.Decided
	}{
		"gate allows":  {verdict(oh.Allow), nil, with(func(d *oh.Decided) { d.By = oh.ByGate })},
		"gate refuses": {verdict(oh.Deny), nil, with(func(d *oh.Decided) { d.By, d.Decision = oh.ByGate, oh.Deny })},
		"nobody":       {verdict(oh.Ask), nil, with(func(d *oh.Decided) { d.By, d.Decision = oh.ByNobody, oh.Deny })},
		"yes":          {verdict(oh.Ask), answer(oh.Answer{Allow: true, Scope: oh.Once}, nil), want},
		"yes, always": {verdict(oh.Ask), answer(oh.Answer{Allow: true, Scope: oh.Project}, nil),
			with(func(d *oh.Decided) { d.Reason += "; from now on (project) the rule W(x) allows it" })},
		"yes, by another rule": {verdict(oh.Ask), answer(oh.Answer{Allow: true, Scope: oh.Session, Rule: "W(y)\nW(z)"}, nil),
			with(func(d *oh.Decided) { d.Reason += "; from now on (session) the rule W(y), W(z) allows it" })},
		"guarded": {guarded, answer(oh.Answer{Allow: true, Scope: oh.Project}, nil), want},
		"no":      {verdict(oh.Ask), answer(oh.Answer{Text: "not now"}, nil), with(func(d *oh.Decided) { d.Decision, d.Reason = oh.Deny, "the user said no: not now" })},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t, []oh.Tool{says("w", "ran", write)}, calls(tc("a", "w", `{}`)), say("done"))
			b.cfg.Gate = oh.GateFunc(func(context.Context, oh.GateRequest) oh.Verdict { return c.verdict })
			b.cfg.Asker = c.asker
			events, err := b.run("go")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]oh.Decided{c.want}, pick[oh.Decided](events), cmp.Transformer("text", func(raw json.RawMessage) string { return string(raw) })); d != "" {
				t.Error(d)
			}
		})
	}
}
