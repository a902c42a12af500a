package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/permit"
	"github.com/openharness/oh/internal/text"
)

// permissionsCommand is `oh permissions`.
func (p *program) permissionsCommand() *cobra.Command {
	c := group("permissions", "what the gate says of a call, without making it")
	sandbox := ""
	check := &cobra.Command{Use: "check TOOL JSON | check -", Short: "judge a call, or (-) each {\"tool\", \"input\"} line of stdin; nothing is run",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 || (args[0] == "-") != (len(args) == 1) {
				return usageError{errors.New("oh permissions check takes a tool and its input as JSON, or - alone with {\"tool\", \"input\"} lines on stdin")}
			}
			switch sandbox {
			case "", "on", "off":
			default:
				return usageError{fmt.Errorf("--sandbox %q is not one of on, off", sandbox)}
			}
			return p.checkCalls(cmd.Context(), args, sandbox == "on")
		}}
	f := check.Flags()
	f.StringVar(&sandbox, "sandbox", "", "judge as with the sandbox on or off")
	f.StringVar(&p.flags.mode, "permission-mode", "", "plan, dontAsk, default, acceptEdits or full_auto")
	f.StringSliceVar(&p.flags.allow, "allowed-tools", nil, "tools or rules that need no question")
	f.StringSliceVar(&p.flags.deny, "disallowed-tools", nil, "tools or rules that are refused")
	f.StringArrayVar(&p.flags.addDirs, "add-dir", nil, "a further folder to work in (repeatable)")
	f.StringVar(&p.flags.settings, "settings", "", "more settings: a file, or JSON")
	f.BoolVar(&p.flags.trust, "trust", false, "let the project's own settings do more than tighten")
	f.StringVar(&p.flags.cwd, "cwd", "", "judge as in this folder")
	f.SetNormalizeFunc(normalizeFlag)
	c.AddCommand(check)
	return c
}

// judged is a verdict as it is printed: one line of JSON.
type judged struct {
	Tool    string      `json:"tool"`
	Verdict oh.Decision `json:"verdict"`
	Reason  string      `json:"reason"`
	Rule    string      `json:"rule"` // as written, with where; "" when none decided
	Guarded bool        `json:"guarded"`
	Parts   []judgedOne `json:"parts,omitzero"` // of command lines only
}

// judgedOne is one command of a line.
type judgedOne struct {
	Argv    []string    `json:"argv"`
	Unsure  []int       `json:"unsure,omitempty"`
	Verdict oh.Decision `json:"verdict"`
	Reason  string      `json:"reason"`
	Rule    string      `json:"rule"`
	Guarded bool        `json:"guarded"`
	Reads   []string    `json:"reads"`
	Writes  []string    `json:"writes"`
}

// unjudged is a call that does not come before the gate.
type unjudged struct {
	Tool  string `json:"tool,omitempty"`
	Line  int    `json:"line,omitempty"` // of stdin, from 1
	Error string `json:"error"`
}

// checkCalls judges one call, or one for each line of stdin. What cannot be
// judged is said in its place, and makes the exit code 2 at the end.
func (p *program) checkCalls(ctx context.Context, args []string, confined bool) error {
	return p.withSession(ctx, func(o *app.Options) { o.Confined = confined }, func(rt *app.Runtime) error {
		bad := false
		one := func(num int, line []byte, tooLong bool) error {
			answer, ok := checkCall(ctx, rt, args[0], num, line, tooLong)
			bad = bad || !ok
			return p.writeLine(answer)
		}
		var err error
		if len(args) == 2 {
			err = one(0, []byte(args[1]), false)
		} else {
			err = p.eachLine(ctx, one)
		}
		if err == nil && bad {
			err = codedError{exitUsage}
		}
		return err
	})
}

func checkCall(ctx context.Context, rt *app.Runtime, name string, num int, line []byte, tooLong bool) (answer any, ok bool) {
	if tooLong {
		return unjudged{Line: num, Error: longLine}, false
	}
	name, input, err := readCall(name, line)
	if err != nil {
		return unjudged{Tool: name, Line: num, Error: text.Clean(err.Error())}, false
	}
	v, err := rt.Judge(ctx, name, input)
	if err != nil {
		return unjudged{Tool: v.Tool, Line: num, Error: text.Clean(err.Error())}, false
	}
	out := judged{Tool: v.Tool, Verdict: v.Decision, Reason: v.Reason, Rule: v.Rule, Guarded: v.Guarded}
	if v.Parts != nil {
		out.Parts = make([]judgedOne, 0, len(v.Parts))
	}
	for _, part := range v.Parts {
		out.Parts = append(out.Parts, partLine(part))
	}
	return out, true
}

func partLine(p permit.Part) judgedOne {
	all := func(list []string) []string { return append([]string{}, list...) }
	return judgedOne{Argv: all(p.Argv), Unsure: p.Unsure, Verdict: p.Decision, Reason: p.Reason, Rule: p.Rule, Guarded: p.Guarded,
		Reads: all(p.Reads), Writes: all(p.Writes)}
}

// writeLine prints a value as one line of JSON.
func (p *program) writeLine(v any) error {
	raw, err := oh.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s\n", raw)
	return err
}
