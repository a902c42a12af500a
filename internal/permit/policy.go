package permit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/link"
	"github.com/openharness/oh/internal/shell"
)

// Config is what a [Policy] is made of. All paths are absolute; links in them
// are resolved once, when the policy is made. Empty ones are left out.
type Config struct {
	Root      string   // of the workspace
	Dirs      []string // further folders inside the border
	Home      string   // of the user
	ConfigDir string   // of this program: settings and credentials
	DataDir   string   // of this program: sessions and state
	Readable  []string // folders that may be read though outside the border, such as that of artifacts

	Rules []Rule

	// Save stores an allow rule for the project, where later sessions find it
	// (as a rule of the scope Local). Nil: the scope cannot be granted.
	Save func(rule string) error

	// Analyser looks at command lines; nil is [shell.Analyse].
	Analyser Analyser

	// Confined reports whether commands of bash run in a sandbox now, so that those that
	// meet no deny or ask rule need no question from acceptEdits on. It is asked
	// at each check; nil: they do not.
	Confined func() bool
}

// Policy decides about calls by rules and by the mode of each request. It is
// safe for concurrent use; [Policy.Check] reads no more of the disk than the
// links in the paths of the call.
type Policy struct {
	roots    []place
	home     place
	config   []string // given and real forms of the configuration and data folders
	readable []place
	fold     bool
	analyser Analyser
	save     func(string) error
	confined func() bool
	warnings []string

	mu    sync.Mutex // serialises changes of rules
	rules atomic.Pointer[[]*rule]
}

var _ oh.Gate = (*Policy)(nil)

// New makes a policy. The error joins all deny and ask rules that cannot be
// read, and paths that are not absolute; allow rules that cannot be judged are
// among [Policy.Warnings].
func New(c Config) (*Policy, error) {
	p := &Policy{fold: foldsCase(), analyser: c.Analyser, save: c.Save, confined: c.Confined}
	var errs []error
	at := func(what, path string) place {
		if !filepath.IsAbs(path) {
			errs = append(errs, fmt.Errorf("permissions: %s %q is not an absolute path", what, path))
			return place{}
		}
		return locate(path, nil)
	}
	for i, d := range append([]string{c.Root}, c.Dirs...) {
		if d == "" && i > 0 {
			continue
		}
		p.roots = append(p.roots, at("workspace folder", d))
	}
	if c.Home != "" {
		p.home = at("home folder", c.Home)
	}
	for _, d := range []string{c.ConfigDir, c.DataDir} {
		if d != "" {
			dir := at("folder of this program", d)
			p.config = append(p.config, dir.given, dir.real)
		}
	}
	for _, d := range c.Readable {
		if d != "" {
			p.readable = append(p.readable, at("readable folder", d))
		}
	}
	if p.analyser == nil {
		l := lines{home: p.home.given}
		for _, r := range p.roots {
			if l.roots = append(l.roots, r.given); r.real != r.given {
				l.roots = append(l.roots, r.real)
			}
		}
		p.analyser = l
	}
	errs = append(errs, p.load(c.Rules)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Policy) load(rules []Rule) (errs []error) {
	list := make([]*rule, 0, len(rules))
	for _, r := range rules {
		c, note, err := compile(r)
		if err != nil {
			errs = append(errs, err)
		}
		if note != "" {
			p.warnings = append(p.warnings, note)
		}
		if c != nil {
			list = append(list, c)
		}
	}
	p.rules.Store(&list)
	return errs
}

// Warnings tells about rules that are ignored or hold for more than they say.
func (p *Policy) Warnings() []string { return p.warnings }

// Check implements [oh.Gate].
func (p *Policy) Check(ctx context.Context, req oh.GateRequest) oh.Verdict {
	if err := ctx.Err(); err != nil {
		return oh.Verdict{Reason: "the run is being stopped"}
	}
	if req.Mode.Width() < 0 {
		return oh.Verdict{Reason: fmt.Sprintf("the permission mode %q is unknown, so nothing may run", req.Mode)}
	}
	return p.judge(p.newCall(req))
}

// judge is decide where the mode may answer for everybody.
func (p *Policy) judge(c *call) oh.Verdict {
	v := p.decide(c)
	if v.Decision == oh.Ask && c.Mode == oh.ModeDontAsk {
		v.Decision = oh.Deny
		v.Reason += "; in the mode dontAsk nobody is asked, so it is refused"
		v.Guarded, v.Suggest = false, ""
	}
	return v
}

// decide goes through the order of the package comment.
func (p *Policy) decide(c *call) oh.Verdict {
	rules := *p.rules.Load()
	for _, step := range [...]func(*call, []*rule) (oh.Verdict, bool){
		p.checkClosed, p.checkDeny, p.checkPlan, p.checkGuard, p.checkAsk, p.checkMode,
	} {
		if v, done := step(c, rules); done {
			return v
		}
	}
	return oh.Verdict{Reason: "no rule and no mode allows it"}
}

// use is a path that a call would touch.
type use struct {
	place
	write bool
	tree  bool
}

// call is a request with what was found out about it.
type call struct {
	oh.GateRequest
	reads    bool // changes nothing
	uses     []use
	mentions []use // paths in the text of a command
	command  *shell.Analysis
	parts    []part
	located  int
	alone    bool // one part of the line is judged for itself
	hosts    []string
	dir      place
	links    link.Memo
}

func (p *Policy) newCall(req oh.GateRequest) *call {
	c := &call{GateRequest: req, reads: req.Access.ReadOnly, dir: p.dir(req.Dir), links: link.Memo{}}
	for _, u := range req.Access.Paths {
		path := u.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.dir.given, path)
		}
		c.uses = append(c.uses, use{locate(path, c.links), u.Write, u.Tree})
	}
	for _, u := range req.Access.URLs {
		c.hosts = append(c.hosts, hostOf(u))
	}
	if req.Access.Command != "" {
		dir := req.Access.Dir
		if dir == "" {
			dir = c.dir.given
		}
		a := p.analyser.Analyse(req.Access.Command, dir)
		c.reads = a.ReadOnly() // what the tool says of it does not count
		c.mention([]string{dir}, false)
		c.look(&a)
	}
	for _, u := range c.uses {
		c.reads = c.reads && !u.write
	}
	return c
}

