package sandbox_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"interlock/internal/jail"
)

// fakeDocker speaks the Engine API as docker does, and refuses containers that
// are not closed on every side.
type fakeDocker struct {
	t *testing.T

	mu         sync.Mutex
	containers map[string]*fakeContainer
	next       int
}

type fakeContainer struct {
	create map[string]any
	conn   net.Conn
	in     *bufio.Reader
	cancel context.CancelFunc
}

// startFakeDocker gives the path of its socket.
func startFakeDocker(t *testing.T) string {
	f := &fakeDocker{t: t, containers: map[string]*fakeContainer{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ping", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("API-Version", "1.47")
		fmt.Fprint(w, "OK")
	})
	mux.HandleFunc("GET /v1.47/images/{name}/json", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != "python-box:1" {
			problem(w, 404, "No such image: "+r.PathValue("name"))
			return
		}
		fmt.Fprint(w, `{"Id":"sha256:0","Os":"linux"}`)
	})
	mux.HandleFunc("POST /v1.47/containers/create", f.create)
	mux.HandleFunc("POST /v1.47/containers/{id}/attach", f.attach)
	mux.HandleFunc("POST /v1.47/containers/{id}/start", f.start)
	mux.HandleFunc("DELETE /v1.47/containers/{id}", f.remove)
	socket := filepath.Join(t.TempDir(), "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: mux}
	go server.Serve(listener)
	t.Cleanup(func() {
		server.Close()
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.containers) > 0 {
			t.Errorf("%d containers left", len(f.containers))
		}
	})
	return socket
}

func problem(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"message": message})
}

func (f *fakeDocker) create(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		problem(w, 400, err.Error())
		return
	}
	if missing := openSides(body); len(missing) > 0 {
		f.t.Errorf("a container that is open: %v", missing)
		problem(w, 400, "invalid")
		return
	}
	f.mu.Lock()
	f.next++
	id := fmt.Sprintf("%064d", f.next)
	f.containers[id] = &fakeContainer{create: body}
	f.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(map[string]any{"Id": id, "Warnings": []string{}})
}

// openSides lists what a container for hostile code must have and this one has not.
func openSides(body map[string]any) (missing []string) {
	host, _ := body["HostConfig"].(map[string]any)
	want := map[string]bool{
		"no network":        host["NetworkMode"] == "none" && body["NetworkDisabled"] == true,
		"read-only root":    host["ReadonlyRootfs"] == true,
		"no capabilities":   fmt.Sprint(host["CapDrop"]) == "[ALL]",
		"no new privileges": fmt.Sprint(host["SecurityOpt"]) == "[no-new-privileges]",
		"another user":      body["User"] == "65534:65534",
		"memory":            host["Memory"] != nil && host["Memory"] == host["MemorySwap"],
		"processes":         host["PidsLimit"] != nil,
		"processors":        host["NanoCpus"] != nil,
		"removes itself":    host["AutoRemove"] == true && body["StdinOnce"] == true,
		"no log":            fmt.Sprint(host["LogConfig"]) == "map[Type:none]",
	}
	for _, m := range host["Mounts"].([]any) {
		want["read-only data"] = m.(map[string]any)["ReadOnly"] == true
	}
	for what, ok := range want {
		if !ok {
			missing = append(missing, what)
		}
	}
	slices.Sort(missing)
	return missing
}

func (f *fakeDocker) find(w http.ResponseWriter, r *http.Request) *fakeContainer {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.containers[r.PathValue("id")]
	if c == nil {
		problem(w, 404, "No such container: "+r.PathValue("id"))
	}
	return c
}

func (f *fakeDocker) attach(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		f.t.Error(err)
		return
	}
	f.mu.Lock()
	c.conn, c.in = conn, rw.Reader
	f.mu.Unlock()
	fmt.Fprint(conn, "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
}

func (f *fakeDocker) start(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	data := c.create["HostConfig"].(map[string]any)["Mounts"].([]any)[0].(map[string]any)["Source"].(string)
	cmd, err := fakeRoot(ctx, texts(c.create["Cmd"]), texts(c.create["Env"]), data)
	if err != nil {
		cancel()
		problem(w, 500, err.Error())
		return
	}
	f.mu.Lock()
	c.cancel = cancel
	f.mu.Unlock()
	if err := f.run(cmd, c, r.PathValue("id")); err != nil {
		problem(w, 500, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// run plays the container: stdin ends with the attached connection, stdout and
// stderr are interleaved on it, and the container removes itself.
func (f *fakeDocker) run(cmd *exec.Cmd, c *fakeContainer, id string) error {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var write sync.Mutex
	cmd.Stdout, cmd.Stderr = &piece{c.conn, 1, &write}, &piece{c.conn, 2, &write}
	if err := jail.Start(cmd); err != nil {
		return err
	}
	go func() {
		io.Copy(stdin, c.in)
		stdin.Close()
	}()
	go func() {
		cmd.Wait()
		c.conn.Close()
		f.mu.Lock()
		delete(f.containers, id)
		f.mu.Unlock()
	}()
	return nil
}

// piece writes with docker's header in front: stream, three zeros, length.
type piece struct {
	to     io.Writer
	stream byte
	mu     *sync.Mutex
}

func (p *piece) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	head := binary.BigEndian.AppendUint32([]byte{p.stream, 0, 0, 0}, uint32(len(b)))
	if _, err := p.to.Write(append(head, b...)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (f *fakeDocker) remove(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	if !strings.Contains(r.URL.RawQuery, "force=1") {
		problem(w, 409, "the container is running")
		return
	}
	f.mu.Lock()
	if c.cancel != nil {
		c.cancel()
	}
	delete(f.containers, r.PathValue("id"))
	f.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func texts(v any) (out []string) {
	for _, x := range v.([]any) {
		out = append(out, x.(string))
	}
	return out
}
