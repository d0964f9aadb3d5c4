package jail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// probeTime bounds each trial process.
const probeTime = 5 * time.Second

// Probe tries each layer on this machine: a few short processes, some 50 ms. The
// trials re-exec this binary, so its main must call [Main] first.
func Probe() Report {
	user := tryNamespace(0)
	var r Report
	r.add(LayerUser, user, "a process got a user namespace of its own", userNamespaceFix())
	for _, ns := range []struct {
		name string
		flag uintptr
	}{{LayerMount, unix.CLONE_NEWNS}, {LayerPID, unix.CLONE_NEWPID}, {LayerNetwork, unix.CLONE_NEWNET}} {
		err := user
		if err == nil {
			err = tryNamespace(ns.flag)
		}
		r.add(ns.name, err, "inside a user namespace", userNamespaceFix())
	}
	r.add(LayerBox, tryBox(), "a process changed its root and dropped all capabilities", "needs Linux 5.12 and the namespaces above; bubblewrap is tried next")
	path, err := exec.LookPath("bwrap")
	r.add(LayerBwrap, err, path, "install the package bubblewrap (second choice where the native launcher fails)")
	abi, err := ll.LandlockGetABIVersion()
	r.add(LayerFiles, err, fmt.Sprintf("ABI %d", abi), "boot with landlock in the kernel's lsm= list (Linux 5.13 or later)")
	r.add(LayerCalls, trySeccomp(), "filters can be installed", "use a kernel with CONFIG_SECCOMP_FILTER")
	groups, err := findCgroup()
	r.add(LayerGroups, err, groups, "optional: delegate a cgroup to the server (systemd: Delegate=yes); memory is bounded by rlimits without it")
	var as unix.Rlimit
	r.add(LayerLimits, unix.Getrlimit(unix.RLIMIT_AS, &as), "address space, processor time, files", "")
	return r
}

func (r *Report) add(name string, err error, found, fix string) {
	if err != nil {
		r.Layers = append(r.Layers, Layer{Name: name, Detail: err.Error(), Fix: fix})
		return
	}
	r.Layers = append(r.Layers, Layer{Name: name, OK: true, Detail: found})
}

// tryNamespace starts a process in a user namespace and one more.
func tryNamespace(flag uintptr) error {
	return tryStage(order{Trial: true}, func(attr *syscall.SysProcAttr) {
		attr.Cloneflags = unix.CLONE_NEWUSER | flag
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	})
}

// runProbeStage is the stage of a probe.
func runProbeStage() error {
	if err := dropCapabilities(); err != nil {
		return err
	}
	return workerFilter(unix.Getpid(), false).install()
}

func trySeccomp() error {
	return tryStage(order{Trial: true}, nil)
}

// tryBox builds a whole box whose program does not exist: getting as far as exec is the proof.
func tryBox() error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	const missing = "/scratch/none"
	cmd, err := BoxCommand(ctx, Box{
		Args: []string{missing}, Dir: "/scratch", Scratch: []Scratch{{"/scratch", 1 << 20, 16}},
		Binds: []Bind{{From: "/dev/null", Device: true}, {From: "/usr/lib"}},
	})
	if err != nil {
		return err
	}
	text, err := runTrial(cmd)
	if err != nil && strings.Contains(text, "starting "+missing) {
		return nil
	}
	return fmt.Errorf("%s", textOrError(text, err))
}

func tryStage(o order, with func(*syscall.SysProcAttr)) error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd, err := stageCommand(ctx, o)
	if err != nil {
		return err
	}
	if with != nil {
		with(cmd.SysProcAttr)
	}
	if text, err := runTrial(cmd); err != nil {
		return fmt.Errorf("%s", textOrError(text, err))
	}
	return nil
}

func runTrial(cmd *exec.Cmd) (string, error) {
	var text bytes.Buffer
	cmd.Stderr = &text
	if err := Start(cmd); err != nil {
		return "", err
	}
	err := cmd.Wait()
	return strings.TrimSpace(text.String()), err
}

func textOrError(text string, err error) string {
	if text != "" || err == nil {
		return text
	}
	return err.Error()
}

// userNamespaceFix names the switch that is off here, if one of the known ones is.
func userNamespaceFix() string {
	for _, s := range []struct{ file, off, fix string }{
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "give the interlock binary an AppArmor profile with `userns,` (docs/security.md)"},
		{"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
	} {
		if raw, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(raw)) == s.off {
			return s.fix
		}
	}
	return "allow user namespaces: a container needs a seccomp profile that permits unshare, or run the docker executor"
}

// findCgroup looks for a cgroup in which this process may limit its children.
func findCgroup() (string, error) {
	for _, g := range []struct{ path, what string }{
		{"/sys/fs/cgroup/cgroup.subtree_control", "version 2"},
		{"/sys/fs/cgroup/memory/tasks", "version 1, memory"},
	} {
		if unix.Access(g.path, unix.W_OK) == nil {
			return g.what + " (" + filepath.Dir(g.path) + ")", nil
		}
	}
	return "", errors.New("no cgroup that this user may write to")
}
