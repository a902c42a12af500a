package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// gitConfig is what a walk needs of git's configuration.
type gitConfig struct {
	excludes   string // core.excludesFile, absolute
	ignoreCase bool
}

// readGitConfig reads the system's, the user's and the repository's
// configuration files. Included files are not followed.
func readGitConfig(home, git string) gitConfig {
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	var cfg gitConfig
	if xdg != "" {
		cfg.excludes = filepath.Join(xdg, "git", "ignore")
	}
	var files []string
	if os.Getenv("GIT_CONFIG_NOSYSTEM") == "" && runtime.GOOS != "windows" {
		files = append(files, "/etc/gitconfig")
	}
	if global, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, global)
	} else {
		files = append(files, filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	for _, f := range append(files, filepath.Join(git, "config")) {
		cfg.parse(string(readSmall(f)), home, filepath.Dir(git))
	}
	return cfg
}

// parse takes the keys it knows out of a configuration file.
func (c *gitConfig) parse(data, home, dir string) {
	core := false
	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			core = strings.EqualFold(strings.TrimSpace(name), "core")
			line = strings.TrimSpace(rest)
		}
		if !core || line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, val, has := strings.Cut(line, "=")
		val = gitValue(val)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "excludesfile":
			c.excludes = ""
			if after, ok := strings.CutPrefix(val, "~/"); ok {
				c.excludes = filepath.Join(home, after)
			} else if val != "" {
				c.excludes = from(dir, val)
			}
		case "ignorecase":
			c.ignoreCase = !has || val == "true" || val == "yes" || val == "on" || val == "1"
		}
	}
}

// gitValue takes quotes and a comment off a value.
func gitValue(v string) string {
	v = strings.TrimSpace(v)
	if strings.HasPrefix(v, `"`) {
		if q, err := strconv.QuotedPrefix(v); err == nil {
			if s, err := strconv.Unquote(q); err == nil {
				return s
			}
		}
	}
	if i := strings.IndexAny(v, "#;"); i >= 0 {
		v = strings.TrimSpace(v[:i])
	}
	return v
}
