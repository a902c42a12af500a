package shell

import "strings"

// maxSuggest is how many rules are offered for one line.
const maxSuggest = 5

// Suggest returns the rules that would allow the line from now on, as in
// Bash(git diff:*): one for each part that needs one, at most five. Nothing is
// offered where a part is guarded, not understood, or covered by no rule.
func (a *Analysis) Suggest() []string {
	if a.Guard != "" || a.Obscure != "" {
		return nil
	}
	var out []string
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.Class == ReadOnly || p.Within || len(p.Argv) == 0 {
			continue
		}
		rule := p.Rule()
		if rule == "" {
			return nil
		}
		known := false
		for _, have := range out {
			known = known || have == rule
		}
		if !known {
			out = append(out, rule)
		}
	}
	if len(out) > maxSuggest {
		return nil
	}
	return out
}

// Rule returns the rule that would allow a part, or "" when none should.
func (p *Part) Rule() string {
	if p.Class == Guarded || p.Bare != "" || len(p.Unsure) > 0 && p.Unsure[0] == 0 || len(p.Argv) == 0 {
		return ""
	}
	if words := p.head(); words > 0 && !p.exact {
		head := strings.Join(p.Argv[:words], " ")
		if strings.Trim(head, plainBytes+" ") == "" {
			return "Bash(" + head + ":*)"
		}
	}
	if len(p.Unsure) > 0 || len(p.Text) > 200 || strings.ContainsAny(p.Text, "*\n") || strings.HasSuffix(p.Text, ":") {
		return ""
	}
	return "Bash(" + p.Text + ")"
}

// head is how many words of a command a rule with a wildcard may keep; 0 when
// only the whole command can be allowed.
func (p *Part) head() int {
	second := len(p.Argv) > 1 && !strings.HasPrefix(p.Argv[1], "-") && strings.Trim(p.Argv[1], plainBytes) == "" && (len(p.Unsure) == 0 || p.Unsure[0] > 1)
	switch name := p.Argv[0]; name {
	case "git", "go", "cargo", "docker", "kubectl", "npm", "pnpm", "yarn", "bun", "deno", "pip", "pip3", "uv", "poetry", "brew", "apt", "apt-get",
		"systemctl", "gh", "helm", "dotnet", "mvn", "gradle", "bundle", "rake", "composer", "terraform", "rustup", "conda", "make", "just", "task":
		switch {
		case !second:
			return 0
		case (name == "npm" || name == "pnpm" || name == "yarn" || name == "bun") && p.Argv[1] == "run":
			if len(p.Argv) < 3 || len(p.Unsure) > 0 && p.Unsure[0] == 2 {
				return 0
			}
			return 3
		case p.Argv[1] == "push" || p.Argv[1] == "exec" || p.Argv[1] == "run" && name != "go" && name != "cargo" || p.Argv[1] == "delete" || p.Argv[1] == "config":
			return 0
		}
		return 2
	case "mkdir", "touch", "cp", "mv", "ln", "tee", "rmdir", "gofmt", "goimports", "prettier", "eslint", "black", "ruff", "pytest", "jest", "vitest", "tsc", "mypy",
		"golangci-lint", "staticcheck", "cmake", "ninja", "ctest", "sort", "curl", "wget", "rg", "grep", "fd", "jq", "cat", "ls", "head", "tail", "wc", "diff", "stat", "unzip", "tar":
		return 1
	}
	return 0
}
