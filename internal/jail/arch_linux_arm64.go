package jail

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0
)

// The calls that only this architecture has: none of the old ones.
var (
	deniedToWorkersHere []uintptr
	allowedToPythonHere []uintptr
	forksHere           []uintptr
)
