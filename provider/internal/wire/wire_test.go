package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
)

// play is a service without a network: it answers with the body that the
// function makes.
type play func(req *http.Request) (*http.Response, error)

func (p play) RoundTrip(req *http.Request) (*http.Response, error) { return p(req) }

// paced is a body whose pieces come after waits; the last wait is for ever.
type paced struct {
	ctx    context.Context
	pieces []string
	wait   time.Duration
}

func (p *paced) Read(b []byte) (int, error) {
	if len(p.pieces) == 0 {
		<-p.ctx.Done()
		return 0, p.ctx.Err()
	}
	select {
	case <-time.After(p.wait):
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
	n := copy(b, p.pieces[0])
	if p.pieces[0] = p.pieces[0][n:]; p.pieces[0] == "" {
		p.pieces = p.pieces[1:]
	}
	return n, nil
}

func (p *paced) Close() error { return nil }

func request() (*url.URL, *body.Body) {
	var b body.Body
	b.AddString(`{"a":1}`)
	return &url.URL{Scheme: "http", Host: "service.test", Path: "/x"}, &b
}

func answer(body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}
}

func readEvents(s *Stream) (n int, err error) {
	for {
		if _, err := s.Next(); err != nil {
			return n, err
		}
		n++
	}
}

func TestSilence(t *testing.T) {
	tests := []struct {
		name   string
		pieces []string
		every  time.Duration
		events int
		lived  time.Duration
	}{
		{"after the headers", nil, 0, 0, 10 * time.Second},
		{"after an event", []string{"data: aaaaaa\n\n"}, time.Second, 1, 11 * time.Second},
		{"slow events live", chunked("data: aaaaaa\n\n", 100), 9 * time.Second, 100, 910 * time.Second},
		{"comments live", chunked(": ping ping\n\n", 50), 9 * time.Second, 0, 460 * time.Second},
		{"single bytes live", chunked("d", 50), 9 * time.Second, 0, 460 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				link := New("test", provider.Config{Idle: 10 * time.Second, Client: &http.Client{Transport: play(func(req *http.Request) (*http.Response, error) {
					return answer(&paced{req.Context(), tt.pieces, tt.every}), nil
				})}}, nil)
				u, b := request()
				start := time.Now()
				n := 0
				s, err := link.Open(t.Context(), u, nil, b)
				if err == nil {
					n, err = readEvents(s)
					s.Close()
				}
				if oh.KindOf(err) != oh.KindUnavailable || !errors.Is(err, errIdle) {
					t.Errorf("error %v", err)
				}
				if n != tt.events || time.Since(start) != tt.lived {
					t.Errorf("%d events in %v, want %d in %v", n, time.Since(start), tt.events, tt.lived)
				}
			})
		})
	}
}

func chunked(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestSilenceBeforeHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := New("test", provider.Config{Idle: 3 * time.Second, Client: &http.Client{Transport: play(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})}}, nil)
		u, b := request()
		start := time.Now()
		_, err := link.Open(t.Context(), u, nil, b)
		if oh.KindOf(err) != oh.KindUnavailable || time.Since(start) != 3*time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

func TestNoLimitOnSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		link := New("test", provider.Config{Idle: -1, Client: &http.Client{Transport: play(func(req *http.Request) (*http.Response, error) {
			return answer(&paced{req.Context(), nil, 0}), nil
		})}}, nil)
		u, b := request()
		_, err := link.Open(ctx, u, nil, b)
		if oh.KindOf(err) != oh.KindCancelled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// A consumer that takes its time is not a silent service.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := New("test", provider.Config{Idle: time.Second, Client: &http.Client{Transport: play(func(req *http.Request) (*http.Response, error) {
			return answer(io.NopCloser(strings.NewReader(strings.Repeat("data: aaaaaa\n\n", 5000)))), nil
		})}}, nil)
		u, b := request()
		s, err := link.Open(t.Context(), u, nil, b)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		n := 0
		for {
			if _, err = s.Next(); err != nil {
				break
			}
			if n++; n%1000 == 0 {
				time.Sleep(time.Minute)
			}
		}
		if n != 5000 || !errors.Is(err, io.EOF) {
			t.Errorf("%d events, %v", n, err)
		}
	})
}

func TestFinishDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := New("test", provider.Config{Client: &http.Client{Transport: play(func(req *http.Request) (*http.Response, error) {
			return answer(&paced{req.Context(), []string{"data: aaaaaa\n\n"}, 0}), nil
		})}}, nil)
		u, b := request()
		s, err := link.Open(t.Context(), u, nil, b)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s.Finish()
		if d := time.Since(start); d > linger {
			t.Errorf("waited %v", d)
		}
	})
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name, kind, body string
		whole            bool
		want             string // of the error, "" for none
	}{
		{"events", "text/event-stream", "data: a\n\n", false, ""},
		{"events of another type", "application/json", "data: a\n\n", false, ""},
		{"blank lines first", "application/json", "\n \r\n\n data: a\n\n", false, ""},
		{"byte order mark", "", "\xef\xbb\xbfevent: a\ndata: a\n\n", false, ""},
		{"a short comment", "text/plain", ":\n", false, ""},
		{"JSON", "text/event-stream", ` {"a":1}`, true, ""},
		{"page", "text/html", "<!doctype html><title>Log in</title>", false, "test: 200 invalid: the service answered with a web page; check the base URL: Log in"},
		{"words", "text/plain", "Ollama is running", false, "test: 200 invalid: the service answered with neither events nor JSON; check the base URL: Ollama is running"},
		{"nothing", "text/event-stream", "", false, "test unavailable: the service answered with nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer srv.Close()
			s, err := open(t, srv.URL, provider.Config{})
			if got := words(err); got != tt.want {
				t.Fatalf("error %q, want %q", got, tt.want)
			}
			if err == nil && s.Whole() != tt.whole {
				t.Errorf("whole is %v", s.Whole())
			}
		})
	}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func open(t *testing.T, at string, cfg provider.Config) (*Stream, error) {
	t.Helper()
	cfg.BaseURL = at
	link := New("test", cfg, nil)
	u, err := link.BaseURL("")
	if err != nil {
		return nil, err
	}
	_, b := request()
	s, err := link.Open(t.Context(), u, http.Header{"Authorization": {"Bearer " + cfg.Key}, "X-Api-Key": {cfg.Key}}, b)
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked, with headers %v", r.Header)
	}))
	defer other.Close()
	var status int
	var to string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/here" {
			raw, _ := io.ReadAll(r.Body)
			if r.Method != http.MethodPost || string(raw) != `{"a":1}` || r.Header.Get("X-Api-Key") != "sk-secret" {
				t.Errorf("%s %q %v", r.Method, raw, r.Header)
			}
			_, _ = io.WriteString(w, "data: a\n\n")
			return
		}
		http.Redirect(w, r, to, status)
	}))
	defer srv.Close()
	for _, client := range []*http.Client{nil, {}, srv.Client()} {
		for _, s := range []int{301, 302, 303, 307, 308} {
			status, to = s, other.URL+"/?key=1"
			_, err := open(t, srv.URL, provider.Config{Key: "sk-secret", Client: client})
			if oh.KindOf(err) != oh.KindInvalid || !strings.Contains(err.Error(), other.URL) {
				t.Errorf("%d to another host: %v", s, err)
			}
		}
		status, to = 307, "/here"
		if _, err := open(t, srv.URL, provider.Config{Key: "sk-secret", Client: client}); err != nil {
			t.Errorf("307 to the same host: %v", err)
		}
		status = 302
		if _, err := open(t, srv.URL, provider.Config{Key: "sk-secret", Client: client}); oh.KindOf(err) != oh.KindInvalid {
			t.Errorf("302 to the same host: %v", err)
		}
	}
}

func TestConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + ln.Addr().String() + "/?key=sk-0123456789abcdef"
	_ = ln.Close()
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	tls.StartTLS()
	defer tls.Close()
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }))
	defer reset.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: aaaaaaaa\n\ndata:")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer cut.Close()
	for _, tt := range []struct {
		name, at string
		kind     oh.Kind
	}{
		{"refused", refused, oh.KindUnavailable},
		{"reset", reset.URL, oh.KindUnavailable},
		{"cut", cut.URL, oh.KindUnavailable},
		{"certificate", tls.URL, oh.KindInvalid},
		{"no TLS there", strings.Replace(reset.URL, "http:", "https:", 1), oh.KindInvalid},
		{"no scheme", "host/v1", oh.KindInvalid},
		{"no URL", "http://a b\x7f", oh.KindInvalid},
		{"other scheme", "ftp://host", oh.KindInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := open(t, tt.at, provider.Config{})
			if err == nil {
				_, err = readEvents(s)
			}
			if oh.KindOf(err) != tt.kind || strings.Contains(err.Error(), "0123456789abcdef") {
				t.Errorf("error %v, want kind %s", err, tt.kind)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: aaaaaa\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	link := New("test", provider.Config{BaseURL: srv.URL}, nil)
	u, _ := link.BaseURL("")
	_, b := request()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := link.Open(ctx, u, nil, b)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Next(); oh.KindOf(err) != oh.KindCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := link.Open(ctx, u, nil, b); oh.KindOf(err) != oh.KindCancelled {
		t.Errorf("error %v", err)
	}
}

// One connection serves requests whose replies were read to their end.
func TestConnectionIsKept(t *testing.T) {
	seen := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen[r.RemoteAddr] = true
		_, _ = io.Copy(w, bytes.NewReader([]byte("data: aaaaaa\n\n")))
	}))
	defer srv.Close()
	link := New("test", provider.Config{BaseURL: srv.URL}, nil)
	u, _ := link.BaseURL("")
	for range 3 {
		_, b := request()
		s, err := link.Open(t.Context(), u, nil, b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		s.Finish()
	}
	if len(seen) != 1 {
		t.Errorf("%d connections", len(seen))
	}
}
