package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/openharness/oh/internal/sandbox/proxy"
)

// Mode says what commands may write.
type Mode string

// The modes. The zero value is WorkspaceWrite.
const (
	WorkspaceWrite Mode = "workspace-write" // the write roots, temporary folder and build caches
	ReadOnly       Mode = "read-only"       // the temporary folder only
	Off            Mode = "off"             // commands are not confined
)

// Reach says what of the network commands may use.
type Reach string

// The reaches. The zero value is Open.
const (
	Open    Reach = "open"  // everything
	Proxied Reach = "proxy" // TCP to the port of our proxy, which judges hosts
	Closed  Reach = "none"  // nothing, not even this machine
)

// Backend is a way to confine.
type Backend string

// The backends. "" chooses the kernel's own: Landlock, else bubblewrap when it
// is installed, and Seatbelt on macOS.
const (
	Landlock   Backend = "landlock"
	Bubblewrap Backend = "bwrap"
	Seatbelt   Backend = "seatbelt"
	Container  Backend = "docker"
	None       Backend = "none"
)

// Config is what a policy is made of. Paths are absolute or begin with ~/;
// others are taken below Dir. What does not exist is passed over.
type Config struct {
	Mode    Mode
	Backend Backend

	Dir   string   // the start folder
	Home  string   // the user's; "" when there is none
	Write []string // write roots: the workspace first, then added folders

	AllowWrite []string // more places that may be written
	DenyWrite  []string // places that may not; see Status.NotHeld for those in a write root
	AllowRead  []string // places that may be read although they are denied
	DenyRead   []string // beside the table of secrets
	Private    []string // folders of this program: not read, not written

	Network Reach
	Allowed []string // hosts, see [proxy.Parse]
	Denied  []string

	// UnixSockets lets commands use sockets of the file system. Without it a
	// container engine, a terminal multiplexer or a session bus cannot be asked
	// to do what the command itself may not.
	UnixSockets bool

	// NoCaches leaves out the build caches: for programs that build nothing.
	NoCaches bool

	// Temp is the private temporary folder; "" makes one, which Close removes.
	Temp string

	// LookupEnv finds the variables that move build caches and name proxies;
	// nil is os.LookupEnv.
	LookupEnv func(string) (string, bool)

	Docker  Docker // of the backend Container
	Session string // names the container
}

// Policy is what is held of the commands that it starts. It is safe for
// concurrent use. Nothing is looked up, made or opened before the first start.
type Policy struct {
	cfg Config

	mu     sync.Mutex // guards what follows
	held   holder     // nil before the first start
	temp   string
	own    bool // temp is ours to remove
	proxy  *proxy.Proxy
	closed bool
}

// holder is a backend at work for one policy. Calls come one at a time.
type holder interface {
	start(cmd *exec.Cmd) error
	status() Status
	close() error
}

// ErrClosed says that Close has been called.
var ErrClosed = errors.New("the sandbox is closed")

// New makes a policy. The error names a value that is none of those that exist
// or a host rule that cannot be read.
func New(cfg Config) (*Policy, error) {
	if !slices.Contains([]Mode{"", WorkspaceWrite, ReadOnly, Off}, cfg.Mode) {
		return nil, fmt.Errorf("sandbox mode %q is none of workspace-write, read-only, off", cfg.Mode)
	}
	if !slices.Contains([]Reach{"", Open, Proxied, Closed}, cfg.Network) {
		return nil, fmt.Errorf("sandbox network %q is none of open, proxy, none", cfg.Network)
	}
	if !slices.Contains([]Backend{"", Landlock, Bubblewrap, Seatbelt, Container, None}, cfg.Backend) {
		return nil, fmt.Errorf("sandbox backend %q is none of landlock, bwrap, seatbelt, docker, none", cfg.Backend)
	}
	if _, err := proxy.Parse(cfg.Allowed, cfg.Denied); err != nil {
		return nil, err
	}
	if cfg.Mode == "" {
		cfg.Mode = WorkspaceWrite
	}
	if cfg.Network == "" {
		cfg.Network = Open
	}
	if cfg.LookupEnv == nil {
		cfg.LookupEnv = os.LookupEnv
	}
	return &Policy{cfg: cfg}, nil
}

// Mode is the policy's mode.
func (p *Policy) Mode() Mode { return p.cfg.Mode }

