package jail

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A program is a seccomp filter: classic BPF over struct seccomp_data.
type program []unix.SockFilter

// Offsets in struct seccomp_data, and the verdicts.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16 // low half of the first of six 64-bit arguments, little-endian

	verdictAllow = 0x7fff0000
	verdictErrno = 0x00050000
	verdictKill  = 0x80000000 // the whole process
)

func refuse(e unix.Errno) uint32 { return verdictErrno | uint32(e) }

func (p *program) add(code uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (p *program) ret(verdict uint32) { p.add(unix.BPF_RET|unix.BPF_K, verdict, 0, 0) }
func (p *program) equal(k uint32, yes, no uint8) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, yes, no)
}

// addArchCheck kills what comes in by a foreign call table (32-bit, x32), where the
// numbers mean other calls, and leaves the call's number loaded.
func (p *program) addArchCheck() {
	p.load(offArch)
	p.equal(auditArch, 1, 0)
	p.ret(verdictKill)
	p.load(offNumber)
	if x32Bit != 0 {
		p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32Bit, 0, 1)
		p.ret(verdictKill)
	}
}

// addVerdict gives each of the calls the verdict.
func (p *program) addVerdict(verdict uint32, calls ...uintptr) {
	for _, nr := range calls {
		p.equal(uint32(nr), 0, 1)
		p.ret(verdict)
	}
}

// addArgRule allows a call when its argument has one of the values, and refuses it
// otherwise.
func (p *program) addArgRule(call uintptr, arg uint32, otherwise uint32, values ...uint32) {
	p.equal(uint32(call), 0, uint8(2+2*len(values)))
	p.load(offArgs + 8*arg)
	for _, v := range values {
		p.equal(v, 0, 1)
		p.ret(verdictAllow)
	}
	p.ret(otherwise)
}

// namespaces are the clone flags that make new ones.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// addCloneRule allows clone when all of the needed flags and no namespace flag are
// set. clone3 hides its flags behind a pointer: ENOSYS makes callers fall back.
func (p *program) addCloneRule(needed uint32) {
	p.addVerdict(refuse(unix.ENOSYS), unix.SYS_CLONE3)
	p.equal(unix.SYS_CLONE, 0, 6)
	p.load(offArgs)
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 3, 0)
	p.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, needed, 0, 0)
	p.equal(needed, 0, 1)
	p.ret(verdictAllow)
	p.ret(refuse(unix.EPERM))
}

// Bytes is the program as the kernel and bubblewrap read it.
func (p program) Bytes() []byte {
	out := make([]byte, 0, 8*len(p))
	for _, i := range p {
		out = binary.NativeEndian.AppendUint16(out, i.Code)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out
}

// install puts the filter on the calling thread; exec keeps it.
func (p program) install() error {
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fmt.Errorf("installing the seccomp filter: %w", e)
	}
	return nil
}
