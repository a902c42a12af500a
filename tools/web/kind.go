package web

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"github.com/openharness/oh/workspace"
)

// kind is what is done with a body.
type kind int

const (
	plain kind = iota
	markup
	object // JSON
	picture
	pdf
	foreign
)

// media tells the kind of a body from what the server says and from the first
// bytes, and names its media type.
func media(contentType string, head []byte) (kind, string) {
	declared, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		declared = strings.ToLower(strings.TrimSpace(strings.Split(contentType, ";")[0]))
	}
	vague := declared == "" || declared == "application/octet-stream" || declared == "binary/octet-stream"
	if t := imageType(head); t != "" && (vague || strings.HasPrefix(declared, "image/")) {
		return picture, t
	}
	if bytes.HasPrefix(head, []byte("%PDF-")) && (vague || strings.Contains(declared, "pdf")) {
		return pdf, "application/pdf"
	}
	if vague {
		sniffed, _, _ := strings.Cut(http.DetectContentType(head), ";")
		if sniffed == "text/html" {
			return markup, sniffed
		}
		if isText(head) {
			return plain, "text/plain"
		}
		return foreign, sniffed
	}
	switch {
	case declared == "text/html" || declared == "application/xhtml+xml":
		return markup, declared
	case declared == "application/json" || strings.HasSuffix(declared, "+json"):
		return object, declared
	case textual(declared) && isText(head):
		return plain, declared
	}
	return foreign, declared
}

// textual reports whether a media type is text.
func textual(t string) bool {
	if strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(t, "application/"), "x-") {
	case "xml", "javascript", "ecmascript", "typescript", "yaml", "toml", "ndjson", "jsonl", "json-lines", "sql", "sh", "shellscript",
		"graphql", "tex", "latex", "rtf", "python", "perl", "ruby", "csh", "diff", "patch", "markdown", "subrip", "mbox", "www-form-urlencoded":
		return true
	}
	return false
}

// isText reports whether the first bytes of a body are text.
func isText(head []byte) bool {
	return workspace.Sniff(head, false) != workspace.Binary
}

// imageType tells an image that models take by its first bytes; "" for
// anything else.
func imageType(head []byte) string {
	switch t := http.DetectContentType(head); t {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return t
	}
	return ""
}

// complete reports whether an image goes to its end: services refuse a request
// that carries a broken one, and the request is sent again each turn.
func complete(kind string, data []byte) bool {
	switch kind {
	case "image/png":
		return len(data) > 45 && bytes.Contains(data[len(data)-min(len(data), 1024):], []byte("IEND\xaeB`\x82"))
	case "image/jpeg":
		return bytes.Contains(data[len(data)-min(len(data), 1024):], []byte("\xff\xd9"))
	case "image/gif":
		return bytes.HasSuffix(bytes.TrimRight(data, "\x00"), []byte{0x3b})
	case "image/webp":
		return len(data) >= 12 && len(data) >= 8+int(uint32(data[4])|uint32(data[5])<<8|uint32(data[6])<<16|uint32(data[7])<<24)
	}
	return false
}
