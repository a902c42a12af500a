//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in place of a settings file must not make the program wait.
func TestPipeAsSettings(t *testing.T) {
	p := newPlace(t, nil)
	if err := os.MkdirAll(filepath.Dir(p.path("project")), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(p.path("project"), 0o600); err != nil {
		t.Skip(err)
	}
	_, err := Load(p.options(false))
	if err == nil || p.short(err.Error()) != "project: the file cannot be read: it is not a regular file; correct that or move the file away" {
		t.Error(err)
	}
}
