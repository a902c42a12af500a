package engine

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// runCalls runs the calls of one reply. Neighbours that are read-only or
// parallel run together; any other call waits for all before it, and later
// ones wait for it. A call is prepared when its turn comes, since an earlier
// one may have changed what it means.
func (r *run) runCalls(calls []oh.ToolUse) end {
	r.guard.reply()
	b := &batch{run: r, begun: map[string]bool{}}
	for _, call := range calls {
		if r.ctx.Err() != nil {
			break
		}
		if err := b.add(call); err != nil {
			return failed(err)
		}
		if b.over() {
			break
		}
	}
	if err := b.flush(); err != nil {
		return failed(err)
	}
	if err := r.ctx.Err(); err != nil {
		return r.abandon(calls, b.begun, failed(err))
	}
	if b.over() {
		return r.abandon(calls, b.begun, b.end())
	}
	res, err := r.fire(oh.HookInput{Event: oh.HookPostToolBatch, Calls: b.results})
	if err != nil {
		return failed(err)
	}
	if res.Halt || res.Block {
		return end{reason: oh.ReasonBlocked, text: orElse(res.Reason, "A hook stopped the run.")}
	}
	if res.Context != "" {
		return r.say(oh.FromHook, oh.Blocks{oh.Text{Text: res.Context, Context: true}})
	}
	return end{}
}

// abandon answers the calls that did not begin.
func (r *run) abandon(calls []oh.ToolUse, begun map[string]bool, e end) end {
	var left []oh.ToolUse
	for _, call := range calls {
		if !begun[call.ID] {
			left = append(left, call)
		}
	}
	if err := r.refuseAll(left, oh.CauseInterrupted, wordNotRun); err != nil {
		return failed(err)
	}
	return e
}

// batch is the calls of one reply on their way.
type batch struct {
	run     *run
	group   []*job          // prepared, to run together
	begun   map[string]bool // calls that were started or answered
	results []oh.ToolDone
	loop    string // the loop guard ends the run: why
	halt    string // a hook or a person ends the run: why
}

func (b *batch) over() bool { return b.loop != "" || b.halt != "" }

func (b *batch) end() end {
	if b.halt != "" {
		return end{reason: oh.ReasonBlocked, text: b.halt}
	}
	return end{reason: oh.ReasonLoop, text: b.loop}
}

// add takes the next call: it joins the group, or runs alone after it.
func (b *batch) add(call oh.ToolUse) error {
	j, ref, err := b.run.ready(call)
	if err != nil {
		return err
	}
	if ref != nil {
		return b.finish(j, refusedDone(j, ref))
	}
	if together(j) {
		b.group = append(b.group, j)
		return nil
	}
	if len(b.group) > 0 {
		if err := b.flush(); err != nil {
			return err
		}
		if b.run.ctx.Err() != nil || b.over() {
			return nil
		}
		if ref, err := b.run.prepare(j); err != nil {
			return err
		} else if ref != nil {
			return b.finish(j, refusedDone(j, ref))
		}
	}
	b.group = []*job{j}
	return b.flush()
}

func together(j *job) bool { return j.act.Access.ReadOnly || j.act.Access.Parallel }

// flush gates the group one after another and runs those that may run.
func (b *batch) flush() error {
	group := b.group
	b.group = nil
	var admitted []*job
	for _, j := range group {
		if b.run.ctx.Err() != nil || b.over() {
			break
		}
		ref, err := b.run.admit(j)
		if err != nil {
			return err
		}
		if ref == nil {
			ref, err = b.run.before(j)
		}
		if err != nil {
			return err
		}
		if ref != nil {
			if err := b.finish(j, refusedDone(j, ref)); err != nil {
				return err
			}
			continue
		}
		admitted = append(admitted, j)
	}
	if len(admitted) == 0 || b.run.ctx.Err() != nil {
		return nil
	}
	return b.exec(admitted)
}

func (r *run) before(j *job) (*refused, error) {
	if r.cfg.Before == nil {
		return nil, nil
	}
	err := r.cfg.Before(r.ctx, j.call, j.act.Access)
	if err == nil || oh.IsFatal(err) {
		return nil, err
	}
	return refuse(oh.CauseInvalid, "not run: "+err.Error()), nil
}

func refusedDone(j *job, ref *refused) oh.ToolDone {
	return oh.ToolDone{ID: j.call.ID, Tool: j.call.Name, IsError: true, Cause: ref.cause,
		Content: oh.Blocks{oh.Text{Text: ref.text}}}
}