// dir places the conversation's directory; without one it is the root.
func (p *Policy) dir(dir string) place {
	if dir == "" || !filepath.IsAbs(dir) || dir == p.roots[0].given {
		return p.roots[0]
	}
	return locate(dir, nil)
}

// inside reports whether where a path leads lies within the border.
func (p *Policy) inside(at place) bool {
	if at.lost != nil {
		return false
	}
	for _, r := range p.roots {
		if r.lost == nil && contains(r.real, at.real, p.fold) {
			return true
		}
	}
	return false
}

func (p *Policy) mayRead(at place) bool {
	if at.lost != nil {
		return false
	}
	for _, r := range p.readable {
		if r.lost == nil && contains(r.real, at.real, p.fold) {
			return true
		}
	}
	return p.inside(at)
}

// Secret reports whether a search must pass over a path below its root: it is a
// protected place, or a deny rule on reading covers it. path is absolute, clean
// and free of links; the disk is not touched.
func (p *Policy) Secret(path string) bool {
	if g, _ := p.secret(path); g != open {
		return true
	}
	u := use{place: place{given: path, real: path}}
	for _, r := range *p.rules.Load() {
		if r.Effect == oh.Deny && (r.form == formGlob || r.form == formPath && !r.write && !r.own) && p.onPath(r, u, p.roots[0]) {
			return true
		}
	}
	return false
}

// hostOf returns the host of a URL in the form that rules are compared with.
func hostOf(raw string) string {
	s := raw
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	} else {
		s = strings.TrimPrefix(s, "//")
	}
	if i := strings.IndexAny(s, `/\?#`); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i >= 0 {
			return cleanHost(s[:i+1])
		}
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		s = s[:i]
	}
	return cleanHost(s)
}

func cleanHost(s string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), ".")
}
