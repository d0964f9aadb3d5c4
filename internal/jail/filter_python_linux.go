package jail

import (
	"slices"

	"golang.org/x/sys/unix"
)

// allowedToPython is what CPython with numpy, pandas and matplotlib needs, and
// its harmless neighbours. Not here, and so refused: every socket, memfd, shared
// memory, ptrace, keys, mounts, namespaces, io_uring, links, and the calls
// that change a file's attributes, which Landlock does not mediate and an open
// descriptor is enough for.
var allowedToPython = []uintptr{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK, unix.SYS_CLOSE,
	unix.SYS_OPENAT, unix.SYS_FSTAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64,
	unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_UMASK,
	unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FADVISE64, unix.SYS_FLOCK, unix.SYS_SENDFILE, unix.SYS_COPY_FILE_RANGE,
	unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MSYNC, unix.SYS_MINCORE, unix.SYS_BRK, unix.SYS_MEMBARRIER,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGSUSPEND, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_PIPE2, unix.SYS_PSELECT6, unix.SYS_PPOLL, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_FCNTL,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES, unix.SYS_SETITIMER, unix.SYS_GETITIMER,
	unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_GETGROUPS, unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_CAPGET,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_GETCPU, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT,
	unix.SYS_SET_TID_ADDRESS, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_FUTEX, unix.SYS_GETRANDOM,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// terminalQuestions are the ioctls that libraries ask of any descriptor.
var terminalQuestions = []uint32{unix.TCGETS, unix.TIOCGWINSZ, unix.TIOCINQ, fionbio, fionclex, fioclex}

const (
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451
)

// launchFilter stands from before the interpreter starts: it may still exec,
// fork, wait, signal its child, lower limits and load the second filter.
func launchFilter() program {
	var p program
	p.addArchCheck()
	p.addVerdict(verdictAllow, slices.Concat(allowedToPython, allowedToPythonHere, forksHere, []uintptr{
		unix.SYS_EXECVE, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_PRLIMIT64, unix.SYS_SETRLIMIT,
		unix.SYS_PRCTL, unix.SYS_SECCOMP,
		unix.SYS_RECVMSG, unix.SYS_GETSOCKNAME, unix.SYS_GETSOCKOPT, // the job comes in by an inherited socket
	})...)
	p.addArgRule(unix.SYS_IOCTL, 1, refuse(unix.ENOTTY), terminalQuestions...)
	p.addCloneRule(0)
	p.ret(refuse(unix.EPERM))
	return p
}

// jobFilter stands from before the first line of a job: no exec, no process, no
// signal, no socket of any kind, no further prctl.
func jobFilter() program {
	var p program
	p.addArchCheck()
	p.addVerdict(verdictAllow, slices.Concat(allowedToPython, allowedToPythonHere)...)
	p.addArgRule(unix.SYS_IOCTL, 1, refuse(unix.ENOTTY), terminalQuestions...)
	p.addArgRule(unix.SYS_PRCTL, 0, refuse(unix.EPERM), unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA)
	p.addArgRule(unix.SYS_PRLIMIT64, 0, refuse(unix.EPERM), 0)
	p.addCloneRule(unix.CLONE_THREAD | unix.CLONE_VM)
	p.ret(refuse(unix.EPERM))
	return p
}

// LaunchFilter is the first filter, for a launcher that takes one as bytes.
func LaunchFilter() []byte { return launchFilter().Bytes() }

// JobFilter is the second filter, which the runner loads before user code.
func JobFilter() []byte { return jobFilter().Bytes() }
