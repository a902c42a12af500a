//go:build !windows && !darwin

package ring

import (
	"errors"
	"path/filepath"
	"testing"
)

// TestNoBus: without a bus nothing is started to make one.
func TestNoBus(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, address := range []string{"autolaunch:", "disabled:", "unixexec:path=/bin/false"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		if _, err := (System{}).Get(t.Context(), "openharness-test:none"); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", address, err)
		}
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	for _, err := range []error{
		(System{}).Set(t.Context(), "openharness-test:none", "k"),
		(System{}).Delete(t.Context(), "openharness-test:none"),
	} {
		if err == nil || errors.Is(err, ErrNone) || errors.Is(err, ErrNoEntry) {
			t.Error(err)
		}
	}
}
