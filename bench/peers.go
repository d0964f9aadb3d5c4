package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// peers are programs of their own in bench/peers, so that their libraries stay out
// of our module. Each prints one Result.
type peers struct {
	source string // bench/peers in the repository: only read
	cache  string // where they are built and installed
	ready  map[string]error
}

func newPeers(ctx context.Context) (*peers, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("finding the repository: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	return &peers{
		source: filepath.Join(root, "bench", "peers"), cache: filepath.Join(cache, "interlock-bench"), ready: map[string]error{},
	}, nil
}

func (p *peers) cases() []Case {
	var out []Case
	for _, steps := range []int{10, 100, 1000} {
		out = append(out, Case{Name: fmt.Sprintf("eino, in memory, %d steps", steps), Run: func(ctx context.Context) (Result, error) {
			return p.eino(ctx, steps)
		}})
	}
	for _, checkpointer := range []bool{false, true} {
		name := "LangGraph.js, bare"
		if checkpointer {
			name = "LangGraph.js, memory checkpointer"
		}
		for _, steps := range []int{10, 100} {
			out = append(out, Case{Name: fmt.Sprintf("%s, %d steps", name, steps), Run: func(ctx context.Context) (Result, error) {
				return p.langgraph(ctx, steps, checkpointer)
			}})
		}
	}
	return out
}

func (p *peers) eino(ctx context.Context, steps int) (Result, error) {
	binary := filepath.Join(p.cache, "eino")
	err := p.once("eino", func() error {
		if err := os.MkdirAll(p.cache, 0o755); err != nil {
			return err
		}
		return p.prepare(ctx, filepath.Join(p.source, "eino"), "go", "build", "-mod=readonly", "-o", binary, ".")
	})
	if err != nil {
		return Result{}, err
	}
	return result(exec.CommandContext(ctx, binary, "-steps", strconv.Itoa(steps)))
}

func (p *peers) langgraph(ctx context.Context, steps int, checkpointer bool) (Result, error) {
	dir := filepath.Join(p.cache, "langgraph")
	if err := p.once("langgraph", func() error { return p.install(ctx, dir) }); err != nil {
		return Result{}, err
	}
	runs := 20
	if steps >= 100 {
		runs = 3
	}
	args := []string{"main.mjs", "--steps", strconv.Itoa(steps), "--runs", strconv.Itoa(runs)}
	if checkpointer {
		args = append(args, "--checkpointer")
	}
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = dir
	return result(cmd)
}

// install copies the peer into the cache and fetches its packages if the lock file
// is another than the one that is installed.
func (p *peers) install(ctx context.Context, dir string) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %s is not installed", errMissing, program)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json", "main.mjs"} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(p.source, "langgraph", name)); err != nil {
			return err
		}
	}
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return err
	}
	mark := filepath.Join(dir, "installed")
	if have, err := os.ReadFile(mark); err == nil && bytes.Equal(have, lock) {
		return nil
	}
	if err := p.prepare(ctx, dir, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"); err != nil {
		return err
	}
	return os.WriteFile(mark, lock, 0o644)
}

// once prepares a peer for all its cases.
func (p *peers) once(peer string, prepare func() error) error {
	err, done := p.ready[peer]
	if !done {
		err = prepare()
		p.ready[peer] = err
	}
	return err
}

// prepare runs a command that needs the network. Where it fails, the peer is missing.
func (p *peers) prepare(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s %s: %w\n%s", errMissing, name, args[0], err, tail(out))
	}
	return nil
}

// result runs a peer and reads what it prints.
func result(cmd *exec.Cmd) (r Result, err error) {
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return r, fmt.Errorf("%w\n%s", err, tail(exit.Stderr))
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("reading what it printed: %w\n%s", err, tail(out))
	}
	return r, nil
}

func tail(out []byte) []byte { return bytes.TrimSpace(out[max(0, len(out)-2000):]) }

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}
