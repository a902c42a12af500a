package claude

import (
	"fmt"

	"github.com/openharness/oh"
)

// ModeName returns Claude's name of a permission mode.
func ModeName(m oh.Mode) string {
	if m == oh.ModeFullAuto {
		return "bypassPermissions"
	}
	return string(m)
}

// OurMode reads a permission mode under a name of either vocabulary. The note
// is not empty when the name means something that this program does only
// nearly: it is for the person who wrote it. The error names what is allowed.
func OurMode(name string) (m oh.Mode, note string, err error) {
	switch name {
	case "auto":
		return oh.ModeAcceptEdits, "permission mode auto is taken as acceptEdits: file edits inside the workspace run unasked, commands are asked about", nil
	case "delegate":
		return oh.ModeDefault, "permission mode delegate has no meaning here and is taken as default", nil
	}
	m, err = oh.ParseMode(name)
	if err != nil {
		return "", "", fmt.Errorf("%w (Claude's names manual, auto and bypassPermissions are understood too)", err)
	}
	return m, "", nil
}
