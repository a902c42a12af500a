package session

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Title is the greatest length of [Info.Title], in code points.
const Title = 80

const (
	part    = 64 << 10 // bytes read at each end of a file
	whole   = 256 << 10
	longest = 4 << 20 // of a first message that is read on behind the head
)

// Info describes a session without reading all of it.
type Info struct {
	ID        string
	Path      string
	Elsewhere bool      // it belongs to another project
	Started   time.Time // zero when its beginning is lost
	Changed   time.Time // of the file
	Title     string    // as given, else the first words of the user; "" when neither is text
	Turns     int       // prompts of the user
	More      bool      // there are more turns than Turns: the middle of the file was not read
	Model     string    // that answered last
	Dir       string    // where it was started
	Parent    string    // of a fork
	Bytes     int64
}

// List describes the sessions of this project that hold a message, newest
// change first, at most limit of them; 0 means all. Files that cannot be read
// are passed over. Of a file over 256 kB only both ends are read: a title or
// model that was set in between is not seen.
func (s Store) List(limit int) ([]Info, error) {
	found, err := match(s.Dir, "", false)
	if err != nil {
		return nil, err
	}
	return describe(found, limit), nil
}

// ListAll is [Store.List] over all projects.
func (s Store) ListAll(limit int) ([]Info, error) {
	found, err := match(s.Dir, "", false)
	if err != nil {
		return nil, err
	}
	for _, dir := range s.projects() {
		if more, err := match(dir, "", true); err == nil {
			found = append(found, more...)
		}
	}
	return describe(found, limit), nil
}

func describe(refs []Ref, limit int) []Info {
	infos := make([]Info, 0, len(refs))
	for _, r := range refs {
		st, err := os.Stat(r.Path)
		if err != nil || st.Size() == 0 {
			continue
		}
		infos = append(infos, Info{ID: r.ID, Path: r.Path, Elsewhere: r.Elsewhere, Changed: st.ModTime(), Bytes: st.Size()})
	}
	slices.SortFunc(infos, func(a, b Info) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(b.ID, a.ID))
	})
	out := infos[:0]
	for _, info := range infos {
		if limit > 0 && len(out) == limit {
			break
		}
		if info.look() {
			out = append(out, info)
		}
	}
	return out
}

// look reads the ends of the file and reports whether it holds a message.
func (i *Info) look() bool {
	f, err := os.Open(i.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	var g glance
	if i.Bytes <= whole {
		g.scan(f, 0, i.Bytes, false)
	} else {
		g.scan(f, 0, part, false)
		g.scan(f, i.Bytes-part, part, true)
		i.More = true
	}
	if !g.message {
		return false
	}
	i.Started, i.Turns, i.Model = g.started, g.turns, g.model
	i.Dir, i.Parent = g.start.Dir, g.start.Parent
	i.Title = text.OneLine(text.Clean(text.Head(cmp.Or(g.title, g.first), 100*Title)), Title)
	return true
}

// glance is what was seen of a session.
type glance struct {
	start        oh.SessionStarted
	started      time.Time
	title, first string
	model        string
	turns        int
	message      bool
}

// scan looks at the lines of n bytes from off. In a tail the first line is
// passed over, as it is cut. A line that is cut at the end of the part and
// may be the first message is read to its end.
func (g *glance) scan(f *os.File, off, n int64, tail bool) {
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, off)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, fs.ErrClosed) && got == 0 {
		return
	}
	buf = buf[:got]
	if tail {
		_, buf, _ = bytes.Cut(buf, []byte("\n"))
	}
	for len(buf) > 0 {
		l, rest, ended := bytes.Cut(buf, []byte("\n"))
		if !ended && !tail && g.first == "" && kind(l) == "user_turn" {
			l = readOn(f, l, off+int64(got))
		}
		g.line(l)
		buf = rest
	}
}

// readOn reads the rest of a line that goes on at off.
func readOn(f *os.File, l []byte, off int64) []byte {
	rest := make([]byte, longest)
	n, _ := f.ReadAt(rest, off) // what is missing makes a line that does not decode
	rest, _, _ = bytes.Cut(rest[:n], []byte("\n"))
	return slices.Concat(l, rest)
}

// kind tells the type of the event of a line as we write it, without decoding.
func kind(l []byte) string {
	_, rest, ok := bytes.Cut(l[:min(len(l), 256)], []byte(`"event":{"type":"`))
	if !ok {
		return ""
	}
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(name)
}

func (g *glance) line(l []byte) {
	switch kind(l) {
	case "user_turn":
		if g.first != "" { // what it says is of no interest
			if bytes.HasSuffix(l, []byte(`"source":"user"}}`)) {
				g.turns++
			}
			return
		}
		g.decode(l)
	case "state_changed":
		if bytes.Contains(l, []byte(`"title":"`)) || bytes.Contains(l, []byte(`"model":"`)) {
			g.decode(l)
		}
	case "session_started":
		g.decode(l)
	case "message_done":
		g.message = true
		if m, ok := modelOf(l); ok {
			g.model = m
		}
	}
}

func (g *glance) decode(l []byte) {
	if e, _, err := decodeLine(line{raw: l}); err == nil {
		g.entry(e)
	}
}

func (g *glance) entry(e oh.Entry) {
	switch ev := e.Event.(type) {
	case oh.SessionStarted:
		if g.started.IsZero() {
			g.start, g.started = ev, e.Time
		}
	case oh.UserTurn:
		g.message = true
		if ev.Source == oh.FromUser {
			g.turns++
		}
		if g.first == "" {
			g.first = said(ev.Message)
		}
	case oh.StateChanged:
		g.title = cmp.Or(ev.Title, g.title)
		g.model = cmp.Or(ev.Model, g.model)
	}
}

// modelOf finds the model of a reply, which stands behind its content. Inside
// of content the quotes would be escaped.
func modelOf(l []byte) (string, bool) {
	at := bytes.LastIndex(l, []byte(`],"model":"`))
	if at < 0 {
		return "", false
	}
	m, _, ok := bytes.Cut(l[at+len(`],"model":"`):], []byte(`"`))
	return string(m), ok && !bytes.ContainsRune(m, '\\')
}

// said is what a person wrote in a message, without what the harness added.
func said(m oh.Message) string {
	var words []string
	for _, b := range m.Content {
		if t, ok := b.(oh.Text); ok && !t.Context && strings.TrimSpace(t.Text) != "" {
			words = append(words, t.Text)
		}
	}
	return strings.Join(words, "\n")
}

// Info describes the session that ref names, see [Store.Find]. Of one without
// a message only the first fields are set.
func (s Store) Info(ref string) (Info, error) {
	r, err := s.Find(ref)
	if err != nil {
		return Info{}, err
	}
	infos := describe([]Ref{r}, 1)
	if len(infos) == 0 {
		return Info{ID: r.ID, Path: r.Path, Elsewhere: r.Elsewhere}, nil
	}
	return infos[0], nil
}

// Project is the folder that holds the session, the key of its project.
func (i Info) Project() string { return filepath.Base(filepath.Dir(i.Path)) }
