package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestParseInvocation(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct {
		args  []string
		want  []string
		print bool
		sdk   bool
	}{
		{args: []string{"-r"}, want: []string{"--resume="}},
		{args: []string{"-r", "abc", "-p", "go"}, want: []string{"--resume=abc", "-p", "go"}, print: true},
		{args: []string{"--resume", "-p", "go"}, want: []string{"--resume=", "-p", "go"}, print: true},
		{args: []string{"-cp", "config"}, want: []string{"-cp", "config"}, print: true},
		{args: []string{"-m", "-p", "x"}, want: []string{"-m", "-p", "x"}},
		{args: []string{"-mp", "x"}, want: []string{"-mp", "x"}},
		{args: []string{"--", "-p"}, want: []string{"--", "-p"}},
		{args: []string{"--model=x", "--print", "-r"}, want: []string{"--model=x", "--print", "--resume="}, print: true},
		{args: []string{"session", "list"}, want: []string{"session", "list"}},
		{args: []string{"--input-format", "stream-json"}, want: []string{"--input-format", "stream-json"}, sdk: true},
		{args: []string{"--input-format=stream-json", "--replay-user-messages", "-p", "go"}, want: []string{"--input-format=stream-json", "-p", "go"}, print: true, sdk: true},
		{args: []string{"-p", ""}, want: []string{"-p", ""}, print: true},
	} {
		got := parseInvocation(c.args, none)
		if d := cmp.Diff(c.want, got.args); d != "" || got.print != c.print || got.sdk != c.sdk {
			t.Errorf("%q: print %v, sdk %v, args (-want +got):\n%s", c.args, got.print, got.sdk, d)
		}
	}
	byEnv := parseInvocation(nil, func(name string) string {
		return map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}[name]
	})
	if !byEnv.sdk {
		t.Error("the variable of the SDK is not seen")
	}
}

func TestSplitRules(t *testing.T) {
	for _, c := range []struct {
		in   []string // as the flag library cuts at commas
		want []string
	}{
		{[]string{"bash"}, []string{"bash"}},
		{[]string{"bash", "Edit(/src/**)"}, []string{"bash", "Edit(/src/**)"}},
		{[]string{"Bash(git log --format=%h", "%s)", "Read"}, []string{"Bash(git log --format=%h,%s)", "Read"}},
		{[]string{"bash read_file  Edit(a b)"}, []string{"bash", "read_file", "Edit(a b)"}},
		{[]string{"", " "}, nil},
		{[]string{"Bash(unclosed", "Read"}, []string{"Bash(unclosed,Read"}},
	} {
		if d := cmp.Diff(c.want, splitRules(c.in)); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.in, d)
		}
	}
}

// Every flag that takes a value must be known to parseInvocation, or a value
// that looks like -p would be taken for the flag.
func TestValueFlagsAreComplete(t *testing.T) {
	var p program
	root := p.rootCommand()
	for _, name := range valueFlags {
		if len(name) > 2 && root.Flags().Lookup(name[2:]) == nil {
			t.Errorf("%s is no flag", name)
		}
	}
	known := map[string]bool{"--resume": true}
	for _, name := range valueFlags {
		known[name] = true
	}
	root.Flags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal == "" && !known["--"+f.Name] {
			t.Errorf("--%s takes a value and is missing in valueFlags", f.Name)
		}
	})
}

func TestManPage(t *testing.T) {
	var p program
	page := string(manPage(p.rootCommand()))
	for _, want := range []string{".TH OH 1", `\-\-permission\-mode string`, ".SS oh session list", "143"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the manual page", want)
		}
	}
}
