package body

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/bridge"
)

// Tools keeps the encoded form of the last list of tools, which is the same
// for most requests. It is safe for concurrent use. Specs are not changed once
// they were given.
type Tools struct {
	mu   sync.Mutex
	last []oh.ToolSpec // guarded by mu, like all below
	form string
	made bool
	raw  []byte
}

// Get returns the bytes that encode made of specs, now or before.
func (t *Tools) Get(specs []oh.ToolSpec, encode func([]oh.ToolSpec) []byte) []byte {
	return t.As("", specs, encode)
}

// As is Get where encode has several forms; form names the one it has now.
func (t *Tools) As(form string, specs []oh.ToolSpec, encode func([]oh.ToolSpec) []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.made || t.form != form || !slices.EqualFunc(t.last, specs, sameSpec) {
		t.last, t.form, t.made, t.raw = slices.Clone(specs), form, true, encode(specs)
	}
	return t.raw
}

func sameSpec(a, b oh.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// ToolList writes the tools that can be offered in a dialect as a JSON list: one
// appends a tool with its schema, empty where the dialect has none for a tool
// that takes nothing. Without any tool it returns nothing.
func ToolList(specs []oh.ToolSpec, d bridge.Dialect, one func(out []byte, t oh.ToolSpec, schema []byte) []byte) []byte {
	out := []byte{'['}
	for _, t := range specs {
		schema, err := bridge.Convert(t.Schema, d)
		if err != nil {
			continue // the request is not lost for one tool; who made the list warned
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = one(out, t, schema)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}

// Function appends a tool in the form of Chat Completions, which Ollama took
// over.
func Function(out []byte, t oh.ToolSpec, schema []byte) []byte {
	out = append(out, `{"type":"function","function":{"name":`...)
	out = text.AppendJSON(out, Name(t.Name))
	if !Blank(t.Description) {
		out = append(out, `,"description":`...)
		out = text.AppendJSON(out, t.Description)
	}
	out = append(out, `,"parameters":`...)
	return append(AppendRaw(out, schema, bridge.Empty), `}}`...)
}

// Name returns a tool's name as the wires take it; see [oh.LegalName].
func Name(s string) string { return oh.LegalName(s) }

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
