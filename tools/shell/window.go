package shell

import (
	"slices"
	"unicode/utf8"
)

// mostUnread is how many bytes of unread output a task keeps in memory. It is
// also the most that one look may ask for, so what is kept always suffices.
const mostUnread = 100_000

// window keeps what was written since the last take: all of it up to
// mostUnread bytes, else as much of its head and of its tail. The zero value
// is empty and takes no memory.
type window struct {
	head, tail []byte // tail is used once head is full, and may hold more than it has to
	total      int64
}

func (w *window) add(p []byte) {
	w.total += int64(len(p))
	if room := mostUnread - len(w.head); room > 0 {
		n := min(room, len(p))
		w.head = append(w.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > mostUnread {
		p = p[len(p)-mostUnread:]
	}
	w.tail = append(w.tail, p...)
	if len(w.tail) > 2*mostUnread {
		w.tail = append(w.tail[:0], w.tail[len(w.tail)-mostUnread:]...)
	}
}

// take empties the window. It returns all of its text if that is at most most
// bytes long, else a head and a tail of together most bytes at most, and how
// many bytes are left out between them. Nothing is cut inside a character.
func (w *window) take(most int) (head, tail string, left int64) {
	defer func() { *w = window{} }()
	most = min(most, mostUnread)
	if w.total <= int64(most) {
		return string(w.head), "", 0
	}
	head = string(firstBytes(w.head, (most+1)/2))
	end := w.tail
	if len(end) < most { // the tail then begins in what head holds
		end = slices.Concat(w.head[max(0, len(w.head)-most):], w.tail)
	}
	tail = string(lastBytes(end, most/2))
	return head, tail, w.total - int64(len(head)) - int64(len(tail))
}

// firstBytes is the longest head of whole characters in n bytes.
func firstBytes(p []byte, n int) []byte {
	if len(p) <= n {
		return p
	}
	for n > 0 && !utf8.RuneStart(p[n]) {
		n--
	}
	return p[:n]
}

// lastBytes is the longest tail of whole characters in n bytes.
func lastBytes(p []byte, n int) []byte {
	at := max(0, len(p)-n)
	for at < len(p) && !utf8.RuneStart(p[at]) {
		at++
	}
	return p[at:]
}
