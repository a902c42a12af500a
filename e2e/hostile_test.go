//go:build unix

package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestDisguised: a deny rule on a command holds in every spelling, or the
// command is refused since it is not understood.
func TestDisguised(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	victim := b.file(filepath.Join(b.marks, "victim"), "x")
	v := "$M/victim"
	commands := []string{
		"rm " + v, "/bin/rm " + v, `\rm ` + v, `"rm" ` + v, "r''m " + v, "command rm " + v, "env rm " + v, "env -i /bin/rm " + v, "exec rm " + v,
		"nice rm " + v, "timeout 5 rm " + v, "xargs rm <<< " + v, "find $M -name victim -exec rm {} +", "sh -c 'rm '" + v, "bash -c \"rm " + v + "\"",
		"if true; then rm " + v + "; fi", "while rm " + v + "; do break; done", "f() { rm " + v + "; }; f", "{ rm " + v + "; }", "! rm " + v,
		"time rm " + v, "X=1 rm " + v, "echo `rm " + v + "`", "cat <(rm " + v + ")", "cat <<E\n$(rm " + v + ")\nE", "a=rm; $a " + v, "rm\t" + v, "true;rm " + v,
		"true&rm " + v, "true\nrm " + v, "echo rm " + v + " | sh", "eval \"rm " + v + "\"", "${0%bash}rm " + v, "$'\\x72m' " + v, "nohup rm " + v, "setsid rm " + v,
		"coproc rm " + v + "; wait", "case a in a) rm " + v + ";; esac", "for i in 1; do rm " + v + "; done", "trap 'rm " + v + "' EXIT", "alias x=rm; shopt -s expand_aliases\nx " + v,
		"source /dev/stdin <<< 'rm " + v + "'", ". <(echo rm " + v + ")", "busybox rm " + v, "sudo rm " + v, "stdbuf -o0 rm " + v, "[[ $(rm " + v + ") ]]", "(( $(rm " + v + ") ))",
		"echo ${x:-$(rm " + v + ")}", "hash -p /bin/rm ls; ls " + v, "enable -f /bin/rm rm; rm " + v,
	}
	var parts []ohtest.Part
	for i, c := range commands {
		parts = append(parts, named(bash(t, c), fmt.Sprintf("c%d", i)))
	}
	b.srv.Add(ohtest.Reply(parts...), ohtest.Reply(ohtest.Text("done")))
	b.settings(`{"permissions":{"deny":["Bash(rm:*)"]}}`)
	b.auto("go")
	req := b.done(2)[1]
	for i, c := range commands {
		if a := resultOf(t, req, fmt.Sprintf("c%d", i)); !a.isErr || !strings.Contains(strings.ToLower(a.text), "permission") && !strings.Contains(a.text, "deni") {
			t.Errorf("%q was not refused: %+v", c, a)
		}
	}
	if !exists(victim) {
		t.Error("the file is gone")
	}
}

// TestSecretsByCommand: a command does not carry a key out either.
func TestSecretsByCommand(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.file(filepath.Join(b.home, ".ssh", "id_rsa"), "PRIVATE-PART")
	var parts []ohtest.Part
	commands := []string{"cat $HOME/.ssh/id_rsa", "cat ~/.ssh/id*", "cd ~/.ssh && cat id_rsa", "cp ~/.ssh/id_rsa .; cat id_rsa", "grep -r P ~/.ssh", "tar c ~/.ssh | cat",
		"cat < ~/.ssh/id_rsa", "head -c 100 " + b.home + "/.ssh/id_rsa", "cat ../home/.ssh/id_rsa", "base64 ~/.ssh/id_rsa", "ln -s ~/.ssh/id_rsa l; cat l", "mapfile x < ~/.ssh/id_rsa; echo $x"}
	for i, c := range commands {
		parts = append(parts, named(bash(t, c), fmt.Sprintf("c%d", i)))
	}
	b.srv.Add(ohtest.Reply(parts...), ohtest.Reply(ohtest.Text("done")))
	b.auto("go")
	req := b.done(2)[1]
	for i, c := range commands {
		if a := resultOf(t, req, fmt.Sprintf("c%d", i)); strings.Contains(a.text, "PRIVATE") || strings.Contains(a.text, "UFJJVkFUR") {
			t.Errorf("%q: %+v", c, a)
		}
	}
}

