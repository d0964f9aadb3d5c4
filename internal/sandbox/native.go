package sandbox

import (
	"context"
	"os/exec"

	"interlock/internal/jail"
)

// startNative builds the box itself: see jail.Box.
func startNative(ctx context.Context, l local, py *python, fonts fontList) (*exec.Cmd, func(), error) {
	s := l.config.runnerSettings(bySocket, "/box", true)
	s.Fonts = fonts.file != nil
	box := jail.Box{
		Args: py.runnerArgs(), Env: l.config.environment(s, "/box", "/tmp"), Dir: "/box",
		Scratch: []jail.Scratch{{Path: "/box", Bytes: boxBytes, Files: boxFiles}, {Path: "/tmp", Bytes: tmpBytes, Files: boxFiles}},
	}
	code := py.codePaths()
	for _, p := range code {
		box.Binds = append(box.Binds, jail.Bind{From: p, Execute: true})
	}
	for _, p := range py.dataPaths() {
		box.Binds = append(box.Binds, jail.Bind{From: p})
	}
	for _, p := range devices {
		box.Binds = append(box.Binds, jail.Bind{From: p, Device: true})
	}
	box.Links = py.symlinks(code)
	if fonts.file != nil {
		box.Files = []jail.File{{Path: "/tmp/mpl/" + fonts.name, From: fonts.file}}
	}
	cmd, err := jail.BoxCommand(ctx, box)
	return cmd, func() {}, err
}
