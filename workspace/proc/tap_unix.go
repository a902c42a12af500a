//go:build unix

package proc

import (
	"os"
	"syscall"
	"time"
)

// interrupt ends a read of the pipe that waits, without loss.
func interrupt(pipe *os.File) bool {
	return pipe.SetReadDeadline(time.Unix(1, 0)) == nil
}

// takeRest hands over what is in the pipe now, after an interrupt.
func takeRest(pipe *os.File, take func([]byte), buf []byte) {
	if pipe.SetReadDeadline(time.Time{}) != nil {
		return
	}
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < mostRest; {
		n := readNow(raw, buf)
		if n <= 0 {
			return
		}
		take(buf[:n])
		total += n
	}
}

// readNow reads what is there, without waiting. At the end of the file and
// when nothing is there it returns 0 or less.
func readNow(raw syscall.RawConn, buf []byte) (n int) {
	err := raw.Read(func(fd uintptr) bool {
		for {
			var err error
			if n, err = syscall.Read(int(fd), buf); err != syscall.EINTR {
				return true
			}
		}
	})
	if err != nil {
		return 0
	}
	return n
}
