// Package file holds the tools that read and change files: read_file,
// write_file and edit_file, and the less common multi_edit, apply_patch,
// notebook_edit and ls.
//
// They do not decide whether a path may be touched; each call declares it. They
// make sure that a change does what it says and nothing else: bytes that were
// not named stay as they are (line endings, byte order marks, other encodings,
// mode, links), and nothing is overwritten that the model has not seen. A call
// that changes several files changes all of them or none.
package file

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

//go:embed read.md
var readDoc string

//go:embed write.md
var writeDoc string

//go:embed edit.md
var editDoc string

//go:embed multi.md
var multiDoc string

//go:embed patch.md
var patchDoc string

//go:embed notebook.md
var notebookDoc string

//go:embed ls.md
var lsDoc string

// Tools returns read_file, write_file and edit_file on a workspace. A nil
// workspace has no roots.
func Tools(ws *workspace.Workspace) []oh.Tool {
	s := set{ws}
	return []oh.Tool{
		oh.NewTool(oh.ToolDef[readInput]{Name: "read_file", Doc: readDoc, SelfLimited: true, Prepare: s.read}),
		oh.NewTool(oh.ToolDef[writeInput]{Name: "write_file", Doc: writeDoc, SelfLimited: true, Prepare: s.write}),
		oh.NewTool(oh.ToolDef[editInput]{Name: "edit_file", Doc: editDoc, SelfLimited: true, Prepare: s.edit}),
	}
}

// More returns multi_edit, apply_patch, notebook_edit and ls on a workspace. A
// nil workspace has no roots.
func More(ws *workspace.Workspace) []oh.Tool {
	s := set{ws}
	return []oh.Tool{
		oh.NewTool(oh.ToolDef[multiInput]{Name: "multi_edit", Doc: multiDoc, SelfLimited: true, Prepare: s.multi}),
		oh.NewTool(oh.ToolDef[patchInput]{Name: "apply_patch", Doc: patchDoc, SelfLimited: true, Prepare: s.patch}),
		oh.NewTool(oh.ToolDef[notebookInput]{Name: "notebook_edit", Doc: notebookDoc, SelfLimited: true, Prepare: s.notebook}),
		oh.NewTool(oh.ToolDef[lsInput]{Name: "ls", Doc: lsDoc, SelfLimited: true, Prepare: s.ls}),
	}
}

type set struct {
	ws *workspace.Workspace
}

// editLimit bounds files that are changed in memory, in bytes.
const editLimit = 64 << 20

// explain words an error of opening a file for the model.
func (s set) explain(p workspace.Place, err error) error {
	var special *workspace.SpecialError
	switch {
	case errors.As(err, &special) && special.Kind == "folder":
		return fmt.Errorf("%s is a folder, not a file; list it with ls or glob", p.Path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist%s", p.Path, near(p.Path))
	}
	return err
}

// seen is the change of state that says the model knows a file's content.
func seen(p workspace.Place, hash string) oh.StateChanged {
	return oh.StateChanged{Read: map[string]string{p.Real: hash}}
}

// known compares a file with what the model saw of it last.
func known(env *oh.Env, p workspace.Place, data []byte, info fs.FileInfo) (read, same bool) {
	if env == nil || env.Reads == nil {
		return false, false
	}
	hash, ok := env.Reads.ReadHash(p.Real)
	return ok, ok && (hash == workspace.Hash(data) || hash == workspace.StatHash(info))
}

// noNUL refuses a text that would make a text file binary.
func noNUL(name, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return fmt.Errorf("%s holds a NUL character (\\u0000), which would make the text file a binary one; leave it out, or write the escape that the file's language has for it", name)
	}
	return nil
}

// halfChar refuses the input of a call in which half of a UTF-16 pair stands
// alone: it is no character, and reading the JSON has made U+FFFD of it.
func halfChar(input []byte) error {
	for i := 0; i < len(input); i++ {
		if input[i] != '\\' {
			continue
		}
		first := unit(input[i:])
		if !utf16.IsSurrogate(first) {
			i++ // past what is escaped
			continue
		}
		if utf16.DecodeRune(first, unit(input[i+6:])) == utf8.RuneError {
			return fmt.Errorf("the input holds %s, half of a character: give both halves, or the character itself; nothing was changed", input[i:i+6])
		}
		i += 11
	}
	return nil
}

// unit is the number of the escape \uXXXX that JSON text begins with; -1.
func unit(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// meta encodes a result's metadata.
func meta(m map[string]any) []byte {
	raw, err := oh.Marshal(m)
	if err != nil {
		return nil
	}
	return raw
}
