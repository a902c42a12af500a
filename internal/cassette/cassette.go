// Package cassette records what the program and its model services say to each
// other, and plays it back without a network: for regression tests and for
// reports of faults.
//
// A cassette is a file of JSON lines. The first names the format and what was
// used (see [Head]); each exchange is a request, an answer's head, the pieces
// of its body as they came, and an end. Exchanges that overlap are mixed, told
// apart by their number.
//
// Guarantees: credentials do not get into the file: of headers only harmless
// ones are kept, and secrets that are known or look like keys are replaced in
// URLs and bodies. What was said in the conversation is kept: a cassette is as
// private as the session. What was recorded is on disk before the program sees
// it. Nothing is sent anywhere while a cassette is played.
package cassette

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Version is the version of the format.
const Version = 1

// Head is what a cassette says of the session it was recorded in.
type Head struct {
	Version int    `json:"cassette"`
	Program string `json:"program,omitempty"` // its version
	Profile string `json:"profile,omitempty"`
	Model   string `json:"model,omitempty"`
	Wire    string `json:"wire,omitempty"`
	BaseURL string `json:"base_url,omitempty"`
}

// line is any line but the first. N counts the exchanges from 1.
type line struct {
	N        int       `json:"n"`
	Request  *request  `json:"request,omitempty"`
	Response *response `json:"response,omitempty"`
	At       int64     `json:"at_ms,omitempty"` // since the request
	Text     string    `json:"text,omitempty"`  // a piece of the body that is text
	Bytes    []byte    `json:"bytes,omitempty"` // or is not
	End      *end      `json:"end,omitempty"`
}

type request struct {
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Header http.Header     `json:"headers,omitempty"`
	JSON   json.RawMessage `json:"json,omitempty"` // the body, if it is JSON
	Body   []byte          `json:"body,omitempty"` // else
}

// path is what an exchange is found by: the scheme and host may differ.
func (r *request) path() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return r.URL
	}
	return u.Path
}

type response struct {
	Status int         `json:"status"`
	Header http.Header `json:"headers,omitempty"`
}

// end is how an answer ended: well when Error is empty. Early says that the
// program did not read it to the end.
type end struct {
	Error string `json:"error,omitempty"`
	Early bool   `json:"early,omitempty"`
}

// piece makes a line of a piece of a body.
func piece(n int, at int64, p []byte) line {
	if utf8.Valid(p) {
		return line{N: n, At: at, Text: string(p)}
	}
	return line{N: n, At: at, Bytes: bytes.Clone(p)}
}

func (l *line) piece() []byte {
	if l.Text != "" {
		return []byte(l.Text)
	}
	return l.Bytes
}

// asked lists the headers of a request that are kept.
var asked = [...]string{"Accept", "Content-Type", "Anthropic-Version", "Anthropic-Beta", "User-Agent"}

// answered reports whether a header of an answer is kept.
func answered(name string) bool {
	switch name {
	case "Content-Type", "Content-Encoding", "Retry-After", "Retry-After-Ms", "Date", "Request-Id", "X-Request-Id":
		return true
	}
	return strings.Contains(strings.ToLower(name), "ratelimit")
}

func harmless(h http.Header, keep func(string) bool) http.Header {
	out := http.Header{}
	for name, values := range h {
		if keep(name) {
			out[name] = values
		}
	}
	return out
}
