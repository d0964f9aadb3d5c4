package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"interlock/internal/jail"
)

// microCLI is the wall of a virtual machine by microsandbox's msb command, which
// from 0.3 on is the only way to it.
type microCLI struct{ config Config }

func (m microCLI) probe(ctx context.Context) (*warmRunner, starter, Status, error) {
	removeLeftovers(m.config.Dir)
	if _, err := exec.LookPath("msb"); err != nil {
		return nil, nil, Status{}, fmt.Errorf("no msb command (microsandbox 0.3 or later): %w", err)
	}
	first, err := m.start(ctx)
	if err != nil {
		return nil, nil, Status{}, err
	}
	return first, m.start, Status{Launcher: "msb", Level: LevelMachine, Python: m.config.Image, Versions: first.ready.Versions}, nil
}

// args of one machine: no network, the data read-only, scratch in memory.
func (m microCLI) args(data string) []string {
	memory := m.config.MemoryMB + (interpreter+reserve+boxBytes+tmpBytes)>>20
	return slices.Concat([]string{
		"run", "--no-tty", "--no-net", "-m", fmt.Sprintf("%dM", memory), "-c", fmt.Sprint(m.config.CPUs),
		"--mount-dir", data + ":/data:ro,noexec,nosuid,nodev", "--tmpfs", fmt.Sprintf("/box:%dM:noexec,nosuid,nodev", boxBytes>>20), "-w", "/box",
		m.config.Image, "--",
	}, microCommand(m.config, byPipe, "/box", "-c", runnerCode))
}

// microCommand starts the runner inside with its own environment only.
func microCommand(c Config, transport, work string, program ...string) []string {
	env := c.environment(c.runnerSettings(transport, work, true), work, "/tmp")
	return slices.Concat([]string{"env", "-i"}, env, []string{"python3", "-I", "-B"}, program)
}

func (m microCLI) start(ctx context.Context) (*warmRunner, error) {
	data, err := makeDataFolder(m.config.Dir)
	if err != nil {
		return nil, err
	}
	tidy := func() {
		if err := os.RemoveAll(data); err != nil {
			m.config.Log.Warn("A job's folder was not removed.", "dir", data, "err", err)
		}
	}
	p, err := m.launch(ctx, data, tidy)
	if err != nil {
		tidy()
		return nil, err
	}
	if err := p.awaitReady(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

func (m microCLI) launch(ctx context.Context, data string, tidy func()) (*warmRunner, error) {
	cmd := exec.CommandContext(ctx, "msb", m.args(data)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	cmd.WaitDelay = time.Second
	var said headBuffer
	cmd.Stderr = &said
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	err = jail.Start(cmd)
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting msb: %w", err), in.Close(), out.Close())
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // how it ended is in its last frame
		in.Close()
		tidy()
	}()
	return &warmRunner{
		out:    bufio.NewReaderSize(io.Reader(out), 64<<10),
		submit: func(_ context.Context, job *preparedJob) error { return submitByFiles(in, job, data, "/data") },
		kill:   sync.OnceFunc(func() { _ = cmd.Process.Kill() }),
		close:  out.Close,
		gone:   gone, notes: said.String,
	}, nil
}
