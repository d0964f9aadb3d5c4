package sandbox_test

import (
	"context"
	"os"
	"os/exec"

	"interlock/internal/jail"
)

// fakeRoot starts a command in a root like that of an image with Python and the
// given folder at /data.
func fakeRoot(ctx context.Context, command, env []string, data string) (*exec.Cmd, error) {
	box := jail.Box{
		Args: append([]string{"/usr/bin/" + command[0]}, command[1:]...), Env: env, Dir: "/box",
		Binds: []jail.Bind{
			{From: "/usr", Execute: true},
			{From: "/etc/alternatives"},
			{From: "/etc/matplotlibrc"},
			{From: "/etc/ld.so.cache"},
			{From: data, To: "/data"},
			{From: "/dev/null", Device: true},
			{From: "/dev/zero", Device: true},
			{From: "/dev/urandom", Device: true},
		},
		Scratch: []jail.Scratch{{Path: "/box", Bytes: 64 << 20, Files: 4096}, {Path: "/tmp", Bytes: 16 << 20, Files: 4096}},
		UID:     os.Getuid(), GID: os.Getgid(),
	}
	for _, dir := range []string{"/lib", "/lib64", "/bin"} {
		if target, err := os.Readlink(dir); err == nil {
			box.Links = append(box.Links, jail.Link{Name: dir, Target: target})
		}
	}
	return jail.BoxCommand(ctx, box)
}
