package body

import (
	"slices"

	"github.com/openharness/oh"
)

const (
	// joined is how many messages are kept as one piece.
	joined = 32

	// maxJoined is the length of the longest such piece in bytes. What is
	// longer would be kept twice and gain nothing.
	maxJoined = 64 << 10
)

// History adds encoded messages to a body. Each is encoded once and kept in
// the memo; runs of short ones are kept joined as well, since a long
// conversation has thousands, and every request sends them all.
type History struct {
	Memo   *oh.Memo                 // may be nil
	Key    string                   // names all but the message that its bytes depend on
	Encode func(*oh.Message) []byte // never empty
}

// Add appends messages to the list that is being written.
func (h History) Add(b *Body, msgs []oh.Message) error {
	b.Grow(2 * (len(msgs)/joined + joined)) // with the commas
	for run := range slices.Chunk(msgs, joined) {
		raw, err := h.run(run)
		if err != nil {
			return err
		}
		if len(raw) > 0 {
			b.AddItem(raw)
			continue
		}
		for i := range run {
			if raw, err = h.Message(&run[i]); err != nil {
				return err
			}
			b.AddItem(raw)
		}
	}
	return nil
}

// Message returns one encoded message.
func (h History) Message(m *oh.Message) ([]byte, error) {
	return h.Memo.Get(h.Key, m.ID, func() ([]byte, error) { return h.Encode(m), nil })
}

// run returns a whole run of messages with commas between; nothing when they
// are to be added one by one. What is kept begins with the ids of its messages:
// which of them lie between two is not promised.
func (h History) run(msgs []oh.Message) ([]byte, error) {
	if h.Memo == nil || len(msgs) < joined || slices.ContainsFunc(msgs, nameless) {
		return nil, nil
	}
	id := msgs[0].ID + "\x00" + msgs[len(msgs)-1].ID
	raw, err := h.Memo.Get(h.Key+"\x00joined", id, func() ([]byte, error) { return h.join(msgs) })
	for i := range msgs {
		var ok bool
		if raw, ok = cutID(raw, msgs[i].ID); !ok {
			return nil, err
		}
	}
	return raw, err
}

func nameless(m oh.Message) bool { return m.ID == "" }

func cutID(raw []byte, id string) ([]byte, bool) {
	n := len(id)
	if len(raw) <= n || string(raw[:n]) != id || raw[n] != 0 {
		return nil, false
	}
	return raw[n+1:], true
}

// join makes what is kept of a run: the ids alone when it is too long.
func (h History) join(msgs []oh.Message) ([]byte, error) {
	ids, size := 0, len(msgs)
	for i := range msgs {
		raw, err := h.Message(&msgs[i])
		if err != nil {
			return nil, err
		}
		ids += len(msgs[i].ID) + 1
		size += len(raw)
	}
	long := size > maxJoined
	if long {
		size = 0
	}
	out := make([]byte, 0, ids+size)
	for i := range msgs {
		out = append(append(out, msgs[i].ID...), 0)
	}
	if long {
		return out, nil
	}
	for i := range msgs {
		raw, err := h.Message(&msgs[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return out, nil
}
