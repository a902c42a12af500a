package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Versions of Landlock and the kernels they came with. See landlock(7).
const (
	abiFirst    = 1 // 5.13
	abiRefer    = 2 // 5.19: files can be moved between folders
	abiTruncate = 3 // 6.2
	abiNetwork  = 4 // 6.7
	abiDevice   = 5 // 6.10
	abiScope    = 6 // 6.12
	abiKnown    = 7 // 6.15: as 6 for us
)

// errataSignal is set when threads of one program may signal each other across
// domains (6.15, and fixed in older ones). Without it the Go runtime could not
// interrupt itself from a confined thread.
const errataSignal = 1 << 1

const (
	rightRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	rightFile  = rightRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightWrite = rightRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
	rightDevice = rightFile &^ unix.LANDLOCK_ACCESS_FS_EXECUTE
)

// devices may be used; other ones, such as disks, may not even be read. Those
// that end with a slash are folders.
var devices = [...]string{
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts/",
	"/dev/dri/", "/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset",
}

// landlockABI returns the version, and a sentence's part that says why there is
// none.
func landlockABI() (abi int, why string) {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return int(n), ""
	case unix.ENOSYS:
		return 0, "this kernel (" + release() + ") has no Landlock: 5.13 or later is needed, built with it"
	case unix.EOPNOTSUPP:
		return 0, "Landlock is turned off on this machine: add landlock to the kernel's parameter lsm="
	}
	return 0, "Landlock cannot be used here: " + errno.Error() + " (a container may forbid it)"
}

func landlockErrata() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	if errno != 0 {
		return 0
	}
	return int(n)
}

func release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "of an unknown version"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// handled is what a set of rules for this version forbids unless granted. That
// folders are listed is never forbidden: a grant to list a folder would cover
// all below it, and without one not even / could be listed.
func handled(abi int) uint64 {
	all := uint64(rightWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK)
	if abi < abiRefer {
		all &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < abiTruncate {
		all &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= abiDevice {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// ruleset is a set of rules, as a descriptor of the kernel.
type ruleset struct {
	fd      int
	handled uint64
}

// newRuleset makes the rules of a plan. The caller closes it.
func newRuleset(x *plan, r *reach, abi int) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(abi)}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= abiNetwork {
		size += unsafe.Sizeof(attr.Handled_access_net)
		if x.reach != Open {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if abi >= abiScope {
		size += unsafe.Sizeof(attr.Scoped)
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		if landlockErrata()&errataSignal != 0 {
			attr.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("make a set of Landlock rules: %w", errno)
	}
	s := &ruleset{int(fd), attr.Handled_access_fs}
	if err := s.fill(x, r, abi); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *ruleset) fill(x *plan, r *reach, abi int) error {
	for _, g := range r.grants {
		dir, file := uint64(rightRead), uint64(rightRead)
		if g.write {
			dir, file = rightWrite, rightFile
		}
		if err := s.path(g.path, dir, file); err != nil {
			return err
		}
	}
	for _, d := range devices {
		if err := s.path(d, rightDevice, rightDevice); err != nil {
			return err
		}
	}
	if abi >= abiNetwork && x.reach == Proxied {
		return s.port(x.port)
	}
	return nil
}

// path grants rights below a folder, or on a file. What is gone meanwhile, or a
// link, is passed over.
func (s *ruleset) path(path string, dir, file uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	rights := file
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
		rights = dir
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & s.handled, Parent_fd: int32(fd)}
	// The kernel's struct is packed: 12 bytes, which the first fields here are.
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 && !errors.Is(errno, unix.EBADFD) { // files of the kernel itself take no rule and need none
		return fmt.Errorf("grant %s: %w", path, errno)
	}
	return nil
}

// ruleNetPort and its attribute are not in x/sys.
const ruleNetPort = 2

type netPortAttr struct {
	access, port uint64
}

// port lets commands connect to one TCP port, of any address.
func (s *ruleset) port(port int) error {
	rule := netPortAttr{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), ruleNetPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("grant the proxy's port %d: %w", port, errno)
	}
	return nil
}

// restrict puts the rules on the calling thread, for ever.
func (s *ruleset) restrict() error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(s.fd), 0, 0); errno != 0 {
		return fmt.Errorf("put Landlock rules on a thread: %w", errno)
	}
	return nil
}

func (s *ruleset) close() { _ = unix.Close(s.fd) }
