package jail

import (
	"errors"
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// access is what a rule grants.
type access int

const (
	read access = iota
	readExecute
	readWrite
)

// A rule grants access to paths and what lies beneath them.
type rule struct {
	access   access
	paths    []string
	optional bool // a missing path is no fault
}

const (
	readRights = ll.AccessFSReadFile | ll.AccessFSReadDir
	// fileRights are those that make sense for a single file; the kernel refuses others there.
	fileRights = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	// writeRights let a folder be used, but neither devices, sockets nor programs be made in it.
	writeRights = readRights | ll.AccessFSWriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSRefer | ll.AccessFSTruncate
)

// Landlock is the version of Landlock that this kernel offers; 0 is none.
func Landlock() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

// landlock restricts the calling thread to the rules and gives the ABI that was
// used; 0 where the kernel has no Landlock. It works on one thread on purpose:
// exec follows and leaves only that one.
func landlock(rules []rule, network bool) (abi int, err error) {
	abi, err = ll.LandlockGetABIVersion()
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("asking for Landlock: %w", err)
	}
	attr := newRuleset(abi, network)
	fd, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return 0, fmt.Errorf("creating the Landlock ruleset: %w", err)
	}
	defer unix.Close(fd)
	for _, r := range rules {
		for _, p := range r.paths {
			err := addRule(fd, p, r.access, attr.HandledAccessFS)
			if err != nil && !(r.optional && errors.Is(err, unix.ENOENT)) {
				return 0, fmt.Errorf("granting %s: %w", p, err)
			}
		}
	}
	if err := ll.LandlockRestrictSelf(fd, 0); err != nil {
		return 0, fmt.Errorf("enforcing Landlock: %w", err)
	}
	return abi, nil
}

// newRuleset handles every right that the ABI knows.
func newRuleset(abi int, network bool) ll.RulesetAttr {
	attr := ll.RulesetAttr{HandledAccessFS: ll.AccessFSMakeSym<<1 - 1}
	if abi >= 2 {
		attr.HandledAccessFS |= ll.AccessFSRefer
	}
	if abi >= 3 {
		attr.HandledAccessFS |= ll.AccessFSTruncate
	}
	if abi >= 4 && !network {
		attr.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if abi >= 5 {
		attr.HandledAccessFS |= ll.AccessFSIoctlDev
	}
	if abi >= 6 {
		attr.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	return attr
}

func addRule(ruleset int, path string, a access, handled uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights := uint64(readRights)
	switch a {
	case readExecute:
		rights |= ll.AccessFSExecute
	case readWrite:
		rights = writeRights
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	return ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{AllowedAccess: rights & handled, ParentFd: fd}, 0)
}
