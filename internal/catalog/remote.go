package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// remote says that the rows of a dataset stay in their database.
func (d *dataset) remote() bool { return d.connection != nil && d.connection.Remote }

// checkRemote says whether a database can be queried where it is, and as its role.
func (conn Connection) checkRemote(ctx context.Context, password source.Secret) error {
	if !conn.Remote {
		return nil
	}
	d, known := dialect.Find(source.Scheme(conn.URL))
	if _, ok := sqlpolicy.RulesFor(d); !known || !ok {
		return fault.New(fault.BadRequest, "%s has no engine of its own that could be queried", conn.URL).Suggest("Add it without --remote.")
	}
	engine, err := source.Connect(ctx, source.Config{URL: conn.URL, Password: password, Schema: conn.schema(), AllowOwner: conn.AllowOwner})
	if err != nil {
		return err
	}
	return engine.Close()
}

// A remoteLink is an open connection to a database that is queried where it is.
type remoteLink struct {
	config source.Config
	engine source.Remote
	gate   *query.Admission
	file   os.FileInfo // of a database that is a file, when it was opened
}

// isCurrent reports whether the connection still leads to the database: a file that was put
// in the place of another is another database.
func (l *remoteLink) isCurrent(conf source.Config) bool {
	if l == nil || l.config != conf || l.file == nil {
		return l != nil && l.config == conf
	}
	info, err := os.Stat(conf.File())
	return err == nil && os.SameFile(info, l.file)
}

// Bounds of what runs at once in a database: it has other users.
const (
	atOnce  = 4
	perUser = 2
	waiting = 64
)

// run runs a statement once it is let in; its time counts from then.
func (l *remoteLink) run(ctx context.Context, user string, d sqlpolicy.Decision, limits source.Limits) (source.Answer, error) {
	leave, err := l.gate.Enter(ctx, user)
	if err != nil && ctx.Err() != nil {
		return source.Answer{}, fault.Wrap(err, fault.QueryCancelled, "the statement was cancelled while it waited")
	}
	if err != nil {
		return source.Answer{}, err
	}
	defer leave()
	return l.engine.Run(ctx, d, limits)
}

// Query runs a statement on a dataset: in the embedded engine, where the request's
// database names the earlier results that it may read as well, or where its rows are.
func (c *Catalog) Query(ctx context.Context, id string, r query.Request) (*query.Result, error) {
	d, db, err := c.statementTarget(ctx, id)
	if err != nil {
		return nil, err
	}
	if !d.remote() {
		beside := unhiddenResults(db, r.Database)
		r.Database = db
		r.Database.Attached, r.Database.Tables = beside.Attached, slices.Concat(db.Tables, beside.Tables)
		result, err := c.config.Engine.Run(ctx, r)
		if err != nil {
			return nil, err
		}
		result.CopiedAt = c.copiedAt(d, db.Path)
		for _, t := range result.Decision.Touches {
			if hasTable(beside.Tables, t.Table) {
				result.EarlierTables = append(result.EarlierTables, t.Table)
			}
		}
		return result, nil
	}
	r.Database = db
	decision, err := c.config.Policy.Check(ctx, db, r.SQL)
	if err != nil {
		return nil, err
	}
	to, err := c.openRemote(ctx, d)
	if err != nil {
		return nil, err
	}
	answer, err := to.run(ctx, r.User, decision, source.Limits{Rows: r.MaxRows, Bytes: r.MaxBytes, Timeout: r.Timeout})
	if err != nil {
		return nil, err
	}
	result := &query.Result{
		Columns: engineColumns(answer.Columns), Rows: answer.Rows, RowCount: answer.Count, Limited: answer.Limited, Elapsed: answer.Elapsed, Decision: decision, Live: true, Version: db.Version,
		Total: int64(answer.Count), AtLeast: answer.Limited,
	}
	if result.Limited {
		result.Total++
	}
	if result.Limited && r.CountAll {
		if n, err := countThere(ctx, to, r.User, decision); err == nil && n >= result.Total {
			result.Total, result.AtLeast = n, false
		}
	}
	return result, nil
}

// unhiddenResults returns the earlier results, one table a file, that no table of the dataset
// hides: a table of the dataset wins over a result of its name.
func unhiddenResults(db, earlier query.Database) (free query.Database) {
	for i, t := range earlier.Tables {
		if !hasTable(db.Tables, t.Name) {
			free.Tables, free.Attached = append(free.Tables, t), append(free.Attached, earlier.Attached[i])
		}
	}
	return free
}

// hasTable reports whether a name means one of the tables; case does not count.
func hasTable(tables []sqlpolicy.Table, name string) bool {
	return slices.ContainsFunc(tables, func(t sqlpolicy.Table) bool { return strings.EqualFold(t.Name, name) })
}

// Check decides about a statement on a dataset, and on earlier results beside it, without
// running it.
func (c *Catalog) Check(ctx context.Context, id, sql string, earlier query.Database) (sqlpolicy.Decision, error) {
	d, db, err := c.statementTarget(ctx, id)
	if err != nil {
		return sqlpolicy.Decision{}, err
	}
	if !d.remote() {
		beside := unhiddenResults(db, earlier)
		db.Attached, db.Tables = beside.Attached, slices.Concat(db.Tables, beside.Tables)
	}
	return c.config.Policy.Check(ctx, db, sql)
}

// statementTarget finds what statements on a dataset are decided on: its database, or one of
// its remote tables without their rows.
func (c *Catalog) statementTarget(ctx context.Context, id string) (*dataset, query.Database, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return nil, query.Database{}, err
	}
	db, _, err := c.database(ctx, d)
	if err == nil && d.remote() {
		spoken, _ := dialect.Find(d.kind)
		db.Remote = &query.Remote{Dialect: spoken, Schema: d.connection.tableQualifier()}
		if rules, ok := sqlpolicy.RulesFor(spoken); ok && rules.ByEngine() { // the engine itself decides
			to, err := c.openRemote(ctx, d)
			if err != nil {
				return nil, query.Database{}, err
			}
			db.Remote.Judge, _ = to.engine.(sqlpolicy.Judge)
		}
	}
	return d, db, err
}

