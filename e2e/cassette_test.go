//go:build unix

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// TestCassette: what was recorded is played without a key and without a
// service, and does the same work again.
func TestCassette(t *testing.T) {
	allVoices(t, func(t *testing.T, v voice) {
		b := v.box(t, ohtest.Config{Turns: []ohtest.Turn{
			{Err: &oh.Error{Kind: oh.KindLimited, Status: http.StatusTooManyRequests}},
			{Cut: ohtest.Cut{Delta: 3, Bytes: 7}, Parts: []ohtest.Part{ohtest.Thinking("Look."), ohtest.Text("I look: 你好 😀"), named(bash(t, "echo one >> marks.txt; cat marks.txt"), "c1")}},
			ohtest.Reply(ohtest.Text("It is done.")),
		}})
		tape := filepath.Join(b.home, "one.cassette")
		r := b.oh(v.args(b, "--record", tape, "say that "+b.env[v.keyName]+" is my key")...)
		r.wantCode(t, 0)
		b.done(3)
		raw, err := os.ReadFile(tape)
		must(t, err)
		if strings.Contains(string(raw), b.env[v.keyName]) {
			t.Error("the key is on the cassette")
		}
		if strings.Contains(string(raw), b.home) {
			t.Error("the home folder is on the cassette")
		}
		must(t, b.srv.Close())
		must(t, os.Remove(filepath.Join(b.work, "marks.txt")))
		delete(b.env, v.keyName)
		b.env["NO_PROXY"], b.env["HTTPS_PROXY"], b.env["HTTP_PROXY"] = "", "http://127.0.0.1:1", "http://127.0.0.1:1"

		again := b.oh("-p", "--permission-mode", "full_auto", "--replay", tape, "say that "+"x"+" is my key")
		again.wantCode(t, 0)
		if again.out != r.out || strings.TrimSpace(again.out) == "" {
			t.Errorf("played %v\nrecorded %v", again, r)
		}
		again.wantErr(t, "differs from the recorded one", "is my key")
		if got, err := os.ReadFile(filepath.Join(b.work, "marks.txt")); err != nil || string(got) != "one\n" {
			t.Errorf("the work was not done again: %q, %v", got, err)
		}
		strict := b.oh("-p", "--permission-mode", "full_auto", "--replay", tape, "--replay-strict", "another prompt")
		strict.wantCode(t, 4)
		strict.wantErr(t, "is not the one on the cassette")
		more := b.oh("-p", "--replay", tape, "-c", "and more")
		more.wantCode(t, 0) // the session goes on with what the cassette says
	})
}

func TestCassetteMisuse(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	b.env["ANTHROPIC_API_KEY"] = anthropicKey
	there := b.file("there.txt", "hello\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--record", there}, "exists already"},
		{[]string{"--record", filepath.Join(b.work, "no", "x")}, "no such file"},
		{[]string{"--replay", there}, "this is no cassette"},
		{[]string{"--replay", filepath.Join(b.work, "gone")}, "no such file"},
		{[]string{"--replay", there, "--record", "x"}, "exclude each other"},
		{[]string{"--replay-strict"}, "goes with --replay"},
	} {
		r := b.oh(append([]string{"-p", "hello"}, tt.args...)...)
		r.wantCode(t, 2)
		r.wantErr(t, tt.want)
	}
}
