package jail_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"interlock/internal/jail"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("INTERLOCK_PLAIN_PROGRAM") // the race detector watches the workers of this package
	jail.Main()
	if len(os.Args) > 1 && os.Args[1] == "try" {
		fmt.Println(try(os.Args[2:]))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// try does one thing from inside and says what came of it.
func try(args []string) string {
	verdict := func(err error) string {
		if err == nil {
			return "done"
		}
		if e, ok := errors.AsType[syscall.Errno](err); ok {
			return unix.ErrnoName(e)
		}
		return err.Error()
	}
	switch args[0] {
	case "active":
		return os.Getenv("INTERLOCK_JAIL")
	case "env":
		return strings.Join(os.Environ(), " ")
	case "read":
		_, err := os.ReadFile(args[1])
		return verdict(err)
	case "write":
		return verdict(os.WriteFile(args[1], []byte("x"), 0o644))
	case "remove":
		return verdict(os.Remove(args[1]))
	case "link":
		return verdict(os.Link(args[1], args[2]))
	case "chmod":
		return verdict(os.Chmod(args[1], 0o777))
	case "dial":
		_, err := net.Dial("tcp", args[1])
		return verdict(err)
	case "socket":
		_, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return verdict(err)
	case "vsock":
		_, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		return verdict(err)
	case "kill":
		return verdict(unix.Kill(os.Getppid(), unix.SIGTERM))
	case "raise":
		return verdict(unix.Kill(os.Getpid(), 0))
	case "exec":
		return verdict(exec.Command(args[1]).Run())
	case "ptrace":
		return verdict(unix.PtraceAttach(os.Getppid()))
	case "unshare":
		return verdict(unix.Unshare(unix.CLONE_NEWUSER))
	case "prlimit":
		var r unix.Rlimit
		return verdict(unix.Prlimit(os.Getppid(), unix.RLIMIT_NOFILE, nil, &r))
	case "memory":
		_, err := unix.Mmap(-1, 0, 3<<30, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		return verdict(err)
	case "files":
		for {
			if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
				return verdict(err)
			}
		}
	case "descriptors":
		var out []string
		for fd := range 64 {
			if f, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil {
				var st unix.Stat_t
				if unix.Fstat(fd, &st); st.Mode&unix.S_IFMT == unix.S_IFREG {
					out = append(out, fmt.Sprint(fd, ":", f&unix.O_ACCMODE))
				}
			}
		}
		return strings.Join(out, " ")
	case "uring":
		_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		return verdict(e)
	}
	return "unknown: " + args[0]
}

// inside runs try in a jail and gives its one line.
func inside(t *testing.T, spec jail.Spec, args ...string) string {
	t.Helper()
	program := jail.Self
	if spec.MemoryBytes > 0 { // of jail.Self the race detector takes the limit away
		var err error
		if program, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	spec.Args = append([]string{program, "try"}, args...)
	cmd, err := jail.Command(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := jail.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, errs.String())
	}
	return strings.TrimSpace(out.String())
}

func TestWorker(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	for _, d := range []string{ours, theirs} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	shared, secret := filepath.Join(dir, "shared.csv"), filepath.Join(theirs, "secret")
	for _, f := range []string{shared, secret} {
		if err := os.WriteFile(f, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	t.Setenv("SECRET_KEY", "hunter2")

	base := jail.Spec{ReadOnly: []string{shared}, ReadWrite: []string{ours}, Env: []string{"GREETING=hello"}}
	for _, c := range []struct {
		name string
		spec func(*jail.Spec)
		args []string
		want []string // any of
	}{
		{"reads what is shared", nil, []string{"read", shared}, []string{"done"}},
		{"writes where it may", nil, []string{"write", ours + "/new"}, []string{"done"}},
		{"removes there", nil, []string{"remove", ours + "/new"}, []string{"done"}},
		{"does not write what is shared", nil, []string{"write", shared}, []string{"EACCES"}},
		{"does not read elsewhere", nil, []string{"read", secret}, []string{"EACCES"}},
		{"does not read /etc/shadow", nil, []string{"read", "/etc/shadow"}, []string{"EACCES"}},
		{"does not read the parent's environment", nil, []string{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid())}, []string{"EACCES"}},
		{"does not write elsewhere", nil, []string{"write", theirs + "/new"}, []string{"EACCES"}},
		{"does not remove elsewhere", nil, []string{"remove", secret}, []string{"EACCES"}},
		{"does not link in from elsewhere", nil, []string{"link", secret, ours + "/link"}, []string{"EXDEV", "EACCES"}},
		{"does not change modes", nil, []string{"chmod", secret}, []string{"EPERM"}},
		{"does not dial", nil, []string{"dial", address}, []string{"EACCES"}},
		{"opens no socket", nil, []string{"socket"}, []string{"EACCES"}},
		{"dials with the network on", func(s *jail.Spec) { s.Network = true }, []string{"dial", address}, []string{"done"}},
		{"has no vsock even then", func(s *jail.Spec) { s.Network = true }, []string{"vsock"}, []string{"EACCES"}},
		{"does not signal the server", nil, []string{"kill"}, []string{"EPERM"}},
		{"signals itself", nil, []string{"raise"}, []string{"done"}},
		{"starts no shell", nil, []string{"exec", "/bin/sh"}, []string{"EACCES"}},
		{"does not trace", nil, []string{"ptrace"}, []string{"EPERM"}},
		{"makes no namespace", nil, []string{"unshare"}, []string{"EPERM"}},
		{"does not touch the server's limits", nil, []string{"prlimit"}, []string{"EPERM"}},
		{"has no io_uring", nil, []string{"uring"}, []string{"ENOSYS"}},
		{"has a memory limit", func(s *jail.Spec) { s.MemoryBytes = 2 << 30 }, []string{"memory"}, []string{"ENOMEM"}},
		{"has memory without one", nil, []string{"memory"}, []string{"done"}},
		{"has a limit of open files", func(s *jail.Spec) { s.OpenFiles = 32 }, []string{"files"}, []string{"EMFILE"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := base
			if c.spec != nil {
				c.spec(&spec)
			}
			if got := inside(t, spec, c.args...); !slices.Contains(c.want, got) {
				t.Errorf("%v: got %q, want one of %v", c.args, got, c.want)
			}
		})
	}
	t.Run("sees only its own environment", func(t *testing.T) {
		if got := inside(t, base, "env"); strings.Contains(got, "hunter2") || !strings.Contains(got, "GREETING=hello") {
			t.Errorf("environment: %s", got)
		}
	})
	t.Run("knows its layers", func(t *testing.T) {
		if got := inside(t, base, "active"); !strings.Contains(got, "seccomp") || !strings.Contains(got, "landlock:") {
			t.Errorf("active: %q", got)
		}
	})
}

func TestWorkerInheritsOnlyWhatItIsGiven(t *testing.T) {
	given, err := os.Create(filepath.Join(t.TempDir(), "given"))
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	leaked, err := unix.Open(given.Name(), unix.O_RDWR, 0) // without close-on-exec, as a launcher of the server might leave it
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	if got := inside(t, jail.Spec{ExtraFiles: []*os.File{given}}, "descriptors"); got != "3:2" {
		t.Errorf("descriptors of regular files inside: %q, want only 3", got)
	}
}

func TestCommandNamesWhatIsMissing(t *testing.T) {
	for _, spec := range []jail.Spec{
		{},
		{Args: []string{"no-such-program"}},
		{Args: []string{jail.Self}, ReadOnly: []string{"/no/such/folder"}},
	} {
		if cmd, err := jail.Command(context.Background(), spec); err == nil {
			t.Errorf("%+v gave %v", spec, cmd)
		}
	}
}
