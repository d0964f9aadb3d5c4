package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/internal/jail"
)

// installFakeMSB puts this test binary into PATH under the name of the command.
func installFakeMSB(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "msb")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// fakeMSB is `msb run`: it takes the options that are documented, refuses a
// machine with a network, and runs the command.
func fakeMSB(args []string) int {
	fail := func(format string, a ...any) int {
		fmt.Fprintf(os.Stderr, "msb: "+format+"\n", a...)
		return 2
	}
	if len(args) == 0 || args[0] != "run" {
		return fail("unknown command %v", args)
	}
	options := flag.NewFlagSet("msb run", flag.ContinueOnError)
	noTTY, noNet := options.Bool("no-tty", false, ""), options.Bool("no-net", false, "")
	options.String("m", "", "")
	options.String("c", "", "")
	options.String("w", "", "")
	mount, tmpfs := options.String("mount-dir", "", ""), options.String("tmpfs", "", "")
	if err := options.Parse(args[1:]); err != nil {
		return 2
	}
	parts := strings.SplitN(*mount, ":", 3)
	if !*noTTY || !*noNet || len(parts) != 3 || !strings.Contains(parts[2], "ro") || !strings.HasPrefix(*tmpfs, "/box:") {
		return fail("an open machine: %v", args)
	}
	rest := options.Args()
	if len(rest) < 3 || rest[0] != "python-box:1" || rest[1] != "--" {
		return fail("no such image or no command: %.100q", rest)
	}
	cmd, err := fakeRoot(context.Background(), rest[2:], []string{"PATH=/usr/bin"}, parts[0])
	if err != nil {
		return fail("%v", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := jail.Start(cmd); err != nil {
		return fail("%v", err)
	}
	if cmd.Wait() != nil {
		return 1
	}
	return 0
}

// fakeMicro is a microsandbox server of 0.2.6, with its habits: errors from inside
// come as HTTP 500, a start always succeeds, and only metrics tell the truth.
type fakeMicro struct {
	t   *testing.T
	key string

	mu       sync.Mutex
	machines map[string]*fakeMachine
}

type fakeMachine struct {
	volume string
	cancel context.CancelFunc
	ctx    context.Context
}

func startFakeMicro(t *testing.T, key string) string {
	f := &fakeMicro{t: t, key: key, machines: map[string]*fakeMachine{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"message":"Service is healthy"}`) })
	mux.HandleFunc("POST /api/v1/rpc", f.rpc)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.Close()
		if len(f.machines) > 0 {
			t.Errorf("%d machines left", len(f.machines))
		}
	})
	return server.URL
}

var machineName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

type microParams struct {
	Sandbox, Namespace, Command string
	Args                        []string
	Timeout                     int
	Config                      struct {
		Image        string
		Memory, Cpus int
		Volumes      []string
	}
}

func (f *fakeMicro) rpc(w http.ResponseWriter, r *http.Request) {
	var call struct {
		JSONRPC string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Method  string `json:"method"`
		Params  microParams
	}
	reply := func(status int, v any) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(v)
	}
	if r.Header.Get("Authorization") != "Bearer "+f.key {
		reply(401, map[string]any{"error": "Authentication failed", "code": 1001})
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil || call.JSONRPC != "2.0" || !machineName.MatchString(call.Params.Sandbox) || call.Params.Namespace == "" {
		reply(400, map[string]any{"error": "Validation failed", "code": 2001})
		return
	}
	result, err := f.do(r.Context(), call.Method, call.Params)
	if err != nil {
		reply(500, map[string]any{"error": "Internal server error", "code": 5002})
		return
	}
	reply(200, map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result})
}

func (f *fakeMicro) do(ctx context.Context, method string, p microParams) (any, error) {
	f.mu.Lock()
	m := f.machines[p.Sandbox]
	f.mu.Unlock()
	switch method {
	case "sandbox.start":
		volume, inside, _ := strings.Cut(p.Config.Volumes[0], ":")
		if inside != "/job" || p.Config.Memory == 0 {
			return nil, errors.New("bad config")
		}
		m = &fakeMachine{volume: volume}
		m.ctx, m.cancel = context.WithCancel(context.Background())
		f.mu.Lock()
		f.machines[p.Sandbox] = m
		f.mu.Unlock()
		return "Sandbox started", nil
	case "sandbox.metrics.get":
		return map[string]any{"sandboxes": []any{map[string]any{"name": p.Sandbox, "running": m != nil}}}, nil
	case "sandbox.stop":
		if m == nil {
			return nil, errors.New("no such machine")
		}
		m.cancel()
		f.mu.Lock()
		delete(f.machines, p.Sandbox)
		f.mu.Unlock()
		return "Sandbox stopped", nil
	case "sandbox.command.run":
		return m.run(p)
	}
	return nil, errors.New("unknown method")
}

func (m *fakeMachine) run(p microParams) (any, error) {
	ctx, cancel := context.WithTimeout(m.ctx, time.Duration(p.Timeout)*time.Second)
	defer cancel()
	args := append([]string{
		"--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--symlink", "usr/bin", "/bin", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", m.volume, "/job", p.Command,
	}, p.Args...)
	cmd := exec.CommandContext(ctx, "bwrap", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		return nil, err
	}
	return map[string]any{"command": p.Command, "exit_code": cmd.ProcessState.ExitCode(), "success": err == nil, "output": []any{}}, nil
}
