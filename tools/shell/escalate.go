package shell

import (
	"context"
	"errors"
	"fmt"

	"github.com/openharness/oh"
)

// howToAllow is what a person can do when nobody could be asked.
const howToAllow = "A person can allow it: sandbox.filesystem.allow_write or sandbox.network.allowed_domains in the settings, or --sandbox=off for one run."

// held says what the confinement kept from a command that failed, or "".
func (t *tool) held(r report) string {
	if t.cfg.Blocked == nil || r.stopped() {
		return ""
	}
	return t.cfg.Blocked(r.sum.Text, r.exit.Code)
}

// escalate asks whether a command that seems to have failed for the confinement
// may run once more without it. When it may not, note says why, for the model
// and the person. The error ends the run.
func (t *tool) escalate(ctx context.Context, call *oh.Call, in input, at place, held string) (again bool, note string, err error) {
	refuse := func(why string) (bool, string, error) {
		return false, fmt.Sprintf("the sandbox seems to have held this: %s. It was not run without the sandbox: %s", held, why), nil
	}
	if t.cfg.Final != nil {
		if why := t.cfg.Final(in.Command, at.dir); why != "" {
			return refuse(why)
		}
	}
	asker := call.Env.Asker
	if asker == nil {
		return refuse("nobody is there to ask. " + howToAllow)
	}
	ans, err := asker.Ask(ctx, oh.Question{
		ID: call.ID, Kind: oh.AskPermission, Tool: name, Input: call.Input, Agent: call.Env.Agent, Guarded: true,
		Access: oh.Access{Command: in.Command, Dir: at.dir},
		Reason: "it failed, it seems because the sandbox held it: " + held + ". Run it again from its beginning, without the sandbox",
	})
	switch {
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	case errors.Is(err, oh.ErrNobody):
		return refuse("nobody is there to ask. " + howToAllow)
	case err != nil && oh.IsFatal(err):
		return false, "", err
	case err != nil:
		return refuse("asking failed: " + err.Error())
	case ans.Allow:
		return true, "the sandbox held the first try (" + held + "); this is a second one, without the sandbox, which the user allowed for this once", nil
	case ans.Text != "":
		return refuse("the user said no: " + ans.Text)
	}
	return refuse("the user said no")
}
