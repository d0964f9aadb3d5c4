package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"interlock/internal/jail"
)

// nobody runs what root starts: bubblewrap keeps the capabilities of root.
const nobody = 65534

// startBubblewrap builds the same box by bubblewrap. Its scratch folders have no
// bound on the number of files, and its launch filter comes by a descriptor.
func startBubblewrap(ctx context.Context, l local, py *python, fonts fontList) (*exec.Cmd, func(), error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, nil, err
	}
	filter, err := memoryFile("seccomp", jail.LaunchFilter())
	if err != nil {
		return nil, nil, err
	}
	s := l.config.runnerSettings(bySocket, "/box", true)
	s.Fonts = fonts.file != nil
	args := []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns",
		"--uid", "65534", "--gid", "65534", "--hostname", "box", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
	}
	code := py.codePaths()
	for _, p := range append(code, py.dataPaths()...) {
		args = append(args, "--ro-bind-try", p, p)
	}
	for _, link := range py.symlinks(code) {
		args = append(args, "--symlink", link.Target, link.Name)
	}
	args = append(args, "--dir", "/dev")
	for _, p := range devices {
		args = append(args, "--dev-bind", p, p)
	}
	args = append(args, "--size", strconv.Itoa(boxBytes), "--tmpfs", "/box", "--size", strconv.Itoa(tmpBytes), "--tmpfs", "/tmp", "--dir", "/tmp/mpl")
	extra := []*os.File{filter}
	if fonts.file != nil {
		extra = append(extra, fonts.file)
		args = append(args, "--file", "4", "/tmp/mpl/"+fonts.name)
	}
	args = append(args, "--remount-ro", "/", "--chdir", "/box", "--seccomp", "3", "--")
	cmd := exec.CommandContext(ctx, bwrap, append(args, py.runnerArgs()...)...)
	cmd.Env = l.config.environment(s, "/box", "/tmp")
	cmd.ExtraFiles = extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return cmd, func() { filter.Close() }, nil
}

// memoryFile returns a file that exists only as a descriptor.
func memoryFile(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