// finish records a result that is made in the run's own goroutine, and looks
// at what it means for the run.
func (b *batch) finish(j *job, done oh.ToolDone) error {
	if err := b.run.guardResult(b, j, &done); err != nil {
		return err
	}
	if err := b.run.conv.Append(oh.NewEntry(done)); err != nil {
		return err
	}
	return b.shown(j, done)
}

// shown yields a recorded result.
func (b *batch) shown(j *job, done oh.ToolDone) error {
	b.begun[done.ID] = true
	b.results = append(b.results, done)
	b.run.noteOutput(done)
	if j.halted != "" {
		b.halt = j.halted
	}
	b.run.emit(done)
	return nil
}

// guardResult lets the loop guard see a result: it may add a word for the
// model, or end the run.
func (r *run) guardResult(b *batch, j *job, done *oh.ToolDone) error {
	if done.Cause == oh.CauseInterrupted {
		return nil
	}
	said := done.Content.Text()
	n := r.guard.note(j.call, done.IsError, said)
	if n >= repeatsTold {
		count := text.Number(n)
		done.Content = append(done.Content[:len(done.Content):len(done.Content)],
			oh.Text{Text: fill(wordRepeated, "count", count), Context: true})
	}
	if n >= repeatsEnded {
		b.loop = "Stopped: the same call of " + j.call.Name + " failed " + text.Number(n) + " times with the same error: " +
			text.OneLine(said, 200)
	}
	return nil
}

// exec runs admitted calls together and yields their events until all have
// ended.
func (b *batch) exec(jobs []*job) error {
	r := b.run
	q := newQueue(len(jobs))
	for _, j := range jobs {
		b.begun[j.call.ID] = true
		r.emit(oh.ToolStarted{ID: j.call.ID, Tool: j.call.Name, Input: j.call.Input,
			Preview: oh.DisplayBox{Display: j.act.Preview}})
	}
	for _, j := range jobs {
		go func() {
			defer q.leave()
			b.execOne(j, q)
		}()
	}
	var firstErr error
	note := func(err error) {
		if firstErr == nil && err != nil {
			firstErr = err
			r.cancel()
		}
	}
	stop := r.ctx.Done()
	var grace <-chan time.Time
	for {
		events, open := q.take()
		for _, x := range events {
			if x.err != nil {
				note(x.err)
			} else if done, ok := x.event.(oh.ToolDone); ok {
				note(b.shown(x.job, done))
			} else {
				if u, ok := x.event.(oh.SideUsage); ok {
					r.usage = r.usage.Add(u.Usage)
				}
				r.emit(x.event)
				note(r.moved(x.event))
			}
		}
		if !open {
			return firstErr
		}
		select {
		case <-q.wake:
		case <-stop:
			stop = nil
			timer := time.NewTimer(r.cfg.Grace)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			// A tool ignores its context: it is left behind, and an interrupted
			// result stands for it.
			q.close()
			return errors.Join(firstErr, r.ctx.Err())
		}
	}
}

// moved tells the hooks when a call changed the working directory.
func (r *run) moved(ev oh.Event) error {
	st, ok := ev.(oh.StateChanged)
	if !ok || st.Dir == "" || st.Dir == r.dir {
		return nil
	}
	from := r.dir
	r.dir = st.Dir
	_, err := r.fire(oh.HookInput{Event: oh.HookCwdChanged, From: from, To: st.Dir})
	return err
}

// execOne runs one call in its own goroutine, from ToolStarted to ToolDone.
func (b *batch) execOne(j *job, q *queue) {
	r := b.run
	began := time.Now()
	emit := func(ev oh.Event) {
		if err := r.fromTool(j, q, ev); err != nil {
			q.put(item{err: err})
		}
	}
	res, cause, fatal := runAction(r.ctx, j, emit)
	done := r.offload(j, res)
	done.Cause, done.Duration = cause, time.Since(began)
	if j.added != "" {
		done.Content = append(done.Content, oh.Text{Text: j.added, Context: true})
	}
	if err := q.settle(func() error {
		if err := r.guardResult(b, j, &done); err != nil {
			return err
		}
		return r.conv.Append(oh.NewEntry(done))
	}); err != nil {
		q.put(item{err: err})
		return
	}
	done, err := r.postHook(j, q, done)
	if err != nil && fatal == nil {
		fatal = err
	}
	q.put(item{job: j, event: done})
	if fatal != nil {
		q.put(item{err: fatal})
	}
}

