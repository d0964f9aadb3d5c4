package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// importTimeout bounds one table of a database on its way in.
const importTimeout = 2 * time.Hour

// maxTables of a database are imported.
const maxTables = 200

// snapshot is the version of a dataset that is a database: the newest copy that is
// fresh enough, or a new one.
func (c *Catalog) snapshot(d *dataset) version {
	pattern := filepath.Join(c.config.Dir, d.id+"-*.duckdb")
	paths, _ := filepath.Glob(pattern)
	var best version
	renewed, age := c.renewedAt(d.id), c.copyAge(d)
	made := renewed
	for _, path := range paths {
		m, ok := c.manifest(path)
		if ok && m.Dataset == d.id && m.Origin == d.connection.origin() && m.Made.After(made) && time.Since(m.Made) < age {
			best, made = version{hash: m.Version, path: path}, m.Made
		}
	}
	if best.path != "" {
		return best
	}
	// All who ask within one period share one name, and so one import.
	period := time.Now().Truncate(age)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", d.id, d.connection.origin(), period.Unix(), renewed.UnixNano()))
	return version{path: filepath.Join(c.config.Dir, d.id+"-"+hex.EncodeToString(sum[:6])+".duckdb")}
}

// origin says where a copy came from: another database under an alias that was used
// before must not be answered from the copy of the old one.
func (conn *Connection) origin() string {
	if conn == nil {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %v %s", conn.URL, conn.Schema, conn.Tables, conn.Remote, source.Config{URL: conn.URL}.DatabaseVersion()))
	return hex.EncodeToString(sum[:8])
}

// tablesOf lists the tables of a connection that are wanted.
func (c *Catalog) tablesOf(ctx context.Context, d *dataset) (source.Config, []source.TableName, error) {
	conf, err := c.configOf(d.connection)
	if err != nil {
		return conf, nil, err
	}
	if d.remote() {
		conf.Schema = d.connection.schema()
	}
	tables, err := source.Tables(ctx, conf)
	if err != nil {
		return conf, nil, err
	}
	if wanted := d.connection.Tables; len(wanted) > 0 {
		tables = slices.DeleteFunc(tables, func(t source.TableName) bool {
			return !slices.Contains(wanted, t.Name) && !slices.Contains(wanted, t.Schema+"."+t.Name)
		})
	}
	return conf, tables, nil
}

// importConnection copies the tables of a database. What is too large stays there:
// it can be scoped, or queried where it is.
func (c *Catalog) importConnection(ctx context.Context, d *dataset, path string, m *manifest) error {
	conf, tables, err := c.tablesOf(ctx, d)
	if err != nil {
		return err
	}
	w, err := query.Create(path)
	if err != nil {
		return err
	}
	defer w.Abort()
	content, names := sha256.New(), namer{}
	conf.Budget = source.NewBudget(conf)
	copied := map[string]string{} // name there to name here
	for i, t := range tables {
		if i >= maxTables {
			m.Problems = append(m.Problems, schema.Problem{Path: d.id, Message: fmt.Sprintf("The database has %d tables; the first %d were copied.", len(tables), maxTables)})
			break
		}
		conf.Schema, conf.Table = t.Schema, t.Name
		name := names.name(plainName(t.Name), t.Schema+"."+t.Name)
		columns, rows, err := c.copyTable(ctx, w, conf, d.id, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			m.Problems = append(m.Problems, schema.Problem{Path: t.Name, Message: fault.From(err).Message})
			continue
		}
		shown := schema.Table{Name: name, File: t.Name, Kind: d.kind, Columns: engineColumns(columns), Rows: rows, Notes: notesOf(columns)}
		m.note(shown)
		m.Tables = append(m.Tables, shown)
		copied[strings.ToLower(t.Name)] = name
		fmt.Fprintf(content, "%s %d %v\n", name, rows, shown.Columns)
	}
	if len(m.Tables) == 0 {
		return fault.New(fault.SourceUnreadable, "no table of %q could be copied", d.id).With(m.Problems)
	}
	conf.Table = ""
	m.loadDeclaredKeys(ctx, c, conf, func(original string) string { return copied[strings.ToLower(original)] })
	fmt.Fprint(content, m.Made.UnixNano())
	m.Version = hex.EncodeToString(content.Sum(nil))
	return w.Close()
}

func (c *Catalog) copyTable(ctx context.Context, w *query.Writer, conf source.Config, id, name string) ([]schema.Column, int64, error) {
	s, err := source.Open(ctx, conf)
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	n, err := s.Count(ctx, schema.Filter{})
	if err != nil {
		return nil, 0, err
	}
	if n > c.config.MaxRows {
		return nil, 0, fault.New(fault.TooLarge, "The table has %d rows, more than the %d that are copied.", n, c.config.MaxRows)
	}
	return c.stream(ctx, w, conf, id, name)
}
