package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// kept are what a command of root needs for files and users of its own. All
// else goes: with some of it a process could read the memory of others, load
// code into the kernel or open disks.
const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_SYS_CHROOT

// dropCapabilities takes from the calling thread, and from all it starts, what
// is not kept. A thread without any loses nothing.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	if data[0].Permitted|data[1].Permitted|data[0].Inheritable|data[1].Inheritable == 0 {
		return nil
	}
	// Without SETPCAP the bounding set stays; what was given up is not regained
	// all the same, since no_new_privs is set.
	for c := uintptr(0); c < 64; c++ {
		if c > 31 || kept>>c&1 == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	low := data[0].Permitted & kept
	data = [2]unix.CapUserData{{Effective: low, Permitted: low}}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
