// Package app is the composition root: the only place that knows all features,
// providers and tools. [Build] puts a [Runtime] together in twelve steps, in
// one direction; faces use nothing else of it than Handle, Enqueue and a few
// facts.
//
// It holds no feature's logic: what a step does lives with its feature.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/internal/artifact"
	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/permit"
	"github.com/openharness/oh/internal/prompt"
	"github.com/openharness/oh/internal/schema"
	"github.com/openharness/oh/internal/session"
	"github.com/openharness/oh/internal/slash"
	"github.com/openharness/oh/tools/lsp"
	"github.com/openharness/oh/workspace"
	"github.com/openharness/oh/workspace/proc"
)

// ErrExit is yielded by [Runtime.Handle] when a command asks to end the
// program in peace.
var ErrExit = errors.New("exit")

// Options are what a command line says. The zero value is a session in the
// process's folder with everything from settings and environment.
type Options struct {
	Version string

	// Where.
	Dir       string // start folder; "" is the process's
	Home      string // "" is the user's
	LookupEnv func(string) (string, bool)
	AddDirs   []string

	// Settings.
	Settings string        // a path or inline JSON
	Sources  []string      // of user, project, local; nil is all
	Flags    []config.Flag // settings given as flags of their own
	Trusted  bool          // --trust: for this run
	Bare     bool          // no project instructions and context files
	NoSave   bool          // keep the session in memory only

	// The model.
	Profile, Model, Effort string
	Fallback               []string // models to turn to; nil: those of the settings
	BaseURL, APIFormat     string
	APIKey                 string // as given: env:NAME, file:PATH, - or the key itself
	Stdin                  io.Reader

	// The session.
	Continue bool   // go on with the last one of the project
	Resume   string // id, the beginning of one, or latest
	Fork     bool   // into a new one
	Session  string // id for a new one
	Name     string // its title

	// The run.
	Mode           string // a permission mode, "" for that of session or settings
	Confined       bool   // the gate judges commands as confined by a sandbox; for [Runtime.Judge] only
	Tools          []string
	OnlyTools      bool // Tools is the whole list, also when empty
	System, Append string
	MaxTurns       int
	MaxCost        float64        // US dollars; 0 is no limit
	Schema         *schema.Schema // of the answer; nil: any

	// The model service's side, on a file.
	Record       string // a new file to write it to
	Replay       string // a file that answers in its place
	ReplayStrict bool   // a request that differs is an error

	Interactive bool     // a person is there: the session may wait for them
	Asker       oh.Asker // nil: nobody
	DryRun      bool     // nothing is written, asked or called
	NoModel     bool     // the model is not asked: no key is needed

	Log *slog.Logger // what happens inside, without contents; nil: nobody wants to know
}

// Runtime is a session with everything it works with. Handle runs one line at a
// time; Enqueue is safe from any goroutine.
type Runtime struct {
	opts     Options
	paths    config.Paths
	loaded   *config.Loaded
	catalog  *catalog.Catalog
	service  *service
	used     map[string]*service // of this session, by profile
	client   *http.Client        // of all model services; made when it is needed
	accounts *http.Client        // of what gives out credentials; made with client
	limits   oh.RateLimit        // as the service told last
	ws       *workspace.Workspace
	runner   *proc.Runner
	servers  *lsp.Pool
	cell     *cell
	policy   *permit.Policy
	scrubbed []string // variables that no child may see
	inside   []string // the folders inside the border, the workspace's own first
	tools    []oh.Tool
	deferred []oh.Tool     // not declared to the model
	every    []oh.Tool     // all there are, those that are denied or not wanted too
	file     *session.File // nil with NoSave
	swap     sync.Mutex    // held while conv is replaced, and by Enqueue
	conv     *oh.Conversation
	hook     oh.Hook
	prompt   prompt.Rendered
	config   engine.Config
	set      *slash.Set
	resumed  bool

	seq     atomic.Uint64
	closing sync.Once

	told    prompt.Turn // what the model was told last of date, branch, directory, mode
	untold  []oh.Event  // what watchers have not been told yet
	built   bool        // the twelve steps are done
	started bool        // session_start hooks have run

	tape tape // of the model services

	grantErr error // rules that could not be kept; of the run's goroutine
}

