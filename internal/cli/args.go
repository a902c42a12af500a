package cli

import (
	"os"
	"slices"
	"strings"
)

// invocation is a command line before the flag library sees it.
type invocation struct {
	args  []string
	print bool // -p is given: no word is a subcommand
	sdk   bool // a program of the Claude Agent SDK drives
}

// valueFlags are the flags of the root command that take the next word as
// their value, for finding out which words are values.
var valueFlags = []string{
	"-m", "--model", "-n", "--name", "--profile", "--effort", "--max-turns", "--output-format", "--input-format",
	"--permission-mode", "--sandbox", "--allowed-tools", "--allowedTools", "--disallowed-tools", "--disallowedTools", "--tools",
	"-s", "--system-prompt", "--append-system-prompt", "--settings", "--setting-sources", "--base-url", "-k", "--api-key",
	"--api-format", "--permission-prompt-tool", "--cwd", "--add-dir", "--image", "--session-id", "--max-budget-usd",
	"--fallback-model", "--json-schema", "--record", "--replay",
}

// sdkSwitches are switches of SDKs that mean nothing here. They are taken out,
// since the flag library takes the word after an unknown flag for its value.
var sdkSwitches = []string{
	"--allow-dangerously-skip-permissions", "--await-initialize", "--debug-to-stderr", "--include-hook-events",
	"--replay-user-messages", "--session-mirror",
}

// optionalValue are the flags that take the next word unless it begins with -.
var optionalValue = []string{"-r", "--resume"}

// parseInvocation prepares a command line: flags with an optional value get it
// attached, since the flag library would take it for a word of the prompt, and
// -p is found wherever it stands.
func parseInvocation(args []string, getenv func(string) string) invocation {
	inv := invocation{sdk: sdkDriven(args, getenv)}
	if inv.sdk {
		args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return slices.Contains(sdkSwitches, a) })
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			inv.args = append(inv.args, args[i:]...)
			return inv
		case slices.Contains(optionalValue, arg):
			value := ""
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				value = args[i]
			}
			inv.args = append(inv.args, "--resume="+value)
			continue
		case slices.Contains(valueFlags, arg) && i+1 < len(args):
			inv.args = append(inv.args, arg, args[i+1])
			i++
			continue
		case arg == "--print" || arg == "--print=true" || isCluster(arg, 'p'):
			inv.print = true
		}
		inv.args = append(inv.args, arg)
	}
	return inv
}

// isCluster reports whether arg is a group of one-letter switches, such as
// -cp, that holds c. A letter that takes a value ends the group.
func isCluster(arg string, c byte) bool {
	if len(arg) < 2 || arg[0] != '-' || arg[1] == '-' {
		return false
	}
	for i := 1; i < len(arg); i++ {
		if arg[i] == c {
			return true
		}
		if strings.IndexByte("mnskr", arg[i]) >= 0 {
			return false
		}
	}
	return false
}

func sdkDriven(args []string, getenv func(string) string) bool {
	if getenv("CLAUDE_AGENT_SDK_VERSION") != "" || strings.HasPrefix(getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk-") {
		return true
	}
	for i, a := range args {
		if a == "--input-format=stream-json" || a == "--input-format" && i+1 < len(args) && args[i+1] == "stream-json" {
			return true
		}
	}
	return false
}

// versionOnly reports whether the command line asks for the version and
// nothing else, which is answered before anything is built.
func versionOnly(args []string) bool {
	return len(args) == 1 && (args[0] == "--version" || args[0] == "-v" || args[0] == "-V")
}

func getenv(name string) string { return os.Getenv(name) }