// schema is the one whose tables a connection has. One is enough: a name must mean
// one table.
func (conn Connection) schema() string {
	if conn.Schema == "" && source.Scheme(conn.URL) == "postgres" {
		return "public"
	}
	return conn.Schema
}

// tableQualifier is what may stand before the names of tables: the schema, or where a database
// has none, the database of the address.
func (conn Connection) tableQualifier() string {
	if schema := conn.schema(); schema != "" {
		return schema
	}
	u, err := url.Parse(conn.URL)
	if err != nil || source.Scheme(conn.URL) == "sqlite" {
		return ""
	}
	return path.Base(u.Path)
}

// openRemote returns the open connection of a dataset, or opens it.
func (c *Catalog) openRemote(ctx context.Context, d *dataset) (*remoteLink, error) {
	conf, err := c.configOf(d.connection)
	if err != nil {
		return nil, err
	}
	conf.Schema, conf.Dataset = d.connection.schema(), d.id
	c.mu.Lock()
	open := c.lines[d.id]
	c.mu.Unlock()
	if open.isCurrent(conf) {
		return open, nil
	}
	made := &remoteLink{config: conf, gate: query.NewAdmission(atOnce, perUser, waiting)}
	if path := conf.File(); path != "" {
		made.file, _ = os.Stat(path) // a file that is missing is reported below
	}
	if made.engine, err = source.Connect(ctx, conf); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if open := c.lines[d.id]; open.isCurrent(conf) { // somebody was quicker
		return open, made.engine.Close()
	} else if open != nil {
		_ = open.engine.Close() // of another address or file
	}
	c.lines[d.id] = made
	return made, nil
}

// hangUp closes the connection of a dataset.
func (c *Catalog) hangUp(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if open := c.lines[id]; open != nil {
		_ = open.engine.Close() // it only read
		delete(c.lines, id)
	}
}

// Close closes the connections to databases.
func (c *Catalog) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := []error{c.sqlite.Close()}
	for id, open := range c.lines {
		errs = append(errs, open.engine.Close())
		delete(c.lines, id)
	}
	return errors.Join(errs...)
}

// livePrefix begins the version of a dataset whose rows stay in their database.
const livePrefix = "live-"

// countPatience is how long a table that stays where it is may take to be counted.
const countPatience = 2 * time.Second

// importColumns makes a database of the remote tables without their rows: the names in
// statements are bound against it. Tables keep their remote names.
func (c *Catalog) importColumns(ctx context.Context, d *dataset, path string, m *manifest) error {
	conf, tables, err := c.tablesOf(ctx, d)
	if err != nil {
		return err
	}
	w, err := query.Create(path)
	if err != nil {
		return err
	}
	defer w.Abort()
	content, taken := sha256.New(), map[string]string{}
	for i, t := range tables {
		if i >= maxTables {
			m.Problems = append(m.Problems, schema.Problem{Path: d.id, Message: fmt.Sprintf("The database has %d tables; the first %d can be queried. Name those that you need in sources.yaml.", len(tables), maxTables)})
			break
		}
		if other, ok := taken[strings.ToLower(t.Name)]; ok {
			m.Problems = append(m.Problems, schema.Problem{Path: t.Name, Message: fmt.Sprintf("Its name differs from %s by case alone; only %s can be queried.", other, other)})
			continue
		}
		conf.Schema, conf.Table = t.Schema, t.Name
		shown, err := c.columnsOf(ctx, w, conf)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			m.Problems = append(m.Problems, schema.Problem{Path: t.Name, Message: fault.From(err).Message})
			continue
		}
		shown.Kind = d.kind
		taken[strings.ToLower(t.Name)] = t.Name
		m.Tables = append(m.Tables, shown)
		fmt.Fprintf(content, "%s %v\n", shown.Name, shown.Columns)
	}
	if len(m.Tables) == 0 {
		return fault.New(fault.SourceUnreadable, "no table of %q can be queried", d.id).With(m.Problems).
			Suggest("Name the schema with --schema, and a role that may read its tables.")
	}
	conf.Schema, conf.Table = d.connection.schema(), ""
	m.loadDeclaredKeys(ctx, c, conf, func(original string) string { return taken[strings.ToLower(original)] })
	m.Version = livePrefix + hex.EncodeToString(content.Sum(nil)) // of the columns: the rows may change at any time
	return w.Close()
}

// columnsOf writes the columns of one table. Its rows are counted if that is quick.
func (c *Catalog) columnsOf(ctx context.Context, w *query.Writer, conf source.Config) (schema.Table, error) {
	s, err := source.Open(ctx, conf)
	if err != nil {
		return schema.Table{}, err
	}
	defer s.Close()
	columns, err := s.Describe(ctx)
	if err != nil {
		return schema.Table{}, err
	}
	if _, err := w.Table(conf.Table, columns); err != nil {
		return schema.Table{}, err
	}
	return schema.Table{Name: conf.Table, File: conf.Table, Columns: engineColumns(columns), Rows: countQuickly(ctx, s)}, nil
}

// countQuickly gives the number of rows, -1 if counting takes long.
func countQuickly(ctx context.Context, s source.Source) int64 {
	ctx, cancel := context.WithTimeout(ctx, countPatience)
	defer cancel()
	n, err := s.Count(ctx, schema.Filter{})
	if err != nil {
		return -1
	}
	return n
}
