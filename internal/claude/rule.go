package claude

import "strings"

// SplitRule cuts a permission rule, Tool or Tool(spec), into the tool's name as
// written and the spec. A spec of * is none: Bash and Bash(*) are the same. ok is
// false when the text has neither form, and for Bash(): whoever wrote it meant
// a part and named none.
func SplitRule(rule string) (tool, spec string, ok bool) {
	rule = strings.TrimSpace(rule)
	tool = rule
	if open := strings.IndexByte(rule, '('); open >= 0 {
		if !strings.HasSuffix(rule, ")") {
			return "", "", false
		}
		tool, spec = rule[:open], strings.TrimSpace(rule[open+1:len(rule)-1])
		switch spec {
		case "":
			return "", "", false
		case "*":
			spec = ""
		}
	}
	if tool == "" || strings.ContainsFunc(tool, badInName) {
		return "", "", false
	}
	return tool, spec, true
}

// JoinRule is the inverse of [SplitRule].
func JoinRule(tool, spec string) string {
	if spec == "" {
		return tool
	}
	return tool + "(" + spec + ")"
}

// badInName allows what tool names are made of, and the * and : of names of MCP
// servers and plugins.
func badInName(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-*.:", c))
}
