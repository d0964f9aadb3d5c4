package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// postgresCases copy the whole table out of a server of the bench's own. The base is
// the driver alone, which drops what the server sends.
func (d *data) postgresCases() []Case {
	const base = "PostgreSQL, COPY dropped by the bare driver"
	return []Case{
		{Name: base, Run: func(ctx context.Context) (Result, error) { return d.fromPostgres(ctx, copyAndDrop) }},
		{Name: "PostgreSQL into the engine", Base: base, Run: func(ctx context.Context) (Result, error) { return d.fromPostgres(ctx, d.loadPostgres) }},
	}
}

// fromPostgres measures what is done with a server that holds the table.
func (d *data) fromPostgres(ctx context.Context, do func(ctx context.Context, address string) (Result, error)) (r Result, err error) {
	s, err := startPostgres(ctx)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	conn, err := pgx.Connect(ctx, s.address())
	if err != nil {
		return Result{}, err
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(makeOrders, fmt.Sprintf("generate_series(0, %d) AS r(i)", rowsInTable-1)))
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return Result{}, fmt.Errorf("making the table: %w", err)
	}
	return do(ctx, s.address())
}

func copyAndDrop(ctx context.Context, address string) (Result, error) {
	r := Result{Rows: rowsInTable}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return r, err
	}
	defer conn.Close(ctx)
	r.Took, err = thrice(func() error {
		_, err := conn.PgConn().CopyTo(ctx, io.Discard, "COPY orders TO STDOUT (FORMAT binary)")
		return err
	})
	return r, err
}

func (d *data) loadPostgres(ctx context.Context, address string) (r Result, err error) {
	path := filepath.Join(d.dir, "copied.duckdb")
	defer os.Remove(path)
	r.Took, err = thrice(func() error {
		_ = os.Remove(path)
		s, err := source.Open(ctx, source.Config{URL: address, Table: "orders"})
		if err != nil {
			return err
		}
		defer s.Close()
		w, err := query.Create(path)
		if err != nil {
			return err
		}
		defer w.Abort()
		if r.Rows, err = source.Load(ctx, s, schema.Filter{}, w, "orders", nil); err != nil {
			return err
		}
		return w.Close()
	})
	r.Bytes = size(path)
	return r, err
}

// A postgres is a server on a socket in a folder of its own.
type postgres struct {
	dir, bin string
	as       *syscall.SysProcAttr
}

// startPostgres says with errMissing why there is none.
func startPostgres(ctx context.Context) (*postgres, error) {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl")
	if len(bins) == 0 {
		return nil, fmt.Errorf("%w: no PostgreSQL server is installed below /usr/lib/postgresql", errMissing)
	}
	as, err := unprivileged()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMissing, err)
	}
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket is
	if err != nil {
		return nil, err
	}
	p := &postgres{dir: dir, bin: filepath.Dir(bins[len(bins)-1]), as: as}
	if as != nil {
		err = os.Chown(dir, int(as.Credential.Uid), int(as.Credential.Gid))
	}
	if err == nil {
		err = p.run(ctx, "initdb", "-D", p.data(), "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	}
	if err == nil {
		err = p.run(ctx, "pg_ctl", "-D", p.data(), "-w", "-l", filepath.Join(dir, "log"), "-o", "-k "+dir+" -c listen_addresses=", "start")
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("%w: %w", errMissing, err)
	}
	return p, nil
}

// unprivileged is whom the server runs as: it refuses root.
func unprivileged() (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("root needs the user postgres to run the server: %w", err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, errors.Join(err1, err2)
}

func (p *postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *postgres) address() string {
	return "postgres://bench@/postgres?host=" + url.QueryEscape(p.dir)
}

func (p *postgres) stop() error {
	err := p.run(context.Background(), "pg_ctl", "-D", p.data(), "-m", "immediate", "stop")
	return errors.Join(err, os.RemoveAll(p.dir))
}

// run runs a program of the server; what it prints goes to a file, because the
// server would keep a pipe open.
func (p *postgres) run(ctx context.Context, program string, args ...string) error {
	out, err := os.CreateTemp(p.dir, "out")
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, program), args...)
	cmd.SysProcAttr, cmd.Dir, cmd.Stdout, cmd.Stderr = p.as, p.dir, out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s: %w\n%s", program, err, tail(said))
	}
	return nil
}

// databaseOf is a built database with every table that it reports.
func databaseOf(path string, report query.Report) query.Database {
	db := query.Database{Path: path}
	for _, t := range report.Tables {
		allowed := sqlpolicy.Table{Name: t.Table}
		for _, c := range t.Columns {
			allowed.Columns = append(allowed.Columns, c.Name)
		}
		db.Tables = append(db.Tables, allowed)
	}
	return db
}
