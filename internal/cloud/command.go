package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Run runs a command that prints credentials, without a shell, and returns what
// it printed. env is added to the environment. What it says on its error output
// is not shown: it may hold what it read.
func Run(ctx context.Context, words, env []string, limit time.Duration) ([]byte, error) {
	if len(words) == 0 {
		return nil, errors.New("the credential command is empty")
	}
	name := filepath.Base(words[0])
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(run, words[0], words[1:]...)
	cmd.WaitDelay = time.Second // a child of it may keep the output open
	if len(env) > 0 {
		cmd.Env = append(cmd.Environ(), env...)
	}
	out := &bounded{left: maxAnswer}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case run.Err() != nil:
		return nil, fmt.Errorf("the credential command %s took longer than %v", name, limit)
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("the credential command %s is not installed", name)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("the credential command %s failed: %w; run it by hand to see why", name, err)
	case out.left < 0:
		return nil, fmt.Errorf("the credential command %s prints more than 1 MB", name)
	}
	return out.buf.Bytes(), nil
}

// bounded keeps the first bytes of an output.
type bounded struct {
	buf  bytes.Buffer
	left int // negative: there was more
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.left >= 0 {
		if b.left -= len(p); b.left >= 0 {
			b.buf.Write(p)
		}
	}
	return len(p), nil
}

// Words splits a command line at spaces outside quotes. A backslash escapes the
// next character outside single quotes, but for windows, where it is part of
// paths.
func Words(line string, windows bool) ([]string, error) {
	var out []string
	var word strings.Builder
	open, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'' && !windows:
			escaped, open = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\'' && !windows):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if open {
				out = append(out, word.String())
				word.Reset()
			}
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("the credential command ends inside a quote")
	}
	if open {
		out = append(out, word.String())
	}
	return out, nil
}
