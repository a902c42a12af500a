package ohtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
)

// seal returns the signature of a piece of reasoning.
func seal(thought string) string {
	sum := sha256.Sum256([]byte("ohtest thinking\x00" + thought))
	return "ohsig_" + hex.EncodeToString(sum[:20])
}

// encryptedThought returns the encrypted content of reasoning whose summary is
// given.
func encryptedThought(summary string) string { return "gAAAAA" + seal("responses "+summary) }

// issued remembers the reasoning that a server sent. The zero value remembers
// none. It is safe for concurrent use.
type issued struct {
	mu         sync.Mutex
	signatures map[signature]string     // guarded by mu; → text
	texts      map[reasoning]bool       // guarded by mu
	calls      map[sentCall][]reasoning // guarded by mu; → what its reply had
	items      map[string]sentItem      // guarded by mu; by the id of a reasoning item
	parts      map[string]sentPart      // guarded by mu; by signature, Gemini
	led        map[string]string        // guarded by mu; item id → id of the reasoning item before it
	secrets    map[string]Wire          // guarded by mu; what no other wire may see
}

// signature is one that was sent on a wire.
type signature struct {
	wire Wire
	text string
}

// sentCall is the id of a call that was sent on a wire.
type sentCall struct {
	wire Wire
	id   string
}

// anyDetails stands for reasoning_details of any content: clients merge the
// pieces in ways of their own.
const anyDetails = "(details)"

// reasoning is what was sent in one field of a reply.
type reasoning struct{ field, text string }

// sentItem is a reasoning item of the Responses wire.
type sentItem struct {
	encrypted string
	summary   string // as JSON
	next      string // what came after it: the kind of an item, and a call's name
}

// sentPart is a part of the Gemini wire that carried a signature.
type sentPart struct {
	call bool
	name string
	args string // as canonical JSON
}

// minSecret is the length in bytes from which a signature cannot stand in a
// body by chance.
const minSecret = 16

// thought returns the text that goes with a signature of a wire.
func (i *issued) thought(w Wire, sig string) (string, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s, ok := i.signatures[signature{w, sig}]
	return s, ok
}

// reasoned reports whether a reply had this text in this field.
func (i *issued) reasoned(field, text string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.texts[reasoning{field, text}]
}

// before returns the reasoning of the reply that had a call, one for each
// field it was sent in.
func (i *issued) before(w Wire, call string) []reasoning {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls[sentCall{w, call}]
}

// item returns a reasoning item by its id.
func (i *issued) item(id string) (sentItem, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s, ok := i.items[id]
	return s, ok
}

// leader returns the id of the reasoning item that came before an item, "" when
// there was none.
func (i *issued) leader(id string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.led[id]
}

// part returns the part that a signature came with.
func (i *issued) part(sig string) (sentPart, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p, ok := i.parts[sig]
	return p, ok
}

// foreign looks in a body of a wire for what was sealed for another.
func (i *issued) foreign(w Wire, body []byte) (other Wire, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for secret, other := range i.secrets {
		if other != w && bytes.Contains(body, []byte(secret)) {
			return other, true
		}
	}
	return "", false
}

// canonical returns a decoded value as JSON that can be compared.
func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
