package source

import (
	"context"
	"database/sql"
	"errors"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// sqlTable is a table behind a database/sql driver. What differs between systems is
// in its system.
type sqlTable struct {
	config Config
	system system
	db     *sql.DB
}

// A system is what a connector knows beside its dialect.
type system struct {
	dialect  dialect.Dialect
	describe func(ctx context.Context, conn *sql.Conn, c Config) (described, error)
	// session makes a connection read only and bounds its statements.
	session func(ctx context.Context, conn *sql.Conn, c Config) error
	// block is how many bytes of rows the driver buffers at once; 0: one row.
	block int64
	// raw says that the driver hands out text that need not be copied.
	raw bool
	// bind wraps the parameters the way the driver wants them.
	bind func(ctx context.Context, args []any) (context.Context, []any)
}

// rowBytes is how much may come before the next row: a row that fits into the result,
// with what the driver reads ahead, or a block of rows.
func (s system) rowBytes(limits Limits) int64 {
	const ahead, largest = 1 << 20, 64 << 20
	return max(s.block, min(int64(limits.Bytes), largest)+ahead)
}

func (t *sqlTable) describe(ctx context.Context) (described, error) {
	conn, err := t.connect(ctx)
	if err != nil {
		return described{}, err
	}
	defer conn.Close()
	d, err := t.system.describe(ctx, conn, t.config)
	if err != nil {
		return described{}, t.config.driverFault(ctx, err, "describing")
	}
	return d, nil
}

func (t *sqlTable) connect(ctx context.Context) (*sql.Conn, error) {
	conn, err := t.db.Conn(ctx)
	if err == nil {
		if err = t.system.session(ctx, conn, t.config); err != nil {
			conn.Close()
		}
	}
	if err != nil {
		return nil, t.config.driverFault(ctx, err, "connecting to")
	}
	return conn, nil
}

func (t *sqlTable) count(ctx context.Context, stmt Statement) (int64, error) {
	conn, err := t.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	bound, args := t.system.bind(ctx, stmt.Args)
	var n int64
	if err := conn.QueryRowContext(bound, stmt.Text, args...).Scan(&n); err != nil {
		return 0, t.config.driverFault(ctx, err, "counting rows of")
	}
	return n, nil
}

func (t *sqlTable) Close() error { return t.db.Close() }

func (t *sqlTable) readRows(ctx context.Context, stmt Statement, columns []schema.Column, yield func(*Batch, error) bool) {
	conn, err := t.connect(ctx)
	if err != nil {
		yield(nil, err)
		return
	}
	defer conn.Close()
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before conn.Close: rows that nobody wants are not read to their end
	bound, args := t.system.bind(ctx, stmt.Args)
	rows, err := conn.QueryContext(bound, stmt.Text, args...)
	if err == nil {
		defer func() { cancel(); rows.Close() }()
		err = t.scan(rows, columns, yield)
	}
	if err != nil && !errors.Is(err, errStopped) {
		yield(nil, t.config.driverFault(asked, err, "reading"))
	}
}

func (t *sqlTable) scan(rows *sql.Rows, columns []schema.Column, yield func(*Batch, error) bool) error {
	batch := newBatch(columns)
	texts, values := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range into {
		if t.system.raw {
			into[i] = &texts[i]
		} else {
			into[i] = &values[i]
		}
	}
	for count := int64(1); rows.Next(); count++ {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i := range columns {
			var err error
			v := &batch.vectors[i]
			if t.system.raw {
				err = batch.putText(v, texts[i])
			} else {
				err = batch.putAny(v, values[i])
			}
			if err != nil {
				return &cellError{v.column.Name, count, err}
			}
		}
		if batch.endRow(); batch.full() {
			if !yield(batch, nil) {
				return errStopped
			}
			batch.reset()
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if batch.Rows > 0 && !yield(batch, nil) {
		return errStopped
	}
	return nil
}

// An opener connects to a database.
type opener func(Config) (*sql.DB, system, error)

// sqlConnector reaches databases by a database/sql driver: open for reading tables and
// engine for whole statements. keys lists foreign keys, "" if the system declares none.
func sqlConnector(open, engine opener, tables func(Config) (string, []any), keys string) connector {
	c := connector{
		open: func(_ context.Context, c Config) (Source, error) {
			db, system, err := open(c)
			if err != nil {
				return nil, err
			}
			return newDatabaseTable(system.dialect, &sqlTable{config: c, system: system, db: db}), nil
		},
		tables: func(ctx context.Context, c Config) ([]TableName, error) { return sqlTables(ctx, c, open, tables) },
		connect: func(_ context.Context, c Config) (Remote, error) {
			db, system, err := engine(c)
			if err != nil {
				return nil, err
			}
			return &sqlRemote{sqlTable{config: c, system: system, db: db}}, nil
		},
	}
	if keys != "" {
		c.keys = func(ctx context.Context, c Config) ([]schema.Relation, error) { return sqlKeys(ctx, c, open, keys) }
	}
	return c
}

// sqlTables runs a connector's listing of tables.
func sqlTables(ctx context.Context, c Config, open opener, text func(Config) (string, []any)) ([]TableName, error) {
	db, system, err := open(c)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	t := &sqlTable{config: c, system: system, db: db}
	conn, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	query, args := text(c)
	bound, args := system.bind(ctx, args)
	rows, err := conn.QueryContext(bound, query, args...)
	if err != nil {
		return nil, c.driverFault(ctx, err, "listing the tables of")
	}
	defer rows.Close()
	var tables []TableName
	for rows.Next() {
		var name TableName
		if err := rows.Scan(&name.Schema, &name.Name); err != nil {
			return nil, c.driverFault(ctx, err, "listing the tables of")
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		return nil, c.driverFault(ctx, err, "listing the tables of")
	}
	return tables, nil
}

func positionalArgs(ctx context.Context, args []any) (context.Context, []any) { return ctx, args }
