package brief

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

func call(t *testing.T, input string) (string, error) {
	t.Helper()
	act, err := New().Prepare(t.Context(), &oh.Call{ID: "c", Name: "brief", Input: json.RawMessage(input), Env: &oh.Env{}})
	if err != nil {
		return "", err
	}
	if diff := cmp.Diff(oh.Access{ReadOnly: true}, act.Access); diff != "" {
		t.Error(diff)
	}
	res, err := act.Run(t.Context(), func(e oh.Event) { t.Errorf("emits %v", e) })
	return res.Content.Text(), err
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{"text":"  short\u001b[1m one\r\n"}`, "short one"},
		{`{"text":"12345678901234567890","max_chars":20}`, "12345678901234567890"},
		{`{"text":"123456789012345678901","max_chars":20}`, "12345678901234567..."},
		{`{"text":"one two three four five","max_chars":20}`, "one two three..."},
		{`{"text":"one two three f our five","max_chars":"20"}`, "one two three f..."},
		{`{"text":"äöüäöüäöüäöüäöüäöüäöü","max_chars":20}`, "äöüäöüäöüäöüäöüäö..."},
		{`{"text":"a 2345678901234567890123","max_chars":20}`, "a 234567890123456..."},
		{`{"text":"` + strings.Repeat("x", 500) + `"}`, strings.Repeat("x", 197) + "..."},
	} {
		if got, err := call(t, c.input); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", c.input, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{}`, "text is required"},
		{`{"text":" "}`, "text is empty"},
		{`{"text":"x","max_chars":19}`, "max_chars"},
		{`{"text":"x","max_chars":2001}`, "max_chars"},
	} {
		if _, err := call(t, c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.input, err)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("one two three four five six", 20)
	f.Add("ä\xff\u2028 x", 21)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 20 || n > 2000 || !utf8.ValidString(s) {
			return
		}
		got := cut(s, n)
		if utf8.RuneCountInString(got) > n || !utf8.ValidString(got) {
			t.Errorf("cut(%q, %d) = %q", s, n, got)
		}
	})
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
