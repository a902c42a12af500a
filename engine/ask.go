package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// ask gets one complete reply, with as many attempts as it takes and the
// configuration allows.
func (r *run) ask() (oh.Message, error) {
	if err := r.afford(); err != nil {
		return oh.Message{}, err
	}
	if err := r.compact("auto"); err != nil {
		return oh.Message{}, err
	}
	r.overloads = 0
	for try := 1; ; try++ {
		msg, shown, err := r.attempt()
		if err == nil {
			return r.tidy(msg), nil
		}
		if stopped := r.ctx.Err(); stopped != nil {
			// Whatever the request failed of, a person stopped the run.
			if err := r.keepShown(shown); err != nil {
				return oh.Message{}, err
			}
			return oh.Message{}, stopped
		}
		if oh.KindOf(err) == oh.KindTooLong && !r.reactive && r.cfg.Compactor != nil {
			r.reactive = true
			if err := r.compact("reactive"); err != nil {
				return oh.Message{}, err
			}
			try--
			continue
		}
		if try, err = r.again(try, err, shown != ""); err != nil {
			return oh.Message{}, err
		}
	}
}

// again prepares the attempt after number try, which failed of cause, and
// returns the number to count on from: 0 with another model. The error is the
// cause when there is none. A failed attempt may have cost something, so the
// budget is asked each time.
func (r *run) again(try int, cause error, discard bool) (int, error) {
	wait, again := r.cfg.Retry.next(try, cause)
	turned, fault := r.relieve(try, again, cause, discard)
	switch {
	case fault != nil:
		return 0, fault
	case turned:
		return 0, nil
	case !again:
		return 0, r.cfg.Retry.gaveUp(cause)
	}
	if err := r.afford(); err != nil {
		return 0, err
	}
	r.emitRetry(try, wait, cause, discard)
	return try, sleep(r.ctx, wait)
}

// overspent is the error of a run whose budget is used up.
type overspent struct{ error }

// afford asks the budget, if there is one, whether a request may be made.
func (r *run) afford() error {
	if r.cfg.Budget == nil {
		return nil
	}
	if err := r.cfg.Budget(r.conv.State()); err != nil {
		return overspent{err}
	}
	return nil
}

func (r *run) emitRetry(try int, wait time.Duration, err error, discard bool) {
	ev := oh.Retrying{Attempt: try + 1, Of: max(r.cfg.Retry.Tries, try+1), After: wait, Reason: err.Error(), Discard: discard}
	if e, ok := errors.AsType[*oh.Error](err); ok {
		ev.Kind, ev.Status = e.Kind, e.Status
	}
	r.emit(ev)
}

// next says whether attempt try may be followed by another, and after how
// long.
func (c Retry) next(try int, err error) (time.Duration, bool) {
	e, ok := errors.AsType[*oh.Error](err)
	if !ok || !e.Retryable() || try >= c.Tries || e.After > c.MaxAfter {
		return 0, false
	}
	wait := c.Cap
	if shift := try - 1; shift < 30 {
		wait = min(c.Base<<shift, c.Cap)
	}
	wait += time.Duration(rand.Int64N(int64(wait)/4 + 1))
	return max(wait, e.After), true
}

