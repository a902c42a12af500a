package wire

import "fmt"

// MaxReply is how many bytes a reply may have: its text, thinking, arguments
// and what goes back to the service with them.
const MaxReply = 64 << 20

// perBlock is what a block counts beside its content.
const perBlock = 256

// ErrTooMuch says that a reply passed [MaxReply]. Another attempt would too.
var ErrTooMuch = fmt.Errorf("the reply is longer than %d MB and was given up", MaxReply>>20)

// Size counts what is kept of a reply.
type Size struct{ n int }

// Add counts n bytes.
func (s *Size) Add(n int) { s.n += n }

// AddBlock counts a block that begins.
func (s *Size) AddBlock() { s.n += perBlock }

// Check returns [ErrTooMuch] when the reply is too long.
func (s *Size) Check() error {
	if s.n > MaxReply {
		return ErrTooMuch
	}
	return nil
}
