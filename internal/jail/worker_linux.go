package jail

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// workerOrder confines a process that stays in the server's namespaces.
type workerOrder struct {
	Program                         string
	Args, Env                       []string
	ReadOnly, ReadWrite, Executable []string
	Memory, CPU, Files, FileBytes   uint64
	Network                         bool
	Descriptors                     int  // how many from 0 on it keeps
	Python                          bool // the allow-list for interpreters instead of the deny-list for workers
}

// systemPaths is what any dynamically linked program reads before its first line.
var systemPaths = struct{ libraries, files []string }{
	libraries: []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64"},
	files:     []string{"/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/null", "/dev/zero", "/dev/urandom"},
}

func (w *workerOrder) run() error {
	// They close when this process execs: the runtime of this stage still uses its own.
	if err := unix.CloseRange(uint(w.Descriptors), ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing inherited descriptors: %w", err)
	}
	if err := w.setLimits(); err != nil {
		return err
	}
	keep := []uintptr{unix.CAP_DAC_OVERRIDE} // Landlock says where; ownership is no second opinion
	if w.Python {
		keep = nil
	}
	if err := dropCapabilities(keep...); err != nil {
		return err
	}
	rules := []rule{
		{readExecute, systemPaths.libraries, true},
		{read, systemPaths.files, true},
		{readWrite, []string{"/dev/null"}, true},
		{readExecute, []string{w.Program}, false},
		{readExecute, w.Executable, false},
		{read, w.ReadOnly, false},
		{readWrite, w.ReadWrite, false},
	}
	abi, err := landlock(rules, w.Network)
	if err != nil {
		return err
	}
	filter := workerFilter(unix.Getpid(), w.Network)
	if w.Python {
		filter = launchFilter()
	}
	if err := filter.install(); err != nil {
		return err
	}
	active := []string{"rlimits", "no_new_privs", "seccomp"}
	if abi > 0 {
		active = append(active, fmt.Sprintf("landlock:%d", abi))
	}
	env := append(w.Env[:len(w.Env):len(w.Env)], activeVar+"="+strings.Join(active, " "))
	return fmt.Errorf("starting %s: %w", w.Program, unix.Exec(w.Program, w.Args, env))
}

func (w *workerOrder) setLimits() error {
	for _, l := range []struct {
		resource   int
		soft, hard uint64
	}{
		{unix.RLIMIT_AS, w.Memory, w.Memory},
		{unix.RLIMIT_CPU, w.CPU, w.CPU + 1},
		{unix.RLIMIT_NOFILE, w.Files, w.Files},
		{unix.RLIMIT_FSIZE, w.FileBytes, w.FileBytes},
	} {
		if l.soft == 0 {
			continue
		}
		if err := setLimit(l.resource, l.soft, l.hard); err != nil {
			return err
		}
	}
	return setLimit(unix.RLIMIT_CORE, 0, 0)
}

// setLimit lowers a limit; one that is already lower stays.
func setLimit(resource int, soft, hard uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return fmt.Errorf("reading limit %d: %w", resource, err)
	}
	want := unix.Rlimit{Cur: min(soft, now.Max), Max: min(hard, now.Max)}
	if err := unix.Setrlimit(resource, &want); err != nil {
		return fmt.Errorf("setting limit %d: %w", resource, err)
	}
	return nil
}

// dropCapabilities leaves at most the kept ones, for good: bounding set, all
// sets of this thread, and no_new_privs so that no exec brings any back.
func dropCapabilities(keep ...uintptr) error {
	var kept [2]unix.CapUserData
	for c := range uintptr(64) {
		if slices.Contains(keep, c) {
			continue
		}
		// EPERM: an ordinary user, who has none to lose; EINVAL: past the last one.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			break
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var now [2]unix.CapUserData
	if err := unix.Capget(&header, &now[0]); err != nil {
		return fmt.Errorf("reading capabilities: %w", err)
	}
	for _, k := range keep {
		kept[k/32].Permitted |= now[k/32].Permitted & (1 << (k % 32))
		kept[k/32].Effective = kept[k/32].Permitted
	}
	if err := unix.Capset(&header, &kept[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	return nil
}