// gaveUp says why no attempt follows, where the error itself does not.
func (c Retry) gaveUp(err error) error {
	if e, ok := errors.AsType[*oh.Error](err); ok && e.Retryable() && e.After > c.MaxAfter {
		return fmt.Errorf("%w (the service asks to wait %v)", err, e.After.Round(time.Second))
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// request is what the model that is asked now gets.
func (r *run) request() (*oh.Request, error) {
	st := r.conv.State()
	req := &oh.Request{
		Profile:   st.Profile,
		Model:     r.asked(),
		System:    st.System,
		Messages:  r.conv.Messages(),
		Tools:     r.specs,
		MaxTokens: r.cfg.MaxTokens,
		Effort:    st.Effort,
		Session:   st.Session,
		Memo:      r.conv.Memo(),
	}
	if r.cfg.Fit == nil {
		return req, nil
	}
	if err := r.cfg.Fit(r.ctx, req, r.aside); err != nil {
		return nil, err
	}
	return req, r.afford() // Fit may have asked a model of its own
}

// attempt makes one request and yields its deltas. shown is the text that was
// yielded.
func (r *run) attempt() (msg oh.Message, shown string, err error) {
	req, err := r.request()
	if err != nil {
		return oh.Message{}, "", err
	}
	began := time.Now()
	defer func() { r.api += time.Since(began) }()
	var words strings.Builder
	complete := false
	r.deltas = false
	for chunk, err := range r.cfg.Provider.Stream(r.ctx, req) {
		if err != nil {
			return oh.Message{}, words.String(), r.lost(req, err)
		}
		switch chunk := chunk.(type) {
		case oh.MessageDone:
			msg, complete = chunk.Message, true
		case oh.TextDelta:
			words.WriteString(chunk.Text)
			r.deltas = true
			r.emit(chunk)
		case oh.RateLimit:
			r.emit(chunk)
		default:
			r.deltas = true
			r.emit(chunk)
		}
		if r.broken {
			return oh.Message{}, words.String(), context.Canceled
		}
	}
	if !complete {
		return oh.Message{}, words.String(), &oh.Error{Op: "ask " + req.Model, Kind: oh.KindUnavailable,
			Err: errors.New("the stream ended without a reply")}
	}
	msg.Model = orElse(shownName(msg.Model), req.Model)
	return msg, words.String(), nil
}

// maxModel bounds the name of a model that a service tells, in code points.
const maxModel = 200

// shownName is a name that a service tells as one that can be shown.
func shownName(s string) string { return text.OneLine(text.Clean(s), maxModel) }

// tidy gives a reply its own id, drops text that is blank, which no service
// takes back, and flattens arguments that are too deep.
func (r *run) tidy(msg oh.Message) oh.Message {
	msg.ID = "msg_" + oh.NewID()
	msg.Role = oh.Assistant
	kept := make(oh.Blocks, 0, len(msg.Content))
	for _, b := range msg.Content {
		if t, ok := b.(oh.Text); ok && t.Opaque == nil && strings.TrimSpace(t.Text) == "" {
			continue
		}
		if u, ok := b.(oh.ToolUse); ok {
			b = flatten(u)
		}
		kept = append(kept, b)
	}
	msg.Content = kept
	return msg
}

// keepShown records the text of a reply that a person stopped: it was seen, so
// the model should know it too. Calls and thinking of a stopped reply are not
// kept.
func (r *run) keepShown(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return r.record(oh.MessageDone{Message: oh.Message{
		ID: "msg_" + oh.NewID(), Role: oh.Assistant, Model: r.asked(),
		Content: oh.Blocks{oh.Text{Text: text}}, Stop: oh.StopCancelled,
	}})
}

// compact shortens the history where that is due.
func (r *run) compact(trigger string) error {
	if r.cfg.Compactor == nil || trigger == "auto" && !r.cfg.Compactor.Due(r.conv) {
		return nil
	}
	res, err := r.fire(oh.HookInput{Event: oh.HookPreCompact, Source: trigger})
	if err != nil {
		return err
	}
	if res.Block {
		r.emit(oh.Notice{Level: oh.Warning, Text: "A hook stopped the compaction: " + orElse(res.Reason, "no reason given")})
		return nil
	}
	history, err := r.cfg.Compactor.Compact(r.ctx, r.conv, trigger, r.progress)
	if err != nil {
		if r.ctx.Err() != nil || oh.IsFatal(err) {
			return err
		}
		r.emit(oh.ErrorEvent{Kind: oh.KindOf(err), Message: fmt.Sprintf("compaction: %v", err)})
		return nil
	}
	if len(history) == 0 {
		return nil
	}
	if err := r.record(oh.Compaction{Phase: oh.CompactionDone, Trigger: trigger, History: history}); err != nil {
		return err
	}
	r.loadTools()
	_, err = r.fire(oh.HookInput{Event: oh.HookPostCompact, Source: trigger})
	return err
}

// progress passes on what a compactor reports.
func (r *run) progress(ev oh.Event) {
	if err := r.aside(ev); err != nil {
		r.emit(oh.ErrorEvent{Message: err.Error()})
	}
}

// aside takes an event of what is done beside the conversation.
func (r *run) aside(ev oh.Event) error {
	switch ev := ev.(type) {
	case oh.SideUsage:
		r.usage = r.usage.Add(ev.Usage)
		return r.record(ev)
	case oh.StateChanged, oh.Notice:
		return r.record(ev)
	}
	r.emit(ev)
	return nil
}

// lost counts what a failed attempt used, where the service told it. It
// returns the attempt's error, or that of the log.
func (r *run) lost(req *oh.Request, err error) error {
	e, ok := errors.AsType[*oh.Error](err)
	if !ok || e.Usage == (oh.Usage{}) {
		return err
	}
	if fault := r.aside(oh.SideUsage{For: "failed_attempt", Profile: req.Profile, Model: req.Model, Usage: e.Usage}); fault != nil {
		return fault
	}
	return err
}
