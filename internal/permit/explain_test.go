package permit

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func explain(p *Policy, mode oh.Mode, r oh.GateRequest) Explanation {
	r.Mode = mode
	return p.Explain(context.Background(), r)
}

// inParts is the decision on a line and, behind it, those on its parts.
func inParts(e Explanation) string {
	b := []byte{"da+"[e.Decision], ' '}
	for _, part := range e.Parts {
		b = append(b, "da+"[part.Decision])
	}
	return string(b)
}

func TestExplain(t *testing.T) {
	w := newWorld(t)
	p := w.policy(append(append(rules(oh.Allow, "Bash(make:*)", "Bash(true && touch a)"), rules(oh.Deny, "Bash(wget *)", "Edit(/src/gen/**)")...), rules(oh.Ask, "Bash(git commit *)")...)...)
	for _, c := range []struct {
		mode oh.Mode
		line string
		want string
	}{
		{oh.ModeDefault, "ls; cat src/a.go | wc -l", "+ +++"},
		{oh.ModeDefault, "ls && touch m", "a +a"},
		{oh.ModeDefault, "make all && touch m", "a +a"},
		{oh.ModeDefault, "make all; ls", "+ ++"},
		{oh.ModeDefault, "true && touch a", "+ ++"}, // the line to the letter
		{oh.ModeFullAuto, "ls; wget x; touch m", "d +d+"},
		{oh.ModeFullAuto, "git status && git commit -m x", "a +a"},
		{oh.ModeFullAuto, "touch src/gen/x; touch src/x", "d d+"},
		{oh.ModeFullAuto, "ls; rm -rf ~", "a +a"},
		{oh.ModeFullAuto, "cat .env; ls", "a a+"},
		{oh.ModeFullAuto, "ls; cat ~/.ssh/id_ed25519", "d +d"},
		{oh.ModeFullAuto, "git log -- .env; ls", "a a+"}, // a mention, no read
		{oh.ModeFullAuto, "$x f; ls src", "a a+"},
		{oh.ModePlan, "ls; touch m", "d +d"},
		{oh.ModeDontAsk, "ls; touch m", "d +d"},
		{oh.ModeDefault, "sudo touch m; ls", "a aa+"}, // what runs within has no milder verdict
		{oh.ModeDefault, "echo 'unclosed", "a a"},
		{oh.ModeAcceptEdits, "ls > out; touch ../../x", "a +a"},
	} {
		if got := inParts(explain(p, c.mode, w.bash(c.line))); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.line, c.mode, got, c.want)
		}
	}
}

func TestExplainNames(t *testing.T) {
	w := newWorld(t)
	p := w.policy(rules(oh.Deny, "Bash(wget *)")...)
	got := explain(p, oh.ModeDefault, w.bash("cat src/a.go > "+w.path("outside/o")+"; wget $x"))
	rule := "Bash(wget *) (settings.json:3)"
	denied := oh.Verdict{Rule: rule, Reason: "denied by the rule " + rule}
	want := Explanation{Verdict: denied, Parts: []Part{
		{Verdict: oh.Verdict{Decision: oh.Ask, Reason: "bash writes " + w.path("outside/o") + ", outside the workspace " + w.ws + ", which the mode default asks about"},
			Argv: []string{"cat", "src/a.go"}, Reads: []string{filepath.Join(w.ws, "src/a.go")}, Writes: []string{w.path("outside/o")}},
		{Verdict: denied, Argv: []string{"wget", "$x"}, Unsure: []int{1}, Writes: []string{w.ws}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if e := explain(p, oh.ModeDefault, w.read("read_file", "ws/src/a.go")); e.Parts != nil || e.Decision != oh.Allow || e.Reason == "" {
		t.Errorf("a call without a command: %+v", e)
	}
}

// TestExplainIsNeverMilder: no part has a stricter verdict than its line, and
// each verdict says why.
func TestExplainIsNeverMilder(t *testing.T) {
	w := newWorld(t)
	p := w.policy(append(append(rules(oh.Allow, "Bash(git:*)", "Bash(touch *)"), rules(oh.Deny, "Bash(rm *)", "Read(/src/secret/**)")...),
		append(rules(oh.Ask, "Bash(make *)"), Rule{Text: "cp *", Kind: Command})...)...)
	for _, one := range []string{
		"ls", "cat .env", "touch m", "rm x", "make", "cp a b", "git push -f", "cat src/secret/x", "sudo cp a b", "bash -c 'rm x; ls'", "$y z", "eval $y", "ssh h rm x",
		"find . -exec rm {} +", "echo x > .git/config", "cd .. && cat x", "env A=1 cat ~/.netrc", "xargs cat < l", "echo 'open", "trap 'rm x' EXIT", "alias ls=rm", "f() { rm x; }; f",
		"x=~/.ssh/id_rsa; cat $x", "cat <<E\n$(rm x)\nE", "git -C /x log -- .env", "dd of=/dev/sda", "tee src/secret/x", "sudo cat src/secret/x", "timeout 3 cat .env",
	} {
		for _, line := range []string{one, "ls; " + one, one + " && touch m", "(" + one + "\n) > out"} {
			for _, mode := range oh.Modes {
				e := explain(p, mode, w.bash(line))
				for _, part := range append([]Part{{Verdict: e.Verdict}}, e.Parts...) {
					if part.Decision < e.Decision || part.Reason == "" {
						t.Errorf("%q in %s: %s: %q has %+v, the line %+v", line, mode, inParts(e), part.Argv, part.Verdict, e.Verdict)
					}
				}
			}
		}
	}
}

// TestConfined: the sandbox answers for commands that meet no rule, from
// acceptEdits on, and for nothing else.
func TestConfined(t *testing.T) {
	w := newWorld(t)
	c := w.config(append(rules(oh.Deny, "Bash(wget *)"), rules(oh.Ask, "Bash(make *)")...)...)
	on := true
	c.Confined = func() bool { return on }
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		req  oh.GateRequest
		want string
	}{
		"no rule":        {w.bash("go test ./..."), "dda++"},
		"writes outside": {w.bash("touch " + w.path("outside/x")), "dda++"},
		"not understood": {w.bash("echo $(cat list) > $x"), "dda++"},
		"ask rule":       {w.bash("make all"), "ddaaa"},
		"deny rule":      {w.bash("ls; wget x"), "ddddd"},
		"guard list":     {w.bash("rm -rf ~"), "ddaaa"},
		"credentials":    {w.bash("cat ~/.ssh/id_ed25519"), "ddddd"},
		"a file":         {w.bash("cat .env"), "adaaa"},
		"hooks of git":   {w.bash("touch .git/hooks/x"), "ddaaa"},
		"a file tool":    {w.write("write_file", "outside/x"), "ddaa+"},
	} {
		if got := five(p, x.req); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
	on = false
	if got := five(p, w.bash("go test ./...")); got != "ddaa+" {
		t.Errorf("without the sandbox: %s", got)
	}
}

func TestHarmless(t *testing.T) {
	w := newWorld(t)
	p := w.policy()
	var got strings.Builder
	for _, line := range []string{"ls", "git status | head", "cd src", "cd src && ls", "(cd src && ls)", "touch m", "ls > out", "$x"} {
		fmt.Fprintf(&got, "%s: %v\n", line, p.Harmless(line, w.ws))
	}
	want := "ls: true\ngit status | head: true\ncd src: false\ncd src && ls: false\n(cd src && ls): false\ntouch m: false\nls > out: false\n$x: false\n"
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Error(d)
	}
}
