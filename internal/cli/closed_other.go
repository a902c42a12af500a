//go:build !linux && !darwin

package cli

import "os"

// whenClosed does nothing: that a pipe was closed shows in the next write only.
func whenClosed(*os.File, func()) (stop func()) { return func() {} }
