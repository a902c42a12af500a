//go:build !linux

package auth

// blot does nothing: the system shows a process's environment to nobody else,
// or there is no way to change what it shows.
func blot([]string) {}
