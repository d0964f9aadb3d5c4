package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/fault"
	"interlock/internal/tool"
)

// A session is the connection of one user with one server.
type session struct {
	key    sessionKey
	server Server
	used   time.Time // guarded by the bridge, as is calls
	calls  int       // that run

	mu     sync.Mutex // connecting, listing and closing go one after the other
	client *mcp.ClientSession
	stop   func()                // ends the process of the server
	tools  map[string]remoteTool // by the name that models see
	asked  time.Time             // when the server told them
	closed bool

	stale atomic.Bool // the server says that its tools have changed
}

// A remoteTool is a tool with the name that its server knows it by.
type remoteTool struct {
	name string
	decl tool.Found
}

func (s *session) serves(server Server) bool { return reflect.DeepEqual(s.server, server) }

// connect opens the connection unless it is open.
func (s *session) connect(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.client != nil:
		return nil
	case s.closed:
		return fault.New(fault.Unavailable, "the session with the server %s has ended", s.key.server)
	}
	transport, stop, err := s.transport()
	if err != nil {
		return s.unavailable("cannot be started", err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "interlock", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{}, // no roots, no sampling, no questions: a server only answers
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.stale.Store(true) },
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
	})
	// The session outlives the request that opened it; only the handshake is bounded.
	open, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timer := time.AfterFunc(connectTime, cancel)
	unlink := context.AfterFunc(ctx, cancel)
	cs, err := client.Connect(open, transport, nil)
	expired := !timer.Stop()
	unlink()
	if err != nil {
		cancel()
		stop()
		if expired {
			err = fmt.Errorf("no answer within %s", connectTime)
		}
		return s.unavailable("cannot be reached", err)
	}
	s.client, s.stop = cs, func() { cancel(); stop() }
	return nil
}

func (s *session) unavailable(what string, err error) error {
	return fault.Wrap(err, fault.Unavailable, "the MCP server %s %s: %s", s.key.server, what, truncate(err.Error(), maxErrorText)).
		Suggest("Check its entry in the configuration of MCP servers; `interlock mcp servers` shows how each stands.")
}

// transport returns the way to the server and what ends it.
func (s *session) transport() (mcp.Transport, func(), error) {
	if s.server.Type == "http" {
		client := &http.Client{Transport: &headerTransport{headers: s.server.Headers}, CheckRedirect: sameHost}
		return &mcp.StreamableClientTransport{Endpoint: s.server.URL, HTTPClient: client, MaxRetries: 1, MaxEventSize: maxMessage}, client.CloseIdleConnections, nil
	}
	// The process outlives the call that starts it: endProcess ends it.
	cmd := exec.CommandContext(context.Background(), s.server.Command, s.server.Args...)
	cmd.Dir = s.server.Cwd
	cmd.Env = serverEnv(s.server.Env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return &mcp.IOTransport{Reader: out, Writer: in, MaxLineLength: maxMessage}, endProcess(cmd, in), nil
}

// serverEnv returns the environment of a server's process: what programs need to run, and
// what is configured. Keys of models are not among it.
func serverEnv(own map[string]string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "TZ"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range own {
		env = append(env, name+"="+v)
	}
	return env
}

// endProcess returns a function that ends the process of a server and its children: its
// input ends, and what still runs after a moment is killed.
func endProcess(cmd *exec.Cmd, in io.Closer) func() {
	var once sync.Once
	return func() {
		once.Do(func() {
			_ = in.Close() // it may be closed already
			done := make(chan struct{})
			go func() { defer close(done); _ = cmd.Wait() }() // how it ended does not matter
			select {
			case <-done:
			case <-time.After(time.Second):
			}
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nothing may be left to kill
			<-done
		})
	}
}

// sameHost refuses redirects to another host: headers may hold a key.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) > 5 || req.URL.Host != via[0].URL.Host || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("the server redirects to another place")
	}
	return nil
}

// A headerTransport adds the configured headers to requests and bounds plain answers.
// Streams of events are bounded event by event.
type headerTransport struct{ headers map[string]string }

func (t *headerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, v := range t.headers {
		req.Header.Set(name, v)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		res.Body = http.MaxBytesReader(nil, res.Body, maxMessage)
	}
	return res, err
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.client == nil {
		return
	}
	s.stop() // first: a server that does not listen would keep Close waiting
	_ = s.client.Close()
	s.client = nil
}

// listTools asks the server for its tools and keeps those that can be used.
func (s *session) listTools(ctx context.Context) ([]tool.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil, fault.New(fault.Unavailable, "the session with the server %s has ended", s.key.server)
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	s.stale.Store(false)
	var found []tool.Found
	tools, cursor := map[string]remoteTool{}, ""
	for page := 0; ; page++ {
		res, err := s.client.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, s.unavailable("does not list its tools", err)
		}
		for _, t := range res.Tools {
			if t == nil || len(found) >= maxTools {
				continue
			}
			decl, err := declare(s.key.server, s.server, t)
			if err != nil || tools[decl.Name].name != "" {
				continue // it cannot be offered: a schema that does not compile, or a name twice
			}
			tools[decl.Name] = remoteTool{t.Name, decl}
			found = append(found, decl)
		}
		if cursor = res.NextCursor; cursor == "" || page >= maxPages || len(found) >= maxTools {
			break
		}
	}
	s.tools, s.asked = tools, time.Now()
	return found, nil
}

// listed reports whether the server has told its tools in this session.
func (s *session) listed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools != nil
}

// outdated reports whether the server told its tools too long ago.
func (s *session) outdated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.asked) > freshTime
}

// current returns a tool as the server declares it now. It asks again if the server has
// said that its tools changed, and after freshTime: between the approval of a call and the
// call a server may change a tool without a word.
func (s *session) current(ctx context.Context, name string) (remoteTool, bool, error) {
	if !s.listed() || s.stale.Load() || s.outdated() {
		if _, err := s.listTools(ctx); err != nil {
			return remoteTool{}, false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tools[name]
	return t, ok, nil
}

// call calls a tool by the name that the server knows.
func (s *session) call(ctx context.Context, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client == nil {
		return nil, fault.New(fault.Unavailable, "the session with the server %s has ended", s.key.server)
	}
	return client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
}
