package oh

import (
	"context"
	"encoding/json"
	"io"
)

// Tool is something the model can call. Implementations are safe for
// concurrent use.
type Tool interface {
	// Spec describes the tool. It is stable over the life of the tool.
	Spec() ToolSpec

	// Prepare decodes and validates a call and resolves what it would touch,
	// without side effects. Its error goes to the model as the call's result
	// (unless marked by [Fatal]).
	Prepare(ctx context.Context, call *Call) (Action, error)
}

// ToolSpec is what the model is told about a tool. The name matches
// ^[a-zA-Z0-9_-]{1,64}$; Schema is a JSON Schema of type object, compact and
// with members in a stable order.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`

	// SelfLimited says that the tool bounds its own output, so that the engine
	// never moves it to an artifact.
	SelfLimited bool `json:"-"`
}

// Call is one call of a tool.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage // a compact JSON object
	Env   *Env            // never nil
}

// Env is what a tool may use of the conversation it runs in. Fields may be
// nil or zero outside a full session.
type Env struct {
	Dir       string    // the conversation's working directory, absolute
	Mode      Mode      // the permission mode now
	Before    Mode      // what plan mode was entered from; see [State]
	Reads     ReadLog   // what the model has seen of which file
	Asker     Asker     // nil: nobody to ask
	Artifacts Artifacts // nil: long output is cut and the rest is lost, which is said
	Limits    Limits
	Notify    func(...Block) // puts blocks into the conversation's queue, from any goroutine
	Session   string
	Agent     string // id of the sub-agent, "" in the main conversation
	Depth     int    // 0 in the main conversation
}

// ReadLog tells the content hash of a file when the model last saw it.
type ReadLog interface {
	ReadHash(path string) (hash string, ok bool)
}

// Limits bounds tool output that goes to the model, in code points. A zero
// field means its default.
type Limits struct {
	Inline  int // longer output goes to an artifact; default 16,000
	Preview int // how much of it the model still sees, half head and half tail; default 3,000
}

// WithDefaults fills in the defaults.
func (l Limits) WithDefaults() Limits {
	if l.Inline <= 0 {
		l.Inline = 16_000
	}
	if l.Preview <= 0 {
		l.Preview = 3_000
	}
	return l
}

// Artifacts stores long output in files that only the user can read.
type Artifacts interface {
	// Create opens a new artifact for the output of a tool.
	Create(tool string) (Artifact, error)
}

// Artifact is an open artifact file. Its content is complete after Close.
type Artifact interface {
	io.WriteCloser
	Path() string // absolute
}

// Action is a prepared call. Run does the work; emit may be called from any
// goroutine until Run returns, with [ToolOutput], [StateChanged], [Status],
// [Notice], [SideUsage] or [Sub]; later calls do nothing. Run must return soon
// after ctx ends. Its plain error becomes an error result for the model; an
// error marked by [Fatal] ends the run.
type Action struct {
	Access  Access
	Preview Display // what is about to happen, for a person who is asked
	Run     func(ctx context.Context, emit func(Event)) (Result, error)
}

// Access declares what a call would touch. The zero value is a write of
// nobody knows what. Paths and Dir are absolute and clean; links are not
// resolved.
type Access struct {
	ReadOnly bool      `json:"read_only,omitempty"` // changes nothing anywhere
	Parallel bool      `json:"parallel,omitempty"`  // may run beside others although it is no read
	Upload   bool      `json:"upload,omitempty"`    // sends local data to the network
	Paths    []PathUse `json:"paths,omitempty"`
	Command  string    `json:"command,omitempty"` // a shell command line
	Dir      string    `json:"dir,omitempty"`     // where Command runs
	URLs     []string  `json:"urls,omitempty"`
}

// PathUse is a path a call would touch.
type PathUse struct {
	Path  string `json:"path"`
	Write bool   `json:"write,omitempty"`
	Tree  bool   `json:"tree,omitempty"` // everything below it too (a search)
}

// Result is what a call gave: Content for the model, Meta for the log, Display
// for a person. IsError marks a failure that the model should see as one.
type Result struct {
	Content Blocks
	IsError bool
	Meta    json.RawMessage // an object, or nil
	Display Display
}

// TextResult is a result of plain text.
func TextResult(s string) Result { return Result{Content: Blocks{Text{Text: s}}} }

// ErrorResult is a failed result of plain text.
func ErrorResult(s string) Result {
	return Result{Content: Blocks{Text{Text: s}}, IsError: true}
}
