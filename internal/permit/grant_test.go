package permit

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// A suggested rule answers the very call it was suggested for.
func TestSuggest(t *testing.T) {
	w := newWorld(t)
	w.link(w.out, "ws/out")
	input := json.RawMessage(`{"subagent_type":"explore"}`)
	for _, c := range []struct {
		req  oh.GateRequest
		want string
	}{
		{w.write("write_file", "ws/src/a.go"), "Edit(/src/**)"},
		{w.write("write_file", "ws/a.go"), "Edit(/a.go)"},
		{w.write("write_file", "ws/a*[1].go"), `Edit(/a\*\[1].go)`},
		{w.write("write_file", "ws/a (1)/b"), `Edit(/a (1)/**)`},
		{w.write("multi_edit", "ws/src/a.go", "ws/src/b.go"), "Edit(/src/**)"},
		{w.write("multi_edit", "ws/src/a.go", "ws/doc/b"), ""},
		{w.read("read_file", "~/notes/a"), "Read(~/notes/**)"},
		{w.read("read_file", "~/a"), "Read(~/a)"},
		{w.tree("grep", "~/notes"), "Read(~/notes/**)"},
		{w.tree("grep", "~"), ""},
		{w.read("read_file", "ws/.env"), "Read(/.env)"},
		{w.read("read_file", "ws/out/f"), ""},
		{w.bash("make"), "Bash(make)"},
		{w.bash("go test ./... 2>&1 | tail -5"), "Bash(go test:*)"},
		{w.bash("go test ./... && git add -A; npm run lint"), "Bash(go test:*)\nBash(git add:*)\nBash(npm run lint:*)"},
		{w.bash("a; b; c; d; e; f"), "Bash(a; b; c; d; e; f)"},
		{w.bash("a\nb"), "Bash(a)\nBash(b)"},
		{w.bash("ls src > doc.txt"), "Edit(/doc.txt)"},
		{w.bash("x=$(cat f); $x"), ""},
		{w.bash("cat <(a) $("), ""},
		{w.bash("python3 x.py '*'"), ""},
		{w.bash("cat ~/notes/a"), "Read(~/notes/**)"},
		{w.bash("rm -rf /"), ""},
		{fetch("https://example.com/a"), "WebFetch(domain:example.com)"},
		{oh.GateRequest{Tool: "mcp__git__log"}, "mcp__git__log"},
		{oh.GateRequest{Tool: "agent", Input: input}, "Agent(explore)"},
		{oh.GateRequest{Tool: "cron_create"}, "CronCreate"},
	} {
		p := w.policy()
		v := check(p, oh.ModeDefault, c.req)
		if v.Decision != oh.Ask || v.Suggest != c.want {
			t.Errorf("%s %+v: %+v, want %q", c.req.Tool, c.req.Access, v, c.want)
			continue
		}
		if v.Suggest == "" {
			continue
		}
		if err := p.Grant(v.Suggest, oh.Session); err != nil {
			t.Errorf("grant %q: %v", v.Suggest, err)
		}
		if v := check(p, oh.ModeDefault, c.req); v.Decision != oh.Allow {
			t.Errorf("after granting %q: %+v", c.want, v)
		}
	}
}

func TestGrant(t *testing.T) {
	w := newWorld(t)
	var saved []string
	c := w.config(rules(oh.Deny, "Edit(/no/**)")...)
	c.Save = func(rule string) error {
		if rule == "Edit(/full/**)" {
			return errors.New("disk full")
		}
		saved = append(saved, rule)
		return nil
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []struct {
		rule  string
		scope oh.Scope
		fails string
	}{
		{"Edit(/src/**)", oh.Session, ""},
		{"Edit(/src/**)", oh.Session, ""},
		{"Edit(/doc/**)", oh.Project, ""},
		{"Edit(/full/**)", oh.Project, "disk full"},
		{"Edit(/once/**)", oh.Once, ""},
		{"Edit(/no/**)", oh.Session, ""},
		{"Bash(:*)", oh.Session, "want the beginning"},
		{"Nope(", oh.Session, "want Tool"},
		{"", oh.Project, "want Tool"},
		{"Edit", "forever", "unknown scope"},
	} {
		err := p.Grant(g.rule, g.scope)
		if (err == nil) != (g.fails == "") || err != nil && !strings.Contains(err.Error(), g.fails) {
			t.Errorf("Grant(%q, %s) = %v, want %q", g.rule, g.scope, err, g.fails)
		}
	}
	if diff := cmp.Diff([]string{"Edit(/doc/**)"}, saved); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{"ws/src/a": "d++++", "ws/doc/a": "d++++", "ws/full/a": "dda++", "ws/once/a": "dda++", "ws/no/a": "ddddd"} {
		if got := five(p, w.write("write_file", path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	want := "workspace: " + w.ws + "\nalso inside: " + w.path("added") + "\n" +
		"deny   Edit(/no/**) (settings.json:3)\nallow  Edit(/src/**) (this session)\nallow  Edit(/doc/**) (local)\nallow  Edit(/no/**) (this session)\n"
	if diff := cmp.Diff(want, p.Describe()); diff != "" {
		t.Error(diff)
	}
	if err := w.policy().Grant("Edit", oh.Project); err == nil {
		t.Error("a grant for the project without Save")
	}
}

func TestGrantWhileChecking(t *testing.T) {
	w := newWorld(t)
	p := w.policy()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				check(p, oh.ModeDefault, w.write("write_file", "ws/src/a.go"))
				if err := p.Grant("Edit(/x"+string(rune('a'+i))+"/**)", oh.Session); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(p.Rules()); n != 4 {
		t.Errorf("%d rules, want 4", n)
	}
}
