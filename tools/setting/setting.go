// Package setting is the tool by which a model reads the settings of the
// program and changes harmless ones.
//
// It cannot widen what the model may do: only settings that are named here can
// be set, and what permits, connects, names a secret or starts something is not
// among them. A change is declared as a write to the settings file, so that a
// gate can ask each time. Values that look secret are not shown, whoever
// supplies them. It knows no file format: the settings are behind [Settings].
package setting

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed setting.md
var doc string

const (
	name      = "config"
	mostValue = 500    // code points of one value
	mostText  = 12_000 // bytes of a list, before its last line
)

// Entry is one setting with its effective value.
type Entry struct {
	Key    string          // dotted, as the settings file has it
	Value  json.RawMessage // secrets hidden
	Origin string          // the file, variable or flag it is from; "" for a default
}

// Settings is what the tool works on. It is safe for concurrent use.
type Settings interface {
	// List returns all settings in a stable order, defaults included.
	List() ([]Entry, error)

	// Get returns one setting. A key may have other names; the entry has the
	// one of the settings file. The error names what the key may have meant.
	Get(key string) (Entry, error)

	// Set checks a value and writes it to the settings file. The value is what
	// a person would type: a text as it is, true, 5, a list in JSON. On an error
	// nothing is written.
	Set(ctx context.Context, key, value string) error

	// File is the settings file that Set writes, absolute and clean.
	File() string
}

type input struct {
	Action string  `json:"action,omitempty" oh:"enum=show|get|set,default=show"`
	Key    string  `json:"key,omitempty"`
	Value  *string `json:"value,omitempty"`
}

// New makes the tool config. With nil settings each call says that there are
// none.
func New(s Settings) oh.Tool {
	t := tool{s}
	return oh.NewTool(oh.ToolDef[input]{Name: name, Doc: doc, SelfLimited: true, Prepare: t.prepare})
}

type tool struct{ s Settings }

func (t tool) prepare(_ context.Context, _ *oh.Call, in input) (oh.Action, error) {
	key := strings.TrimSpace(in.Key)
	switch {
	case t.s == nil:
		return oh.Action{}, errors.New("there are no settings here")
	case in.Action != "show" && key == "":
		return oh.Action{}, fmt.Errorf("key is missing: %s needs the dotted name of a setting", in.Action)
	case in.Action == "set":
		return t.set(key, in.Value)
	}
	run := t.show
	if in.Action == "get" {
		run = t.get
	}
	return oh.Action{
		Access: oh.Access{ReadOnly: true},
		Run:    func(context.Context, func(oh.Event)) (oh.Result, error) { return run(key) },
	}, nil
}

func (t tool) get(key string) (oh.Result, error) {
	e, err := t.s.Get(key)
	if err != nil {
		return oh.Result{}, err
	}
	return oh.TextResult(line(e)), nil
}

// show lists the settings that are set, or all below a key.
func (t tool) show(key string) (oh.Result, error) {
	all, err := t.s.List()
	if err != nil {
		return oh.Result{}, fmt.Errorf("list the settings: %w", err)
	}
	var found []Entry
	for _, e := range all {
		if key == "" && e.Origin != "" || key != "" && below(e.Key, key) {
			found = append(found, e)
		}
	}
	if key != "" && len(found) == 0 {
		return t.get(key) // by another name, or an error that names the nearest
	}
	var b strings.Builder
	left := 0
	for _, e := range found {
		if b.Len() > mostText {
			left++
			continue
		}
		b.WriteString(line(e) + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "(%s more: give a key to see those below it)\n", text.Number(left))
	}
	if key == "" {
		fmt.Fprintf(&b, "%s of %s set; give a key to see defaults too.", text.Number(len(found)), text.Plural(len(all), "setting"))
	}
	res := oh.TextResult(strings.TrimRight(b.String(), "\n"))
	res.Display = oh.Count{N: len(found), Unit: "setting"}
	return res, nil
}

func below(key, top string) bool {
	return key == top || strings.HasPrefix(key, strings.TrimSuffix(top, ".")+".")
}

func (t tool) set(key string, value *string) (oh.Action, error) {
	if value == nil {
		return oh.Action{}, errors.New("value is missing: set needs the new value")
	}
	old, err := t.s.Get(key)
	switch {
	case !harmless(key) && err != nil:
		return oh.Action{}, personal(key)
	case err != nil:
		return oh.Action{}, err
	case !harmless(old.Key):
		return oh.Action{}, personal(old.Key)
	}
	file := t.s.File()
	if !filepath.IsAbs(file) {
		return oh.Action{}, errors.New("there is no settings file to write to")
	}
	return oh.Action{
		Access:  oh.Access{Paths: []oh.PathUse{{Path: file, Write: true}}},
		Preview: oh.Markdown{Text: old.Key + ": " + shown(old.Key, old.Value) + " → " + typed(*value)},
		Run: func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) {
			if err := ctx.Err(); err != nil {
				return oh.Result{}, err
			}
			if err := t.s.Set(ctx, old.Key, *value); err != nil {
				return oh.Result{}, err
			}
			res := oh.TextResult(fmt.Sprintf("Set %s to %s in %s. It counts from the next session on.", old.Key, typed(*value), file))
			if meta, err := oh.Marshal(map[string]string{"key": old.Key, "path": file}); err == nil {
				res.Meta = meta
			}
			return res, nil
		},
	}, nil
}

func personal(key string) error {
	return fmt.Errorf("%s is not for you to set. A person has to do that: oh config set %s VALUE", clip(key), clip(key))
}

func clip(s string) string { return text.OneLine(text.Clean(s), 80) }

func line(e Entry) string {
	s := e.Key + " = " + shown(e.Key, e.Value)
	if e.Origin == "" {
		return s + " (default)"
	}
	return s + " (" + text.OneLine(text.Clean(e.Origin), 300) + ")"
}

func typed(value string) string {
	if value == "" {
		return `""`
	}
	return text.Cut(text.Clean(value), mostValue)
}

// shown is a value for the model.
func shown(key string, value json.RawMessage) string {
	s := string(value)
	switch {
	case secret(key) && s != `""` && s != "null" && s != "":
		return "[hidden]"
	case s == "":
		return "null"
	}
	return text.Cut(text.Clean(s), mostValue)
}
