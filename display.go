package oh

import (
	"encoding/json"
	"fmt"
)

// Display is a result as a person should see it. The set is closed: [Diff],
// [Output], [Count], [Tree], [Markdown] and [Todos].
type Display interface {
	displayType() string
}

// Diff is a change of a file. Unified is a unified diff with three lines of
// context, without a file header when Path names the file.
type Diff struct {
	Path    string `json:"path"`
	Unified string `json:"unified"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// Output is what a command printed.
type Output struct {
	Command string `json:"command"`
	Text    string `json:"text"`
	Exit    int    `json:"exit"` // -1 when it was killed or never began
}

// Count sums up a result, such as 7 matches in 3 files.
type Count struct {
	N    int    `json:"n"`
	Unit string `json:"unit"` // in the singular: line, match, file
	In   string `json:"in,omitempty"`
}

// Tree is a list of paths.
type Tree struct {
	Paths []string `json:"paths"`
}

// Markdown is prose.
type Markdown struct {
	Text string `json:"text"`
}

// Todos is the to-do list after a change.
type Todos struct {
	Items []Todo `json:"items"`
}

// Todo is one item of the to-do list. ActiveForm words it as what is being
// done, for a status line.
type Todo struct {
	Content    string     `json:"content"`
	Status     TodoStatus `json:"status"`
	ActiveForm string     `json:"activeForm,omitempty"`
}

// TodoStatus is the state of a to-do item.
type TodoStatus string

// The statuses.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
)

func (Diff) displayType() string     { return "diff" }
func (Output) displayType() string   { return "output" }
func (Count) displayType() string    { return "count" }
func (Tree) displayType() string     { return "tree" }
func (Markdown) displayType() string { return "markdown" }
func (Todos) displayType() string    { return "todos" }

// DisplayBox carries a [Display] through JSON. The zero box holds none.
type DisplayBox struct{ Display }

// IsZero reports whether the box is empty.
func (b DisplayBox) IsZero() bool { return b.Display == nil }

// MarshalJSON implements [json.Marshaler].
func (b DisplayBox) MarshalJSON() ([]byte, error) {
	if b.Display == nil {
		return []byte("null"), nil
	}
	return appendTagged(nil, b.displayType(), b.Display)
}

// UnmarshalJSON implements [json.Unmarshaler]. An unknown type gives an empty
// box: a display is a convenience, never the record.
func (b *DisplayBox) UnmarshalJSON(data []byte) error {
	b.Display = nil
	if string(data) == "null" {
		return nil
	}
	kind, err := typeOf(data)
	if err != nil {
		return fmt.Errorf("decode display: %w", err)
	}
	switch kind {
	case "diff":
		b.Display, err = decodeDisplay[Diff](data)
	case "output":
		b.Display, err = decodeDisplay[Output](data)
	case "count":
		b.Display, err = decodeDisplay[Count](data)
	case "tree":
		b.Display, err = decodeDisplay[Tree](data)
	case "markdown":
		b.Display, err = decodeDisplay[Markdown](data)
	case "todos":
		b.Display, err = decodeDisplay[Todos](data)
	}
	return err
}

func decodeDisplay[T Display](data []byte) (Display, error) {
	var d T
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("decode %s display: %w", d.displayType(), err)
	}
	return d, nil
}
