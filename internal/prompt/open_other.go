//go:build !unix

package prompt

const nonblock = 0
