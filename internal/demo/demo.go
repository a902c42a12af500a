// Package demo is the material of `oh demo`: a small broken project and a
// scripted model that mends it.
//
// The model is the only part that is not real: its script decides what to call
// by what it was sent, as a model would, but it knows this one project only.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
)

//go:embed project
var project embed.FS

// lastRun is the id of the call that runs the test after the edit.
const lastRun = "run_2"

// Prompt is what the demo asks for.
const Prompt = "The test of this project fails. Find out why and fix it."

// Write puts the project into dir, which must exist.
func Write(dir string) error {
	sub, err := fs.Sub(project, "project")
	if err != nil {
		return err
	}
	return fs.WalkDir(sub, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sub, path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o755
		}
		return os.WriteFile(filepath.Join(dir, path), data, mode)
	})
}

// step is one reply of the scripted model.
type step struct {
	said  string
	calls []oh.ToolUse
}

// steps are what the model does, one reply each; a last one follows that
// depends on what the test printed.
func steps() []step {
	return []step{
		{"I look at the script and its test first.", []oh.ToolUse{
			{ID: "read_1", Name: "read_file", Input: json.RawMessage(`{"path": "total.sh"}`)},
			{ID: "read_2", Name: "read_file", Input: json.RawMessage(`{"path": "test.sh"}`)},
		}},
		{"Now the test, to see how it fails.", []oh.ToolUse{
			{ID: "run_1", Name: "bash", Input: json.RawMessage(`{"command": "sh ./test.sh"}`)},
		}},
		{"`shift` throws the first number away before the loop begins. It has to go.", []oh.ToolUse{
			{ID: "edit_1", Name: "edit_file", Input: json.RawMessage(`{"path": "total.sh", "old_str": "total=0\nshift\n", "new_str": "total=0\n"}`)},
		}},
		{"And the test again.", []oh.ToolUse{
			{ID: lastRun, Name: "bash", Input: json.RawMessage(`{"command": "sh ./test.sh"}`)},
		}},
	}
}

// verdict sums up by what the last run of the test really printed.
func verdict(out string, isError bool) string {
	if isError || strings.Contains(out, "FAIL") || !strings.Contains(out, "ok ") {
		return fmt.Sprintf("The test still fails; I could not fix it:\n\n%s", out)
	}
	return "Fixed. `total.sh` dropped its first argument: a stray `shift` before the loop. I removed that line; all three cases of `test.sh` pass now."
}
