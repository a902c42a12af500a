package auth

import "os"

// Forget takes variables out of this process's environment once their values
// have been read: for children, and, where the system shows a process's first
// environment to others (Linux), there too. What cannot be taken out stays;
// children are kept from it by their own environment.
func Forget(names []string) {
	var set []string
	for _, name := range names {
		if os.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return
	}
	blot(set)
	for _, name := range set {
		_ = os.Unsetenv(name)
	}
}
