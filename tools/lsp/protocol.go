package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The part of the Language Server Protocol (3.17) that is used here. Lines and
// characters count from 0; characters are UTF-16 code units.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// within reports whether p lies in s, its end included.
func (s span) within(p position) bool { return !p.before(s.Start) && !s.End.before(p) }

func (p position) before(q position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// docID names a document; Version is left out where it is not asked for.
type docID struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
}

type docPosition struct {
	Doc      docID    `json:"textDocument"`
	Position position `json:"position"`
}

// symbol is a DocumentSymbol, SymbolInformation or WorkspaceSymbol.
type symbol struct {
	Name      string    `json:"name"`
	Detail    string    `json:"detail"`
	Kind      int       `json:"kind"`
	Container string    `json:"containerName"`
	Range     span      `json:"range"`
	Selection *span     `json:"selectionRange"` // only a DocumentSymbol has it
	Location  *location `json:"location"`
	Children  []symbol  `json:"children"`
}

// kindNames are the SymbolKinds, from 1.
func kindName(kind int) string {
	names := [...]string{
		"file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface",
		"function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member",
		"struct", "event", "operator", "type parameter",
	}
	if kind < 1 || kind > len(names) {
		return "symbol"
	}
	return names[kind-1]
}

// anyLocation is a Location or a LocationLink.
type anyLocation struct {
	location
	TargetURI       string `json:"targetUri"`
	TargetRange     span   `json:"targetRange"`
	TargetSelection *span  `json:"targetSelectionRange"`
}

// locations decodes null, one location, or a list of locations or links.
func locations(raw json.RawMessage) ([]location, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var list []anyLocation
	var err error
	if raw[0] == '{' {
		list = make([]anyLocation, 1)
		err = json.Unmarshal(raw, &list[0])
	} else {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("locations: %w", err)
	}
	out := make([]location, 0, len(list))
	for _, l := range list {
		switch {
		case l.TargetURI != "" && l.TargetSelection != nil:
			out = append(out, location{l.TargetURI, *l.TargetSelection})
		case l.TargetURI != "":
			out = append(out, location{l.TargetURI, l.TargetRange})
		case l.URI != "":
			out = append(out, l.location)
		}
	}
	return out, nil
}

// hoverText takes the text out of any form of hover contents.
func hoverText(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s) // what does not decode has no text
		return strings.TrimSpace(s)
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		var parts []string
		for _, item := range list {
			if s := hoverText(item); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "\n\n")
	case '{':
		var m struct{ Value string }
		_ = json.Unmarshal(raw, &m)
		return strings.TrimSpace(m.Value)
	}
	return ""
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

// workspaceEdit is what a rename wants changed, by URI.
type workspaceEdit map[string][]textEdit

// decodeEdit reads both forms of the protocol. Creating, moving and deleting
// files is refused.
func decodeEdit(raw json.RawMessage) (workspaceEdit, error) {
	var in struct {
		Changes  workspaceEdit `json:"changes"`
		Document []struct {
			Kind  string     `json:"kind"`
			Doc   docID      `json:"textDocument"`
			Edits []textEdit `json:"edits"`
		} `json:"documentChanges"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, fmt.Errorf("the changes: %w", err)
		}
	}
	if len(in.Document) == 0 {
		return in.Changes, nil
	}
	out := workspaceEdit{}
	for _, d := range in.Document {
		if d.Kind != "" {
			return nil, fmt.Errorf("the server wants to %s a file, which rename does not do", named(d.Kind))
		}
		if d.Doc.URI == "" {
			return nil, errors.New("a change names no file")
		}
		out[d.Doc.URI] = append(out[d.Doc.URI], d.Edits...)
	}
	return out, nil
}

// flag is a capability: true, or an object of options.
type flag bool

// UnmarshalJSON implements [json.Unmarshaler].
func (f *flag) UnmarshalJSON(data []byte) error {
	*f = string(data) != "false" && string(data) != "null"
	return nil
}

// capabilities is what a server can do.
type capabilities struct {
	Sync             json.RawMessage `json:"textDocumentSync"`
	DocumentSymbol   flag            `json:"documentSymbolProvider"`
	WorkspaceSymbol  flag            `json:"workspaceSymbolProvider"`
	Definition       flag            `json:"definitionProvider"`
	References       flag            `json:"referencesProvider"`
	Hover            flag            `json:"hoverProvider"`
	Rename           flag            `json:"renameProvider"`
	CallHierarchy    flag            `json:"callHierarchyProvider"`
	Diagnostic       flag            `json:"diagnosticProvider"`
	PositionEncoding string          `json:"positionEncoding"`
}

// saves reports whether the server wants to know when a file was saved.
func (c capabilities) saves() bool {
	var opt struct {
		Save flag `json:"save"`
	}
	return json.Unmarshal(c.Sync, &opt) == nil && bool(opt.Save)
}

// callItem is a CallHierarchyItem; the server gets it back as it came.
type callItem struct {
	raw       json.RawMessage
	Name      string `json:"name"`
	Kind      int    `json:"kind"`
	URI       string `json:"uri"`
	Selection span   `json:"selectionRange"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *callItem) UnmarshalJSON(data []byte) error {
	type plain callItem
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	c.raw = bytes.Clone(data)
	return nil
}

// protocolDiagnostic is a Diagnostic.
type protocolDiagnostic struct {
	Range    span            `json:"range"`
	Severity Severity        `json:"severity"`
	Code     json.RawMessage `json:"code"`
	Source   string          `json:"source"`
	Message  string          `json:"message"`
}
