package engine

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/openharness/oh"
)

// maxOverloads is how often in a row a model may be overloaded before another
// is asked, if there is one.
const maxOverloads = 3

// asked is the model that is asked now.
func (r *run) asked() string {
	if r.model != "" {
		return r.model
	}
	return r.conv.State().Model
}

// relieve turns to the next model when the one that is asked has been
// overloaded too often, or no attempt follows the failed one, number try. turned
// is false when it need not or cannot; the error is the log's or the budget's.
func (r *run) relieve(try int, again bool, cause error, discard bool) (turned bool, err error) {
	if oh.KindOf(cause) != oh.KindOverloaded {
		r.overloads = 0
		return false, nil
	}
	if r.overloads++; again && r.overloads < maxOverloads {
		return false, nil
	}
	was := r.asked()
	next := ""
	for next == "" && r.fallback < len(r.cfg.Fallback) {
		if name := r.cfg.Fallback[r.fallback]; name != was {
			next = name
		}
		r.fallback++
	}
	if next == "" {
		return false, nil
	}
	if err := r.afford(); err != nil {
		return false, err
	}
	if r.deltas {
		r.emitRetry(try, 0, cause, discard)
	}
	r.model, r.overloads = next, 0
	return true, r.record(oh.Notice{Level: oh.Warning, Text: fmt.Sprintf(
		"%s is overloaded (%s); %s answers for the rest of this run.", was, said(cause), next)})
}

// said is what a service answered, in short.
func said(err error) string {
	e, ok := errors.AsType[*oh.Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.Status != 0 && e.Code != "":
		return strconv.Itoa(e.Status) + " " + e.Code
	case e.Status != 0:
		return strconv.Itoa(e.Status)
	}
	return orElse(e.Code, string(e.Kind))
}
