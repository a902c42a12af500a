package body

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/openharness/oh"
)

// Tools keeps the encoded form of the last list of tools, which is the same
// for most requests. It is safe for concurrent use. Specs are not changed once
// they were given.
type Tools struct {
	mu   sync.Mutex
	last []oh.ToolSpec // guarded by mu, like raw
	raw  []byte
}

// Get returns the bytes that encode made of specs, now or before.
func (t *Tools) Get(specs []oh.ToolSpec, encode func([]oh.ToolSpec) []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.raw == nil || !slices.EqualFunc(t.last, specs, sameSpec) {
		t.last, t.raw = slices.Clone(specs), encode(specs)
	}
	return t.raw
}

func sameSpec(a, b oh.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// Schema returns a tool's schema as services demand it: an object with
// properties.
func Schema(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '{' {
		return []byte(`{"type":"object","properties":{}}`)
	}
	if bytes.Contains(raw, []byte(`"properties"`)) {
		return raw
	}
	out := append([]byte(nil), raw[:1]...)
	if !bytes.Contains(raw, []byte(`"type"`)) {
		out = append(out, `"type":"object",`...)
	}
	out = append(out, `"properties":{}`...)
	if rest := bytes.TrimSpace(raw[1:]); rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, raw[1:]...)
}

// MaxName is the length of the longest tool name that every wire takes.
const MaxName = 64

// Name returns a tool's name as the wires take it: letters, digits, _ and -,
// at most [MaxName] of them, at least one.
func Name(s string) string {
	ok := s != "" && len(s) <= MaxName
	for i := 0; ok && i < len(s); i++ {
		ok = nameByte(s[i])
	}
	if ok {
		return s
	}
	out := make([]byte, 0, MaxName)
	for i := 0; i < len(s) && len(out) < MaxName; i++ {
		if nameByte(s[i]) {
			out = append(out, s[i])
		} else {
			out = append(out, '_')
		}
	}
	if len(out) == 0 {
		return "unnamed"
	}
	return string(out)
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// ImageType returns the media type of an image as services write it, "" for a
// kind of image that they do not take.
func ImageType(media string) string {
	switch media = strings.ToLower(strings.TrimSpace(media)); media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return media
	case "image/jpg":
		return "image/jpeg"
	}
	return ""
}
