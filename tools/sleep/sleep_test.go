package sleep

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

func prepared(t *testing.T, input string) (oh.Action, error) {
	t.Helper()
	act, err := New().Prepare(t.Context(), &oh.Call{ID: "c", Name: "sleep", Input: json.RawMessage(input), Env: &oh.Env{}})
	if diff := cmp.Diff(oh.Access{ReadOnly: true}, act.Access); err == nil && diff != "" {
		t.Error(diff)
	}
	return act, err
}

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		input string
		took  time.Duration
		want  string
	}{
		{`{}`, time.Second, "Waited 1 s."},
		{`{"seconds":0}`, 0, "Waited 0 s."},
		{`{"seconds":"2.5"}`, 2500 * time.Millisecond, "Waited 2.5 s."},
		{`{"seconds":30}`, 30 * time.Second, "Waited 30 s."},
	} {
		synctest.Test(t, func(t *testing.T) {
			act, err := prepared(t, c.input)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			res, err := act.Run(t.Context(), func(e oh.Event) { t.Errorf("emits %v", e) })
			if took := time.Since(start); err != nil || took != c.took || res.Content.Text() != c.want || res.IsError {
				t.Errorf("%s: %v after %v, %q", c.input, err, took, res.Content.Text())
			}
		})
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		act, err := prepared(t, `{"seconds":30}`)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := act.Run(ctx, func(oh.Event) {}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestOutOfRange(t *testing.T) {
	for _, input := range []string{`{"seconds":-1}`, `{"seconds":30.5}`, `{"seconds":1e300}`, `{"seconds":"soon"}`} {
		if _, err := prepared(t, input); err == nil || !strings.Contains(err.Error(), "seconds") {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestSpec(t *testing.T) {
	s := New().Spec()
	for _, v := range ohtest.CheckSpec(s) {
		t.Error(v)
	}
	if n := len(s.Description) + len(s.Schema); n > 400 {
		t.Errorf("%d bytes", n)
	}
}
