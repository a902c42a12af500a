package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// gitPlaces lists what git writes outside a work tree when that is a linked
// one (git worktree add): its own folder in the repository, and where objects
// and branches lie. Hooks and settings of the repository are not among them. The
// repository must know the tree in turn, so that a folder cannot claim another
// one's.
func gitPlaces(root string) []string {
	own := pointer(filepath.Join(root, ".git"), "gitdir:")
	if own == "" {
		return nil
	}
	if back := pointer(filepath.Join(own, "gitdir"), ""); back == "" || resolve(back) != resolve(filepath.Join(root, ".git")) {
		return nil
	}
	repo := pointer(filepath.Join(own, "commondir"), "")
	if repo == "" || !within(resolve(repo), resolve(own)) {
		return nil
	}
	var out []string
	for _, path := range [...]string{own, filepath.Join(repo, "objects"), filepath.Join(repo, "refs"), filepath.Join(repo, "logs")} {
		if real, err := filepath.EvalSymlinks(path); err == nil && within(resolve(repo), real) {
			out = append(out, real)
		}
	}
	return out
}

// pointer reads a small file of git's that holds a path.
func pointer(file, prefix string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<10 {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	path = strings.TrimSpace(path)
	if !ok || path == "" || strings.ContainsRune(path, 0) {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.Clean(path)
}
