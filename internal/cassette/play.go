package cassette

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/openharness/oh"
)

// maxLine bounds a line of a cassette in bytes.
const maxLine = 512 << 20

// Player answers requests from a cassette. It is safe for concurrent use.
type Player struct {
	// Strict makes a request that differs from the recorded one an error.
	Strict bool

	// Differs, when set, is called for a request that differs, with where it
	// does. Perhaps for several at a time.
	Differs func(n int, where string)

	path  string
	head  Head
	scrub Scrubber

	mu    sync.Mutex
	tapes []*tape // guarded by mu, as are their used
	asked int     // guarded by mu
}

// tape is one recorded exchange.
type tape struct {
	request  request
	response *response
	pieces   [][]byte
	end      *end
	used     bool
}

// Open reads a cassette. scrub is what requests are compared after: give it
// what the recorder had, as far as it is known.
func Open(path string, scrub Scrubber) (*Player, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	defer func() { _ = f.Close() }()
	p := &Player{path: path, scrub: scrub}
	if err := p.load(f); err != nil {
		return nil, fmt.Errorf("replay: %s: %w", path, err)
	}
	return p, nil
}

// Head returns what the cassette says of itself. The address of a service in a
// cloud, which is found while it is asked, is that of the first request.
func (p *Player) Head() Head {
	head := p.head
	if head.BaseURL != "" {
		return head
	}
	if u, err := url.Parse(p.tapes[0].request.URL); err == nil {
		for _, mark := range []string{"/publishers/", "/model/"} {
			u.Path, _, _ = strings.Cut(u.Path, mark)
		}
		u.RawPath, u.RawQuery = "", ""
		head.BaseURL = u.String()
	}
	return head
}

func (p *Player) load(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	byNumber := map[int]*tape{}
	for number := 1; ; number++ {
		raw, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && number == 1 {
			err = p.begin(raw)
		} else if err == nil {
			err = p.add(raw, byNumber)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if p.head.Version == 0 {
		return errors.New("it is empty")
	}
	if len(p.tapes) == 0 {
		return errors.New("it holds no exchange: nothing was asked while it was recorded")
	}
	return nil
}

// readLine returns the next line without its end; the last may lack one.
func readLine(in *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := in.ReadSlice('\n')
		out = append(out, part...)
		switch {
		case len(out) > maxLine:
			return nil, fmt.Errorf("it is longer than %d MB", maxLine>>20)
		case err == nil:
			return bytes.TrimSpace(out), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(out) > 0:
			return bytes.TrimSpace(out), nil
		default:
			return nil, err
		}
	}
}

func (p *Player) begin(raw []byte) error {
	if err := json.Unmarshal(raw, &p.head); err != nil || p.head.Version == 0 {
		return errors.New("this is no cassette: its first line must be an object with the member cassette")
	}
	if p.head.Version != Version {
		return fmt.Errorf("the cassette has version %d, and this program reads %d", p.head.Version, Version)
	}
	return nil
}

func (p *Player) add(raw []byte, byNumber map[int]*tape) error {
	if len(raw) == 0 {
		return nil
	}
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return fmt.Errorf("it is no line of a cassette: %w", err)
	}
	t := byNumber[l.N]
	switch {
	case l.Request != nil:
		t = &tape{request: *l.Request}
		byNumber[l.N] = t
		p.tapes = append(p.tapes, t)
	case t == nil:
		return fmt.Errorf("exchange %d has no request before this", l.N)
	case l.Response != nil:
		t.response = l.Response
	case l.End != nil:
		t.end = l.End
	default:
		t.pieces = append(t.pieces, l.piece())
	}
	return nil
}

// RoundTrip implements [http.RoundTripper]. An error is an [*oh.Error] that no
// retry heals.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.WithContext(req.Context())
	asking, err := p.scrub.request(req)
	if err != nil {
		return nil, err
	}
	t, n := p.take(asking)
	if t == nil {
		return nil, p.fail(fmt.Errorf("the cassette %s has no answer for request %d (%s %s); it holds %d",
			p.path, n, asking.Method, asking.path(), len(p.tapes)))
	}
	if where := difference(&t.request, asking); where != "" {
		if p.Strict {
			return nil, p.fail(fmt.Errorf("request %d is not the one on the cassette %s: %s", n, p.path, where))
		}
		if p.Differs != nil {
			p.Differs(n, where)
		}
	}
	if t.response == nil {
		return nil, errors.New(t.failure())
	}
	h := http.Header{}
	for name, values := range t.response.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return &http.Response{StatusCode: t.response.Status, Status: fmt.Sprintf("%d %s", t.response.Status, http.StatusText(t.response.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: &reel{tape: t}, ContentLength: -1, Request: req}, nil
}

func (p *Player) fail(err error) error {
	return &oh.Error{Op: "replay", Kind: oh.KindInvalid, Err: err}
}

// take finds the exchange for a request: the first of its path that was not
// played and has the same body, else the first of its path.
func (p *Player) take(asking *request) (*tape, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	var first *tape
	for _, t := range p.tapes {
		if t.used || t.request.Method != asking.Method || t.request.path() != asking.path() {
			continue
		}
		if first == nil {
			first = t
		}
		if bytes.Equal(t.request.JSON, asking.JSON) && bytes.Equal(t.request.Body, asking.Body) {
			first = t
			break
		}
	}
	if first != nil {
		first.used = true
	}
	return first, p.asked
}

// failure is why an exchange has no answer, or no end.
func (t *tape) failure() string {
	if t.end != nil && t.end.Error != "" {
		return t.end.Error
	}
	return "the recording ends here"
}

// reel is the body of an answer that is played.
type reel struct {
	tape *tape
	next int
	rest []byte
}

// Read implements [io.Reader]: one piece at a time, as it was recorded.
func (r *reel) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.next == len(r.tape.pieces) {
			if e := r.tape.end; e != nil && e.Error == "" {
				return 0, io.EOF
			}
			return 0, fmt.Errorf("%w: %s", io.ErrUnexpectedEOF, r.tape.failure())
		}
		r.rest = r.tape.pieces[r.next]
		r.next++
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (r *reel) Close() error { return nil }
