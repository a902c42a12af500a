package openai

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/openharness/oh/provider"
)

// callID returns the id of a call in the form that the service takes. A call
// and its result get the same, at any time.
func (e *encoder) callID(id string) string {
	if e.traits.CallIDs != provider.NineID || isNine(id) {
		return id
	}
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(id))
	n := binary.BigEndian.Uint64(sum[:])
	out := make([]byte, 9)
	for i := range out {
		out[i] = digits[n%uint64(len(digits))]
		n /= uint64(len(digits))
	}
	return string(out)
}

// isNine reports whether an id is nine letters and digits.
func isNine(id string) bool {
	for i := 0; i < len(id); i++ {
		c := id[i]
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return false
		}
	}
	return len(id) == 9
}