// fromTool takes an event that a running tool emits.
func (r *run) fromTool(j *job, q *queue, ev oh.Event) error {
	switch e := ev.(type) {
	case oh.ToolOutput:
		e.ID = j.call.ID
		q.put(item{job: j, event: e})
	case oh.Sub:
		e.Call = j.call.ID
		q.put(item{job: j, event: e})
	case oh.Status:
		q.put(item{job: j, event: e})
	case oh.StateChanged, oh.Notice, oh.SideUsage:
		if err := q.settle(func() error { return r.conv.Append(oh.NewEntry(ev)) }); err != nil {
			return err
		}
		q.put(item{job: j, event: ev})
	}
	return nil
}

// offload makes a result's event: text that is too long goes to an artifact,
// and no text is invalid UTF-8 or missing altogether.
func (r *run) offload(j *job, res oh.Result) oh.ToolDone {
	done := oh.ToolDone{ID: j.call.ID, Tool: j.call.Name, IsError: res.IsError, Meta: res.Meta,
		Display: oh.DisplayBox{Display: res.Display}}
	var whole strings.Builder
	var rest oh.Blocks
	chars := 0
	for _, b := range res.Content {
		t, ok := b.(oh.Text)
		if !ok {
			rest = append(rest, b)
			continue
		}
		if !utf8.ValidString(t.Text) {
			t.Text = strings.ToValidUTF8(t.Text, "\uFFFD")
		}
		if whole.Len() > 0 && t.Text != "" {
			whole.WriteByte('\n')
		}
		whole.WriteString(t.Text)
		chars += utf8.RuneCountInString(t.Text)
	}
	out := whole.String()
	if chars > r.cfg.Limits.Inline && !j.tool.Spec().SelfLimited {
		out = r.spill(j, out)
	}
	if strings.TrimSpace(out) != "" {
		done.Content = append(done.Content, oh.Text{Text: out})
	} else if len(rest) == 0 {
		done.Content = oh.Blocks{oh.Text{Text: "(no output)"}}
	}
	done.Content = append(done.Content, rest...)
	return done
}

func (r *run) spill(j *job, out string) string {
	s := text.Spill{Inline: r.cfg.Limits.Inline, Preview: r.cfg.Limits.Preview}
	if r.cfg.Artifacts != nil {
		s.Create = func() (text.File, error) { return r.cfg.Artifacts.Create(j.call.Name) }
	}
	_, _ = s.Write([]byte(out))
	sum, _ := s.Finish(j.call.Name, j.call.ID) // the text says when the file failed
	return sum.Text
}

// postHook lets the hooks see a result. What they change is a second entry,
// which wins.
func (r *run) postHook(j *job, q *queue, done oh.ToolDone) (oh.ToolDone, error) {
	if r.cfg.Hook == nil {
		return done, nil
	}
	event := oh.HookPostTool
	if done.IsError {
		event = oh.HookPostToolFailure
	}
	st := r.conv.State()
	res, err := r.cfg.Hook.Fire(r.ctx, oh.HookInput{Event: event, Session: st.Session, Dir: st.Dir, Mode: st.Mode,
		Agent: r.cfg.Agent, ID: done.ID, Tool: done.Tool, Input: j.call.Input, Output: done.Content,
		IsError: done.IsError, Cause: done.Cause})
	if oh.IsFatal(err) {
		return done, err
	}
	if err != nil {
		q.put(item{job: j, event: hookWarning(event, err)})
		return done, nil
	}
	if res.Message != "" {
		q.put(item{job: j, event: oh.Notice{Level: oh.Info, Text: res.Message}})
	}
	if res.Halt {
		j.halted = orElse(res.Reason, "A hook stopped the run.")
	}
	changed := done
	if len(res.Output) > 0 {
		changed.Content = res.Output
	}
	added := res.Context
	if res.Block && res.Reason != "" {
		added = strings.TrimSpace(added + "\n" + res.Reason)
	}
	if added != "" {
		changed.Content = append(changed.Content[:len(changed.Content):len(changed.Content)], oh.Text{Text: added, Context: true})
	}
	if len(res.Output) == 0 && added == "" {
		return done, nil
	}
	return changed, q.settle(func() error { return r.conv.Append(oh.NewEntry(changed)) })
}
