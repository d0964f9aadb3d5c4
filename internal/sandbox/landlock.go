package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"interlock/internal/jail"
)

// startLandlock runs in the host's namespaces, kept in by Landlock and seccomp
// alone. Its scratch folder is on the host's disk and goes when the runner does.
func startLandlock(ctx context.Context, l local, py *python, fonts fontList) (*exec.Cmd, func(), error) {
	if jail.Landlock() == 0 {
		return nil, nil, errors.New("the kernel has no Landlock")
	}
	dir, err := os.MkdirTemp("", scratchPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, nil, err
	}
	tidy := func() { os.RemoveAll(dir) }
	work, tmp := filepath.Join(dir, "box"), filepath.Join(dir, "tmp")
	s := l.config.runnerSettings(bySocket, work, false)
	if err := fillScratch(work, tmp, fonts); err != nil {
		tidy()
		return nil, nil, err
	}
	s.Fonts = fonts.file != nil
	cmd, err := jail.PythonCommand(ctx, jail.Spec{
		Args: py.runnerArgs(), Executable: py.codePaths(), ReadOnly: py.dataPaths(), ReadWrite: append([]string{work, tmp}, devices...),
		Dir: work, Env: l.config.environment(s, work, tmp), OpenFiles: 256,
	})
	if err != nil {
		tidy()
		return nil, nil, err
	}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := chownScratch(dir); err != nil {
			tidy()
			return nil, nil, err
		}
	}
	return cmd, tidy, nil
}

func fillScratch(work, tmp string, fonts fontList) error {
	if err := errors.Join(os.Mkdir(work, 0o700), os.MkdirAll(filepath.Join(tmp, "mpl"), 0o700)); err != nil {
		return err
	}
	if fonts.file == nil {
		return nil
	}
	to, err := os.Create(filepath.Join(tmp, "mpl", fonts.name))
	if err != nil {
		return err
	}
	_, err = to.ReadFrom(fonts.file)
	return errors.Join(err, to.Close())
}

// chownScratch makes the scratch folder belong to the user that the runner is.
func chownScratch(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
}

// scratchPrefix begins the name of a folder that belongs to a process: its pid follows.
const scratchPrefix = "interlock-box-"

// removeLeftovers removes the folders of servers that were killed before they
// could.
func removeLeftovers(dirs ...string) {
	for _, parent := range append(dirs, os.TempDir()) {
		found, _ := filepath.Glob(filepath.Join(parent, scratchPrefix+"*"))
		for _, dir := range found {
			var pid int
			if n, _ := fmt.Sscanf(strings.TrimPrefix(filepath.Base(dir), scratchPrefix), "%d-", &pid); n == 1 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
				_ = os.RemoveAll(dir) // of another user: that user's server sweeps it
			}
		}
	}
}
