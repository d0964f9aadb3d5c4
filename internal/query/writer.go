package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/schema"
)

// StoredType gives the type that a Writer's table has for values of a type. Lists are
// stored as JSON, whole numbers without a sign in the 128 bits of HUGEINT, and values of
// other kinds as text.
func StoredType(t schema.Type) schema.Type {
	switch t.Kind {
	case schema.Uint:
		return schema.ParseType("HUGEINT")
	case schema.List:
		return schema.Type{Kind: schema.JSON}
	}
	return schema.ParseType(t.Plain().String())
}

// checkColumn says why a table cannot have a column.
func checkColumn(c schema.Column) error {
	switch t := c.Type; {
	case c.Name == "":
		return errors.New("a column has no name")
	case t.Kind == schema.Decimal && (t.Width < 1 || t.Width > 38 || t.Scale < 0 || t.Scale > t.Width):
		return fmt.Errorf("column %s: no such type as %s", c.Name, t.Plain())
	}
	return nil
}

// definition gives a column as CREATE TABLE has it.
func definition(c schema.Column) string { return quoteName(c.Name) + " " + StoredType(c.Type).String() }

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
func (w *Writer) Table(name string, columns []schema.Column) (*Appender, error) {
	if err := w.closeTable(); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("table %s has no columns", name)
	}
	var ddl strings.Builder
	fmt.Fprintf(&ddl, "CREATE TABLE %s (", quoteName(name))
	for i, c := range columns {
		if err := checkColumn(c); err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		if i > 0 {
			ddl.WriteString(", ")
		}
		ddl.WriteString(definition(c))
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
	w.closeEngine()
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
	w.closeEngine()
	_ = os.RemoveAll(filepath.Dir(w.temp))
}

func (w *Writer) closeEngine() {
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
