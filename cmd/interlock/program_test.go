package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock/internal/document"
	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/source"
)

// asProgram makes the test binary be the program: tests start it, talk to it and
// kill it like any other process.
const asProgram = "INTERLOCK_TEST_MAIN"

// patience bounds what must happen on a busy machine; nothing waits so long when
// all is well.
const patience = 90 * time.Second

func TestMain(m *testing.M) {
	jail.Main()
	query.Main()
	source.Main()
	document.Main()
	if os.Getenv(asProgram) != "" {
		main()
	}
	testscript.Main(allTests{m}, map[string]func(){"interlock": main})
}

// allTests runs the tests and then closes what they shared.
type allTests struct{ *testing.M }

func (a allTests) Run() int {
	code := a.M.Run()
	if err := closeDemoSystem(); err != nil {
		fmt.Fprintln(os.Stderr, "closing the system over the demo data:", err)
		code = 1
	}
	return code
}

// A world is what the program finds around it: data, state and machines in folders
// of the test.
type world struct {
	t     *testing.T
	dir   string
	env   []string // beside PATH
	flags []string
}

// files of the dataset shop: a CSV and a JSON table.
var shop = map[string]string{
	"data/shop/orders.csv": "id,customer_id,amount,status\n" +
		"1,1,10.50,paid\n2,1,20.25,paid\n3,2,7.00,returned\n4,3,99.99,paid\n5,3,0.01,open\n",
	"data/shop/customers.json": `[{"id":1,"name":"Ada","city":"Bern"},{"id":2,"name":"Ben","city":"Basel"},{"id":3,"name":"Cleo","city":"Bern"}]`,
}

func newWorld(t *testing.T, files ...map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	for _, group := range append(files, shop) {
		for name, text := range group {
			w.write(name, text)
		}
	}
	// The data by the environment: `replay --data` means something else.
	w.env = []string{"HOME=" + w.dir, "INTERLOCK_DATA=" + w.path("data")}
	w.flags = []string{"--state", w.path("state"), "--machines", w.path("machines")}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// program is what tests start: the program without the race detector where `make test` has
// built it, else the test binary as the program. Whoever kills a process reads no report
// of races from it; systems inside the test binary are watched.
func program(t *testing.T) string {
	t.Helper()
	if plain := os.Getenv("INTERLOCK_PLAIN_PROGRAM"); plain != "" {
		return plain
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

func (w *world) command(args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(program(w.t), append(args, w.flags...)...)
	cmd.Dir = w.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), asProgram + "=1", "INTERLOCK_PYTHON_WARM=false"}, w.env...)
	return cmd
}

// run runs a command of the program to its end.
func (w *world) run(args ...string) (out, errs string, code int) {
	w.t.Helper()
	cmd := w.command(args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || !exit.Exited()) {
		w.t.Fatalf("interlock %s: %v\n%s", strings.Join(args, " "), err, &e)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// A process is a running server.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	log    *syncBuffer
	exited chan struct{}
}

// serve starts the server and waits until it is ready.
func (w *world) serve() *process {
	w.t.Helper()
	p := &process{t: w.t, cmd: w.command("serve", "--listen", "127.0.0.1:0"), log: &syncBuffer{}, exited: make(chan struct{})}
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, url, ok := strings.Cut(lines.Text(), "is ready: "); ok {
				ready <- url
			}
		}
		_ = p.cmd.Wait()
	}()
	w.t.Cleanup(p.kill)
	select {
	case p.url = <-ready:
	case <-p.exited:
		w.t.Fatalf("the server ended before it was ready:\n%s", p.log)
	case <-time.After(patience):
		w.t.Fatalf("the server was not ready within %s:\n%s", patience, p.log)
	}
	return p
}

// kill ends the process as the kernel would: nothing of it runs any more.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may be gone already
	<-p.exited
}

// stop asks the process to end and gives its exit code.
func (p *process) stop() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("the server did not end within %s of SIGTERM:\n%s", patience, p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

// request sends a request with a JSON body, or none.
func (p *process) request(method, path, body string, header ...string) (*http.Response, error) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return http.DefaultClient.Do(req)
}

// call sends a request, wants that status, and decodes the answer.
func (p *process) call(method, path, body string, status int, into any) {
	p.t.Helper()
	res, err := p.request(method, path, body)
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", method, path, err, p.log)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if res.StatusCode != status {
		p.t.Fatalf("%s %s gave %s, want %d: %s", method, path, res.Status, status, raw)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			p.t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
}

// A syncBuffer is a buffer that a process writes while a test reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
