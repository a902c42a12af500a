package auth

import (
	"os"
	"slices"
	"strings"
)

// Forget takes variables out of this process's environment once their values
// have been read: for children, and, where the system shows a process's first
// environment to others (Linux), there too. What cannot be taken out stays;
// children are kept from it by their own environment. Variables for which hide
// is true stay readable for this process alone.
func Forget(names []string, hide func(name string) bool) {
	var shown, set []string
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "":
		case slices.Contains(names, name):
			set = append(set, name)
		case hide(name):
			shown = append(shown, name)
		}
	}
	if len(set)+len(shown) == 0 {
		return
	}
	blot(slices.Concat(set, shown))
	for _, name := range set {
		_ = os.Unsetenv(name)
	}
}
