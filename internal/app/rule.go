package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/permit"
)

// permitRule hands a rule of the settings to the policy.
func permitRule(x config.Rule) permit.Rule {
	rule := permit.Rule{Text: x.Text, Effect: x.Effect, File: x.File, Line: x.Line}
	switch x.Kind {
	case config.KindPath:
		rule.Kind = permit.Path
	case config.KindCommand:
		rule.Kind = permit.Command
	case config.KindTool, config.KindClaude:
		rule.Kind = permit.Tool
	}
	switch x.Scope {
	case config.Managed:
		rule.Scope = permit.Managed
	case config.Project:
		rule.Scope = permit.Project
	case config.Local:
		rule.Scope = permit.Local
	case config.FlagSet, config.Env:
		rule.Scope, rule.File = permit.Flag, ""
	case config.User, config.Default:
		rule.Scope = permit.User
	}
	return rule
}

// asker is the person, and what they grant becomes a rule. Nil when nobody is
// there.
func (r *Runtime) asker() oh.Asker {
	if r.opts.Asker == nil {
		return nil
	}
	return oh.AskerFunc(func(ctx context.Context, q oh.Question) (oh.Answer, error) {
		ans, err := r.opts.Asker.Ask(ctx, q)
		if err != nil || q.Kind != oh.AskPermission || !ans.Allow || ans.Scope == oh.Once || ans.Scope == "" {
			return ans, err
		}
		rule := ans.Rule
		if rule == "" {
			rule = q.Suggest
		}
		if rule == "" || q.Guarded {
			return ans, nil
		}
		if err := r.policy.Grant(rule, ans.Scope); err != nil {
			// The call itself was allowed; only the rule could not be kept.
			r.grantErr = errors.Join(r.grantErr, fmt.Errorf("the rule %s was not kept: %w", rule, err))
		}
		return ans, nil
	})
}
