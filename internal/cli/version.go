package cli

// Version is the version of the program, a bare semantic version.
const Version = "0.1.0"
