//go:build unix

package prompt

import "syscall"

const nonblock = syscall.O_NONBLOCK
