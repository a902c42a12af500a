// Package artifact stores tool output that is too long for a conversation.
//
// Each output is a file of its own that only the user can read. Files are
// never overwritten. It is not for what the model sees of them: that is the
// notice written by package text.
package artifact

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// Keep is how long an artifact stays.
const Keep = 30 * 24 * time.Hour

const (
	stamp   = "20060102-150405"
	maxName = 80 // bytes of a tool's name
)

// Store keeps artifacts in Dir, which is created with the first one. A file is
// named <local time YYYYmmdd-HHMMSS>-<tool>-<12 hex digits>.txt.
//
// When one is created, and at most once a day over all processes, those with a
// name that is older than [Keep] are removed; other files are left alone. The
// mark of the last time is the file .pruned. What cannot be removed is tried
// again the next time and never fails a Create.
//
// A Store is safe for concurrent use.
type Store struct {
	Dir string           // absolute
	Now func() time.Time // nil: the clock
}

// Create implements [oh.Artifacts]. Characters of the tool's name other than
// letters, digits, - and _ become _.
func (s *Store) Create(tool string) (oh.Artifact, error) {
	if s.Dir == "" {
		return nil, errors.New("create artifact: no folder to keep artifacts in")
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create artifact folder: %w", err)
	}
	now := s.now()
	s.prune(now)
	var id [6]byte
	_, _ = rand.Read(id[:]) // never fails
	name := now.Local().Format(stamp) + "-" + safe(tool) + "-" + hex.EncodeToString(id[:]) + ".txt"
	f, err := os.OpenFile(filepath.Join(s.Dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create artifact: %w", err)
	}
	return file{f}, nil
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

type file struct{ *os.File }

// Path implements [oh.Artifact].
func (f file) Path() string { return f.Name() }

func safe(tool string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, tool)
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), maxName)]
}

var _ oh.Artifacts = (*Store)(nil)
