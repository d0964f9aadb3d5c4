package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"interlock/internal/jail"
)

// local is the wall of this machine's own kernel.
type local struct{ config Config }

// A launcher is one way to build that wall.
type launcher struct {
	name  string
	level Level
	note  string // what this way does not cover
	start func(ctx context.Context, l local, py *python, fonts fontList) (*exec.Cmd, func(), error)
}

// launchers, best first.
var launchers = []launcher{
	{"native", LevelNamespaces, "", startNative},
	{"bubblewrap", LevelNamespaces, "", startBubblewrap},
	{"landlock", LevelSyscalls, "degraded: jobs share the host's process table and network namespace; seccomp keeps them from both", startLandlock},
}

// probe tries the launchers with a real runner each and keeps the first that works.
func (l local) probe(ctx context.Context) (*warmRunner, starter, Status, error) {
	py, err := findPython(ctx, l.config.Python)
	if err != nil {
		return nil, nil, Status{}, err
	}
	removeLeftovers(l.config.Dir)
	status := Status{Python: py.String()}
	var problems []error
	for _, way := range launchers {
		if l.config.Launcher != "" && way.name != l.config.Launcher {
			continue
		}
		if way.level < LevelNamespaces && !l.config.AllowDegraded {
			status.Notes = append(status.Notes, way.name+": not tried, because it reaches only the level syscalls; --python-min-level=syscalls allows it")
			continue
		}
		start := l.starter(way, py)
		first, err := start(ctx)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", way.name, err))
			status.Notes = append(status.Notes, fmt.Sprintf("%s: %v", way.name, err))
			continue
		}
		status.Launcher, status.Level, status.Versions = way.name, way.level, first.ready.Versions
		if way.note != "" {
			status.Notes = append(status.Notes, way.note)
		}
		return first, start, status, nil
	}
	return nil, nil, status, errors.Join(problems...)
}

// starter starts runners by one launcher. The first runner finds the fonts; those
// after it are given what it found.
func (l local) starter(way launcher, py *python) starter {
	return func(ctx context.Context) (*warmRunner, error) {
		fonts := readFonts(l.config.Dir)
		defer fonts.close()
		cmd, tidy, err := way.start(ctx, l, py, fonts)
		if err != nil {
			return nil, err
		}
		p, err := launch(cmd, tidy)
		if err != nil {
			tidy()
			return nil, err
		}
		if err := p.awaitReady(ctx); err != nil {
			return nil, err
		}
		if len(p.fonts) > 0 {
			writeFonts(l.config.Dir, p.ready.Fonts, p.fonts)
		}
		return p, nil
	}
}

// launch starts a runner whose job comes by a socket. tidy runs when it is gone.
func launch(cmd *exec.Cmd, tidy func()) (*warmRunner, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "job"), os.NewFile(uintptr(pair[1]), "job")
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		return nil, fmt.Errorf("making a socket pair: %w", err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer theirOut.Close()
	var said headBuffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirOut, &said
	cmd.WaitDelay = time.Second
	if !cmd.SysProcAttr.Setsid {
		cmd.SysProcAttr.Setpgid = true
	}
	if err := jail.Start(cmd); err != nil {
		conn.Close()
		out.Close()
		return nil, fmt.Errorf("starting a runner: %w", err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // how it ended is in its last frame
		// Bubblewrap's own child waits for it for ever if it is killed before the two have met.
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		conn.Close()
		tidy()
	}()
	return &warmRunner{
		out:    bufio.NewReaderSize(out, 64<<10),
		close:  out.Close,
		submit: func(ctx context.Context, job *preparedJob) error { return submitBySocket(conn.(*net.UnixConn), job) },
		kill:   func() { _ = cmd.Process.Kill() },
		gone:   gone, notes: said.String,
	}, nil
}

// submitBySocket sends the job, and the tables as open descriptors beside its
// first bytes: no path, no copy, nothing to clean up.
func submitBySocket(conn *net.UnixConn, job *preparedJob) error {
	var fds []int
	for i, t := range job.tables {
		job.request.Tables[t.name] = tableSource{FD: &i}
		fds = append(fds, int(t.file.Fd()))
	}
	raw, err := job.request.encode()
	if err != nil {
		return err
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	if _, _, err := conn.WriteMsgUnix(raw[:4], rights, nil); err != nil {
		return fmt.Errorf("sending the job: %w", err)
	}
	if _, err := conn.Write(raw[4:]); err != nil {
		return fmt.Errorf("sending the job: %w", err)
	}
	return nil
}

// fontList is matplotlib's list of fonts, found once and given to every runner.
type fontList struct {
	name string
	file *os.File
}

func readFonts(dir string) fontList {
	found, _ := filepath.Glob(filepath.Join(dir, "fontlist-*.json"))
	if len(found) == 0 {
		return fontList{}
	}
	f, err := os.Open(found[0])
	if err != nil {
		return fontList{}
	}
	return fontList{filepath.Base(found[0]), f}
}

func (f fontList) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// writeFonts keeps a runner's list; it came before any job, from our own code. A
// list that cannot be kept costs time and nothing else.
func writeFonts(dir, name string, data []byte) {
	if ok, _ := filepath.Match("fontlist-*.json", name); !ok || filepath.Base(name) != name {
		return
	}
	tmp, err := os.CreateTemp(dir, "fonts")
	if err != nil {
		return
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if errors.Join(err, tmp.Close()) == nil {
		_ = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
}