// TestOwnFiles: the agent does not change its own rules, nor the hooks of git,
// without a question in any mode.
func TestOwnFiles(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.git("init", "-q")
	paths := []string{".git/hooks/pre-commit", ".git/config", ".openharness/settings.json", ".openharness/settings.local.json", ".claude/settings.json",
		".claude/settings.local.json", filepath.Join(b.home, ".openharness", "settings.json"), filepath.Join(b.home, ".claude", "settings.json"),
		filepath.Join(b.home, ".bashrc"), filepath.Join(b.home, ".ssh", "authorized_keys")}
	before := b.read(".git/config")
	var parts []ohtest.Part
	for i, p := range paths {
		parts = append(parts, ohtest.Call(fmt.Sprintf("w%d", i), "write_file", input(t, map[string]any{"path": p, "content": "{}"})),
			named(bash(t, fmt.Sprintf("mkdir -p '%s' && echo '{}' > '%s'", filepath.Dir(p), p)), fmt.Sprintf("b%d", i)))
	}
	b.srv.Add(ohtest.Reply(parts...), ohtest.Reply(ohtest.Text("done")))
	b.auto("go").wantCode(t, 6)
	b.done(2)
	for _, p := range paths {
		full := p
		if !filepath.IsAbs(p) {
			full = filepath.Join(b.work, p)
		}
		if p == ".git/config" {
			if b.read(p) != before {
				t.Errorf("%s was changed", p)
			}
		} else if exists(full) {
			t.Errorf("%s was written in full_auto with nobody there", p)
		}
	}
}

// TestInstructions: a cloned repository does not pull in files from elsewhere.
func TestInstructions(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(ohtest.Text("ok")))
		secret := b.file(filepath.Join(b.home, ".ssh", "id_rsa"), "PRIVATE-PART")
		b.file(filepath.Join(filepath.Dir(b.work), "outside.txt"), "PRIVATE-PART")
		b.file("CLAUDE.md", "Project words. @~/.ssh/id_rsa\n@../outside.txt\n@docs/more.md\n@"+secret+"\n")
		b.file("docs/more.md", "More words.")
		must(t, os.Symlink(secret, filepath.Join(b.work, "AGENTS.md")))
		must(t, os.MkdirAll(filepath.Join(b.work, ".claude", "rules"), 0o755))
		must(t, os.Symlink(secret, filepath.Join(b.work, ".claude", "rules", "r.md")))
		b.oh("-p", "hi").wantCode(t, 0)
		body := string(b.done(1)[0].Body)
		if strings.Contains(body, "PRIVATE-PART") {
			t.Error("a file from outside is in the prompt")
		}
		if !strings.Contains(body, "Project words.") || !strings.Contains(body, "More words.") {
			t.Errorf("the instructions are not in the prompt: %s", body)
		}
	})
}

// TestEveryVendorsKey: no child sees the key of any vendor, wherever it was
// set.
func TestEveryVendorsKey(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, "env"), "e")), ohtest.Reply(ohtest.Text("ok")))
	names := []string{"ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "MOONSHOT_API_KEY",
		"GROQ_API_KEY", "MISTRAL_API_KEY", "DASHSCOPE_API_KEY", "MINIMAX_API_KEY", "OPENHARNESS_VISION_API_KEY", "OPENHARNESS_IMAGE_GENERATION_API_KEY"}
	for i, n := range names {
		b.env[n] = fmt.Sprintf("sk-e2e-secret-%d", i)
	}
	b.settings(`{"env":{"PLAIN":"seen","ANTHROPIC_API_KEY":"` + anthropicKey + `"},"profiles":{"mine":{"api_key_env":"MY_OWN_KEY","base_url":"http://127.0.0.1:1"}}}`)
	b.env["MY_OWN_KEY"] = "sk-e2e-secret-own"
	delete(b.env, "ANTHROPIC_API_KEY")
	r := b.auto("--profile", "claude-api", "go")
	r.wantCode(t, 0)
	a := resultOf(t, b.done(2)[1], "e")
	for line := range strings.Lines(a.text) {
		if strings.Contains(line, "sk-e2e-secret") || hasKey(line) {
			t.Errorf("a child sees %s", line)
		}
	}
	a.want(t, false, "PLAIN=seen")
}

// TestEchoedKey: a service that repeats the key in its error does not get it
// printed or stored.
func TestEchoedKey(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		key := map[ohtest.Wire]string{ohtest.Anthropic: anthropicKey, ohtest.OpenAI: openaiKey}[wire]
		for status, code := range map[int]int{401: 3, 400: 4} {
			b := newBox(t, wire, ohtest.Play(ohtest.Status(status, nil, `{"error":{"message":"Incorrect API key provided: `+key+`."}}`)))
			for _, format := range []string{"text", "stream-json", "events"} {
				r := b.oh("-p", "--output-format", format, "hi")
				r.wantCode(t, code)
				if hasKey(r.out + r.err) {
					t.Errorf("%d %s: the key is printed: %v", status, format, r)
				}
				b.srv.Add(ohtest.Play(ohtest.Status(status, nil, `{"error":{"message":"bad key `+key+`"}}`)))
			}
			noKeyIn(t, b.home)
		}
	})
}

