package sandbox

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fields of struct seccomp_data; both systems are little-endian, so the low half
// of an argument comes first.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

const (
	msgFastOpen = 0x20000000
	tiocLinux   = 0x541c
	tcp         = 6
)

// barred are calls that no command of ours needs and that lead around what
// Landlock holds, or far into the kernel. Tracing is not among them: Landlock
// confines it, and debuggers and leak checkers need it.
var barred = [...]uintptr{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG,
}

// program is a filter under construction.
type program []unix.SockFilter

func (p *program) add(code uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (p *program) load(at uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
func (p *program) arg(n uint32)   { p.load(dataArgs + 8*n) }
func (p *program) ret(v uint32)   { p.add(unix.BPF_RET|unix.BPF_K, v, 0, 0) }
func (p *program) refuse(err unix.Errno) {
	p.ret(unix.SECCOMP_RET_ERRNO | uint32(err))
}

// when runs body if the value loaded equals k. The body ends by returning, or
// leaves another value loaded.
func (p *program) when(k uint32, body func(*program)) {
	p.branch(unix.BPF_JEQ, k, body)
}

// with runs body if the value loaded has one of the bits.
func (p *program) with(bits uint32, body func(*program)) {
	p.branch(unix.BPF_JSET, bits, body)
}

func (p *program) branch(test uint16, k uint32, body func(*program)) {
	var inner program
	body(&inner)
	p.add(unix.BPF_JMP|test|unix.BPF_K, k, 0, uint8(len(inner)))
	*p = append(*p, inner...)
}

// call handles one system call: body may return; else the call is allowed.
func (p *program) call(number uintptr, body func(*program)) {
	p.when(uint32(number), func(p *program) {
		body(p)
		p.ret(unix.SECCOMP_RET_ALLOW)
	})
}

// filter makes the filter of a plan.
func filter(x *plan) []unix.SockFilter {
	var p program
	p.load(dataArch)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	p.ret(unix.SECCOMP_RET_KILL_PROCESS) // calls of another processor have other numbers
	p.load(dataNumber)
	p.branch(unix.BPF_JGE, 0x40000000, func(p *program) { p.refuse(unix.ENOSYS) }) // x32
	for _, number := range slices.Concat(barred[:], barredHere[:]) {
		p.when(uint32(number), func(p *program) { p.refuse(unix.EPERM) })
	}
	// The flags of clone3 lie in memory; libraries fall back to clone.
	p.when(unix.SYS_CLONE3, func(p *program) { p.refuse(unix.ENOSYS) })
	for _, number := range [...]uintptr{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		p.call(number, func(p *program) {
			p.arg(0)
			p.with(unix.CLONE_NEWUSER, func(p *program) { p.refuse(unix.EPERM) })
		})
	}
	p.call(unix.SYS_IOCTL, func(p *program) {
		p.arg(1)
		p.when(unix.TIOCSTI, func(p *program) { p.refuse(unix.EPERM) })
		p.when(tiocLinux, func(p *program) { p.refuse(unix.EPERM) })
	})
	p.call(unix.SYS_SOCKET, func(p *program) { socket(p, x) })
	if x.reach != Open {
		fastOpen(&p)
	}
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p
}

// socket judges the making of a socket by its family. Families that are not
// named reach around the rules for TCP, or other machines in other ways.
func socket(p *program, x *plan) {
	p.arg(0)
	p.when(unix.AF_UNIX, func(p *program) {
		if x.unix {
			p.ret(unix.SECCOMP_RET_ALLOW)
		} else {
			p.refuse(unix.EACCES)
		}
	})
	for _, family := range [...]uint32{unix.AF_INET, unix.AF_INET6} {
		p.when(family, func(p *program) { internet(p, x.reach) })
	}
	p.when(unix.AF_NETLINK, func(p *program) {
		p.arg(2)
		p.when(unix.NETLINK_ROUTE, func(p *program) { p.ret(unix.SECCOMP_RET_ALLOW) })
		p.refuse(unix.EACCES)
	})
	p.refuse(unix.EAFNOSUPPORT)
}

// internet lets plain TCP through: Landlock judges no other protocol.
func internet(p *program, reach Reach) {
	switch reach {
	case Open:
		p.ret(unix.SECCOMP_RET_ALLOW)
	case Proxied:
		p.arg(1)
		p.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf, 0, 0) // without its flags
		p.when(unix.SOCK_STREAM, func(p *program) {
			p.arg(2)
			p.when(0, func(p *program) { p.ret(unix.SECCOMP_RET_ALLOW) })
			p.when(tcp, func(p *program) { p.ret(unix.SECCOMP_RET_ALLOW) })
		})
		p.refuse(unix.EACCES)
	default:
		p.refuse(unix.EACCES)
	}
}

// fastOpen refuses to connect by sending, which Landlock does not see.
func fastOpen(p *program) {
	for _, c := range [...]struct {
		number uintptr
		flags  uint32
	}{{unix.SYS_SENDTO, 3}, {unix.SYS_SENDMSG, 2}, {unix.SYS_SENDMMSG, 3}} {
		p.call(c.number, func(p *program) {
			p.arg(c.flags)
			p.with(msgFastOpen, func(p *program) { p.refuse(unix.EACCES) })
		})
	}
}

// seccomp puts a filter on the calling thread, for ever. The processor's
// guards against speculation are left as they are: they would slow programs
// down, and the filter does not separate secrets within one.
func seccomp(code []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("put a seccomp filter on a thread: %w", errno)
	}
	return nil
}

// hasSeccomp reports whether filters can be had.
func hasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
