package session

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/openharness/oh"
)

// Fork makes a new session of this project out of an earlier one, also while
// that has a writer; ref is what [Store.Find] takes. The copy holds what the
// original held at the time of the call. It is made by the first entry that is
// appended, and needs the original for nothing then: its first entry names
// parent and message, the rest are copies.
//
// at is the id of the last message to keep: a reply keeps the results of its
// calls too, a user message all that was said before the next reply. An empty
// at keeps everything. The error says so when there is no such message. id is
// that of the new session; empty makes one.
func (s Store) Fork(ref, at, id string) (*File, error) {
	from, err := s.Find(ref)
	if err != nil {
		return nil, err
	}
	src, err := openSource(from, at)
	if err != nil {
		return nil, fmt.Errorf("fork session %s: %w", from.ID, err)
	}
	start, err := src.start()
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("fork session %s: %w", from.ID, err)
	}
	f, err := s.Create(oh.SessionStarted{Session: id, Dir: start.Dir, Root: start.Root, Parent: from.ID, ParentMessage: at})
	if err != nil {
		src.Close()
		return nil, err
	}
	f.from = src
	return f, nil
}

// source is what a fork takes over of another session. It stays open, so that
// it is there to be copied when the time comes.
type source struct {
	id   string
	f    *os.File
	size int64 // bytes that it had when the fork was made
	keep int   // entries, with that of the start; negative: all
}

func openSource(from Ref, at string) (*source, error) {
	f, err := os.Open(from.Path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	src := &source{id: from.ID, f: f, size: info.Size(), keep: -1}
	if at != "" {
		if src.keep, err = src.countTo(at); err != nil {
			f.Close()
			return nil, err
		}
	}
	return src, nil
}

// Close closes the file.
func (s *source) Close() error { return s.f.Close() }

func (s *source) read() io.Reader { return io.NewSectionReader(s.f, 0, s.size) }

// start is the source's own first entry, if it has one.
func (s *source) start() (oh.SessionStarted, error) {
	for e, err := range Read(s.read(), func(int, error) {}) {
		if err != nil {
			return oh.SessionStarted{}, err
		}
		start, _ := e.Event.(oh.SessionStarted)
		return start, nil
	}
	return oh.SessionStarted{}, nil
}

// entries yields what is kept, with each entry as it stands in the file, but
// not the start entry.
func (s *source) entries(skip func(int, error)) iter.Seq2[kept, error] {
	return func(yield func(kept, error) bool) {
		n := 0
		for l, err := range lines(s.read(), MaxLine) {
			if err != nil {
				yield(kept{}, err)
				return
			}
			if n == s.keep {
				return
			}
			e, raw, err := decodeLine(l)
			if err != nil {
				skip(l.num, err)
				continue
			}
			n++
			if _, start := e.Event.(oh.SessionStarted); start && n == 1 {
				continue
			}
			if !yield(kept{e, raw}, nil) {
				return
			}
		}
	}
}

type kept struct {
	entry oh.Entry
	raw   []byte // valid until the next one
}

// countTo counts the entries that a fork at a message keeps.
func (s *source) countTo(at string) (int, error) {
	c := cut{at: at, base: baseID(at)}
	n := 0
	for e, err := range Read(s.read(), func(int, error) {}) {
		if err != nil {
			return 0, err
		}
		if c.ends(e.Event) {
			return n, nil
		}
		n++
	}
	if !c.found {
		return 0, fmt.Errorf("it has no message %q", at)
	}
	return n, nil
}

// baseID takes off what a conversation adds to the id of a message of results,
// or of one that grew after it was sent.
func baseID(id string) string {
	if rest := strings.TrimRight(id, "0123456789"); rest != id && strings.HasSuffix(rest, ".") {
		id = rest[:len(rest)-1]
	}
	return strings.TrimSuffix(id, "-r")
}

// cut finds the first entry that a fork leaves out.
type cut struct {
	at, base string
	found    bool
	toReply  bool // all up to the next reply is kept
}

func (c *cut) ends(e oh.Event) bool {
	switch e := e.(type) {
	case oh.UserTurn:
		if c.found {
			return !c.toReply
		}
		c.found = e.Message.ID == c.at || e.Message.ID == c.base
		c.toReply = true
	case oh.MessageDone:
		if c.found {
			return true
		}
		c.found = e.Message.ID == c.at || e.Message.ID == c.base
		c.toReply = e.Message.ID != c.at
	case oh.Compaction:
		if c.found {
			return true // the message is wanted with the history it had
		}
		for _, m := range e.History {
			c.found = c.found || m.ID == c.at
		}
		c.toReply = true
	}
	return false
}
