package sandbox

import "strings"

// Status says what a machine holds, or would.
type Status struct {
	Active  bool // commands are confined
	Backend Backend
	ABI     int    // version of Landlock, 0 for none
	Why     string // why not, or why not all of it; a sentence without its full stop, "" when all is well

	Files   bool // writes and secrets are held
	Network bool // rules for the network are held
	Signals bool // processes outside cannot be signalled
	Sockets bool // sockets of the file system are held

	// NotHeld lists, in words for a person, what could get past.
	NotHeld []string
}

// String says it on one line.
func (s Status) String() string {
	if !s.Active {
		out := "commands are not confined"
		if s.Why != "" {
			out += ": " + s.Why
		}
		return out
	}
	out := "commands are confined by " + string(s.Backend)
	if s.Why != "" {
		out += "; " + s.Why
	}
	if len(s.NotHeld) > 0 {
		out += "; not held: " + strings.Join(s.NotHeld, "; ")
	}
	return out
}

// Probe says what this machine can hold, without making a policy. It is cheap
// on Linux: three calls of the kernel.
func Probe() Status { return probe() }
