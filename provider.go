package oh

import (
	"context"
	"iter"
	"sync"
)

// Request is one question to a model. Messages are legal: roles alternate
// beginning with user, and each call is answered exactly once, in the next
// message, before any other content.
type Request struct {
	Profile   string // of the provider, see [State]
	Model     string
	System    string
	Messages  []Message
	Tools     []ToolSpec // in a stable order
	MaxTokens int        // output limit in tokens; 0 is the codec's default for the model
	Effort    string     // low, medium, high, xhigh; "" when the user set none
	Session   string     // names the session to services that cache by it
	Memo      *Memo      // where codecs keep encoded messages between turns; may be nil
}

// Provider speaks to a model service. Stream makes one attempt and never
// retries. The sequence yields deltas and ends with exactly one [MessageDone]
// or one error (an [*Error]); a stream that breaks off is an error, never a
// finished message. Breaking out of the range ends the request. The sequence
// is ranged over once.
type Provider interface {
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// ProviderFunc is a function as a [Provider].
type ProviderFunc func(ctx context.Context, req *Request) iter.Seq2[Chunk, error]

// Stream implements [Provider].
func (f ProviderFunc) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return f(ctx, req)
}

// Memo keeps what codecs made of messages, so that each is encoded once and
// its bytes stay the same. Messages never change under one ID. A nil Memo
// keeps nothing. It is safe for concurrent use.
type Memo struct {
	mu sync.Mutex
	m  map[memoKey][]byte // guarded by mu
}

type memoKey struct{ codec, id string }

// Get returns the bytes kept for the message id under the codec's key, or
// makes and keeps them. The key names everything but the message that the
// bytes depend on (wire, profile, model).
func (m *Memo) Get(codec, id string, make func() ([]byte, error)) ([]byte, error) {
	if m == nil || id == "" {
		return make()
	}
	key := memoKey{codec, id}
	m.mu.Lock()
	b, ok := m.m[key]
	m.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := make()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[memoKey][]byte{}
	}
	m.m[key] = b
	return b, nil
}

// Reset forgets everything.
func (m *Memo) Reset() {
	m.mu.Lock()
	m.m = nil
	m.mu.Unlock()
}
