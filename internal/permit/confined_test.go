package permit

import (
	"context"
	"testing"

	"github.com/openharness/oh"
)

// TestConfinedMeetsRules: confinement answers for a person in acceptEdits, for commands
// alone, and for nothing that a rule or the guard list speaks of.
func TestConfinedMeetsRules(t *testing.T) {
	w := newWorld(t)
	ask := oh.Ask
	for _, tt := range []struct {
		command  string
		mode     oh.Mode
		confined bool
		rule     *Rule
		hook     *oh.Decision
		want     oh.Decision
	}{
		{"make", oh.ModeAcceptEdits, true, nil, nil, oh.Allow},
		{"make", oh.ModeAcceptEdits, false, nil, nil, oh.Ask},
		{"make", oh.ModeDefault, true, nil, nil, oh.Ask},
		{"make", oh.ModePlan, true, nil, nil, oh.Deny},
		{"make", oh.ModeDontAsk, true, nil, nil, oh.Deny},
		{"$x f", oh.ModeAcceptEdits, true, nil, nil, oh.Allow},
		{"$x f", oh.ModeAcceptEdits, true, &Rule{Text: "Bash(touch:*)", Effect: oh.Deny}, nil, oh.Ask},
		{"touch f", oh.ModeAcceptEdits, true, &Rule{Text: "Bash(touch:*)", Effect: oh.Deny}, nil, oh.Deny},
		{"touch f", oh.ModeAcceptEdits, true, &Rule{Text: "Bash(touch:*)", Effect: oh.Ask}, nil, oh.Ask},
		{"make", oh.ModeAcceptEdits, true, nil, &ask, oh.Ask},
		{"rm -rf ~", oh.ModeAcceptEdits, true, nil, nil, oh.Ask},
		{"echo x > .git/config", oh.ModeAcceptEdits, true, nil, nil, oh.Ask},
		{"cat .env", oh.ModeAcceptEdits, true, nil, nil, oh.Ask},
		{"cat ~/.ssh/id_ed25519", oh.ModeAcceptEdits, true, nil, nil, oh.Deny},
	} {
		var rules []Rule
		if tt.rule != nil {
			rules = append(rules, *tt.rule)
		}
		p, err := New(Config{Root: w.ws, Home: w.home, Rules: rules, Confined: func() bool { return tt.confined }})
		if err != nil {
			t.Fatal(err)
		}
		v := p.Check(context.Background(), oh.GateRequest{Tool: "bash", Mode: tt.mode, Dir: w.ws, Hook: tt.hook, Access: oh.Access{Command: tt.command, Dir: w.ws}})
		if v.Decision != tt.want {
			t.Errorf("%q in %s, confined %t: %v, want %v (%s)", tt.command, tt.mode, tt.confined, v.Decision, tt.want, v.Reason)
		}
		write := oh.GateRequest{Tool: "write_file", Mode: oh.ModeAcceptEdits, Dir: w.ws, Access: oh.Access{Paths: []oh.PathUse{{Path: w.out + "/new", Write: true}}}}
		if v := p.Check(context.Background(), write); v.Decision != oh.Ask {
			t.Errorf("a file tool outside: %v", v)
		}
	}
}
