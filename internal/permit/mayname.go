package permit

import (
	"path/filepath"
	"slices"
	"strings"
)

// mayName reports whether a path with wildcards in a command may expand to a
// store of credentials in the home folder or in that of this program.
func (p *Policy) mayName(path string) bool {
	if !strings.ContainsAny(path, "*?[") {
		return false
	}
	pat := strings.Split(strings.Trim(filepath.ToSlash(path), "/"), "/")
	last := pat[len(pat)-1]
	if len(pat) > 2 && levelFits(pat[0], "proc") && (levelFits(last, "environ") || levelFits(last, "mem")) {
		return true
	}
	if strings.ContainsAny(last, "*?[") && (levelFits(last, ".env") || levelFits(last, ".envrc")) && last != ".*" {
		return true
	}
	for _, home := range [...]string{p.home.given, p.home.real} {
		if home == "" {
			continue
		}
		for _, s := range [...]string{".ssh", ".gnupg", ".azure", ".netrc", ".git-credentials", ".password-store",
			".aws/credentials", ".config/gcloud", ".docker/config.json", ".kube/config", ".npmrc", ".pypirc"} {
			if expandsTo(pat, filepath.ToSlash(home), s) {
				return true
			}
		}
	}
	return slices.ContainsFunc(p.config, func(dir string) bool {
		return expandsTo(pat, filepath.ToSlash(dir), "credentials.json")
	})
}

// expandsTo reports whether a pattern fits the path of name in dir, or a folder
// between them by a wildcard: what is done to the folder is done to the path.
func expandsTo(pat []string, dir, name string) bool {
	levels := strings.Split(strings.Trim(dir+"/"+name, "/"), "/")
	if len(pat) <= len(levels)-1-strings.Count(name, "/") {
		return false
	}
	wild := false
	for i := 0; i < min(len(pat), len(levels)); i++ {
		if pat[i] != levels[i] && !levelFits(pat[i], levels[i]) {
			return false
		}
		wild = strings.ContainsAny(pat[i], "*?[")
	}
	return len(pat) >= len(levels) || wild
}

// levelFits is a shell's matching of one level: a wildcard takes no dot at the
// head.
func levelFits(pat, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pat, ".") {
		return false
	}
	return glob(pat, name, true, false)
}
