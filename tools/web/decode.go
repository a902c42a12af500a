package web

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/openharness/oh/internal/text"
)

// decode turns the bytes of a body into text. A mark at the beginning wins,
// then the charset that the server names, then for HTML that of the page
// itself; what claims nothing is UTF-8 if it can be, else Windows-1252.
func decode(data []byte, contentType string, k kind) (s, name string) {
	head := data[:min(len(data), 1024)]
	if k != markup {
		// Only a page may name its own charset.
		head = bytes.ReplaceAll(head, []byte("<"), []byte(" "))
	}
	enc, name, certain := charset.DetermineEncoding(head, contentType)
	// What is UTF-8 through and through is no other charset, but for the one
	// that is written in ASCII. The last character may have been cut.
	if !certain && name != "iso-2022-jp" && utf8.Valid(whole(data)) {
		name = "utf-8"
	}
	if name == "utf-8" {
		return text.Clean(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))), name
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return text.Clean(string(data)), "utf-8"
	}
	return text.Clean(string(bytes.TrimPrefix(out, []byte("\xef\xbb\xbf")))), name
}

// whole drops a character that is cut off at the end.
func whole(data []byte) []byte {
	for i := len(data) - 1; i >= 0 && i >= len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				return data[:i]
			}
			break
		}
	}
	return data
}

// prettyLimit is up to which size, in bytes, JSON is indented.
const prettyLimit = 32 << 10

// pretty indents small JSON.
func pretty(s string) string {
	if len(s) > prettyLimit {
		return s
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(s), "", "  ") != nil {
		return s
	}
	return b.String()
}
