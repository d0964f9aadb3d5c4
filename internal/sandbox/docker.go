package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// docker is the wall of a container without network, capabilities and writable
// root. It needs the engine's socket, which is as good as root on the engine's host.
type docker struct {
	config Config
	api    *dockerAPI
}

func newDocker(c Config) docker { return docker{c, newDockerAPI(c.ServerURL)} }

func (d docker) probe(ctx context.Context) (*warmRunner, starter, Status, error) {
	removeLeftovers(d.config.Dir)
	if err := d.api.ping(ctx); err != nil {
		return nil, nil, Status{}, err
	}
	if err := d.api.call(ctx, http.MethodGet, "/images/"+url.PathEscape(d.config.Image)+"/json", nil, nil); err != nil {
		return nil, nil, Status{}, fmt.Errorf("the image %s is not there (docker pull %s): %w", d.config.Image, d.config.Image, err)
	}
	first, err := d.start(ctx)
	if err != nil {
		return nil, nil, Status{}, err
	}
	status := Status{
		Launcher: "docker", Level: LevelNamespaces, Python: d.config.Image, Versions: first.ready.Versions,
		Notes: []string{"whoever may use the docker socket is root on the engine's host"},
	}
	if !first.ready.Filtered {
		status.Notes = append(status.Notes, "the image is for another processor: jobs run under the engine's own seccomp profile only")
	}
	return first, d.start, status, nil
}

// container is the body of a create call.
type container struct {
	Image           string
	Cmd, Env        []string
	User            string
	WorkingDir      string
	OpenStdin       bool
	StdinOnce       bool
	AttachStdin     bool
	AttachStdout    bool
	AttachStderr    bool
	Tty             bool
	NetworkDisabled bool
	Labels          map[string]string
	HostConfig      hostConfig
}

type hostConfig struct {
	NetworkMode        string
	ReadonlyRootfs     bool
	Tmpfs              map[string]string
	Mounts             []mount
	Memory, MemorySwap int64
	NanoCpus           int64
	PidsLimit          int64
	CapDrop            []string
	SecurityOpt        []string
	IpcMode            string
	ShmSize            int64
	Ulimits            []ulimit
	LogConfig          map[string]string
	AutoRemove         bool
	Runtime            string `json:",omitempty"`
}

type mount struct {
	Type, Source, Target string
	ReadOnly             bool
}

type ulimit struct {
	Name       string
	Soft, Hard int64
}

func (d docker) containerSpec(data string) container {
	s := d.config.runnerSettings(byPipe, "/box", true)
	memory := int64(d.config.MemoryMB)<<20 + interpreter + reserve + boxBytes + tmpBytes
	return container{
		Image: d.config.Image, Cmd: []string{"python3", "-I", "-B", "-c", runnerCode}, Env: d.config.environment(s, "/box", "/tmp"),
		User: "65534:65534", WorkingDir: "/box",
		OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		NetworkDisabled: true, Labels: map[string]string{"app": "interlock"},
		HostConfig: hostConfig{
			NetworkMode: "none", ReadonlyRootfs: true,
			Tmpfs: map[string]string{
				"/box": fmt.Sprintf("rw,nosuid,nodev,noexec,size=%d,nr_inodes=%d,mode=1777", boxBytes, boxFiles),
				"/tmp": fmt.Sprintf("rw,nosuid,nodev,noexec,size=%d,nr_inodes=%d,mode=1777", tmpBytes, boxFiles),
			},
			Mounts: []mount{{"bind", data, "/data", true}},
			Memory: memory, MemorySwap: memory, NanoCpus: int64(d.config.CPUs) * 1e9, PidsLimit: maxThreads,
			CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}, IpcMode: "private", ShmSize: 1 << 20,
			Ulimits:   []ulimit{{"nofile", 256, 256}, {"fsize", boxBytes, boxBytes}, {"core", 0, 0}},
			LogConfig: map[string]string{"Type": "none"}, AutoRemove: true, Runtime: d.config.Runtime,
		},
	}
}

// start makes a container, takes its streams and lets it run. The container goes
// when its stdin does, so that a killed server leaves none.
func (d docker) start(ctx context.Context) (_ *warmRunner, err error) {
	data, err := makeDataFolder(d.config.Dir)
	if err != nil {
		return nil, err
	}
	var made struct{ ID string }
	if err := d.api.call(ctx, http.MethodPost, "/containers/create", d.containerSpec(data), &made); err != nil {
		return nil, errors.Join(fmt.Errorf("creating a container: %w", err), os.RemoveAll(data))
	}
	gone := make(chan struct{})
	remove := sync.OnceFunc(func() { go d.remove(made.ID, data, gone) })
	conn, reader, err := d.api.attach(ctx, made.ID)
	if err != nil {
		remove()
		return nil, fmt.Errorf("attaching to a container: %w", err)
	}
	if err := d.api.call(ctx, http.MethodPost, "/containers/"+made.ID+"/start", nil, nil); err != nil {
		conn.Close()
		remove()
		return nil, fmt.Errorf("starting a container: %w", err)
	}
	var said headBuffer
	p := &warmRunner{
		out:    bufio.NewReaderSize(&demux{from: reader, aside: &said}, 64<<10),
		submit: func(_ context.Context, job *preparedJob) error { return submitByFiles(conn, job, data, "/data") },
		kill:   func() { conn.Close(); remove() },
		close:  conn.Close,
		gone:   gone, notes: said.String,
	}
	if err := p.awaitReady(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// remove ends a container. AutoRemove may have been faster.
func (d docker) remove(id, data string, gone chan<- struct{}) {
	defer close(gone)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := d.api.call(ctx, http.MethodDelete, "/containers/"+id+"?force=1&v=1", nil, nil); err != nil {
		d.config.Log.Debug("A container was not removed; it removes itself.", "container", id, "err", err)
	}
	if err := os.RemoveAll(data); err != nil {
		d.config.Log.Warn("A job's folder was not removed.", "dir", data, "err", err)
	}
}
