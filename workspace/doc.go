// Package workspace is the guarded file tree that file and search tools work
// on: it turns what a model calls a path into a place on disk, opens and
// replaces files there, and walks folders with respect for ignore files.
//
// It does not decide who may touch what: the gate does, before a tool runs.
// It makes sure that what was judged is what is touched: links are resolved
// when a place is located and again when it is used, a place that has moved in
// between is refused, and below a root of the workspace files are opened by
// directory handle, so that a link swapped in later cannot lead out.
//
// Guarantees: opening never blocks on a pipe or a device; a file is replaced
// whole or not at all; mode, owner and links are kept; a walk follows no links,
// never enters .git and counts what it leaves out.
//
// Files are replaced by rename on every system. On Windows, owners and hard
// links are not looked at, and folders are walked by path.
package workspace
