package ohtest

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"time"
)

// player plays steps as the answer to one request.
type player struct {
	w     http.ResponseWriter
	ctx   context.Context // ends when the client goes
	done  <-chan struct{} // closed when the server closes
	begun bool            // the header was written
	kind  string          // content type of a stream
	extra http.Header     // goes into the header
}

// play does the steps until one of them ends the answer, the client goes or the
// server closes.
func (p *player) play(steps []Step) {
	for _, s := range steps {
		if !p.step(s) {
			return
		}
	}
	p.begin(http.StatusOK) // an answer without steps is empty
}

func (p *player) step(s Step) bool {
	switch s.act {
	case actHeader:
		if p.extra == nil {
			p.extra = http.Header{}
		}
		for name, values := range s.header {
			p.extra[http.CanonicalHeaderKey(name)] = values
		}
		return true
	case actSend:
		p.begin(http.StatusOK)
		return p.write(s.data)
	case actStatus:
		p.status(s)
		return p.write(s.data)
	case actWait:
		timer := time.NewTimer(s.wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-p.ctx.Done():
		case <-p.done:
		}
		return p.leave()
	case actUntil:
		select {
		case <-s.until:
			return true
		case <-p.ctx.Done():
		case <-p.done:
		}
		return p.leave()
	case actHold:
		p.begin(http.StatusOK)
		p.flush()
		select {
		case <-p.ctx.Done():
		case <-p.done:
		}
		return p.leave()
	default: // actDrop
		return p.leave()
	}
}

// leave cuts the connection, so that the answer does not look complete.
func (p *player) leave() bool {
	p.flush()
	panic(http.ErrAbortHandler) // how net/http is told to; it is not logged
}

// begin writes the header of a stream, once.
func (p *player) begin(status int) {
	if p.begun {
		return
	}
	p.begun = true
	h := p.w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", p.kind)
	}
	h.Set("Cache-Control", "no-cache")
	maps.Copy(h, p.extra)
	p.w.WriteHeader(status)
}

func (p *player) status(s Step) {
	if p.begun {
		return
	}
	h := p.w.Header()
	for name, values := range s.header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	if h.Get("Content-Type") == "" && strings.HasPrefix(string(s.data), "{") {
		h.Set("Content-Type", "application/json")
	}
	p.begin(s.status)
}

// write writes and flushes; it is false when the client is gone.
func (p *player) write(b []byte) bool {
	if len(b) > 0 {
		if _, err := p.w.Write(b); err != nil {
			return false
		}
	}
	p.flush()
	return p.ctx.Err() == nil
}

// flush sends what was written. A writer that cannot flush sends at the end.
func (p *player) flush() {
	if p.begun {
		_ = http.NewResponseController(p.w).Flush()
	}
}

// sentBytes joins what steps send.
func sentBytes(steps []Step) []byte {
	var out []byte
	for _, s := range steps {
		if s.act == actSend || s.act == actStatus {
			out = append(out, s.data...)
		}
	}
	return out
}
