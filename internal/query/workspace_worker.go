package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/sqlpolicy"
)

// An attachedTable is an input of a workspace as its worker finds it.
type attachedTable struct {
	Name  string // in the workspace
	Path  string
	Table string // in the file
}

// createOrder makes a table of a SELECT.
type createOrder struct {
	Table string
	SQL   string
	Args  []string
}

// memoryCatalog is what the engine calls a database without a file.
const memoryCatalog = "memory"

// openWorkspace opens a database in memory with the inputs attached read-only, and
// closes every other way out, as openReader does.
func openWorkspace(o openOrder) (*instance, error) {
	in, err := openInstance("",
		option{"threads", fmt.Sprint(o.Threads)},
		option{"memory_limit", fmt.Sprintf("%dMB", o.MemoryMB)},
		option{"autoinstall_known_extensions", "false"},
		option{"autoload_known_extensions", "false"})
	if err != nil {
		return nil, err
	}
	s, err := in.connect()
	if err == nil {
		err = s.exec("SET temp_directory="+quoteText(o.Scratch), fmt.Sprintf("SET max_temp_directory_size='%dMB'", o.SpillMB))
	}
	if err == nil {
		err = s.attach(o)
	}
	if err == nil {
		err = s.exec(append([]string{"SET preserve_insertion_order=true"}, lockSettings...)...)
	}
	if s != nil {
		s.close()
	}
	if err == nil {
		err = os.Chdir(o.Scratch)
	}
	if err != nil {
		in.close()
		return nil, fmt.Errorf("locking the engine: %w", err)
	}
	return in, nil
}

// attach attaches the files of the inputs, each once, and copies the tables that the
// workspace calls otherwise.
func (s *session) attach(o openOrder) error {
	files := o.files()
	for i, path := range files {
		if err := s.exec(fmt.Sprintf("ATTACH %s AS %s (READ_ONLY)", quoteText(path), inputCatalog(i))); err != nil {
			return err
		}
	}
	for _, t := range o.Attached {
		if t.Name == t.Table {
			continue
		}
		from := inputCatalog(slices.Index(files, t.Path)) + ".main." + quoteName(t.Table)
		if err := s.exec("CREATE TABLE " + workspaceName(t.Name) + " AS SELECT * FROM " + from); err != nil {
			return err
		}
	}
	return nil
}

// files are the paths of the inputs, each once.
func (o openOrder) files() (paths []string) {
	for _, t := range o.Attached {
		if !slices.Contains(paths, t.Path) {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

func inputCatalog(i int) string { return fmt.Sprintf("input_%d", i) }

// workspaceName is the full name of a table that the worker makes.
func workspaceName(table string) string { return memoryCatalog + ".main." + quoteName(table) }

// workspacePath lets bare names mean the tables of the workspace first, then its inputs.
func (o openOrder) workspacePath() []string {
	path := []string{memoryCatalog + ".main"}
	for i := range o.files() {
		path = append(path, inputCatalog(i)+".main")
	}
	return []string{"SET search_path=" + quoteText(strings.Join(path, ","))}
}

// inputs describes the inputs for the policy.
func (r *reader) inputs(ctx context.Context) ([]byte, error) {
	tables := []sqlpolicy.Table{}
	for _, t := range r.order.Attached {
		name := workspaceName(t.Name)
		if t.Name == t.Table {
			name = inputCatalog(slices.Index(r.order.files(), t.Path)) + ".main." + quoteName(t.Table)
		}
		described, err := r.describeTable(ctx, t.Name, name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, described)
	}
	return json.Marshal(tables)
}

// create makes a table of a SELECT that the policy allowed, and describes it.
func (r *reader) create(ctx context.Context, o createOrder) ([]byte, error) {
	head := "CREATE OR REPLACE TABLE " + workspaceName(o.Table) + " AS\n"
	c, err := r.session.query(ctx, head+o.SQL, o.Args...)
	if err == nil {
		var chunk duck.DataChunk
		if chunk, _, err = c.next(); chunk.Ptr != nil { // the number of rows
			duck.DestroyDataChunk(&chunk)
		}
		c.close()
	}
	if e, ok := errors.AsType[*engineErr](err); ok {
		e.Position = max(-1, e.Position-len(head))
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	t, err := r.describeTable(ctx, o.Table, workspaceName(o.Table))
	if err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// drop removes tables that create made.
func (r *reader) drop(tables []string) error {
	for _, t := range tables {
		if err := r.session.exec("DROP TABLE IF EXISTS " + workspaceName(t)); err != nil {
			return err
		}
	}
	return nil
}

// describeTable gives the columns of a table.
func (r *reader) describeTable(ctx context.Context, name, sqlName string) (sqlpolicy.Table, error) {
	c, err := r.session.query(ctx, "SELECT * FROM "+sqlName+" LIMIT 0")
	if err != nil {
		return sqlpolicy.Table{}, err
	}
	defer c.close()
	t := sqlpolicy.Table{Name: name}
	for i := range c.width() {
		t.Columns = append(t.Columns, duck.ColumnName(&c.result, duck.IdxT(i)))
	}
	return t, nil
}
