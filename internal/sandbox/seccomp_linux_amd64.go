package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// barredHere are barred calls that only this processor has.
var barredHere = [...]uintptr{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_CREATE_MODULE, unix.SYS_USELIB, unix.SYS__SYSCTL, unix.SYS_MODIFY_LDT}
