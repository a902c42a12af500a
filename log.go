package oh

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// Log stores the events of record of one conversation. Append writes one entry
// before it returns; the entry is not changed afterwards. Sync makes what was
// appended durable. A Log is used from one goroutine at a time.
type Log interface {
	Append(Entry) error
	Sync() error
}

// MemoryLog is a [Log] that keeps its entries in memory. The zero value is
// ready for use, and it is safe for concurrent use.
type MemoryLog struct {
	mu      sync.Mutex
	entries []Entry // guarded by mu
}

// Append implements [Log].
func (l *MemoryLog) Append(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	return nil
}

// Sync implements [Log].
func (l *MemoryLog) Sync() error { return nil }

// Entries returns a copy of what was appended.
func (l *MemoryLog) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.entries...)
}

// NewEntry wraps an event of record with a new id and the time now.
func NewEntry(e Event) Entry {
	return Entry{ID: NewID(), Time: time.Now().UTC(), Event: e}
}

// NewID returns a new UUID of version 7 as text: ids sort by time to the
// millisecond.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never fails
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}
