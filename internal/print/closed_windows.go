package print

import (
	"errors"
	"syscall"
)

// isPlatformClosed knows the codes that Windows gives for a pipe without a
// reader: ERROR_BROKEN_PIPE and ERROR_NO_DATA.
func isPlatformClosed(err error) bool {
	const noData = syscall.Errno(232)
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noData)
}
