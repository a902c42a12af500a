package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

const (
	maxLine  = 2000   // characters shown of one line
	maxChars = 50_000 // characters shown in all
)

// errNUL says that what looked like text holds a NUL byte.
var errNUL = errors.New("holds a NUL byte")

// page collects some lines of a text in bounded memory.
type page struct {
	offset, limit int
	all           bool // go on to the end, to know the number of lines

	out   strings.Builder
	chars int
	shown int  // lines
	lines int  // seen so far; of the whole when ended
	ended bool // the end was reached
	full  bool // the limit on characters ended the page
	crlf  bool
	cut   int // lines that were cut
	guess int // lines that were no UTF-8
	notes []string
}

func (p *page) note(s string) { p.notes = append(p.notes, s) }

// read takes lines from r until the page is full, and on to the end if all.
func (p *page) read(ctx context.Context, r io.Reader) error {
	br := bufio.NewReaderSize(r, headSize)
	if err := p.skip(ctx, br, p.offset); err != nil || p.ended {
		return err
	}
	for p.shown < p.limit && !p.full {
		if err := ctx.Err(); err != nil {
			return err
		}
		ok, err := p.line(br)
		if err != nil {
			return err
		}
		if !ok {
			p.ended = true
			return nil
		}
	}
	if _, err := br.Peek(1); err == io.EOF {
		p.ended = true
		return nil
	}
	if !p.all {
		return nil
	}
	return p.skip(ctx, br, -1)
}

// skip passes n lines, or all that are left when n is negative.
func (p *page) skip(ctx context.Context, br *bufio.Reader, n int) error {
	open := false // the last line has begun
	for n != 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunk, err := br.Peek(1)
		if err == nil {
			chunk, err = br.Peek(br.Buffered())
		}
		if err != nil {
			if open {
				p.lines++
			}
			p.ended = true
			if err == io.EOF {
				return nil
			}
			return err
		}
		took := len(chunk)
		if n < 0 {
			p.lines += bytes.Count(chunk, []byte{'\n'})
			open = chunk[len(chunk)-1] != '\n'
		} else if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			took = i + 1
			p.lines++
			n--
			open = false
		} else {
			open = true
		}
		if _, err := br.Discard(took); err != nil {
			return err
		}
	}
	return nil
}

// line adds one line to the page; false at the end.
func (p *page) line(br *bufio.Reader) (bool, error) {
	var head []byte
	more := 0 // characters beyond head
	any := false
	var last byte
	for {
		part, err := br.ReadSlice('\n')
		if len(part) > 0 {
			any = true
			last = lastBefore(part, last)
		}
		if bytes.IndexByte(part, 0) >= 0 {
			return false, errNUL
		}
		room := max(0, utf8.UTFMax*maxLine-len(head))
		take := min(room, len(part))
		head = append(head, part[:take]...)
		more += runeStarts(part[take:])
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return false, err
		}
		if err == nil && take < len(part) {
			more-- // the line feed itself
			if last == '\r' && more > 0 {
				more--
			}
		}
		break
	}
	if !any {
		return false, nil
	}
	p.lines++
	p.add(head, more, last == '\r')
	return true, nil
}

// lastBefore returns the byte before the line feed that ends part, or its last
// byte.
func lastBefore(part []byte, before byte) byte {
	n := len(part)
	if part[n-1] != '\n' {
		return part[n-1]
	}
	if n > 1 {
		return part[n-2]
	}
	return before
}

func runeStarts(b []byte) int {
	n := 0
	for _, c := range b {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

func (p *page) add(head []byte, more int, cr bool) {
	ended := bytes.HasSuffix(head, []byte{'\n'})
	head = bytes.TrimSuffix(head, []byte{'\n'})
	if cr && ended {
		head = bytes.TrimSuffix(head, []byte{'\r'})
		p.crlf = true
	}
	if more > 0 {
		if whole := trimPartial(head); len(whole) < len(head) {
			head = whole
			more++
		}
	}
	line, guessed := workspace.DecodeLine(head)
	if guessed {
		p.guess++
	}
	n := utf8.RuneCountInString(line)
	if n > maxLine {
		more += n - maxLine
		line, n = text.Head(line, maxLine), maxLine
	}
	if more > 0 {
		line += fmt.Sprintf("… (+%s characters)", text.Number(more))
		p.cut++
	}
	number := fmt.Sprintf("%6d\t", p.lines)
	if p.chars+n > maxChars && p.shown > 0 {
		p.full = true
		return
	}
	p.chars += n + len(number) + 1
	p.out.WriteString(number)
	p.out.WriteString(line)
	p.out.WriteByte('\n')
	p.shown++
}

// trimPartial drops a character that was cut off at the end.
func trimPartial(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// text returns the page with what it left out. size is that of the file, in
// bytes.
func (p *page) text(size int64) string {
	next := p.offset + p.shown
	switch {
	case p.ended && p.lines == 0:
		p.note("The file is empty.")
	case p.ended && p.shown == 0:
		p.note(fmt.Sprintf("The file has %s; offset %d is past its end.", text.Plural(p.lines, "line"), p.offset))
	case p.ended && next < p.lines:
		p.note(fmt.Sprintf("Lines %d-%d of %d. Go on with offset=%d.", p.offset+1, next, p.lines, next))
	case !p.ended:
		p.note(fmt.Sprintf("Lines %d-%d; the file has %s bytes and its lines were not counted. Go on with offset=%d.",
			p.offset+1, next, text.Number(int(size)), next))
	}
	if p.full {
		p.note(fmt.Sprintf("The page ends at %s characters.", text.Number(maxChars)))
	}
	if p.cut > 0 {
		p.note(fmt.Sprintf("%s longer than %s characters cut; grep shows text around a match.", text.Plural(p.cut, "line"), text.Number(maxLine)))
	}
	if p.guess > 0 {
		p.note(fmt.Sprintf("%s not UTF-8, shown as Windows-1252.", text.Plural(p.guess, "line")))
	}
	if len(p.notes) > 0 {
		p.out.WriteString("[" + strings.Join(p.notes, " ") + "]")
	}
	return strings.TrimSuffix(p.out.String(), "\n")
}
