package plain

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh/internal/gist"
	"github.com/openharness/oh/internal/text"
)

// look is how things are drawn.
type look struct {
	colour bool
	ascii  bool
}

func lookOf(c Config) look {
	dumb := c.Getenv("TERM") == "dumb"
	bare := c.Getenv("NO_COLOR") != ""
	return look{colour: c.Terminal && !dumb && !bare, ascii: dumb || bare || !speaksUTF8(c.Getenv)}
}

// speaksUTF8 reads the locale as C programs do: the first variable that is set
// counts. None set says nothing, so UTF-8 is assumed.
func speaksUTF8(getenv func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(key)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

func (l look) paint(code, s string) string {
	if !l.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (l look) dim(s string) string  { return l.paint("2", s) }
func (l look) good(s string) string { return l.paint("32", s) }
func (l look) bad(s string) string  { return l.paint("31", s) }

// glyph returns a sign or its ASCII twin.
func (l look) glyph(sign string) string {
	if !l.ascii {
		return sign
	}
	switch sign {
	case "›":
		return ">"
	case "●":
		return "*"
	case "✓":
		return "ok"
	case "✗":
		return "error:"
	case "⚠":
		return "note:"
	case "└":
		return "|"
	}
	return "..."
}

// screen writes lines and streamed text, and knows whether a line is open. It
// is safe for concurrent use; after a failed write it writes nothing more.
type screen struct {
	look
	cols int // prose is broken at words to fit; 0: not at all

	mu    sync.Mutex // guards what follows
	w     io.Writer
	open  bool // something stands on the last line
	clean *text.Cleaner
	last  time.Time // something was shown
	err   error
}

// Write implements [io.Writer] for the cleaner. The lock is held.
func (s *screen) Write(b []byte) (int, error) {
	s.put(string(b))
	return len(b), nil
}

func (s *screen) put(t string) {
	if s.err != nil || t == "" {
		return
	}
	if _, err := io.WriteString(s.w, t); err != nil {
		s.err = fmt.Errorf("write to the screen: %w", err)
	}
	s.open = !strings.HasSuffix(t, "\n")
	s.last = time.Now()
}

// shown returns when something was shown last.
func (s *screen) shown() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *screen) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// line writes finished text on lines of its own; "" only ends an open line.
func (s *screen) line(t string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.put("\n")
	}
	if t != "" {
		s.put(strings.TrimSuffix(t, "\n") + "\n")
	}
}

// stream shows a piece of a message.
func (s *screen) stream(t string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clean == nil {
		if s.open {
			s.put("\n")
		}
		s.put("\n")
		s.clean = &text.Cleaner{W: s}
	}
	_, _ = io.WriteString(s.clean, t)
}

// streaming reports whether a message has begun.
func (s *screen) streaming() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean != nil
}

// streamed ends a message.
func (s *screen) streamed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clean == nil {
		return
	}
	_ = s.clean.Close()
	s.clean = nil
	if s.open {
		s.put("\n")
	}
}

func (s *screen) prompt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.put("\n")
	}
	s.put(s.glyph("›") + " ")
}

// ask shows the prompt of a question.
func (s *screen) ask() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put("? ")
}

func (s *screen) more() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(s.glyph("…") + " ")
}

// entered notes that the person's own newline ended the line of the prompt.
func (s *screen) entered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
}

// first shows a prompt that was not typed here as if it were.
func (s *screen) first(t string) {
	s.prompt()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(strings.ReplaceAll(text.Clean(t), "\n", "\n"+s.glyph("…")+" ") + "\n")
}

// fold breaks prose at words to fit the screen; hang begins what goes on.
func (s *screen) fold(t, hang string) string { return wrap(t, s.cols, hang) }

// dimmed shows secondary prose.
func (s *screen) dimmed(t string) { s.line(s.dim(s.fold(t, "  "))) }

func (s *screen) problem(t string) {
	s.line(s.bad(s.fold(s.glyph("✗")+" "+gist.Words(t, 4000), "  ")))
}

func (s *screen) warning(t string) {
	s.line(s.fold(s.glyph("⚠")+" "+gist.Words(t, 2000), "  "))
}
