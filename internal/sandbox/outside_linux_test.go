package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openharness/oh/internal/sandbox/proxy"
)

func TestProcessesOutside(t *testing.T) {
	b := newBox(t, nil)
	victim := exec.Command("sleep", "300")
	victim.Env = []string{"KEY=SECRET"}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = victim.Process.Kill(), victim.Wait() }()
	pid, self := victim.Process.Pid, os.Getpid()
	marker := "SECRET"
	for _, target := range []int{pid, self} {
		if got := b.probe("ptrace %d", target); got != "EPERM" {
			t.Errorf("ptrace: %s", got)
		}
		if got := b.probe("memory %d %d", target, uintptr(unsafe.Pointer(&marker))); got != "EPERM" && got != "EACCES" {
			t.Errorf("process_vm_readv: %s", got)
		}
		if got := b.probe("getfd %d", target); got != "EPERM" {
			t.Errorf("pidfd_getfd: %s", got)
		}
	}
	for _, line := range []string{"cat /proc/%d/environ", "cat /proc/%d/root/etc/passwd", "ls -l /proc/%d/fd/", "head -c 1 /proc/%d/mem", "cat /proc/%d/maps"} {
		for _, target := range []int{pid, self} {
			if out, code := b.sh(fmt.Sprintf(line, target)); code == 0 {
				t.Errorf(line+": %s", target, out)
			}
		}
	}
	if landlockStatus(kernelABI(), true).Signals {
		for _, line := range []string{"kill %d", "kill -9 -- -%d", "(kill %d) & wait $!", "setsid -w kill %d"} {
			if out, code := b.sh(fmt.Sprintf(line, pid)); code == 0 {
				t.Errorf(line+": %s", pid, out)
			}
		}
		if got := b.probe("kill %d", self); got != "EPERM" {
			t.Errorf("kill of our own program: %s", got)
		}
	} else {
		t.Log("signals to processes outside are not held: needs Linux 6.15")
	}
	if victim.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("the process outside is gone")
	}
}

func TestProcessesInside(t *testing.T) {
	b := newBox(t, nil)
	b.sh("sleep 300 >/dev/null 2>&1 & echo $! > pid")
	out, code := b.sh("cat /proc/$(cat pid)/environ >/dev/null && kill $(cat pid) && echo killed")
	if out != "killed\n" {
		t.Errorf("a later command cannot stop what an earlier one left: %q, %d", out, code)
	}
}

func TestCalls(t *testing.T) {
	b := newBox(t, nil)
	if !hasSeccomp() {
		t.Skip("needs a kernel with seccomp filters")
	}
	for name, number := range map[string]uintptr{"io_uring_setup": unix.SYS_IO_URING_SETUP, "bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN,
		"keyctl": unix.SYS_KEYCTL, "mount": unix.SYS_MOUNT, "userfaultfd": unix.SYS_USERFAULTFD, "kexec_load": unix.SYS_KEXEC_LOAD, "setns": unix.SYS_SETNS} {
		if got := b.probe("call %d", number); got != "EPERM" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := b.probe("userns"); got != "EPERM" {
		t.Errorf("a user namespace: %s", got)
	}
	for _, c := range []struct {
		family, kind, proto int
		want                string
	}{
		{unix.AF_UNIX, unix.SOCK_STREAM, 0, "EACCES"}, {unix.AF_VSOCK, unix.SOCK_STREAM, 0, "EAFNOSUPPORT"}, {unix.AF_ALG, unix.SOCK_SEQPACKET, 0, "EAFNOSUPPORT"},
		{unix.AF_PACKET, unix.SOCK_RAW, 0, "EAFNOSUPPORT"}, {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT, "EACCES"},
		{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, "ok"}, {unix.AF_INET, unix.SOCK_DGRAM, 0, "ok"}, {unix.AF_INET, unix.SOCK_STREAM, 0, "ok"},
	} {
		if got := b.probe("socket %d %d %d", c.family, c.kind, c.proto); got != c.want {
			t.Errorf("socket(%d, %d, %d): %s, want %s", c.family, c.kind, c.proto, got, c.want)
		}
	}
	with := newBox(t, func(c *Config) { c.UnixSockets = true })
	if got := with.probe("socket %d %d 0", unix.AF_UNIX, unix.SOCK_STREAM); got != "ok" {
		t.Errorf("with sockets: %s", got)
	}
	outer, err := net.Listen("unix", "@sandbox-test-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outer.Close() }()
	if got := with.probe("abstract sandbox-test-%d", os.Getpid()); got == "ok" && kernelABI() >= abiScope {
		t.Error("an abstract socket outside can be reached")
	}
}

// listen answers whoever asks.
func listen(t *testing.T) (addr string, port int) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			_, _ = c.Read(make([]byte, 4096))
			_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
			_ = c.Close()
		}
	})
	t.Cleanup(func() { _ = ln.Close(); wg.Wait() })
	return ln.Addr().String(), ln.Addr().(*net.TCPAddr).Port
}

