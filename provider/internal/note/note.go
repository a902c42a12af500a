// Package note holds the short texts that codecs put in a request where the
// history has something that the wire cannot carry.
package note

import (
	_ "embed"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/body"
)

//go:embed empty_result.md
var emptyResult string

//go:embed attached.md
var attached string

//go:embed empty_message.md
var emptyMessage string

//go:embed left_out.md
var leftOut string

//go:embed files_of.md
var filesOf string

//go:embed called.md
var called string

//go:embed answered.md
var answered string

// EmptyResult stands for a tool result that says nothing.
func EmptyResult() string { return strings.TrimSpace(emptyResult) }

// Attached stands for a tool result that is nothing but images and files, which
// go with it elsewhere.
func Attached() string { return strings.TrimSpace(attached) }

// EmptyMessage stands for a message that says nothing.
func EmptyMessage() string { return strings.TrimSpace(emptyMessage) }

// LeftOut stands for content, such as "image/png", that cannot be sent.
func LeftOut(what string) string {
	return strings.Replace(strings.TrimSpace(leftOut), "{what}", what, 1)
}

// Document is a document in words: its own when it is text, else that it was
// left out.
func Document(x oh.Document) string {
	switch {
	case !strings.HasPrefix(strings.ToLower(x.MediaType), "text/") || body.Blank(string(x.Data)):
		return LeftOut(strings.TrimSpace(x.MediaType + " " + x.Name))
	case body.Blank(x.Name):
		return string(x.Data)
	}
	return x.Name + ":\n" + string(x.Data)
}

// FilesOf introduces the images and files of the result of a call.
func FilesOf(call string) string {
	return strings.Replace(strings.TrimSpace(filesOf), "{call}", call, 1)
}

// Called tells of an earlier call to a model that takes no tools.
func Called(name, id, input string) string {
	return strings.NewReplacer("{name}", name, "{id}", id, "{input}", input).Replace(strings.TrimSpace(called))
}

// Answered tells of the result of such a call.
func Answered(id, output string) string {
	return strings.NewReplacer("{id}", id, "{output}", output).Replace(strings.TrimSpace(answered))
}
