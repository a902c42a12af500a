package permit

import (
	"path/filepath"
	"strings"
)

// guard says how a place is protected against being read or written.
type guard int

const (
	open   guard = iota
	named        // a person must agree, or an allow rule that names it
	closed       // never
)

// secret classifies a clean absolute path by its name alone. what is the part
// that makes it one: the text that an allow rule must name.
//
// Closed are private keys and stores of credentials. Named are files that often
// hold secrets and often do not: .env and its kin, histories, settings of ours.
func (p *Policy) secret(path string) (g guard, what string) {
	for _, dir := range p.config {
		rel, ok := under(dir, path)
		if !ok {
			continue
		}
		switch strings.ToLower(rel) {
		case "credentials.json", "copilot_auth.json", "auth.json", ".credentials.json":
			return closed, rel
		case "settings.json":
			return named, rel
		}
	}
	low := strings.ToLower(filepath.ToSlash(path))
	for i := 0; i < len(low); {
		end := levelEnd(low, i)
		name := low[i:end]
		if name != "" {
			rest := ""
			if end < len(low) {
				rest = low[end+1:]
			}
			if g, what := p.secretName(low[:i], name, rest); g != open {
				return g, what
			}
		}
		i = end + 1
	}
	return open, ""
}

// levelEnd returns where the level of a path that begins at i ends.
func levelEnd(path string, i int) int {
	if n := strings.IndexByte(path[i:], '/'); n >= 0 {
		return i + n
	}
	return len(path)
}

// secretName judges one level of a path; above ends with a slash.
func (p *Policy) secretName(above, name, rest string) (guard, string) {
	for _, tail := range closedBelow(name) {
		if tail == "" || rest == tail || strings.HasPrefix(rest, tail+"/") {
			return closed, name
		}
	}
	switch name {
	case "proc":
		if above == "/" && (strings.HasSuffix(rest, "/environ") || strings.HasSuffix(rest, "/mem")) {
			return closed, name
		}
	case "etc":
		if above == "/" && (rest == "shadow" || rest == "gshadow" || rest == "sudoers") {
			return closed, name
		}
	}
	if rest != "" {
		return open, ""
	}
	return p.secretFile(above, name)
}

// closedBelow lists what below a folder (or file) of that name holds
// credentials; "" is all of it. Names are in lower case.
func closedBelow(name string) []string {
	switch name {
	case ".ssh", ".gnupg", ".azure", ".password-store", ".netrc", "_netrc", ".git-credentials",
		".pgpass", ".vault-token", ".mozilla":
		return []string{""}
	case ".local":
		return []string{"share/keyrings"}
	case "library":
		return []string{"keychains"}
	case ".aws":
		return []string{"credentials", "config", "sso", "cli"}
	case ".config":
		return []string{"gcloud", "gh/hosts.yml", "git/credentials", "github-copilot", "op",
			"rclone/rclone.conf", "composer/auth.json", "google-chrome", "chromium"}
	case ".docker":
		return []string{"config.json"}
	case ".kube":
		return []string{"config"}
	case ".openharness":
		return []string{"credentials.json", "copilot_auth.json"}
	case ".claude":
		return []string{".credentials.json"}
	case ".codex":
		return []string{"auth.json"}
	case ".cargo":
		return []string{"credentials", "credentials.toml"}
	case ".gem":
		return []string{"credentials"}
	case ".terraform.d":
		return []string{"credentials.tfrc.json"}
	case "application support":
		return []string{"google/chrome", "chromium", "firefox"}
	}
	return nil
}

func (p *Policy) secretFile(above, name string) (guard, string) {
	switch name {
	case ".npmrc", ".pypirc":
		// In the home folder they hold tokens; in a project they are settings
		// that now and then hold one.
		if strings.TrimSuffix(above, "/") == strings.ToLower(filepath.ToSlash(p.home.given)) ||
			strings.TrimSuffix(above, "/") == strings.ToLower(filepath.ToSlash(p.home.real)) {
			return closed, name
		}
		return named, name
	case ".env", ".envrc", ".bash_history", ".zsh_history", ".python_history", ".psql_history":
		return named, name
	}
	if tail, ok := strings.CutPrefix(name, ".env."); ok {
		switch tail[strings.LastIndexByte(tail, '.')+1:] {
		case "example", "sample", "template":
			return open, ""
		}
		return named, ".env"
	}
	for _, key := range [...]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"} {
		if tail, ok := strings.CutPrefix(name, key); ok && (tail == "" || tail[0] == '.' && tail != ".pub") {
			return closed, name
		}
	}
	return open, ""
}

// guarded tells why a write to a clean absolute path needs a person in every
// mode: it would make code run later or change what may run. what is the text
// that an allow rule must name; "" is an ordinary place.
func (p *Policy) guarded(path string) (why, what string) {
	ours, work := "", false
	for _, dir := range p.config {
		if rel, ok := under(dir, path); ok {
			ours, work = filepath.Base(dir), work || p.workplace(path, rel)
		}
	}
	if ours != "" && !work {
		return "the configuration and state of this program", ours
	}
	low := strings.ToLower(filepath.ToSlash(path))
	for i := 0; i < len(low); {
		end := levelEnd(low, i)
		rest := strings.TrimPrefix(low[min(end, len(low)):], "/")
		switch name := low[i:end]; name {
		case ".git":
			return "the inside of a git repository", name
		case ".claude", ".openharness":
			if work || p.workplace(path, rest) {
				break
			}
			return "a folder of permissions, hooks and commands", name
		}
		i = end + 1
	}
	return p.startup(low)
}

// workplace reports whether a path in a configuration folder is meant to be
// written by tools: worktrees, plans, memory, and the readable folders.
func (p *Policy) workplace(path, rel string) bool {
	first, _, below := strings.Cut(rel, "/")
	switch first {
	case "worktrees", "plans", "memory", "todos":
		return below
	}
	for _, r := range p.roots {
		// A workspace may lie inside such a folder, as a worktree does.
		if _, ok := under(r.real, path); ok && p.inConfig(r.real) {
			return true
		}
	}
	for _, r := range p.readable {
		if _, ok := under(r.real, path); ok {
			return true
		}
	}
	return false
}

func (p *Policy) inConfig(path string) bool {
	for _, dir := range p.config {
		if rel, ok := under(dir, path); ok && rel != "" {
			return true
		}
	}
	return false
}

// startup recognises files that are run or read by a shell, git, an editor or
// the desktop on their own. low is in lower case, with slashes.
func (p *Policy) startup(low string) (why, what string) {
	name := low[strings.LastIndexByte(low, '/')+1:]
	switch name {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".inputrc":
		return "a start-up file of a shell", name
	case ".gitconfig", ".gitmodules":
		return "configuration of git, which can name commands", name
	case ".mcp.json":
		return "a list of servers to start", name
	}
	for _, dir := range [...]string{"/.config/fish/", "/.config/git/", "/.config/autostart/", "/.config/systemd/",
		"/library/launchagents/", "/library/launchdaemons/", "/etc/profile.d/", "/etc/cron.d/", "/var/spool/cron/"} {
		if strings.Contains(low, dir) {
			return "a place whose files are run on their own", strings.Split(strings.Trim(dir, "/"), "/")[1]
		}
	}
	return "", ""
}
