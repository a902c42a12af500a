package session

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/openharness/oh"
)

// Fork copies a session into a new one of this project that can be written at
// once, also while the original has a writer; ref is what [Store.Find] takes.
// The new file needs the old one for nothing: its first entry names parent and
// message, the rest are copies.
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
	start, err := startOf(from)
	if err != nil {
		return nil, err
	}
	f, err := s.Create(oh.SessionStarted{Session: id, Dir: start.Dir, Root: start.Root, Parent: from.ID, ParentMessage: at})
	if err != nil {
		return nil, err
	}
	if err := f.copyFrom(from, at); err != nil {
		f.Close()
		if f.w != nil {
			err = errors.Join(err, os.Remove(f.path))
		}
		return nil, fmt.Errorf("fork session %s: %w", from.ID, err)
	}
	return f, nil
}

func startOf(from Ref) (oh.SessionStarted, error) {
	r, err := openLog(from.Path)
	if err != nil {
		return oh.SessionStarted{}, fmt.Errorf("fork session %s: %w", from.ID, err)
	}
	defer r.Close()
	for e, err := range Read(r, func(int, error) {}) {
		if err != nil {
			return oh.SessionStarted{}, fmt.Errorf("fork session %s: %w", from.ID, err)
		}
		start, _ := e.Event.(oh.SessionStarted)
		return start, nil
	}
	return oh.SessionStarted{}, nil
}

// copyFrom writes the start entry of f and copies of the entries up to at.
func (f *File) copyFrom(from Ref, at string) error {
	if at != "" {
		n, err := countTo(from.Path, at)
		if err != nil {
			return err
		}
		return f.copyLines(from.Path, n)
	}
	return f.copyLines(from.Path, -1)
}

// copyLines copies the first n entries of the file at path, all of them when n
// is negative. Its start entry is replaced by that of f.
func (f *File) copyLines(path string, n int) error {
	r, err := openLog(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := f.Append(f.start); err != nil {
		return err
	}
	w := bufio.NewWriterSize(f.w, 256<<10)
	first := true
	for l, err := range lines(r, MaxLine) {
		if err != nil {
			return err
		}
		e, raw, err := decodeLine(l)
		if err != nil {
			continue
		}
		if n == 0 {
			break
		}
		n--
		_, start := e.Event.(oh.SessionStarted)
		if start && first {
			first = false
			continue
		}
		first = false
		w.Write(raw) // an error stays in w until Flush
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// countTo counts the entries that a fork at a message keeps.
func countTo(path, at string) (int, error) {
	r, err := openLog(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	c := cut{at: at, base: baseID(at)}
	n := 0
	for e, err := range Read(r, func(int, error) {}) {
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
