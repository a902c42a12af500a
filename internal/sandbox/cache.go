package sandbox

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed cache.txt
var cacheTable string

// cache is a row of the table.
type cache struct {
	program, env, place string
	file                bool
}

// cacheRows reads the table. A line with too few fields is a mistake in it,
// which a test finds.
func cacheRows(table string) []cache {
	var out []cache
	for line := range strings.SplitSeq(table, "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || strings.HasPrefix(f[0], "#") {
			continue
		}
		place, file := strings.CutSuffix(f[2], "=")
		out = append(out, cache{program: f[0], env: strings.TrimSuffix(f[1], "="), place: place, file: file})
	}
	return out
}

// caches lists the build caches of the installed programs, and those that are
// there. A missing one is made: a rule of the kernel needs something to hold on
// to. One that a variable moves to where it would open too much is left out.
func (x *plan) caches(c Config) []string {
	if c.Home == "" || c.NoCaches || c.Backend == Container { // which has tools of its own
		return nil
	}
	var out []string
	installed := map[string]bool{}
	for _, row := range cacheRows(cacheTable) {
		path := row.at(c)
		if path == "" || slices.Contains(out, path) {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			has, known := installed[row.program]
			if !known {
				_, err := exec.LookPath(row.program)
				has = err == nil
				installed[row.program] = has
			}
			if !has || !x.sane(path) || row.make(path) != nil {
				continue
			}
		}
		if real := resolve(path); x.sane(real) && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// at is where a cache lies: "" when its variable names no usable path, or turns
// it off.
func (row cache) at(c Config) string {
	if name, sub, _ := strings.Cut(row.env, "/"); name != "-" {
		if v, ok := c.LookupEnv(name); ok && v != "" {
			v = strings.Split(v, string(os.PathListSeparator))[0] // GOPATH is a list
			if !filepath.IsAbs(v) {
				return ""
			}
			return filepath.Join(v, sub)
		}
	}
	if rest, ok := strings.CutPrefix(row.place, "CACHE/"); ok {
		return filepath.Join(c.cacheHome(), rest)
	}
	if rest, ok := strings.CutPrefix(row.place, "DATA/"); ok {
		if v, ok := c.LookupEnv("XDG_DATA_HOME"); ok && filepath.IsAbs(v) {
			return filepath.Join(v, rest)
		}
		return filepath.Join(c.Home, ".local", "share", rest)
	}
	return c.expand(row.place)
}

func (c Config) cacheHome() string {
	if v, ok := c.LookupEnv("XDG_CACHE_HOME"); ok && filepath.IsAbs(v) {
		return v
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(c.Home, "Library", "Caches")
	}
	return filepath.Join(c.Home, ".cache")
}

func (row cache) make(path string) error {
	if !row.file {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// sane refuses a cache that is, or holds, the home folder or a denied place, or
// that lies in one, and whole trees of the system.
func (x *plan) sane(path string) bool {
	if x.home != "" && within(path, x.home) || filepath.Dir(path) == path || filepath.Dir(filepath.Dir(path)) == filepath.Dir(path) {
		return false
	}
	for _, system := range [...]string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys"} {
		if within(system, path) {
			return false
		}
	}
	return !slices.ContainsFunc(slices.Concat(x.deny, x.absent), func(d string) bool {
		return within(path, d) || within(d, path)
	})
}
