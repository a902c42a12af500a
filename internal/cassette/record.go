package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/openharness/oh"
)

// MaxSize bounds a cassette in bytes. What comes after is not recorded, which
// Close says.
const MaxSize = 1 << 30

// errFull is what Close says of a cassette that is not whole.
var errFull = fmt.Errorf("the cassette has reached %d MB; what came after is not in it", MaxSize>>20)

// Recorder writes a cassette. It is safe for concurrent use.
type Recorder struct {
	scrub Scrubber

	mu   sync.Mutex
	file *os.File // guarded by mu; nil once closed
	n    int      // guarded by mu: exchanges begun
	size int64    // guarded by mu
	err  error    // guarded by mu: the first failure
}

// Create begins a cassette in a new file, readable by the user alone. A file
// that exists is an error.
func Create(path string, head Head, scrub Scrubber) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("record: %s exists already; name a new file, or remove it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Recorder{scrub: scrub, file: f}
	head.Version = Version
	head.BaseURL = scrub.Text(head.BaseURL)
	r.write(head)
	if r.err != nil {
		return nil, errors.Join(r.err, f.Close(), os.Remove(path))
	}
	return r, nil
}

// Close ends the cassette. It returns the first failure to write; closing twice
// returns it again.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		if err := r.file.Close(); r.err == nil && err != nil {
			r.err = fmt.Errorf("record: %w", err)
		}
		r.file = nil
	}
	return r.err
}

// write appends a line. A cassette that cannot be written does not disturb the
// session: Close tells.
func (r *Recorder) write(v any) {
	raw, err := oh.Marshal(v)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil || r.file == nil:
		return
	case err == nil && r.size+int64(len(raw)) >= MaxSize:
		r.err = errFull
		return
	case err == nil:
		_, err = r.file.Write(append(raw, '\n'))
		r.size += int64(len(raw)) + 1
	}
	if err != nil {
		r.err = fmt.Errorf("record: %w", err)
	}
}

func (r *Recorder) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return r.n
}

// Wrap returns a transport that records what goes over another.
func (r *Recorder) Wrap(over http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) { return r.exchange(over, req) })
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func (r *Recorder) exchange(over http.RoundTripper, req *http.Request) (*http.Response, error) {
	n, began := r.next(), time.Now()
	req = req.WithContext(req.Context()) // a transport does not change what it is given
	asking, err := r.scrub.request(req)
	if err != nil {
		return nil, err
	}
	r.write(line{N: n, Request: asking})
	resp, err := over.RoundTrip(req)
	at := time.Since(began).Milliseconds()
	if err != nil {
		r.write(line{N: n, At: at, End: &end{Error: r.scrub.Text(err.Error())}})
		return nil, err
	}
	r.write(line{N: n, At: at, Response: &response{resp.StatusCode, harmless(resp.Header, answered)}})
	resp.Body = &tap{Reader: resp.Body, closer: resp.Body, r: r, n: n, began: began}
	return resp, nil
}

// request reads a request for the cassette; its body can be read again.
func (c *Scrubber) request(req *http.Request) (*request, error) {
	out := &request{Method: req.Method, URL: c.URL(req.URL),
		Header: harmless(req.Header, func(name string) bool { return slices.Contains(asked[:], name) })}
	if req.Body == nil {
		return out, nil
	}
	raw, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(raw))
	clean := c.Text(string(raw))
	if json.Valid([]byte(clean)) {
		out.JSON = json.RawMessage(clean)
	} else {
		out.Body = []byte(clean)
	}
	return out, nil
}

// tap records a body while it is read.
type tap struct {
	io.Reader
	closer io.Closer
	r      *Recorder
	n      int
	began  time.Time
	over   bool
}

// Read implements [io.Reader].
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	at := time.Since(t.began).Milliseconds()
	if n > 0 {
		got := line{N: t.n, At: at, Bytes: p[:n]}
		if made := piece(t.n, at, p[:n]); made.Text != "" {
			made.Text = t.r.scrub.Text(made.Text)
			got = made
		}
		t.r.write(got)
	}
	if err != nil && !t.over {
		t.over = true
		e := &end{}
		if !errors.Is(err, io.EOF) {
			e.Error = t.r.scrub.Text(err.Error())
		}
		t.r.write(line{N: t.n, At: at, End: e})
	}
	return n, err
}

// Close implements [io.Closer].
func (t *tap) Close() error {
	if !t.over {
		t.over = true
		t.r.write(line{N: t.n, At: time.Since(t.began).Milliseconds(), End: &end{Early: true}})
	}
	return t.closer.Close()
}
