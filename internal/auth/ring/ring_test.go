package ring

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

func TestTimed(t *testing.T) {
	odd := errors.New("odd")
	for _, tt := range []struct {
		name  string
		takes time.Duration
		err   error
		text  string
		want  error
		after time.Duration
	}{
		{"an answer", time.Second, nil, "k", nil, time.Second},
		{"no such entry", 0, keyring.ErrNotFound, "", ErrNoEntry, 0},
		{"no keyring", 0, keyring.ErrUnsupportedPlatform, "", ErrNone, 0},
		{"another fault", 0, odd, "", odd, 0},
		{"silence", time.Hour, nil, "", ErrSilent, Limit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				text, err := timed(t.Context(), func() (string, error) {
					time.Sleep(tt.takes)
					return tt.text, tt.err
				})
				if text != tt.text || !errors.Is(err, tt.want) || tt.want == nil && err != nil || time.Since(begun) != tt.after {
					t.Errorf("%q %v after %v", text, err, time.Since(begun))
				}
				time.Sleep(tt.takes) // what was left behind ends
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := timed(ctx, func() (string, error) { time.Sleep(time.Second); return "", nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(time.Second)
	})
}
