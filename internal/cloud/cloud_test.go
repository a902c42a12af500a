package cloud

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		line    string
		windows bool
		want    []string
	}{
		{"", false, nil},
		{"a  b\tc ", false, []string{"a", "b", "c"}},
		{`"/a b/c" --x='1 "2"' ''`, false, []string{"/a b/c", `--x=1 "2"`, ""}},
		{`a\ b "c\"d" 'e\f'`, false, []string{"a b", `c"d`, `e\f`}},
		{`"C:\Program Files\x.exe" -a it's`, true, []string{`C:\Program Files\x.exe`, "-a", "it's"}},
	} {
		if got, err := Words(tt.line, tt.windows); err != nil || cmp.Diff(tt.want, got) != "" {
			t.Errorf("%q: %q, %v", tt.line, got, err)
		}
	}
	for _, bad := range []string{`"a`, `'a`, `a\`} {
		if got, err := Words(bad, false); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(`a "b c" 'd' \e`, false)
	f.Add(`"C:\x y"`, true)
	f.Fuzz(func(t *testing.T, line string, windows bool) {
		words, err := Words(line, windows)
		if err != nil && words != nil {
			t.Error("words and an error")
		}
		total := 0
		for _, w := range words {
			total += len(w)
		}
		if total > 3*len(line) { // broken bytes become U+FFFD
			t.Errorf("%q: %q", line, words)
		}
	})
}

// TestMain is a credential command as well.
func TestMain(m *testing.M) {
	switch os.Getenv("OH_TEST_COMMAND") {
	case "print":
		_, _ = os.Stdout.WriteString(strings.Join(os.Args[1:], "|"))
		os.Exit(0)
	case "fail":
		_, _ = os.Stderr.WriteString("the-secret")
		os.Exit(3)
	case "flood":
		for range 200 {
			_, _ = os.Stdout.WriteString(strings.Repeat("x", 10_000))
		}
		os.Exit(0)
	case "hang":
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(mode string, limit time.Duration, args ...string) (string, error) {
		out, err := Run(t.Context(), append([]string{self}, args...), []string{"OH_TEST_COMMAND=" + mode, "GORACE=atexit_sleep_ms=0"}, limit)
		return string(out), err
	}
	if got, err := run("print", time.Minute, "a b", "$HOME"); err != nil || got != "a b|$HOME" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := run("fail", time.Minute, "arg-secret"); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
	if _, err := run("flood", time.Minute); err == nil {
		t.Error("a flood is no answer")
	}
	if _, err := run("hang", 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
	if _, err := Run(t.Context(), []string{"oh-there-is-no-such-command"}, nil, time.Minute); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Error(err)
	}
	if _, err := Run(t.Context(), nil, nil, time.Minute); err == nil {
		t.Error("nothing was run")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, []string{self}, []string{"OH_TEST_COMMAND=hang"}, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, fail := 0, error(nil)
		c := NewCell(func(context.Context) (int, time.Time, error) {
			time.Sleep(time.Second)
			made++
			return made, time.Now().Add(time.Hour), fail
		})
		get := func(want int) {
			t.Helper()
			if got, err := c.Get(t.Context()); got != want || err != nil {
				t.Errorf("got %d, want %d (%v)", got, want, err)
			}
		}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { get(1) })
		}
		wg.Wait()
		time.Sleep(54 * time.Minute)
		get(1)
		time.Sleep(2 * time.Minute)
		get(2) // five minutes before the end
		c.Forget()
		get(3)
		fail = errors.New("down")
		time.Sleep(57 * time.Minute)
		get(3) // it lives still
		time.Sleep(5 * time.Minute)
		if _, err := c.Get(t.Context()); !errors.Is(err, fail) {
			t.Error(err)
		}
		fail = nil
		get(made + 1)
	})
}

// Who waits for another's value goes when its own context ends.
func TestCellCancel(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	c := NewCell(func(context.Context) (int, time.Time, error) {
		close(begun)
		<-end
		return 1, time.Time{}, nil
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = c.Get(context.Background())
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(end)
	<-done
}

func TestAsk(t *testing.T) {
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/hang":
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		default:
			_, _ = w.Write([]byte("said"))
		}
	}))
	defer srv.Close()
	defer close(stop)
	ask := func(path string, limit time.Duration) (int, string, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		status, raw, err := Ask(req, Remote(nil), limit)
		return status, string(raw), err
	}
	if status, body, err := ask("/", time.Minute); status != 200 || body != "said" || err != nil {
		t.Error(status, body, err)
	}
	if status, _, err := ask("/redirect?secret=1", time.Minute); status != 302 || err != nil {
		t.Error(status, err)
	}
	if _, _, err := ask("/hang?token=the-secret", 50*time.Millisecond); oh.KindOf(err) != oh.KindUnavailable || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if err := Refused("who", 503, ""); oh.KindOf(err) != oh.KindUnavailable || err.Error() == "" {
		t.Error(err)
	}
	if err := Refused("who", 400, "why"); oh.KindOf(err) != "" || err.Error() != "who: 400: why" {
		t.Error(err)
	}
}
