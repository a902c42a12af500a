package cloud

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/openharness/oh"
)

func TestService(t *testing.T) {
	old := &oh.Error{Kind: oh.KindAuth, Status: 403, Code: "ExpiredTokenException"}
	none := &oh.Error{Kind: oh.KindAuth, Status: 401}
	denied := &oh.Error{Kind: oh.KindAuth, Status: 403, Code: "AccessDeniedException"}
	for name, tt := range map[string]struct {
		answers []error // of the attempts; nil is a reply
		want    error
		forgot  int
	}{
		"fine":          {[]error{nil}, nil, 0},
		"renewed":       {[]error{old, nil}, nil, 1},
		"refused twice": {[]error{none, none}, none, 1},
		"denied":        {[]error{denied}, denied, 0},
	} {
		tries, forgot, built := 0, 0, 0
		s := Service{Op: "op",
			URL: func(context.Context) (string, error) { return "http://here", nil },
			Build: func(url string) (oh.Provider, error) {
				built++
				if url != "http://here" {
					t.Error(url)
				}
				return oh.ProviderFunc(func(context.Context, *oh.Request) iter.Seq2[oh.Chunk, error] {
					return func(yield func(oh.Chunk, error) bool) {
						err := tt.answers[tries]
						if tries++; err != nil {
							yield(nil, err)
							return
						}
						if yield(oh.TextDelta{Text: "x"}, nil) {
							yield(oh.MessageDone{}, nil)
						}
					}
				}), nil
			},
			Forget: func() { forgot++ }}
		p := s.Provider()
		var got error
		n := 0
		for _, err := range p.Stream(t.Context(), &oh.Request{}) {
			got = err
			n++
		}
		if !errors.Is(got, tt.want) || forgot != tt.forgot || tries != len(tt.answers) || built != 1 || tt.want == nil && n != 2 {
			t.Errorf("%s: %v after %d tries, forgotten %d times, built %d times", name, got, tries, forgot, built)
		}
	}
}

func TestServiceWithoutAddress(t *testing.T) {
	problem := errors.New("no region")
	s := Service{Op: "op", URL: func(ctx context.Context) (string, error) { return "", errors.Join(problem, ctx.Err()) }}
	ask := func(ctx context.Context, p oh.Provider) (got error) {
		for _, err := range p.Stream(ctx, &oh.Request{}) {
			got = err
		}
		return got
	}
	p := s.Provider()
	if err := ask(t.Context(), p); oh.KindOf(err) != oh.KindInvalid || !errors.Is(err, problem) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(ctx, p); oh.KindOf(err) != oh.KindCancelled {
		t.Error(err)
	}
	s.URL = func(context.Context) (string, error) { return "", &oh.Error{Kind: oh.KindUnavailable, Err: problem} }
	if err := ask(t.Context(), s.Provider()); oh.KindOf(err) != oh.KindUnavailable {
		t.Error(err)
	}
}
