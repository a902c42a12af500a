package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/eventstream"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// framesOf opens a stream whose answer is raw, under a content type.
func framesOf(t *testing.T, kind string, raw io.Reader) (*Stream, error) {
	t.Helper()
	l := New("op", provider.Config{BaseURL: "http://h", Client: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(raw), Request: req}, nil
	})}}, Amazon[:])
	u, err := l.BaseURL("")
	if err != nil {
		t.Fatal(err)
	}
	return l.Open(t.Context(), u, nil, &body.Body{})
}

func TestFrames(t *testing.T) {
	raw := string(eventstream.Append(eventstream.Append(nil, []byte("{}"), ":event-type", "a"), []byte("[1]"), ":event-type", "b", ":message-type", "event"))
	for _, kind := range []string{"application/vnd.amazon.eventstream", "application/octet-stream", "text/event-stream", ""} {
		s, err := framesOf(t, kind, strings.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var got string
		for {
			ev, err := s.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: %v", kind, err)
				}
				break
			}
			got += string(ev.Name) + string(ev.Data) + ";"
		}
		if s.Close(); got != "a{};b[1];" {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestFramesThatBreak(t *testing.T) {
	frame := string(eventstream.Append(nil, []byte("{}"), ":event-type", "a"))
	boom := errors.New("boom")
	for name, tt := range map[string]struct {
		raw  io.Reader
		want string
	}{
		"cut":     {strings.NewReader(frame[:len(frame)-1]), "the stream ended before"},
		"changed": {strings.NewReader(frame[:len(frame)-1] + "x"), "check sum"},
		"reset":   {io.MultiReader(strings.NewReader(frame[:20]), failing{boom}), "boom"},
		"told": {strings.NewReader(string(eventstream.Append(nil, []byte(`{"message":"slow \"down\""}`), ":message-type", "exception", ":exception-type", "throttlingException"))),
			`slow "down"`},
	} {
		s, err := framesOf(t, "application/vnd.amazon.eventstream", tt.raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = s.Next()
		if _, ok := errors.AsType[*oh.Error](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestJoin(t *testing.T) {
	l := New("op", provider.Config{BaseURL: "http://h/a%2Fb/c d/?q=1"}, nil)
	u, err := l.BaseURL("")
	if err != nil {
		t.Fatal(err)
	}
	if got := Join(u, "/model/", "x:0/y z+~é", ":do").String(); got != "http://h/a/b/c%20d/model/x%3A0%2Fy%20z%2B~%C3%A9:do?q=1" {
		t.Error(got)
	}
	if got := u.String(); got != "http://h/a/b/c%20d?q=1" {
		t.Errorf("the base moved: %s", got)
	}
}

func TestAmazonCode(t *testing.T) {
	for _, tt := range []struct{ header, member, want string }{
		{"ThrottlingException", "", "ThrottlingException"}, {"ThrottlingException:http://x/#y", "Other", "ThrottlingException"},
		{"", "com.amazon#ValidationException", "ValidationException"}, {"", "", ""},
	} {
		h := http.Header{}
		if tt.header != "" {
			h.Set("X-Amzn-ErrorType", tt.header)
		}
		if got := amazonCode(h, tt.member); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
