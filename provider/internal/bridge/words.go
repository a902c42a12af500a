package bridge

import (
	_ "embed"
	"strings"
)

//go:embed words.md
var words string

// word returns the text under a heading of words.md with {name} placeholders
// filled in.
func word(heading string, pairs ...string) string {
	_, rest, _ := strings.Cut(words, "## "+heading+"\n")
	body, _, _ := strings.Cut(rest, "\n## ")
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(strings.TrimSpace(body))
}

// tell puts a fact into the description of a schema.
func tell(o *object, fact string) {
	said := o.text("description")
	switch {
	case fact == "" || len(said) > MaxSize || strings.Contains(said, fact):
	case strings.TrimSpace(said) == "":
		o.set("description", fact)
	default:
		o.set("description", sentence(said)+" "+fact)
	}
}

// sentence ends a text as a sentence.
func sentence(s string) string {
	s = strings.TrimRight(s, " \n\t")
	if strings.ContainsAny(s[max(0, len(s)-1):], ".!?:;)") {
		return s
	}
	return s + "."
}
