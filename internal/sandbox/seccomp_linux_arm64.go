package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// barredHere are barred calls that only this processor has.
var barredHere = [...]uintptr{}
