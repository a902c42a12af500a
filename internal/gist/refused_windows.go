package gist

import "syscall"

// errRefused is WSAECONNREFUSED, when nothing listens at an address.
const errRefused = syscall.Errno(10061)
