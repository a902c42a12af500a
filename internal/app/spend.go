package app

import (
	"fmt"

	"github.com/openharness/oh"
)

// priced refuses a model without a known price where a budget of limit US
// dollars must be held; 0 is none.
func (s *service) priced(model string, limit float64) error {
	if limit <= 0 {
		return nil
	}
	if _, known := s.cost("", model, oh.Usage{InputTokens: 1}); !known {
		return fmt.Errorf("the price of %s is not known, so a budget cannot be held; choose another model or set --max-turns", model)
	}
	return nil
}

// budget ends a run that has cost too much.
func (r *Runtime) budget(st oh.State) error {
	if r.opts.MaxCost <= 0 {
		return nil
	}
	usd := 0.0
	for _, s := range st.Spend {
		cost, known := r.service.cost(s.Profile, s.Model, s.Usage)
		if !known {
			cost = r.dearest(st, s)
		}
		usd += cost
	}
	if usd < r.opts.MaxCost {
		return nil
	}
	return fmt.Errorf("stopped: this session has cost $%.2f, the limit is $%.2f", usd, r.opts.MaxCost)
}

// dearest is the price of what a model used that has none: a gateway may name
// another model in its replies than it was asked for, so it is the highest of
// those that may have been asked.
func (r *Runtime) dearest(st oh.State, s oh.Spend) (usd float64) {
	for _, model := range append([]string{st.Model}, r.config.Fallback...) {
		for _, profile := range []string{s.Profile, st.Profile} {
			cost, _ := r.service.cost(profile, model, s.Usage)
			usd = max(usd, cost)
		}
	}
	return usd
}

// spent is what a session has cost so far; known is false when a price is
// missing.
func (r *Runtime) spent(st oh.State) (usd float64, known bool) {
	known = true
	for _, s := range st.Spend {
		cost, ok := r.service.cost(s.Profile, s.Model, s.Usage)
		usd += cost
		known = known && ok
	}
	return usd, known
}
