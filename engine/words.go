package engine

import (
	_ "embed"
	"strings"
)

//go:embed words.md
var words string

// The engine's words for the model, one section of words.md each.
var (
	wordCutText  = word("cut text")
	wordCutCall  = word("cut call")
	wordPaused   = word("paused")
	wordRefused  = word("refused")
	wordNotRun   = word("not run")
	wordDenied   = word("denied")
	wordNobody   = word("nobody")
	wordUnparsed = word("unparsed")
	wordUnknown  = word("unknown tool")
	wordRepeated = word("repeated")
)

// word returns the text under a heading of words.md.
func word(heading string) string {
	_, rest, ok := strings.Cut(words, "## "+heading+"\n")
	if !ok {
		panic("engine: words.md has no section " + heading)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(body)
}

// fill replaces {name} placeholders.
func fill(text string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
