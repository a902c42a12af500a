package sandbox

import (
	"testing"

	"golang.org/x/sys/unix"
)

// execute runs a filter as the kernel does.
func execute(t *testing.T, code []unix.SockFilter, arch, number uint32, args ...uint64) uint32 {
	t.Helper()
	data := map[uint32]uint32{dataNumber: number, dataArch: arch}
	for i, a := range args {
		data[dataArgs+8*uint32(i)], data[dataArgs+8*uint32(i)+4] = uint32(a), uint32(a>>32)
	}
	var acc uint32
	for pc := 0; pc < len(code); pc++ {
		c := code[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(c.Jt)
			} else {
				pc += int(c.Jf)
			}
		}
		switch c.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = data[c.K]
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= c.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(acc == c.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			jump(acc&c.K != 0)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(acc >= c.K)
		case unix.BPF_RET | unix.BPF_K:
			return c.K
		default:
			t.Fatalf("instruction %#x at %d", c.Code, pc)
		}
	}
	t.Fatal("it runs off its end")
	return 0
}

func TestFilter(t *testing.T) {
	const allow = unix.SECCOMP_RET_ALLOW
	no := func(err unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(err) }
	open, proxied, closed := filter(&plan{reach: Open}), filter(&plan{reach: Proxied}), filter(&plan{reach: Closed, unix: true})
	for _, c := range []struct {
		name   string
		code   []unix.SockFilter
		arch   uint32
		number uintptr
		args   []uint64
		want   uint32
	}{
		{"read", open, auditArch, unix.SYS_READ, nil, allow},
		{"i386", open, 0x40000003, 11, nil, unix.SECCOMP_RET_KILL_PROCESS},
		{"arm", open, 0x40000028, 11, nil, unix.SECCOMP_RET_KILL_PROCESS},
		{"x32", open, auditArch, 0x40000000 | 41, []uint64{unix.AF_ALG}, no(unix.ENOSYS)},
		{"negative", open, auditArch, 0xffffffff, nil, no(unix.ENOSYS)},
		{"io_uring", open, auditArch, unix.SYS_IO_URING_SETUP, nil, no(unix.EPERM)},
		{"last barred", open, auditArch, unix.SYS_SYSLOG, nil, no(unix.EPERM)},
		{"clone3", open, auditArch, unix.SYS_CLONE3, nil, no(unix.ENOSYS)},
		{"clone", open, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD}, allow},
		{"clone user", open, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | unix.CLONE_NEWNS}, no(unix.EPERM)},
		{"unshare user", open, auditArch, unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWUSER}, no(unix.EPERM)},
		{"unshare files", open, auditArch, unix.SYS_UNSHARE, []uint64{unix.CLONE_FILES}, allow},
		{"ioctl", open, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TCGETS}, allow},
		{"push input", open, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TIOCSTI}, no(unix.EPERM)},
		{"push input, high bits", open, auditArch, unix.SYS_IOCTL, []uint64{1, 1<<32 | unix.TIOCSTI}, no(unix.EPERM)},
		{"console", open, auditArch, unix.SYS_IOCTL, []uint64{1, tiocLinux}, no(unix.EPERM)},
		{"udp", open, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM}, allow},
		{"fast open", open, auditArch, unix.SYS_SENDTO, []uint64{3, 0, 0, msgFastOpen}, allow},
		{"unix", open, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, no(unix.EACCES)},
		{"unix allowed", closed, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"pair", open, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"vsock", open, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, no(unix.EAFNOSUPPORT)},
		{"tcp", proxied, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0}, allow},
		{"tcp by name", proxied, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, tcp}, allow},
		{"mptcp", proxied, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, no(unix.EACCES)},
		{"udp held", proxied, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, 0}, no(unix.EACCES)},
		{"family, high bits", proxied, auditArch, unix.SYS_SOCKET, []uint64{1<<32 | unix.AF_INET, unix.SOCK_RAW, 1}, no(unix.EACCES)},
		{"fast open held", proxied, auditArch, unix.SYS_SENDTO, []uint64{3, 0, 0, msgFastOpen | unix.MSG_NOSIGNAL}, no(unix.EACCES)},
		{"fast open by message", proxied, auditArch, unix.SYS_SENDMSG, []uint64{3, 0, msgFastOpen}, no(unix.EACCES)},
		{"fast open by messages", proxied, auditArch, unix.SYS_SENDMMSG, []uint64{3, 0, 1, msgFastOpen}, no(unix.EACCES)},
		{"send", proxied, auditArch, unix.SYS_SENDTO, []uint64{3, 0, 0, unix.MSG_NOSIGNAL}, allow},
		{"none", closed, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}, no(unix.EACCES)},
		{"routes", closed, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
	} {
		if got := execute(t, c.code, c.arch, uint32(c.number), c.args...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	if len(proxied) > 4096 {
		t.Errorf("%d instructions: the kernel takes 4096", len(proxied))
	}
}
