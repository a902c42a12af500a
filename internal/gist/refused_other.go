//go:build !windows

package gist

import "syscall"

// errRefused is the system's error when nothing listens at an address.
const errRefused = syscall.ECONNREFUSED
