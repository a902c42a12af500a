//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestKeys: each service sees its own key, and nobody else sees any.
func TestKeys(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		other := map[ohtest.Wire]ohtest.Wire{ohtest.Anthropic: ohtest.OpenAI, ohtest.OpenAI: ohtest.Anthropic}[wire]
		away := newBox(t, other)
		b := newBox(t, wire, ohtest.Reply(
			named(bash(t, "env; cat /proc/$$/cmdline /proc/$PPID/cmdline | tr '\\0' ' '; cat /proc/$$/environ | tr '\\0' '\\n'"), "e")), ohtest.Reply(ohtest.Text("done")))
		b.point(other, away.srv.URL)
		profile := map[ohtest.Wire]string{ohtest.Anthropic: "claude-api", ohtest.OpenAI: "openai-compatible"}[wire]
		if wire == ohtest.Anthropic {
			delete(b.env, "OPENHARNESS_MODEL")
		}
		r := b.auto("--profile", profile, "--verbose", "--debug", "--output-format", "stream-json", "go")
		r.wantCode(t, 0)
		away.done(0)
		reqs := b.done(2)
		own := map[ohtest.Wire]string{ohtest.Anthropic: anthropicKey, ohtest.OpenAI: openaiKey}
		for _, req := range reqs {
			for name, values := range req.Header {
				if strings.Contains(strings.Join(values, " "), own[other]) {
					t.Errorf("the other vendor's key is in header %s", name)
				}
			}
			if hasKey(string(req.Body)) {
				t.Errorf("a key is in request %d: %s", req.N, req.Body)
			}
		}
		if hasKey(r.out + r.err) {
			t.Errorf("a key was printed: %v", r)
		}
		noKeyIn(t, b.home)
		noKeyIn(t, b.work)
	})
}

func hasKey(s string) bool {
	return strings.Contains(s, anthropicKey) || strings.Contains(s, openaiKey)
}

func noKeyIn(t *testing.T, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if hasKey(string(data)) {
			t.Errorf("a key is in %s", path)
		}
		return err
	}))
}

// TestKeyFlags: the forms of --api-key.
func TestKeyFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, flag, stdin, warns string
	}{
		{"env", "env:MY_KEY", "", ""},
		{"file", "file:key.txt", "", ""},
		{"stdin", "-", anthropicKey + "\n", ""},
		{"literal", anthropicKey, "", "command line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, "env"), "e")), ohtest.Reply(ohtest.Text("ok")))
			delete(b.env, "ANTHROPIC_API_KEY")
			b.env["MY_KEY"] = anthropicKey
			b.file("key.txt", anthropicKey+"\n")
			r := b.run(call{args: []string{"-p", "--permission-mode", "full_auto", "--profile", "claude-api", "--api-key", tt.flag, "hi"}, stdin: strings.NewReader(tt.stdin)})
			r.wantCode(t, 0)
			r.wantErr(t, tt.warns)
			if hasKey(r.out + r.err) {
				t.Errorf("the key is printed: %v", r)
			}
			if a := resultOf(t, b.done(2)[1], "e"); hasKey(a.text) {
				t.Error("a child has the key in its environment")
			}
			noKeyIn(t, b.home)
		})
	}
}

// TestFirstProfile: with several keys the first in the order of the table is
// taken, and it is said.
func TestFirstProfile(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")))
	b.env["OPENAI_API_KEY"], b.env["OPENAI_BASE_URL"] = openaiKey, "http://127.0.0.1:1/v1"
	r := b.oh("-p", "--verbose", "hi")
	r.wantCode(t, 0)
	r.wantErr(t, "claude-api")
	b.done(1)
}

// TestWrongKey: a key that the service refuses ends with 3 at once.
func TestWrongKey(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBoxWith(t, wire, ohtest.Config{Key: "another", OnViolation: func(ohtest.Violation) {}, Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("x"))}})
		r := b.oh("-p", "hi")
		r.wantCode(t, 3)
		if n := len(b.srv.Requests()); n != 1 || r.out != "" || hasKey(r.err) {
			t.Errorf("%d requests: %v", n, r)
		}
	})
}

// TestRedirect: a service that sends the request elsewhere does not get the
// key there.
func TestRedirect(t *testing.T) {
	t.Parallel()
	away := newBox(t, ohtest.Anthropic)
	b := newBox(t, ohtest.Anthropic, ohtest.Play(ohtest.Status(307, map[string][]string{"Location": {away.srv.URL + "/v1/messages"}}, "")))
	b.oh("-p", "hi").wantCode(t, 4)
	away.done(0)
}