// Conversation returns the session's conversation.
func (r *Runtime) Conversation() *oh.Conversation { return r.conv }

// Session returns the session's id.
func (r *Runtime) Session() string { return r.conv.State().Session }

// Saved returns the id under which the session can be resumed; "" when nothing
// was said in it or it is not kept.
func (r *Runtime) Saved() string {
	if r.file == nil || !r.file.Begun() || len(r.conv.Messages()) == 0 {
		return ""
	}
	return r.file.ID()
}

// Commands returns the session's slash commands.
func (r *Runtime) Commands() *slash.Set { return r.set }

// Enqueue hands over text that a person typed while a run is going.
func (r *Runtime) Enqueue(text string) {
	r.swap.Lock()
	conv := r.conv
	r.swap.Unlock()
	conv.Enqueue(oh.Text{Text: text})
}

// Secrets names the variables that hold keys. Once the session is built its
// program may forget them.
func (r *Runtime) Secrets() []string { return r.scrubbed }

// Close ends the session: what commands left running is stopped, and the log
// is made durable. Closing twice does nothing.
func (r *Runtime) Close() (err error) {
	r.closing.Do(func() {
		if r.started && r.hook != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_, _ = r.hook.Fire(ctx, r.hookInput(oh.HookSessionEnd))
		}
		if r.servers != nil {
			r.servers.Close()
		}
		if r.runner != nil {
			r.runner.CloseAll()
		}
		if r.cell != nil {
			err = r.cell.close()
		}
		err = errors.Join(err, r.tape.close())
		if r.file != nil {
			err = errors.Join(err, r.file.Sync(), r.file.Close())
		}
	})
	return err
}

// Kill stops commands and language servers, without the rest of what [Runtime.Close]
// does: it is for a program that has to end at once, and safe at any time and
// from any goroutine after [Build]. A run that goes on can start nothing more.
func (r *Runtime) Kill() {
	if r.runner != nil {
		r.runner.CloseAll()
	}
	if r.servers != nil {
		r.servers.Close()
	}
	if r.cell != nil {
		_ = r.cell.close() // nobody is left to be told
	}
}

func (r *Runtime) hookInput(event oh.HookEvent) oh.HookInput {
	st := r.conv.State()
	return oh.HookInput{Event: event, Session: st.Session, Dir: st.Dir, Mode: st.Mode}
}

// debug logs what happens inside.
func (r *Runtime) debug(msg string, args ...any) {
	if r.opts.Log != nil {
		r.opts.Log.Debug(msg, args...)
	}
}

// Warnings are the warnings of the build that no run has told yet; they are
// told once.
func (r *Runtime) Warnings() []string {
	var out []string
	for _, ev := range r.untold {
		if n, ok := ev.(oh.Notice); ok && n.Level != oh.Info {
			out = append(out, n.Text)
		}
	}
	r.untold = nil
	return out
}

// note keeps a notice of the build for the first run.
func (r *Runtime) note(level oh.Level, text string) {
	r.untold = append(r.untold, oh.Notice{Level: level, Text: text})
}

// Cost returns the price of what a profile's model used, at list prices.
func (r *Runtime) Cost(profile, model string, u oh.Usage) (usd float64, known bool) {
	return r.service.cost(profile, model, u)
}

// Window returns the context window of a model in tokens.
func (r *Runtime) Window(model string) int {
	if n := r.loaded.Settings.Window; n > 0 {
		return n
	}
	if r.service.window > 0 {
		return r.service.window
	}
	return r.service.info(model).Window
}

var _ oh.Artifacts = (*artifact.Store)(nil)
