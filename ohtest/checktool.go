package ohtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	wholeRun  = 10 * time.Second      // after which a call is cancelled
	midRun    = 50 * time.Millisecond // after which a call is cancelled while it runs
	grace     = 5 * time.Second       // within which a cancelled call has to return
	patience  = 30 * time.Second      // within which Prepare has to return
	settle    = 50 * time.Millisecond // during which late events are waited for
	mostLimit = 60_000                // code points that a self-limited tool may return
)

// CheckTool runs a tool and holds it to the contract of [oh.Tool]. Each input, a
// JSON object, is prepared and run three times: to its end (or for ten
// seconds), with a context that has ended, and with one that ends meanwhile.
// What breaks the contract is reported by Errorf, with the name of the rule:
//
//   - schema, tool-name, blank-text: as [CheckSpec]; spec-unstable: Spec gives
//     something else later
//   - prepare-changes: Prepare changed a file or its input; prepare-panic,
//     prepare-hang, prepare-empty: it panicked, did not come back, or returned
//     nothing to run, for the inputs or for odd ones (wrong types, strange
//     strings, no JSON at all; also with an empty Env)
//   - input-refused: an input was refused on its first run
//   - access-path, access-contrary: a declared path is not absolute and clean;
//     a call that writes calls itself read-only
//   - undeclared: below env.Dir something was created, changed (content, mode or
//     time) or removed that was not declared as a write. Missing folders above a
//     declared path may be made. A call that declares a Command may touch
//     anything
//   - cancel-ignored: the call went on for five seconds after its context ended
//   - run-panic, output-utf8, output-limit (60,000 characters when SelfLimited),
//     output-meta (an object, or none): of what a call returned
//   - event-type: it emitted what no tool may; event-late: after it had returned
//
// env is what the calls get; its Dir is the folder that is watched, which has to
// be the tool's workspace and should hold little else. Errors of calls are no
// violations. Without inputs only the description and odd inputs are tried.
func CheckTool(tb TB, tool oh.Tool, env *oh.Env, inputs ...string) {
	tb.Helper()
	c := &toolCheck{tool: tool, env: *env}
	c.all(inputs)
	for _, v := range c.found {
		tb.Errorf("tool %s: %v", c.spec.Name, v)
	}
}

// toolCheck is one check of one tool.
type toolCheck struct {
	report
	tool   oh.Tool
	env    oh.Env
	spec   oh.ToolSpec
	events []*recorder // one for each run
}

func (c *toolCheck) all(inputs []string) {
	if !filepath.IsAbs(c.env.Dir) {
		c.add("access-path", "env.Dir", "%q is not absolute: name the folder to watch", c.env.Dir)
		return
	}
	c.spec = cloneSpec(c.tool.Spec())
	c.found = append(c.found, CheckSpec(c.spec)...)
	for i, in := range inputs {
		c.input(fmt.Sprintf("input %d", i+1), in)
	}
	c.odd(inputs)
	if !reflect.DeepEqual(c.spec, c.tool.Spec()) {
		c.add("spec-unstable", "spec", "Spec returns something else than at first")
	}
	if len(c.events) > 0 {
		<-time.After(settle)
	}
	for _, r := range c.events {
		if n := r.lateCount(); n > 0 {
			c.add("event-late", r.where, "emitted %s after it had returned", text.Plural(n, "event"))
		}
	}
}

func cloneSpec(s oh.ToolSpec) oh.ToolSpec {
	s.Schema = slices.Clone(s.Schema)
	return s
}

// ending says when a run's context ends.
type ending struct {
	name  string
	after time.Duration // 0: before the run begins
	event bool          // or with the first event
}

func (c *toolCheck) input(where, in string) {
	for i, e := range []ending{{name: "run", after: wholeRun}, {name: "run with an ended context"}, {name: "run that is cancelled", after: midRun, event: true}} {
		at := where + ", " + e.name
		before := c.look(at)
		act, err, ok := c.prepare(at, in, c.env)
		c.compare("prepare-changes", at, before, c.look(at), oh.Access{})
		switch {
		case !ok:
			return
		case err != nil && i == 0:
			c.add("input-refused", at, "%v", err)
			return
		case err != nil:
			continue // the first run may have made it so
		}
		c.access(at, act.Access)
		before = c.look(at)
		if !c.run(at, act, e) {
			return
		}
		if act.Access.Command == "" {
			c.compare("undeclared", at, before, c.look(at), act.Access)
		}
	}
}

// look is the watched folder now.
func (c *toolCheck) look(where string) snapshot {
	s, err := takeSnapshot(c.env.Dir)
	if err != nil {
		c.add("undeclared", where, "the watched folder cannot be read: %v", err)
	}
	return s
}

