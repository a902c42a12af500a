// Package schema makes a model answer in a form that a JSON Schema describes: it
// reads the schema, offers it to the model as the input of a tool, and checks
// what the model gives.
//
// It is not for running the model: the engine ends the run with the tool's
// result (see engine.Answer), and a face prints it.
//
// Guarantees: an answer that is delivered fits the schema and is, byte for byte,
// what the model sent; a schema that cannot be held is refused beforehand with
// the place of what is wrong; nothing outside of the schema is read.
package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// maxBytes bounds a schema: every request carries it.
const maxBytes = 256 << 10

// Schema is the form of an answer.
type Schema struct {
	raw     json.RawMessage // of the tool's input, an object
	wrapped bool            // the answer is its member value
	check   *jsonschema.Resolved
}

// Read reads a schema as a command line gives it: JSON, or a file below dir.
func Read(arg, dir string) (*Schema, error) {
	arg = strings.TrimSpace(arg)
	if arg == "" {
		return nil, errors.New("is empty: give a JSON Schema, or a file that holds one")
	}
	if strings.HasPrefix(arg, "{") || arg == "true" || arg == "false" {
		return Parse([]byte(arg))
	}
	path := arg
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is no JSON object, and as a file it cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > maxBytes:
		return nil, tooLarge(int(info.Size()))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func tooLarge(n int) error {
	return fmt.Errorf("has %s bytes, and at most %s are allowed, since every request carries it", text.Number(n), text.Number(maxBytes))
}

// Parse reads a schema. What is no object by itself (an array, a number, a
// choice of several) is wrapped into one with the member value, since a tool's
// input is an object; the answer then is that member.
func Parse(data []byte) (*Schema, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) > maxBytes {
		return nil, tooLarge(len(data))
	}
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %w", where(data, err))
	}
	switch r := root.(type) {
	case map[string]any:
	case bool:
		if !r {
			return nil, errors.New("is false, which no answer fits")
		}
		data, root = []byte("{}"), map[string]any{}
	default:
		return nil, errors.New("is no JSON Schema: it must be an object")
	}
	if err := (&checker{root: root}).all(); err != nil {
		return nil, err
	}
	s := &Schema{raw: oh.Compact(data)}
	if err := s.wrap(); err != nil {
		return nil, err
	}
	return s, s.resolve()
}

// where adds the line and column to a mistake in JSON.
func where(data []byte, err error) error {
	e, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	before := data[:min(int(e.Offset), len(data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return fmt.Errorf("line %d, column %d: %w", line, len(before)-bytes.LastIndexByte(before, '\n')-1, err)
}

// resolve prepares the check of answers.
func (s *Schema) resolve() error {
	var js jsonschema.Schema
	if err := json.Unmarshal(s.raw, &js); err != nil {
		return fmt.Errorf("is no JSON Schema: %w", plain(err))
	}
	js.Schema = "" // what is understood is judged by what stands there, not by the draft it names
	if strings.Contains(string(s.raw), "draft-07") {
		js.Schema = "http://json-schema.org/draft-07/schema#"
	}
	js.ID = ""
	check, err := js.Resolve(nil)
	if err != nil {
		return fmt.Errorf("cannot be used: %w", err)
	}
	s.check = check
	return nil
}

// plain says which keyword has a value of a wrong type, as boolean
// exclusiveMinimum of old drafts.
func plain(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	value := map[string]string{"bool": "true or false", "string": "text", "number": "a number", "array": "an array", "object": "an object"}[e.Value]
	return fmt.Errorf("%s cannot be %s in the drafts that are understood, 7 and 2020-12", e.Field[strings.LastIndexByte(e.Field, '.')+1:], cmp.Or(value, e.Value))
}

// Validate checks the input of a call. The error is for the model.
func (s *Schema) Validate(input []byte) error {
	var v any
	if err := json.Unmarshal(input, &v); err != nil {
		return fmt.Errorf("it is not valid JSON: %w", err)
	}
	return s.check.Validate(v)
}

// Answer takes the answer out of the input of a valid call.
func (s *Schema) Answer(input json.RawMessage) json.RawMessage {
	if !s.wrapped {
		return input
	}
	var in struct {
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(input, &in) != nil || len(in.Value) == 0 {
		return json.RawMessage("null")
	}
	return in.Value
}
