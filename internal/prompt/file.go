package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openharness/oh/internal/text"
)

var (
	errNotRegular = errors.New("not a regular file")
	errBinary     = errors.New("not UTF-8 text")
	errTooBig     = fmt.Errorf("larger than %s MB", text.Number(ReadMax>>20))
)

// openRegular opens a file for reading, if it is one: a pipe would block.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err == nil {
		// Some files below /proc look regular and wait all the same.
		_ = f.SetReadDeadline(time.Now().Add(time.Second))
	}
	return f, err
}

// readText reads a text file as plain text with newlines. patched tells that
// some bytes were no UTF-8 and are replaced.
func readText(path string) (s string, patched bool, err error) {
	f, err := openRegular(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, ReadMax+1))
	if err != nil {
		return "", false, err
	}
	if len(raw) > ReadMax {
		return "", false, errTooBig
	}
	raw = bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF"))
	if bytes.IndexByte(raw, 0) >= 0 {
		return "", false, errBinary
	}
	return text.Clean(string(raw)), !utf8.Valid(raw), nil
}

// resolve follows links; a path that does not resolve stays as it is.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within reports whether path is dir or lies below it; both are resolved.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