func (c *toolCheck) compare(rule, where string, before, after snapshot, a oh.Access) {
	for _, d := range undeclared(before, after, a) {
		c.add(rule, where, "%s", d)
	}
}

// prepare prepares a call. ok is false when it broke the contract.
func (c *toolCheck) prepare(where, in string, env oh.Env) (act oh.Action, err error, ok bool) {
	type prepared struct {
		act   oh.Action
		err   error
		panic any
	}
	call := &oh.Call{ID: "call_1", Name: c.spec.Name, Input: json.RawMessage(in), Env: &env}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan prepared, 1)
	go func() {
		var p prepared
		defer func() {
			p.panic = recover()
			done <- p
		}()
		p.act, p.err = c.tool.Prepare(ctx, call)
	}()
	var p prepared
	select {
	case p = <-done:
	case <-time.After(patience + grace):
		c.add("prepare-hang", where, "Prepare did not return within %v for %s", patience+grace, sample(in))
		return act, nil, false
	}
	switch {
	case p.panic != nil:
		c.add("prepare-panic", where, "Prepare panicked for %s: %v", sample(in), p.panic)
	case p.err == nil && p.act.Run == nil:
		c.add("prepare-empty", where, "Prepare returned neither an error nor something to run for %s", sample(in))
	case !bytes.Equal(call.Input, []byte(in)):
		c.add("prepare-changes", where, "Prepare changed its input %s", sample(in))
	default:
		return p.act, p.err, true
	}
	return act, nil, false
}

func sample(in string) string { return text.OneLine(text.Clean(in), 200) }

// access checks the form of what is declared.
func (c *toolCheck) access(where string, a oh.Access) {
	clean := func(path string) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			c.add("access-path", where, "the declared path %q is not absolute and clean", path)
		}
	}
	for _, p := range a.Paths {
		clean(p.Path)
		if p.Write && a.ReadOnly {
			c.add("access-contrary", where, "the call declares itself read-only and a write to %s", p.Path)
		}
	}
	if a.Dir != "" {
		clean(a.Dir)
	}
}

// outcome is what became of a run.
type outcome struct {
	res   oh.Result
	err   error
	panic any
}

// run runs a prepared call. It returns false when the call did not return, and
// so may still be changing something.
func (c *toolCheck) run(where string, act oh.Action, e ending) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if e.after == 0 {
		cancel()
	}
	rec := &recorder{where: where, first: make(chan struct{})}
	c.events = append(c.events, rec)
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			out.panic = recover()
			rec.end()
			done <- out
		}()
		out.res, out.err = act.Run(ctx, rec.emit)
	}()
	out, ok := e.await(done, rec.first, cancel)
	switch {
	case !ok:
		c.add("cancel-ignored", where, "the call did not return within %v after its context had ended", grace)
		return false
	case out.panic != nil:
		c.add("run-panic", where, "Run panicked: %v", out.panic)
		return true
	}
	c.output(where, out.res, out.err)
	rec.report(&c.report)
	return true
}

// await ends a run's context in its time and waits for the run to return; false
// when it does not.
func (e ending) await(done <-chan outcome, first <-chan struct{}, cancel func()) (outcome, bool) {
	if !e.event {
		first = nil
	}
	select {
	case out := <-done:
		return out, true
	case <-first:
	case <-time.After(e.after):
	}
	cancel()
	select {
	case out := <-done:
		return out, true
	case <-time.After(grace):
		return outcome{}, false
	}
}

// output checks what a call returned.
func (c *toolCheck) output(where string, res oh.Result, err error) {
	chars := 0
	see := func(what, s string) {
		chars += utf8.RuneCountInString(s)
		if !utf8.ValidString(s) {
			c.add("output-utf8", where, "the %s is not valid UTF-8", what)
		}
	}
	if err != nil {
		see("error", err.Error())
	}
	for _, b := range res.Content {
		switch b := b.(type) {
		case oh.Text:
			see("text", b.Text)
		case oh.Document:
			see("name of a document", b.Name)
		}
	}
	if c.spec.SelfLimited && chars > mostLimit {
		c.add("output-limit", where, "the call returned %s characters; a tool that limits itself may return %s", text.Number(chars), text.Number(mostLimit))
	}
	if len(res.Meta) > 0 && !isObject(res.Meta) {
		c.add("output-meta", where, "the metadata is not a JSON object: %s", sample(string(res.Meta)))
	}
	if !utf8.Valid(res.Meta) {
		c.add("output-utf8", where, "the metadata is not valid UTF-8")
	}
}