func TestNetworkThroughTheProxyOnly(t *testing.T) {
	if kernelABI() < abiNetwork {
		t.Skip("needs Linux 6.7: Landlock's rules for TCP")
	}
	b := newBox(t, func(c *Config) { c.Network, c.Allowed = Proxied, []string{"127.0.0.1"} })
	addr, port := listen(t)
	b.sh("true")
	ours := b.p.proxy.Addr()
	if got := b.probe("connect %s", ours); got != "ok" {
		t.Errorf("the proxy: %s", got)
	}
	if got := b.probe("connect %s", addr); got != "EACCES" {
		t.Errorf("another port: %s", got)
	}
	if got := b.probe("fastopen %d", port); got != "EACCES" {
		t.Errorf("fast open: %s", got)
	}
	for _, c := range [][3]int{{unix.AF_INET, unix.SOCK_DGRAM, 0}, {unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, 0}, {unix.AF_INET, unix.SOCK_RAW, 1},
		{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}, {unix.AF_INET, unix.SOCK_SEQPACKET, 0}} {
		if got := b.probe("socket %d %d %d", c[0], c[1], c[2]); got != "EACCES" {
			t.Errorf("socket%v: %s", c, got)
		}
	}
	get := fmt.Sprintf(`p=${HTTP_PROXY##*:}; exec 3<>/dev/tcp/127.0.0.1/$p; printf 'GET http://%%s/ HTTP/1.1\r\nHost: x\r\n\r\n' "$1" >&3; cat <&3`)
	if out, _ := b.sh("set -- " + addr + "; " + get); !strings.HasSuffix(out, "hello") {
		t.Errorf("an allowed host: %q", out)
	}
	if out, _ := b.sh("set -- refused.example; " + get); !strings.Contains(out, "403 "+proxy.Reason) {
		t.Errorf("a refused host: %q", out)
	}
	if got := b.p.Refused(); len(got) != 1 || got[0] != "refused.example" || b.p.Refused() != nil {
		t.Errorf("refused: %v", got)
	}
	for _, line := range []string{"exec 3<>/dev/tcp/127.0.0.1/%d", "bash -c 'bash -c \": 3<>/dev/tcp/127.0.0.1/%d\"'", "setsid -w bash -c ': 3<>/dev/tcp/127.0.0.1/%d'"} {
		if out, code := b.sh(fmt.Sprintf(line, port)); code == 0 {
			t.Errorf(line+": %s", port, out)
		}
	}
}

func TestNoNetwork(t *testing.T) {
	b := newBox(t, func(c *Config) { c.Network = Closed })
	addr, _ := listen(t)
	if got := b.probe("connect %s", addr); got != "EACCES" {
		t.Errorf("connect: %s", got)
	}
	open := newBox(t, nil)
	if got := open.probe("connect %s", addr); got != "ok" {
		t.Errorf("an open network: %s", got)
	}
}

// TestDisks holds that the disks below all files cannot be read, which root could
// otherwise.
func TestDisks(t *testing.T) {
	b := newBox(t, nil)
	found := 0
	disks, _ := filepath.Glob("/sys/class/block/*")
	for _, d := range disks {
		dev := "/dev/" + filepath.Base(d)
		f, err := os.OpenFile(dev, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		_ = f.Close()
		found++
		if out, code := b.sh("exec 3<" + dev); code == 0 {
			t.Errorf("%s can be opened: %s", dev, out)
		}
	}
	if found == 0 {
		t.Skip("no disk can be read here without the sandbox either")
	}
}
