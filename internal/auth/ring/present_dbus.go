//go:build !windows && !darwin

package ring

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// present reports whether the session has a bus that a Secret Service can be
// on. The D-Bus library would start one where there is none.
func present() bool {
	if address, ok := os.LookupEnv("DBUS_SESSION_BUS_ADDRESS"); ok && address != "" {
		return strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "tcp:")
	}
	info, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil && info.Mode()&os.ModeSocket != 0
}
