package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// MaxMessage bounds one message, in bytes.
	MaxMessage = 64 << 20

	// maxNoise is how much that is no header is skipped before a message: some
	// servers greet on standard output.
	maxNoise = 16 << 10
)

// ReadMessage returns the body of the next message. io.EOF says that the
// stream ended between two messages.
func ReadMessage(r *bufio.Reader) ([]byte, error) {
	n, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer // grows with what comes, not with what is promised
	got, err := io.CopyN(&body, r, int64(n))
	if err != nil {
		return nil, fmt.Errorf("a message of %d bytes was cut after %d: %w", n, got, io.ErrUnexpectedEOF)
	}
	return body.Bytes(), nil
}

// readHeader reads up to the blank line that ends a header, and returns the
// length it tells.
func readHeader(r *bufio.Reader) (int, error) {
	length, seen := -1, 0
	for {
		line, err := readLine(r)
		seen += len(line)
		switch {
		case errors.Is(err, io.EOF) && seen == 0:
			return 0, io.EOF
		case errors.Is(err, io.EOF):
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		case seen > maxNoise:
			return 0, fmt.Errorf("%d bytes without the header of a message: %q", seen, cut(line))
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" && length >= 0 {
			return length, nil
		}
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n > MaxMessage {
			return 0, fmt.Errorf("a message of %q bytes: the length must be a number up to %d", cut(strings.TrimSpace(value)), MaxMessage)
		}
		length = n
	}
}

// readLine reads a line, or as much of it as the buffer holds.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return string(line), err
}

func cut(s string) string { return s[:min(len(s), 100)] }

// frame puts the header before a body.
func frame(body []byte) []byte {
	out := make([]byte, 0, len(body)+32)
	out = append(out, "Content-Length: "...)
	out = strconv.AppendInt(out, int64(len(body)), 10)
	out = append(out, "\r\n\r\n"...)
	return append(out, body...)
}