// TestPasswordInAddress: a password in the address is not shown.
func TestPasswordInAddress(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr := l.Addr().String()
	must(t, l.Close())
	b.env["OPENAI_API_KEY"], b.env["OPENAI_BASE_URL"], b.env["OPENHARNESS_MODEL"] = openaiKey, "http://user:PASSWORD1@"+addr+"/v1", "m"
	for _, args := range [][]string{{"-p", "hi"}, {"--dry-run", "hi"}, {"-p", "/status"}, {"config", "list"}, {"config", "--json"}, {"-p", "--output-format", "stream-json", "--verbose", "--debug", "/cost"}} {
		if r := b.oh(args...); strings.Contains(r.out+r.err, "PASSWORD1") {
			t.Errorf("%v shows it: %v", args, r)
		}
	}
}

// TestKeyInSettings: a key in the user's settings goes to its profile only,
// and is never shown.
func TestKeyInSettings(t *testing.T) {
	t.Parallel()
	b := newBoxWith(t, ohtest.OpenAI, ohtest.Config{Key: openaiKey, OnViolation: func(ohtest.Violation) {}, Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("x"))}})
	delete(b.env, "OPENAI_API_KEY")
	b.settings(`{"api_key":"` + anthropicKey + `"}`)
	b.oh("-p", "--profile", "openai-compatible", "hi")
	for _, req := range b.srv.Requests() {
		if strings.Contains(fmt.Sprint(map[string][]string(req.Header)), anthropicKey) {
			t.Error("the key went to another vendor")
		}
	}
	for _, args := range [][]string{{"config", "list"}, {"config", "--json"}, {"config", "get", "api_key"}, {"--dry-run", "--output-format", "json", "hi"}, {"-p", "/status"}} {
		if r := b.oh(args...); hasKey(r.out + r.err) {
			t.Errorf("%v shows the key: %v", args, r)
		}
	}
}

// TestMuchOutput: memory stays small however much a command says.
func TestMuchOutput(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	b := newBox(t, ohtest.Anthropic, ohtest.Turn{Parts: []ohtest.Part{named(bash(t, `head -c 100000000 /dev/zero | tr '\0' a; echo; head -c 50000000 /dev/zero | tr '\0' '\n'; echo the end`), "a")}},
		ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("ok")}, After: hold})
	p := b.start(call{args: []string{"-p", "--permission-mode", "full_auto", "go"}})
	b.requests(2)
	if kb := peak(t, p); kb > 100<<10 {
		t.Errorf("peak memory %d kB", kb)
	}
	close(hold)
	p.wait().wantCode(t, 0)
	resultOf(t, b.done(2)[1], "a").want(t, false, "the end")
}

// peak is the most memory a running program has had, in kB, 0 where that
// cannot be told. (The usage that wait returns would count the test's own.)
func peak(t *testing.T, r *running) (kb int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatalf("no peak in %s", status)
	}
	return kb
}

// TestSmall: a turn takes at most 25 MB.
func TestSmall(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		hold := make(chan struct{})
		b := newBox(t, wire, ohtest.Reply(named(bash(t, "true"), "a")), ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("ok")}, After: hold})
		p := b.start(call{args: []string{"-p", "--permission-mode", "full_auto", "go"}})
		b.requests(2)
		if kb := peak(t, p); kb > 25<<10 {
			t.Errorf("peak memory %d kB", kb)
		}
		close(hold)
		p.wait().wantCode(t, 0)
	})
}

// TestAmbiguousID: a beginning that several sessions share is refused; an id
// is no path.
func TestAmbiguousID(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("1")), ohtest.Reply(ohtest.Text("2")))
	b.oh("-p", "a").wantCode(t, 0)
	b.oh("-p", "b").wantCode(t, 0)
	for _, ref := range []string{"0", "../x", "/etc/passwd", "*", "."} {
		r := b.oh("-p", "-r", ref, "x")
		if r.code != 1 && r.code != 2 || r.err == "" || r.out != "" {
			t.Errorf("-r %s: %v", ref, r)
		}
	}
	b.done(2)
}
