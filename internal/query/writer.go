package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// A Kind is the type of a column that a Writer stores.
type Kind uint8

// The kinds. Lists and other nested values are stored as JSON text.
const (
	Text        Kind = iota // VARCHAR
	Bool                    // BOOLEAN
	Int16                   // SMALLINT
	Int32                   // INTEGER
	Int64                   // BIGINT
	Huge                    // HUGEINT: 128 bits
	Float32                 // FLOAT
	Float64                 // DOUBLE
	Decimal                 // DECIMAL(Precision, Scale), exact, up to 38 digits
	Date                    // DATE
	Time                    // TIME
	Timestamp               // TIMESTAMP without zone
	TimestampTZ             // TIMESTAMP WITH TIME ZONE, kept as an instant
	Bytes                   // BLOB
	UUID                    // UUID
	JSON                    // JSON
)

var kindNames = [...]string{
	"VARCHAR", "BOOLEAN", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE",
	"DECIMAL", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "BLOB", "UUID", "JSON",
}

// A ColumnSpec is a column of a table to be written.
type ColumnSpec struct {
	Name      string
	Kind      Kind
	Precision int // of a Decimal, 1 to 38
	Scale     int // of a Decimal, 0 to Precision
}

// SQL gives the engine's name of the column's type.
func (c ColumnSpec) SQL() string {
	if c.Kind == Decimal {
		return fmt.Sprintf("DECIMAL(%d,%d)", c.Precision, c.Scale)
	}
	return kindNames[c.Kind]
}

func (c ColumnSpec) check() error {
	switch {
	case c.Name == "":
		return errors.New("a column has no name")
	case int(c.Kind) >= len(kindNames):
		return fmt.Errorf("column %s: unknown kind %d", c.Name, c.Kind)
	case c.Kind == Decimal && (c.Precision < 1 || c.Precision > 38 || c.Scale < 0 || c.Scale > c.Precision):
		return fmt.Errorf("column %s: no such type as DECIMAL(%d,%d)", c.Name, c.Precision, c.Scale)
	}
	return nil
}

// A Writer makes a database file of rows of other systems. The file
// appears under its name when Close succeeds, complete or not at all. A Writer
// belongs to one goroutine; its memory is bounded whatever the number of rows.
type Writer struct {
	path, temp string
	instance   *instance
	session    *session
	open       *Appender
}

// Create begins a new database file that will stand at path.
func Create(path string) (*Writer, error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".write-*")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the new database: %w", err)
	}
	w := &Writer{path: path, temp: filepath.Join(dir, "new.duckdb")}
	if err := w.start(dir); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *Writer) start(dir string) (err error) {
	w.instance, err = openInstance(w.temp, option{"threads", "2"}, option{"memory_limit", "512MB"},
		option{"autoinstall_known_extensions", "false"}, option{"autoload_known_extensions", "false"})
	if err != nil {
		return err
	}
	if w.session, err = w.instance.connect(); err != nil {
		return err
	}
	return w.session.exec("SET temp_directory="+quoteText(dir), "SET TimeZone='UTC'", "SET preserve_insertion_order=true")
}

// Table makes a table and opens it for rows. The table before it is closed.
func (w *Writer) Table(name string, columns []ColumnSpec) (*Appender, error) {
	if err := w.closeTable(); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("table %s has no columns", name)
	}
	var ddl strings.Builder
	fmt.Fprintf(&ddl, "CREATE TABLE %s (", quoteName(name))
	for i, c := range columns {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		if i > 0 {
			ddl.WriteString(", ")
		}
		fmt.Fprintf(&ddl, "%s %s", quoteName(c.Name), c.SQL())
	}
	ddl.WriteString(")")
	if err := w.session.exec(ddl.String()); err != nil {
		return nil, fmt.Errorf("making table %s: %w", name, err)
	}
	a, err := newAppender(w.session, name, columns)
	if err != nil {
		return nil, err
	}
	w.open = a
	return a, nil
}

func (w *Writer) closeTable() error {
	if w.open == nil {
		return nil
	}
	a := w.open
	w.open = nil
	return a.Close()
}

// Close writes everything out and puts the file in its place.
func (w *Writer) Close() error {
	err := w.closeTable()
	if err == nil {
		err = w.session.exec("CHECKPOINT")
	}
	w.shut()
	if err == nil {
		err = os.Rename(w.temp, w.path)
	}
	return errors.Join(err, os.RemoveAll(filepath.Dir(w.temp)))
}

// Size is how much of the disk the new file takes so far.
func (w *Writer) Size() int64 { return bytesIn(filepath.Dir(w.temp)) }

// Abort drops everything. It does nothing after Close.
func (w *Writer) Abort() {
	if w.open != nil {
		w.open.discard()
		w.open = nil
	}
	w.shut()
	_ = os.RemoveAll(filepath.Dir(w.temp))
}

func (w *Writer) shut() {
	if w.session != nil {
		w.session.close()
		w.session = nil
	}
	if w.instance != nil {
		w.instance.close()
		w.instance = nil
	}
}

// quoteName quotes an identifier, quoteText a literal.
func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
func quoteText(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

// createAppender opens the engine's appender on a table.
func createAppender(s *session, table string) (duck.Appender, error) {
	var a duck.Appender
	if duck.AppenderCreate(s.conn, "", table, &a) == duck.StateError {
		err := fmt.Errorf("opening table %s for rows: %w", table, engineError(duck.AppenderError(a)))
		duck.AppenderDestroy(&a)
		return a, err
	}
	return a, nil
}
