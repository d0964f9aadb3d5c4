package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// microRPC is the wall of a virtual machine by a microsandbox server up to 0.2.6.
// Its interface has no stdin and no way to switch the network off or to mount
// read-only: each job gets a folder of its own, and the filter that the runner
// loads inside keeps the code from every socket.
type microRPC struct {
	config Config
	url    string
	client *http.Client
}

func newMicroRPC(c Config) *microRPC {
	return &microRPC{c, strings.TrimRight(c.ServerURL, "/"), &http.Client{}}
}

func (m *microRPC) probe(ctx context.Context) (*warmRunner, starter, Status, error) {
	removeLeftovers(m.config.Dir)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/api/v1/health", nil)
	if err != nil {
		return nil, nil, Status{}, err
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, nil, Status{}, fmt.Errorf("no microsandbox server at %s: %w", m.url, err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, nil, Status{}, fmt.Errorf("the microsandbox server at %s answered %s; it has this interface only up to 0.2.6", m.url, resp.Status)
	}
	first, err := m.start(ctx)
	if err != nil {
		return nil, nil, Status{}, err
	}
	return first, m.start, Status{
		Launcher: "rpc", Level: LevelMachine, Python: m.config.Image,
		Notes: []string{"the machine itself has a network; seccomp inside keeps the code from it"},
	}, nil
}

// call makes a JSON-RPC call. Errors come as JSON-RPC, as plain JSON, or as text.
func (m *microRPC) call(ctx context.Context, method string, params, result any) error {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/api/v1/rpc", bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if m.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.config.Key)
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer resp.Body.Close()
	raw, err = io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || resp.StatusCode != http.StatusOK || answer.Error != nil {
		if resp.StatusCode == http.StatusUnauthorized {
			return fmt.Errorf("%s: the microsandbox server refused the key (msb server keygen; keys last 24 h by default)", method)
		}
		return fmt.Errorf("%s: the microsandbox server answered %s: %.300s", method, resp.Status, raw)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

// start boots a machine with a folder of its own.
func (m *microRPC) start(ctx context.Context) (*warmRunner, error) {
	dir, err := makeDataFolder(m.config.Dir)
	if err != nil {
		return nil, err
	}
	name := "interlock-" + strings.ToLower(rand.Text())[:12]
	gone := make(chan struct{})
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := sync.OnceFunc(func() {
		cancel()
		go m.stop(name, dir, gone)
	})
	if err := m.boot(ctx, name, dir); err != nil {
		stop()
		<-gone
		return nil, err
	}
	out, in := io.Pipe()
	return &warmRunner{
		out:    bufio.NewReaderSize(out, 64<<10),
		submit: func(_ context.Context, job *preparedJob) error { return m.runJob(calls, name, dir, job, in) },
		kill:   func() { in.CloseWithError(io.ErrUnexpectedEOF); stop() },
		close:  out.Close,
		gone:   gone, notes: func() string { return "" },
		awaitWarm: func(ctx context.Context) { awaitFile(ctx, filepath.Join(dir, "frames")) },
	}, nil
}

func (m *microRPC) boot(ctx context.Context, name, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "runner.py"), []byte(runnerCode), 0o644); err != nil {
		return err
	}
	config := map[string]any{
		"image": m.config.Image, "memory": m.config.MemoryMB + (interpreter+reserve+boxBytes+tmpBytes)>>20, "cpus": m.config.CPUs,
		"volumes": []string{dir + ":/job"},
	}
	if err := m.call(ctx, "sandbox.start", map[string]any{"sandbox": name, "namespace": m.config.Namespace, "config": config}, nil); err != nil {
		return err
	}
	// A start that timed out is reported as a success: only the metrics tell.
	var metrics struct {
		Sandboxes []struct {
			Name    string `json:"name"`
			Running bool   `json:"running"`
		} `json:"sandboxes"`
	}
	if err := m.call(ctx, "sandbox.metrics.get", map[string]any{"sandbox": name, "namespace": m.config.Namespace}, &metrics); err != nil {
		return err
	}
	for _, s := range metrics.Sandboxes {
		if s.Name == name && s.Running {
			return nil
		}
	}
	return fmt.Errorf("the machine %s did not start", name)
}

// runJob runs the job and copies the frames that it left in its folder.
func (m *microRPC) runJob(ctx context.Context, name, dir string, job *preparedJob, out *io.PipeWriter) error {
	file, err := os.OpenFile(filepath.Join(dir, "job"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(submitByFiles(file, job, dir, "/job"), file.Close()); err != nil {
		return err
	}
	command := microCommand(m.config, byFolder, "/tmp/box", "/job/runner.py")
	go func() {
		err := m.call(ctx, "sandbox.command.run", map[string]any{
			"sandbox": name, "namespace": m.config.Namespace, "command": command[0], "args": command[1:],
			"timeout": int(job.Timeout/time.Second) + int(warmUp/time.Second),
		}, nil)
		if err == nil {
			err = copyFrames(dir, out)
		}
		out.CloseWithError(err)
	}()
	return nil
}

// copyFrames copies the frames that the machine wrote. The folder is hostile now:
// no link is followed and nothing but a plain file is read.
func copyFrames(dir string, out io.Writer) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile("frames", os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: its frames are no plain file", errFrame)
	}
	_, err = io.Copy(out, io.LimitReader(f, maxTotal+maxPayload))
	return err
}

// awaitFile waits until the file has something in it: here the runner's first
// frame. No notification crosses a machine's wall, so it looks again and again.
func awaitFile(ctx context.Context, path string) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if info, err := os.Lstat(path); err == nil && info.Size() > 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (m *microRPC) stop(name, dir string, gone chan<- struct{}) {
	defer close(gone)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := m.call(ctx, "sandbox.stop", map[string]any{"sandbox": name, "namespace": m.config.Namespace}, nil); err != nil {
		m.config.Log.Warn("A machine was not stopped.", "sandbox", name, "err", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		m.config.Log.Warn("A job's folder was not removed.", "dir", dir, "err", err)
	}
}
