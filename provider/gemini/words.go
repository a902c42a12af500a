package gemini

import (
	_ "embed"
	"strings"
)

//go:embed attached.md
var attached string

// attachedText is the output of a result that is nothing but files.
func attachedText() string { return strings.TrimSpace(attached) }
