package sourcetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ClickHouse starts a ClickHouse server with the users writer, reader with this
// password, and bound, whose profile is read only; its time zone is east of Greenwich.
// The test is skipped where none is installed.
func ClickHouse(t testing.TB, password string) *Server {
	t.Helper()
	daemon, err := exec.LookPath("clickhouse-server")
	if err != nil {
		daemon, err = exec.LookPath("/usr/sbin/clickhouse-server") // not on everybody's path
	}
	if err != nil {
		t.Skip("no ClickHouse server is installed here (package clickhouse-server)")
	}
	dir, err := os.MkdirTemp("", "db")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := "127.0.0.1:" + freePort(t)
	_, port, _ := strings.Cut(address, ":")
	config := fmt.Sprintf(`<yandex>
		<logger><level>error</level><console>1</console></logger>
		<listen_host>127.0.0.1</listen_host><tcp_port>%s</tcp_port><http_port>%s</http_port>
		<path>%[3]s/data/</path><tmp_path>%[3]s/tmp/</tmp_path><user_files_path>%[3]s/files/</user_files_path>
		<mark_cache_size>67108864</mark_cache_size><timezone>Asia/Tokyo</timezone>
		<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
	</yandex>`, port, freePort(t), dir)
	user := func(name, password, profile string) string {
		return fmt.Sprintf(`<%[1]s><password>%s</password><networks><ip>127.0.0.1</ip></networks><profile>%s</profile><quota>default</quota></%[1]s>`, name, password, profile)
	}
	users := `<yandex><profiles><default/><bound><readonly>1</readonly></bound></profiles><quotas><default/></quotas><users>` +
		user("default", "", "default") + user("writer", "", "default") + user("reader", password, "default") + user("bound", "", "bound") + `</users></yandex>`
	must(t, os.WriteFile(filepath.Join(dir, "config.xml"), []byte(config), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "users.xml"), []byte(users), 0o600))
	log, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	cmd := exec.Command(daemon, "--config-file="+filepath.Join(dir, "config.xml"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	must(t, cmd.Start())
	log.Close()
	s := &Server{Socket: address, stop: func() error { return kill(cmd) }}
	t.Cleanup(func() { s.Stop(t) })
	must(t, awaitListener(t.Context(), "tcp", address, time.Minute))
	return s
}

// awaitListener waits until a server listens.
func awaitListener(ctx context.Context, network, address string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for tick := time.Tick(20 * time.Millisecond); ; {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no server at %s: %w", address, err)
		case <-tick:
		}
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	return port
}
