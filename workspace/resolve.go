package workspace

import "github.com/openharness/oh/internal/link"

// Resolve returns an absolute path with all links resolved. What does not
// exist is kept as named below its deepest existing folder; a link to
// something that does not exist leads to where that would be.
func Resolve(path string) (string, error) { return link.Resolve(path) }
