package text

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

//go:embed spill.md
var spillNotice string

// File is where a [Spill] puts text that is too long.
type File interface {
	io.WriteCloser
	Path() string
}

// Spill collects text of any length in bounded memory. Up to Inline code
// points it is kept whole; beyond, all of it goes to a file and only Preview
// code points stay, half from the head and half from the tail. Writes are
// whole characters of valid UTF-8 (see [Cleaner]).
type Spill struct {
	Inline, Preview int
	Create          func() (File, error) // nil: what is too long is cut and lost, which is said

	buf     []byte // all so far, or the head once spilled
	tail    []byte // the last bytes, once spilled
	chars   int
	lines   int
	bytes   int64
	spilled bool
	file    File
	w       *bufio.Writer
	saved   int64
	err     error // of the file: text is lost from there on
}

// maxSaved bounds the file, in bytes: a command that prints for ever must not
// fill the disk.
const maxSaved = 200 << 20

// Write implements [io.Writer]. It never fails: a file that cannot be written
// is reported by [Spill.Finish].
func (s *Spill) Write(p []byte) (int, error) {
	s.chars += utf8.RuneCount(p)
	s.bytes += int64(len(p))
	s.lines += bytes.Count(p, []byte{'\n'})
	if !s.spilled {
		s.buf = append(s.buf, p...)
		if s.chars > s.Inline {
			s.overflow()
		}
		return len(p), nil
	}
	s.toFile(p)
	s.keepTail(p)
	return len(p), nil
}

func (s *Spill) overflow() {
	s.spilled = true
	if s.Create != nil {
		if s.file, s.err = s.Create(); s.err == nil {
			s.w = bufio.NewWriterSize(s.file, 64<<10)
		}
	}
	s.toFile(s.buf)
	s.keepTail(s.buf)
	head := Head(string(s.buf[:min(len(s.buf), utf8.UTFMax*s.Preview)]), (s.Preview+1)/2)
	s.buf = []byte(head)
}

func (s *Spill) toFile(p []byte) {
	if s.w == nil || s.err != nil {
		return
	}
	if room := maxSaved - s.saved; int64(len(p)) > room {
		p = p[:room] // perhaps inside a character: it is the end of the file
	}
	s.saved += int64(len(p))
	_, s.err = s.w.Write(p)
}

// keepTail keeps at least the last Preview/2 code points.
func (s *Spill) keepTail(p []byte) {
	most := utf8.UTFMax * s.Preview
	if len(p) > most {
		p = p[len(p)-most:]
	}
	s.tail = append(s.tail, p...)
	if len(s.tail) > 4*most {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-most:]...)
	}
}

// Summary is what became of the text of a [Spill].
type Summary struct {
	Text  string // whole, or a notice with head and tail
	Path  string // of the file, "" when there is none
	Chars int    // of the whole
	Bytes int64
	Lines int // newlines in the whole
	Cut   bool
}

// Finish closes the file, if any, and returns the text as the model should see
// it. tool and call name the origin in the notice. The error says that the
// file could not be written; the text then says so too.
func (s *Spill) Finish(tool, call string) (Summary, error) {
	sum := Summary{Text: string(s.buf), Chars: s.chars, Bytes: s.bytes, Lines: s.lines, Cut: s.spilled}
	if !s.spilled {
		return sum, nil
	}
	if s.w != nil && s.err == nil {
		s.err = s.w.Flush()
	}
	if s.file != nil {
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	where := "not saved"
	switch {
	case s.err != nil:
		where = "not saved whole (" + s.err.Error() + ")"
	case s.file != nil:
		sum.Path = s.file.Path()
		where = "saved whole to " + sum.Path
		if s.saved < s.bytes {
			where = fmt.Sprintf("its first %d MB saved to %s", maxSaved>>20, sum.Path)
		}
	}
	tail := Tail(strings.ToValidUTF8(string(s.tail), ""), s.Preview/2)
	headChars, tailChars := utf8.RuneCount(s.buf), utf8.RuneCountInString(tail)
	sum.Text = strings.NewReplacer(
		"{tool}", tool,
		"{call}", call,
		"{chars}", strconv.Itoa(s.chars),
		"{lines}", strconv.Itoa(s.lines),
		"{where}", where,
		"{first}", strconv.Itoa(headChars),
		"{last}", strconv.Itoa(tailChars),
		"{left}", strconv.Itoa(s.chars-headChars-tailChars),
		"{head}", string(s.buf),
		"{tail}", tail,
	).Replace(strings.TrimSuffix(spillNotice, "\n"))
	return sum, s.err
}
