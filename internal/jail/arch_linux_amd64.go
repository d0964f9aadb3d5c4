package jail

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Bit    = 0x40000000 // numbers from here on belong to the x32 table
)

// The calls that only this architecture has.
var (
	deniedToWorkersHere = []uintptr{
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_MKNOD,
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS,
	}
	allowedToPythonHere = []uintptr{
		unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_PIPE, unix.SYS_SELECT, unix.SYS_POLL, unix.SYS_EPOLL_WAIT, unix.SYS_DUP2,
		unix.SYS_TIME, unix.SYS_GETPGRP, unix.SYS_RENAME, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_READLINK, unix.SYS_ALARM, unix.SYS_ARCH_PRCTL,
	}
	forksHere = []uintptr{unix.SYS_FORK, unix.SYS_VFORK}
)
