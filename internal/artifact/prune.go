package artifact

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	mark   = ".pruned"
	period = 24 * time.Hour
)

// prune removes old artifacts if nobody has for a day. The mark is set first,
// so that processes that start together do the work once.
func (s *Store) prune(now time.Time) {
	path := filepath.Join(s.Dir, mark)
	if info, err := os.Stat(path); err == nil {
		if age := now.Sub(info.ModTime()); age >= 0 && age < period {
			return
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	f.Close()
	if os.Chtimes(path, now, now) != nil {
		return
	}
	s.remove(now.Add(-Keep))
}

func (s *Store) remove(before time.Time) {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error is good
	for _, name := range names {
		if t, ok := created(name); ok && t.Before(before) {
			_ = os.Remove(filepath.Join(s.Dir, name)) // tried again after the next period
		}
	}
}

// created tells when an artifact was made, by its name; false for other files.
func created(name string) (time.Time, bool) {
	rest, ok := strings.CutSuffix(name, ".txt")
	if !ok || len(rest) < len(stamp)+len("-t-")+12 {
		return time.Time{}, false
	}
	id := rest[len(rest)-12:]
	if strings.Trim(id, "0123456789abcdef") != "" || rest[len(rest)-13] != '-' || rest[len(stamp)] != '-' {
		return time.Time{}, false
	}
	t, err := time.ParseInLocation(stamp, rest[:len(stamp)], time.Local)
	return t, err == nil
}
