package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobody is the conventional user who owns nothing.
const nobody = 65534

// boxOrder is a Box as its stage is told.
type boxOrder struct {
	Args, Env []string
	Dir       string
	Binds     []Bind
	Links     []Link
	Scratch   []Scratch
	Files     []string // the i-th is filled from descriptor 3+i
}

// BoxCommand prepares a process in a box of its own. Start it with [Start].
// Killing it kills everything inside.
func BoxCommand(ctx context.Context, box Box) (*exec.Cmd, error) {
	if len(box.Args) == 0 {
		return nil, errors.New("jail: no program to run")
	}
	o := &boxOrder{Args: box.Args, Env: box.Env, Dir: box.Dir, Binds: box.Binds, Links: box.Links, Scratch: box.Scratch}
	var extra []*os.File
	for _, f := range box.Files {
		o.Files, extra = append(o.Files, f.Path), append(extra, f.From)
	}
	cmd, err := stageCommand(ctx, order{Box: o})
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = extra
	attr := cmd.SysProcAttr
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	uid, gid := os.Getuid(), os.Getgid()
	root := uid == 0
	if root {
		uid, gid = idOrNobody(box.UID), idOrNobody(box.GID)
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	attr.GidMappingsEnableSetgroups = root
	attr.Credential = &syscall.Credential{NoSetGroups: !root}
	return cmd, nil
}

func idOrNobody(id int) int {
	if id == 0 {
		return nobody
	}
	return id
}

// run builds the root as pid 1 of the fresh namespaces, gives everything up and
// execs. The order matters: sources are taken before the new root hides them,
// and capabilities go only when nothing is left to mount.
func (b *boxOrder) run() error {
	// They close when this process execs: the runtime of this stage still uses its own.
	if err := unix.CloseRange(uint(3+len(b.Files)), ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing inherited descriptors: %w", err)
	}
	if err := b.enterRoot(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("box")); err != nil {
		return fmt.Errorf("naming the host: %w", err)
	}
	if err := setLimit(unix.RLIMIT_CORE, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, lockedRoot, 0, 0, 0); err != nil {
		return fmt.Errorf("locking securebits: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("binding life to the server: %w", err)
	}
	if _, err := landlock(b.landlockRules(), false); err != nil {
		return err
	}
	if err := launchFilter().install(); err != nil {
		return err
	}
	return fmt.Errorf("starting %s: %w", b.Args[0], unix.Exec(b.Args[0], b.Args, b.Env))
}

// lockedRoot: user 0 gets no capabilities from its number, for good.
const lockedRoot = 0x2f // NOROOT, NO_SETUID_FIXUP and their locks, KEEP_CAPS locked off

// A mountSource is a detached copy of a mount, waiting to be attached to the new
// root.
type mountSource struct {
	fd   int
	to   string
	file bool
}

func (b *boxOrder) enterRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	sources, err := b.copyMounts()
	if err != nil {
		return err
	}
	const root = "/tmp" // any folder will do: it is hidden in this namespace only
	if err := unix.Mount("root", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,nr_inodes=512,mode=755"); err != nil {
		return fmt.Errorf("mounting the root: %w", err)
	}
	for _, s := range b.Scratch {
		dir := filepath.Join(root, s.Path)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=700", s.Bytes, s.Files)
		if err := unix.Mount("scratch", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
			return fmt.Errorf("mounting %s: %w", s.Path, err)
		}
	}
	for _, s := range sources {
		if err := s.attach(root); err != nil {
			return err
		}
	}
	for _, l := range b.Links {
		if err := makeLink(root, l); err != nil {
			return err
		}
	}
	if err := b.copyFiles(root); err != nil {
		return err
	}
	return pivotRoot(root, b.Dir)
}

// copyMounts copies the mounts of the sources, read-only and without set-uid
// programs.
func (b *boxOrder) copyMounts() ([]mountSource, error) {
	var out []mountSource
	for _, bind := range b.Binds {
		info, err := os.Stat(bind.From)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, bind.From, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return nil, fmt.Errorf("taking %s: %w", bind.From, err)
		}
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
		switch {
		case bind.Device:
			attr.Attr_set = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
		case !bind.Execute:
			attr.Attr_set |= unix.MOUNT_ATTR_NOEXEC
		}
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
			return nil, fmt.Errorf("making %s read-only: %w", bind.From, err)
		}
		out = append(out, mountSource{fd, bind.insidePath(), !info.IsDir()})
	}
	return out, nil
}

func (b Bind) insidePath() string {
	if b.To == "" {
		return b.From
	}
	return b.To
}

func (s mountSource) attach(root string) error {
	defer unix.Close(s.fd)
	at := filepath.Join(root, s.to)
	dir := at
	if s.file {
		dir = filepath.Dir(at)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if s.file {
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			return err
		}
	}
	if err := unix.MoveMount(s.fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("binding %s: %w", s.to, err)
	}
	return nil
}

func makeLink(root string, l Link) error {
	at := filepath.Join(root, l.Name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(l.Target, at); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (b *boxOrder) copyFiles(root string) error {
	for i, path := range b.Files {
		from := os.NewFile(uintptr(3+i), path)
		at := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		to, err := os.Create(at)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		if err := errors.Join(err, to.Close(), from.Close()); err != nil {
			return fmt.Errorf("copying %s: %w", path, err)
		}
	}
	return nil
}

// pivotRoot makes root the root, drops the old one and leaves the new one
// read-only.
func pivotRoot(root, dir string) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("dropping the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("making the root read-only: %w", err)
	}
	if err := unix.Chdir(dir); err != nil {
		return fmt.Errorf("entering %s: %w", dir, err)
	}
	return nil
}

func (b *boxOrder) landlockRules() []rule {
	var rules []rule
	for _, bind := range b.Binds {
		a := read
		switch {
		case bind.Execute:
			a = readExecute
		case bind.Device:
			a = readWrite
		}
		rules = append(rules, rule{a, []string{bind.insidePath()}, true})
	}
	for _, s := range b.Scratch {
		rules = append(rules, rule{readWrite, []string{s.Path}, false})
	}
	return rules
}
