package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/schema"
)

// A reader answers questions about one dataset inside a worker.
type reader struct {
	order    openOrder
	instance *instance
	session  *session
	tree     *asker
	plan     *asker
	buf      []byte
}

func newReader(o openOrder) (*reader, error) {
	open := openReader
	if o.Workspace {
		open = openWorkspace
	}
	in, err := open(o)
	if err != nil {
		return nil, err
	}
	r := &reader{order: o, instance: in}
	if r.session, err = in.connect(); err != nil {
		return nil, err
	}
	if err := r.session.exec(o.searchPath()...); err != nil {
		return nil, err
	}
	if r.tree, err = r.session.asker("SELECT json_serialize_sql(?::VARCHAR, skip_null := true, skip_empty := true)"); err != nil {
		return nil, err
	}
	r.plan, err = r.session.asker("SELECT json_serialize_plan(?::VARCHAR, skip_null := true, skip_empty := true)")
	return r, err
}

// searchPath lets bare names mean tables of the first file and then of those beside it.
func (o openOrder) searchPath() []string {
	if o.Workspace {
		return o.workspacePath()
	}
	if len(o.Files) == 0 {
		return nil
	}
	name := strings.TrimSuffix(filepath.Base(o.Path), filepath.Ext(o.Path))
	path := quoteName(name) + ".main"
	for i := range o.Files {
		path += fmt.Sprintf(",beside_%d.main", i)
	}
	return []string{"SET search_path=" + quoteText(path)}
}

func (r *reader) handle(ctx context.Context, f frame, out io.Writer) ([]byte, error) {
	switch f.kind {
	case askTree:
		return r.ask(ctx, r.tree, string(f.payload))
	case askPlan:
		return r.ask(ctx, r.plan, string(f.payload))
	case askRun:
		var o runOrder
		if err := json.Unmarshal(f.payload, &o); err != nil {
			return nil, err
		}
		return r.run(ctx, f.call, o, out)
	case askExport:
		var o exportOrder
		if err := json.Unmarshal(f.payload, &o); err != nil {
			return nil, err
		}
		return r.export(ctx, o)
	case askCreate:
		var o createOrder
		if err := json.Unmarshal(f.payload, &o); err != nil {
			return nil, err
		}
		return r.create(ctx, o)
	case askDrop:
		var tables []string
		if err := json.Unmarshal(f.payload, &tables); err != nil {
			return nil, err
		}
		return nil, r.drop(tables)
	}
	return nil, fmt.Errorf("unknown request %q", f.kind)
}

func (r *reader) ask(ctx context.Context, a *asker, sql string) ([]byte, error) {
	release := r.session.interruptOn(ctx)
	defer release()
	var err error
	r.buf, err = a.ask(r.buf[:0], sql)
	return r.buf, err
}

// limited wraps a statement so that the engine knows that few rows are wanted. The
// newline ends a trailing comment.
func limited(sql string, rows int) string {
	return fmt.Sprintf("%s%s\n) LIMIT %d", limitedHead, sql, rows)
}

const limitedHead = "SELECT * FROM (\n"

// open starts a statement and gives its columns as the statement names them.
func (r *reader) open(ctx context.Context, sql string, args []string, rows, cut int) (*cursor, *table, error) {
	text := sql
	if rows >= 0 {
		text = limited(sql, rows+1)
	}
	c, err := r.session.query(ctx, text, args...)
	if err != nil {
		if e, ok := errors.AsType[*engineErr](err); ok && rows >= 0 {
			e.Position = max(-1, e.Position-len(limitedHead))
		}
		return nil, nil, err
	}
	t := describe(c, cut)
	if !t.exotic && !renamed(t.columns) {
		return c, t, nil
	}
	c.close()
	names, err := r.columnNames(sql)
	if err != nil {
		return nil, nil, err
	}
	if c, err = r.session.query(ctx, t.cast(sql, rows), args...); err != nil {
		return nil, nil, err
	}
	u := describe(c, cut)
	for i := range u.columns {
		u.columns[i].Name = names[i]
		if t.vectors[i] == nil {
			u.columns[i].Type = t.columns[i].Type
		}
	}
	return c, u, nil
}

// renamed says whether a name may come from the wrap: it tells columns of one name
// apart by a number.
func renamed(columns []schema.Column) bool {
	for i, c := range columns {
		base := strings.TrimRight(c.Name, "0123456789")
		if base == c.Name || !strings.HasSuffix(base, "_") {
			continue
		}
		for _, other := range columns[:i] {
			if strings.EqualFold(other.Name, base[:len(base)-1]) {
				return true
			}
		}
	}
	return false
}

// columnNames asks the engine for the names without a wrap.
func (r *reader) columnNames(sql string) ([]string, error) {
	stmt, err := r.session.prepare(sql)
	if err != nil {
		return nil, err
	}
	defer duck.DestroyPrepare(&stmt)
	names := make([]string, duck.PreparedStatementColumnCount(stmt))
	for i := range names {
		names[i] = duck.PreparedStatementColumnName(stmt, duck.IdxT(i))
	}
	return names, nil
}

// cast wraps a statement so that columns of types without a reader come as text.
func (t *table) cast(sql string, rows int) string {
	var list, names strings.Builder
	for i, v := range t.vectors {
		if i > 0 {
			list.WriteString(", ")
			names.WriteString(", ")
		}
		fmt.Fprintf(&names, "c%d", i)
		if v == nil {
			fmt.Fprintf(&list, "CAST(c%d AS VARCHAR)", i)
		} else {
			fmt.Fprintf(&list, "c%d", i)
		}
	}
	text := fmt.Sprintf("SELECT %s FROM (\n%s\n) AS q(%s)", list.String(), sql, names.String())
	if rows >= 0 {
		text += fmt.Sprintf(" LIMIT %d", rows+1)
	}
	return text
}

// sendBytes is how much of a result travels in one message.
const sendBytes = 128 << 10

func (r *reader) run(ctx context.Context, call uint32, o runOrder, out io.Writer) ([]byte, error) {
	c, t, err := r.open(ctx, o.SQL, o.Args, o.MaxRows, o.MaxCell)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := writeJSON(out, tellColumns, call, t.columns); err != nil {
		return nil, err
	}
	var report runReport
	sent := 0
	buf := append(r.buf[:0], '[')
	for !report.Limited {
		chunk, ok, err := c.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		n := t.bind(chunk)
		for row := range n {
			if report.Rows == o.MaxRows {
				report.Limited = true
				break
			}
			before := len(buf)
			if report.Rows > 0 {
				buf = append(buf, ',')
			}
			if buf = t.appendArray(buf, row); sent+len(buf) > o.MaxBytes {
				buf = buf[:before]
				report.Limited = true
				break
			}
			report.Rows++
		}
		duck.DestroyDataChunk(&chunk)
		if len(buf) > sendBytes {
			if err := writeFrame(out, frame{tellRows, call, buf}); err != nil {
				return nil, err
			}
			sent += len(buf)
			buf = buf[:0]
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	buf = append(buf, ']')
	if err := writeFrame(out, frame{tellRows, call, buf}); err != nil {
		return nil, err
	}
	r.buf = buf
	report.Cut = t.cuts
	return json.Marshal(report)
}
