package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// dockerAPI speaks the Engine API over a Unix socket: the six calls that a job needs.
type dockerAPI struct {
	socket  string
	client  *http.Client
	version string // prefix such as /v1.47, as the engine offers it
}

func newDockerAPI(serverURL string) *dockerAPI {
	socket := strings.TrimPrefix(serverURL, "unix://")
	if socket == "" {
		socket = "/var/run/docker.sock"
	}
	a := &dockerAPI{socket: socket}
	a.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return a.dial(ctx) },
	}}
	return a
}

func (a *dockerAPI) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", a.socket)
}

// ping finds the engine and the newest version of the API that it speaks.
func (a *dockerAPI) ping(ctx context.Context) error {
	resp, err := a.send(ctx, http.MethodGet, "/_ping", nil)
	if err != nil {
		return fmt.Errorf("no docker engine at %s: %w", a.socket, err)
	}
	defer resp.Body.Close()
	if v := resp.Header.Get("API-Version"); v != "" {
		a.version = "/v" + v
	}
	return nil
}

// call makes a request and decodes its answer into out, if that is not nil.
func (a *dockerAPI) call(ctx context.Context, method, path string, in, out any) error {
	resp, err := a.send(ctx, method, a.version+path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		return err
	}
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(out)
}

// send makes a request; an answer that is no success is an error with the engine's message.
func (a *dockerAPI) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://docker"+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 400 {
		defer resp.Body.Close()
		return nil, dockerError(resp)
	}
	return resp, nil
}

func dockerError(resp *http.Response) error {
	var problem struct {
		Message string `json:"message"`
	}
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if json.Unmarshal(raw, &problem) != nil || problem.Message == "" {
		problem.Message = strings.TrimSpace(string(raw))
	}
	return fmt.Errorf("docker answered %s: %s", resp.Status, problem.Message)
}

// attach takes over the connection of an attach call: what is written goes to the
// container's stdin, what is read are its stdout and stderr, interleaved.
func (a *dockerAPI) attach(ctx context.Context, id string) (net.Conn, *bufio.Reader, error) {
	conn, err := a.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	path := a.version + "/containers/" + url.PathEscape(id) + "/attach?stream=1&stdin=1&stdout=1&stderr=1"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://docker"+path, nil)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "tcp")
	reader := bufio.NewReader(conn)
	if err := req.Write(conn); err != nil {
		conn.Close()
		return nil, nil, err
	}
	resp, err := http.ReadResponse(reader, req) //nolint:bodyclose // its body is the connection, which the caller closes
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols && resp.StatusCode != http.StatusOK {
		defer conn.Close()
		return nil, nil, dockerError(resp)
	}
	return conn, reader, nil
}

// demux reads a container's stdout out of the interleaved stream and hands its
// stderr to aside. Each piece has a header: stream, three zeros, length.
type demux struct {
	from  io.Reader
	aside io.Writer
	left  int64
}

func (d *demux) Read(p []byte) (int, error) {
	for d.left == 0 {
		var head [8]byte
		if _, err := io.ReadFull(d.from, head[:]); err != nil {
			return 0, err
		}
		size := int64(binary.BigEndian.Uint32(head[4:]))
		if head[0] != 2 {
			d.left = size
			continue
		}
		if _, err := io.CopyN(d.aside, d.from, size); err != nil {
			return 0, unexpectedEOF(err)
		}
	}
	n, err := d.from.Read(p[:min(int64(len(p)), d.left)])
	d.left -= int64(n)
	return n, err
}
