package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// MaxLine is the longest line, in bytes, that is read; a longer one is skipped
// like any other that is no entry.
const MaxLine = 256 << 20

const shownLines = 10

// Skipped counts the lines that were left out of a session.
type Skipped struct {
	Count int
	Lines []int // the numbers of the first ten, from 1
	First error // why the first one was left out
}

func (s *Skipped) add(line int, err error) {
	s.Count++
	if s.First == nil {
		s.First = err
	}
	if len(s.Lines) < shownLines {
		s.Lines = append(s.Lines, line)
	}
}

// String says it in a sentence, or nothing when nothing was left out.
func (s Skipped) String() string {
	if s.Count == 0 {
		return ""
	}
	nums := make([]string, len(s.Lines))
	for i, n := range s.Lines {
		nums[i] = text.Number(n)
	}
	at := "line " + nums[0]
	if s.Count > 1 {
		at = "lines " + strings.Join(nums, ", ")
	}
	if s.Count > len(s.Lines) {
		at += ", ..."
	}
	return fmt.Sprintf("%s of the session could not be read and left out (%s: %v)", text.Plural(s.Count, "line"), at, s.First)
}

// Read yields the entries of a log, whatever else is in it. Lines that are no
// entry (torn, of another program, runs of NUL, too long) are left out and told
// to skip with their number from 1; empty ones count too. An error of r ends
// the sequence.
func Read(r io.Reader, skip func(line int, err error)) iter.Seq2[oh.Entry, error] {
	return func(yield func(oh.Entry, error) bool) {
		for l, err := range lines(r, MaxLine) {
			if err != nil {
				yield(oh.Entry{}, err)
				return
			}
			e, _, err := decodeLine(l)
			if err != nil {
				skip(l.num, err)
				continue
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Head is an entry whose event is not decoded: Raw is its JSON, valid until the
// next one. The type is the event's.
type Head struct {
	ID   string
	Time time.Time
	Type string
	Raw  []byte
}

// Heads is [Read] without the events, for whoever needs a few facts of many
// logs. What is within an event is not looked at, so that a damaged one is seen
// only by who decodes it.
func Heads(r io.Reader, skip func(line int, err error)) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for l, err := range lines(r, MaxLine) {
			if err != nil {
				yield(Head{}, err)
				return
			}
			h, ok := cutOwn(bytes.Trim(l.raw, "\x00 \t\r"))
			if h.Type = typeOf(h.Raw); !ok || h.Type == "" {
				e, raw, err := decodeLine(l)
				if err != nil {
					skip(l.num, err)
					continue
				}
				if h, ok = cutOwn(raw); !ok {
					if h.Raw, err = oh.AppendEvent(nil, e.Event); err != nil {
						skip(l.num, err)
						continue
					}
					h.ID, h.Time = e.ID, e.Time
				}
				h.Type = oh.EventType(e.Event)
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

// typeOf reads the type of an event in the very form that it is written in.
func typeOf(raw []byte) string {
	rest, ok := bytes.CutPrefix(raw, []byte(`{"type":"`))
	if !ok || raw[len(raw)-1] != '}' {
		return ""
	}
	kind, _, ok := bytes.Cut(rest[:min(len(rest), 64)], []byte(`"`))
	if !ok {
		return ""
	}
	return string(kind)
}

// log is a file as long as it was when it was opened: a writer that is faster
// than the reader must not keep it reading.
type log struct {
	io.Reader
	f *os.File
}

func openLog(path string) (*log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &log{io.LimitReader(f, info.Size()), f}, nil
}

// Close closes the file.
func (l *log) Close() error { return l.f.Close() }

// line is one line of a log, without its newline. The bytes are valid until
// the next one.
type line struct {
	num  int
	raw  []byte
	long bool // more than the limit; raw is empty
}

// lines splits r at newlines in bounded memory. The end of the last line
// needs no newline.
func lines(r io.Reader, limit int) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var held []byte
		for num := 1; ; num++ {
			held = held[:0]
			long := false
			part, err := br.ReadSlice('\n')
			for errors.Is(err, bufio.ErrBufferFull) {
				if long = long || len(held)+len(part) > limit; !long {
					held = append(held, part...)
				}
				part, err = br.ReadSlice('\n')
			}
			if err != nil && err != io.EOF {
				yield(line{num: num}, err)
				return
			}
			if err == io.EOF && len(part) == 0 && len(held) == 0 && !long {
				return
			}
			raw := part
			if long || len(held)+len(part) > limit {
				long, raw = true, nil
			} else if len(held) > 0 {
				held = append(held, part...)
				raw = held
			}
			if !yield(line{num, bytes.TrimSuffix(raw, []byte("\n")), long}, nil) || err == io.EOF {
				return
			}
		}
	}
}

var (
	errEmpty = errors.New("empty line")
	errNUL   = errors.New("nothing but NUL bytes")
	errLong  = fmt.Errorf("longer than %s MB", text.Number(MaxLine>>20))
	errNoID  = errors.New("an entry without id")
)

// maxGlued bounds the work on a line that holds many beginnings of entries.
const maxGlued = 16

// entryStart is how each entry begins as we write it.
var entryStart = []byte(`{"id":"`)

// decodeLine reads one line and returns the part of it that holds the entry. A
// whole entry behind a torn one or behind NUL bytes on the same line is
// found: it is what reached the disk last.
func decodeLine(l line) (oh.Entry, []byte, error) {
	if l.long {
		return oh.Entry{}, nil, errLong
	}
	raw := bytes.TrimSpace(l.raw)
	if len(raw) == 0 {
		return oh.Entry{}, nil, errEmpty
	}
	if raw = bytes.Trim(raw, "\x00 \t\r"); len(raw) == 0 {
		return oh.Entry{}, nil, errNUL
	}
	e, err := decodeEntry(raw)
	if err == nil {
		return e, raw, nil
	}
	rest := raw
	for range maxGlued {
		at := bytes.Index(rest[1:], entryStart)
		if at < 0 {
			break
		}
		rest = rest[1+at:]
		if e, ok := decodeOwn(rest); ok {
			return e, rest, nil
		}
	}
	return oh.Entry{}, nil, err
}

func decodeEntry(raw []byte) (oh.Entry, error) {
	if e, ok := decodeOwn(raw); ok {
		return e, nil
	}
	var e oh.Entry
	if err := e.UnmarshalJSON(raw); err != nil {
		return oh.Entry{}, err
	}
	if e.ID == "" {
		return oh.Entry{}, errNoID
	}
	return e, nil
}

// decodeOwn reads an entry in the very form that File writes, which spares a
// pass over the event. It gives up on anything else.
func decodeOwn(raw []byte) (oh.Entry, bool) {
	h, ok := cutOwn(raw)
	if !ok {
		return oh.Entry{}, false
	}
	ev, err := oh.DecodeEvent(h.Raw)
	if err != nil {
		return oh.Entry{}, false
	}
	return oh.Entry{ID: h.ID, Time: h.Time, Event: ev}, true
}

// cutOwn takes an entry apart that has the very form that File writes.
func cutOwn(raw []byte) (Head, bool) {
	rest, ok := bytes.CutPrefix(raw, entryStart)
	if !ok {
		return Head{}, false
	}
	id, rest, ok := bytes.Cut(rest, []byte(`","time":"`))
	if !ok || len(id) == 0 || bytes.ContainsAny(id, `"\`) {
		return Head{}, false
	}
	when, rest, ok := bytes.Cut(rest, []byte(`","event":`))
	if !ok || !bytes.HasSuffix(rest, []byte("}")) {
		return Head{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, string(when))
	if err != nil {
		return Head{}, false
	}
	return Head{ID: string(id), Time: t, Raw: rest[:len(rest)-1]}, true
}
