package link

import (
	"errors"
	"syscall"
)

// isNotDir reports that a path goes on below a file, or has a name that the
// system does not allow: it cannot exist.
func isNotDir(err error) bool {
	const invalidName = syscall.Errno(123)
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, invalidName)
}
