//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestDeniedPaths: a denied path stays unseen by every tool that reads.
func TestDeniedPaths(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]string{
		"claude":      `{"permissions":{"deny":["Read(./secret/**)"]}}`,
		"openharness": `{"permission":{"path_rules":[{"pattern":"**/secret/**","allow":false}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic)
			b.settings(settings)
			b.file("secret/key.txt", "HIDDEN-PART")
			b.file("secret/deep/key.txt", "HIDDEN-PART")
			b.file("open.txt", "plain")
			must(t, os.Symlink("secret/key.txt", filepath.Join(b.work, "alias.txt")))
			must(t, os.Symlink("secret", filepath.Join(b.work, "aliasdir")))
			calls := []ohtest.Part{
				ohtest.Call("a", "read_file", `{"path":"secret/key.txt"}`), ohtest.Call("b", "read_file", `{"path":"./open.txt/../secret/key.txt"}`),
				ohtest.Call("c", "read_file", `{"path":"alias.txt"}`), ohtest.Call("d", "grep", `{"pattern":"PART"}`),
				ohtest.Call("e", "grep", `{"pattern":"PART","path":"secret"}`), ohtest.Call("f", "grep", `{"pattern":"PART","path":"aliasdir/deep"}`),
				ohtest.Call("g", "read_file", `{"path":"aliasdir/deep/key.txt"}`), ohtest.Call("h", "read_file", `{"path":"secret//deep/../key.txt"}`),
				ohtest.Call("i", "grep", `{"pattern":"PART","output_mode":"content","path":"."}`), ohtest.Call("ok", "read_file", `{"path":"open.txt"}`),
			}
			b.srv.Add(ohtest.Reply(calls...), ohtest.Reply(ohtest.Text("done")))
			b.oh("-p", "--permission-mode", "acceptEdits", "look", "@secret/key.txt", "@alias.txt").wantCode(t, 0)
			reqs := b.done(2)
			if strings.Contains(string(reqs[0].Body), "HIDDEN-PART") {
				t.Error("a mention shows it")
			}
			for _, id := range strings.Split("abcdefghi", "") {
				if a := resultOf(t, reqs[1], id); strings.Contains(a.text, "HIDDEN-PART") {
					t.Errorf("call %s shows it: %+v", id, a)
				}
			}
			resultOf(t, reqs[1], "ok").want(t, false, "plain")
		})
	}
}

// TestAllowedPaths: an allow rule on paths holds for those paths only.
func TestAllowedPaths(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"Edit(src/**)", "Edit(/src/**)", "Edit(./src/**)"} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic)
			must(t, os.MkdirAll(filepath.Join(b.work, "src"), 0o755))
			must(t, os.MkdirAll(filepath.Join(b.work, "other"), 0o755))
			must(t, os.Symlink("../other", filepath.Join(b.work, "src", "out")))
			write := func(id, path string) ohtest.Part {
				return ohtest.Call(id, "write_file", input(t, map[string]any{"path": path, "content": "x"}))
			}
			b.srv.Add(ohtest.Reply(write("a", "src/a"), write("b", "other/b"), write("c", "src/../other/c"), write("d", "src/out/d"), write("e", "src/deep/e")), ohtest.Reply(ohtest.Text("done")))
			b.oh("-p", "--allowed-tools", rule, "go").wantCode(t, 6)
			b.done(2)
			for path, want := range map[string]bool{"src/a": true, "src/deep/e": true, "other/b": false, "other/c": false, "other/d": false} {
				if exists(filepath.Join(b.work, path)) != want {
					t.Errorf("%s written: %v", path, !want)
				}
			}
		})
	}
}

// TestDeniedCommands: the patterns of OpenHarness on commands.
func TestDeniedCommands(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.settings(`{"permission":{"denied_commands":["rm *"]}}`)
	victim := b.file(filepath.Join(b.marks, "victim"), "x")
	commands := []string{"rm $M/victim", "rm -f $M/victim", "true; rm $M/victim", "true && rm $M/victim", "  rm $M/victim", "/bin/rm $M/victim", "\\rm $M/victim",
		"env rm $M/victim", "sh -c 'rm $M/victim'", "echo $(rm $M/victim)", "x=rm; $x $M/victim", "find $M -name victim -exec rm {} +", "echo $M/victim | xargs rm",
		"$(echo rm) $M/victim", "a=m; r$a $M/victim", "\"$(printf rm)\" $M/victim", "bash <<< \"rm $M/victim\"", "echo rm $M/victim | bash", "eval rm $M/victim", "c=(rm $M/victim); \"${c[@]}\"",
		"r\\m $M/victim", "$'rm' $M/victim", "{rm,$M/victim}", "/bin/r? $M/victim", "cd /bin; ./rm $M/victim", "command -- rm $M/victim", "exec -a x rm $M/victim"}
	var parts []ohtest.Part
	for i, c := range commands {
		parts = append(parts, named(bash(t, c), fmt.Sprintf("c%d", i)))
	}
	parts = append(parts, named(bash(t, "echo harmless"), "ok"))
	b.srv.Add(ohtest.Reply(parts...), ohtest.Reply(ohtest.Text("done")))
	b.auto("go")
	req := b.done(2)[1]
	for i, c := range commands {
		if a := resultOf(t, req, fmt.Sprintf("c%d", i)); !a.isErr || !strings.Contains(a.text, "Permission denied") {
			t.Errorf("%q ran: %+v", c, a)
		}
	}
	if !exists(victim) {
		t.Error("the file is gone")
	}
}

// TestRetryIsSeen: who reads frames sees that a request is tried again.
func TestRetryIsSeen(t *testing.T) {
	t.Parallel()
	for format, mark := range map[string]string{"stream-json": "api_retry", "events": "retrying"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic, ohtest.Play(ohtest.Status(503, nil, "busy")), ohtest.Reply(ohtest.Text("ok")))
			r := b.oh("-p", "--output-format", format, "hi")
			r.wantCode(t, 0)
			if !strings.Contains(r.out, `"`+mark+`"`) {
				t.Errorf("%v", r)
			}
		})
	}
}

// TestOddRules: names that do not exist, and empty lists.
func TestOddRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"--allowed-tools", "NoSuchTool"}, 6}, {[]string{"--disallowed-tools", "NoSuchTool"}, 2}, {[]string{"--allowed-tools", ""}, 6},
		{[]string{"--disallowed-tools", "Bash("}, 2}, {[]string{"--disallowed-tools", "bash)"}, 2},
		{[]string{"--allowed-tools", "mcp__x__y,Bash(git status:*)"}, 6}, {[]string{"--allowed-tools", "*"}, -1},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, `echo ran >> "$M/x"`), "a")), ohtest.Reply(ohtest.Text("ok")))
			r := b.oh(append([]string{"-p", "hi"}, tt.args...)...)
			if tt.code >= 0 {
				r.wantCode(t, tt.code)
			}
			if tt.code == 6 && b.marked("x") > 0 {
				t.Error("it ran")
			}
			if tt.code == 2 && !strings.Contains(r.err, tt.args[1]) {
				t.Errorf("%v", r)
			}
		})
	}
}
