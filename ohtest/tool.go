package ohtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// anySchema takes every object.
const anySchema = `{"type":"object","properties":{}}`

// Tool is a fake [oh.Tool] that records which calls ran. Its fields must be set
// before the first use.
type Tool struct {
	Name   string
	Doc    string    // the description; default "A tool for tests."
	Schema string    // of the input, as JSON; default: takes every object
	Access oh.Access // what each call declares

	// Refuse, when set, is asked while a call is prepared; its error refuses
	// the call.
	Refuse func(call *oh.Call) error

	// Run does the work. Without it the result is the input.
	Run func(ctx context.Context, call *oh.Call, emit func(oh.Event)) (oh.Result, error)

	// Marks is a folder where each call that runs leaves an empty file named
	// TOOL-ID, so that "was not run" can be told from outside the process.
	Marks string

	mu    sync.Mutex
	calls []oh.Call // guarded by mu
}

// NewTool returns a tool whose calls declare access and do run (nil: the result
// is the input).
func NewTool(name string, access oh.Access, run func(ctx context.Context, call *oh.Call, emit func(oh.Event)) (oh.Result, error)) *Tool {
	return &Tool{Name: name, Access: access, Run: run}
}

// TextResult is a result of one text.
func TextResult(s string) oh.Result { return oh.Result{Content: oh.Blocks{oh.Text{Text: s}}} }

// Calls returns the calls that ran so far, in the order they began.
func (t *Tool) Calls() []oh.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// Spec implements [oh.Tool].
func (t *Tool) Spec() oh.ToolSpec {
	spec := oh.ToolSpec{Name: t.Name, Description: t.Doc, Schema: json.RawMessage(t.Schema)}
	if spec.Description == "" {
		spec.Description = "A tool for tests."
	}
	if t.Schema == "" {
		spec.Schema = json.RawMessage(anySchema)
	}
	return spec
}

// Prepare implements [oh.Tool]. Input that does not fit Schema is refused.
func (t *Tool) Prepare(_ context.Context, call *oh.Call) (oh.Action, error) {
	kept := *call
	kept.Input = slices.Clone(call.Input)
	if t.Schema != "" {
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(t.Schema), &schema); err != nil {
			return oh.Action{}, oh.Fatal(fmt.Errorf("tool %s: schema: %w", t.Name, err))
		}
		order(&schema)
		fit, _, err := oh.FitInput(&schema, kept.Input)
		if err != nil {
			return oh.Action{}, err
		}
		kept.Input = fit
	}
	if t.Refuse != nil {
		if err := t.Refuse(&kept); err != nil {
			return oh.Action{}, err
		}
	}
	return oh.Action{Access: t.Access, Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
		return t.run(ctx, &kept, emit)
	}}, nil
}

// order gives a decoded schema the order of properties that [oh.FitInput] goes
// by.
func order(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.PropertyOrder = sortedKeys(s.Properties)
	for _, p := range s.Properties {
		order(p)
	}
	order(s.Items)
}

func (t *Tool) run(ctx context.Context, call *oh.Call, emit func(oh.Event)) (oh.Result, error) {
	t.mu.Lock()
	t.calls = append(t.calls, *call)
	t.mu.Unlock()
	if t.Marks != "" {
		if err := t.mark(call.ID); err != nil {
			return oh.Result{}, oh.Fatal(err)
		}
	}
	if t.Run == nil {
		return TextResult(string(call.Input)), nil
	}
	return t.Run(ctx, call, emit)
}

// mark leaves the file that tells that a call ran.
func (t *Tool) mark(id string) error {
	if !legalID(id) {
		return fmt.Errorf("tool %s: mark the call: the id %q is no file name", t.Name, text.Cut(id, 80))
	}
	name := filepath.Join(t.Marks, t.Name+"-"+id)
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return fmt.Errorf("tool %s: mark the call: %w", t.Name, err)
	}
	return nil
}
