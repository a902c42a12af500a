//go:build !windows

package link

import (
	"errors"
	"syscall"
)

// isNotDir reports that a path goes on below a file: it cannot exist.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