// Temp makes the private temporary folder, if it is not there yet, and returns
// it: for a policy that shares it.
func (p *Policy) Temp() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return "", ErrClosed
	}
	err := p.makeTemp()
	return p.temp, err
}

// Start starts a command under the policy, in place of [exec.Cmd.Start]. It
// adds to the command's environment and may change its path and arguments. A
// policy that cannot be had is an error, and nothing is started: ask Status
// first. With mode Off, or backend None, it starts the command as it is.
//
// On Linux the parent thread of the command ends when the policy is closed or
// renewed: an attribute Pdeathsig would kill it then.
func (p *Policy) Start(cmd *exec.Cmd) error {
	if p.off() {
		return cmd.Start()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.prepare(); err != nil {
		return err
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, p.environ()...)
	return p.held.start(cmd)
}

// Status says what is held. It prepares the policy.
func (p *Policy) Status() Status {
	if p.off() {
		return Status{Backend: None, Why: "it is turned off"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.prepare(); err != nil {
		st := Probe()
		st.Active, st.Why = false, err.Error()
		return st
	}
	return p.held.status()
}

// Refused returns the hosts that the proxy has refused since the last call,
// each once.
func (p *Policy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.proxy == nil {
		return nil
	}
	return p.proxy.Refused()
}

// Close ends what the policy keeps: its proxy, its thread or container, its
// temporary folder. Commands that still run stay confined.
func (p *Policy) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	var errs []error
	if p.held != nil {
		errs = append(errs, p.held.close())
	}
	if p.proxy != nil {
		errs = append(errs, p.proxy.Close())
	}
	if p.own {
		errs = append(errs, removeAll(p.temp))
	}
	return errors.Join(errs...)
}

func (p *Policy) off() bool { return p.cfg.Mode == Off || p.cfg.Backend == None }

// prepare makes what the first start needs, once.
func (p *Policy) prepare() error {
	if p.closed {
		return ErrClosed
	}
	if p.held != nil {
		return nil
	}
	if err := p.makeTemp(); err != nil {
		return err
	}
	if p.cfg.Network == Proxied && p.cfg.Backend != Container {
		if err := p.listen(); err != nil {
			return err
		}
	}
	plan, err := p.plan()
	if err != nil {
		return err
	}
	held, err := p.hold(plan)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	p.held = held
	return nil
}

// hold chooses the backend.
func (p *Policy) hold(plan *plan) (holder, error) {
	switch p.cfg.Backend {
	case Container:
		return newContainer(p.cfg, plan)
	case Bubblewrap:
		return newBubble(p.cfg, plan)
	case Seatbelt:
		return newSeatbelt(plan)
	}
	return native(p.cfg, plan)
}

func (p *Policy) listen() error {
	if p.proxy != nil {
		return nil
	}
	rules, err := proxy.Parse(p.cfg.Allowed, p.cfg.Denied)
	if err != nil {
		return err
	}
	listening, err := proxy.Listen(proxy.Config{Rules: rules, Upstream: proxy.FromEnv(p.cfg.LookupEnv)})
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	p.proxy = listening
	return nil
}

// makeTemp makes the private temporary folder. Its name is short: paths of
// sockets are.
func (p *Policy) makeTemp() error {
	if p.temp != "" {
		return nil
	}
	if p.cfg.Temp != "" {
		if err := os.MkdirAll(p.cfg.Temp, 0o700); err != nil {
			return fmt.Errorf("sandbox: make the temporary folder: %w", err)
		}
		p.temp = resolve(p.cfg.Temp)
		return nil
	}
	dir, err := os.MkdirTemp("", "oh-")
	if err != nil {
		return fmt.Errorf("sandbox: make the temporary folder: %w", err)
	}
	p.temp, p.own = resolve(dir), true
	return nil
}

// removeAll removes a folder that may hold folders without write permission,
// as module caches do.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the sandbox's temporary folder: %w", err)
	}
	return nil
}

// environ is what commands are told: where the temporary folder is, and the
// proxy. It holds no secret.
func (p *Policy) environ() []string {
	env := []string{"TMPDIR=" + p.temp, "TMP=" + p.temp, "TEMP=" + p.temp, "TMPPREFIX=" + filepath.Join(p.temp, "zsh")}
	if p.proxy != nil {
		url := "http://" + p.proxy.Addr()
		for _, name := range [...]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
			env = append(env, name+"="+url)
		}
		env = append(env, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1")
	}
	return env
}
