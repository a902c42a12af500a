// Package sandbox confines the programs that oh starts for a model: what they,
// and whatever they start in turn, may write, read and reach.
//
// A [Policy] says what is held, and starts commands under it. Everything that
// runs foreign programs uses one: commands, hooks, MCP servers, each with the
// policy that fits it.
//
// What it guarantees while [Status].Active is set, on Linux by Landlock and
// seccomp unless the status names another backend:
//
//   - A file is made, changed or removed only below the write roots: the
//     workspace, added folders, a private temporary folder, the build caches of
//     cache.txt, and what the settings allow.
//   - The content of the places of secret.txt, of the settings' deny_read and of
//     this program's own folders cannot be read.
//   - With rules for the network only the port of a proxy of our own can be
//     connected to, which judges host names; or nothing at all.
//   - Processes outside can be neither signalled, traced nor looked into.
//   - All of it holds for children, however they detach themselves.
//
// What it cannot hold on this machine is listed in [Status].NotHeld, in words
// for a person. It judges no command line (a gate does), and it is no defence
// against a fault of the kernel.
package sandbox
