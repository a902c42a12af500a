package auth

import (
	"bytes"
	"os"
	"strconv"
)

// blot overwrites the values of variables in the block that /proc/PID/environ
// shows.
func blot(names []string) {
	start, size := environBlock()
	if size <= 0 || size > 8<<20 {
		return
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer mem.Close()
	block := make([]byte, size)
	if n, err := mem.ReadAt(block, start); err != nil || n != len(block) {
		return
	}
	at := int64(0)
	for _, entry := range bytes.SplitAfter(block, []byte{0}) {
		for _, name := range names {
			if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
				value = bytes.TrimSuffix(value, []byte{0})
				_, _ = mem.WriteAt(bytes.Repeat([]byte{'x'}, len(value)), start+at+int64(len(name)+1))
			}
		}
		at += int64(len(entry))
	}
}

// environBlock tells where the environment that this process began with lies.
func environBlock() (start, size int64) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0
	}
	// The name of the program, in brackets, may hold anything.
	_, rest, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := bytes.Fields(rest)
	const first, last = 50 - 3, 51 - 3 // env_start and env_end, counted from the third
	if !ok || len(fields) <= last {
		return 0, 0
	}
	from, err1 := strconv.ParseInt(string(fields[first]), 10, 64)
	to, err2 := strconv.ParseInt(string(fields[last]), 10, 64)
	if err1 != nil || err2 != nil || from <= 0 {
		return 0, 0
	}
	return from, to - from
}
