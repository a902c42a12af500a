//go:build !windows

package print

func isPlatformClosed(error) bool { return false }
