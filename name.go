package oh

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the length of the longest tool name and call id that every wire
// takes.
const maxName = 64

// LegalName returns the name under which a tool is declared to a model: name
// itself when every wire takes it (letters, digits, _ and -, a letter or _
// first, at most 64 in all). Else it is cleaned and ends in a hash of name, so
// that different names stay different and one name gives the same at any time.
// A legal name is returned as it is, so it may be asked twice.
func LegalName(name string) string {
	if legalName(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	mark := "_" + hex.EncodeToString(sum[:4])
	clean := legalBytes(name)
	switch {
	case clean == "":
		clean = "unnamed"
	case !startsName(clean[0]):
		clean = "_" + clean
	}
	return clean[:min(len(clean), maxName-len(mark))] + mark
}

func legalName(s string) bool {
	return s != "" && len(s) <= maxName && startsName(s[0]) && legalBytes(s) == s
}

func startsName(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// LegalID returns a call id as every wire takes it: id itself when it has only
// letters, digits, _ and -, at most 64 in all. Two ids may become one; a
// conversation tells them apart.
func LegalID(id string) string {
	if id == "" {
		return "call"
	}
	id = legalBytes(id)
	return id[:min(len(id), maxName)]
}

// legalBytes replaces each character that is no letter, digit, _ or -.
func legalBytes(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
}
