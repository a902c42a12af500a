// Package e2e runs the whole program as a person or a script does: the built
// binary, its own empty home, a temporary workspace, and a scripted model
// behind real HTTP that refuses every request a real service would refuse.
//
// It is for what can be seen from outside: stdout, stderr, exit codes, files,
// processes and requests. It is not for the insides of packages, which have
// their own tests.
//
// Guarantees: nothing outside of the test's temporary folders is read or
// written, nothing beyond loopback is called, every program has a hard limit of
// wall-clock time, and a request that breaks a rule of its wire fails the test.
//
// The program is built once per run; OH_E2E_BINARY names one to take instead,
// such as that of a release.
package e2e
