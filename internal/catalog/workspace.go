package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A Part is what one table of a workspace holds: rows of a source under conditions, or
// rows that somebody kept.
type Part struct {
	Table string // its name in the workspace

	Alias      string
	Conditions []schema.Condition

	Columns []schema.Column // of kept rows; nil for a source
	Rows    json.RawMessage // an array of arrays
}

// A PartSelect makes the table of a part out of the inputs of its workspace. Where SQL
// is empty the part is the input Table, as it is.
type PartSelect struct {
	Table string
	SQL   string
	Args  []string
}

// WorkspaceInputs prepares parts for a workspace. A table of a dataset is attached where
// it is; of a table in a database only the rows under the conditions travel.
func (c *Catalog) WorkspaceInputs(ctx context.Context, parts []Part) ([]query.Input, []PartSelect, error) {
	var inputs []query.Input
	selects := make([]PartSelect, len(parts))
	for i, p := range parts {
		in, sel, err := c.workspaceInput(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		same := func(x query.Input) bool { return in.Path != "" && x.Path == in.Path && x.Table == in.Table }
		if at := slices.IndexFunc(inputs, same); at >= 0 { // the same table under other conditions
			in = inputs[at]
		} else {
			for hasName(inputs, in.Name) || in.Path != "" && p.Columns == nil && namesPart(parts, in.Name) {
				in.Name += "_"
			}
			inputs = append(inputs, in)
		}
		if selects[i], err = sel(in.Name); err != nil {
			return nil, nil, err
		}
	}
	return inputs, selects, nil
}

func hasName(inputs []query.Input, name string) bool {
	return slices.ContainsFunc(inputs, func(in query.Input) bool { return strings.EqualFold(in.Name, name) })
}

func namesPart(parts []Part, name string) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return strings.EqualFold(p.Table, name) })
}

// workspaceInput finds where the rows of a part are, and how the part is selected from
// the input once that has its name.
func (c *Catalog) workspaceInput(ctx context.Context, p Part) (query.Input, func(input string) (PartSelect, error), error) {
	whole := func(input string) (PartSelect, error) { return PartSelect{Table: input}, nil }
	if p.Columns != nil {
		sum := sha256.Sum256(p.Rows)
		path, err := c.Rows(ctx, hex.EncodeToString(sum[:])+fmt.Sprint(p.Columns), p.Table, p.Columns, p.Rows)
		return query.Input{Name: p.Table, Path: path, Table: p.Table}, whole, err
	}
	found, err := c.Source(ctx, p.Alias)
	if err != nil {
		return query.Input{}, nil, err
	}
	filter := schema.Filter{Conditions: p.Conditions}
	if found.live {
		return query.Input{Name: p.Table, Write: func(ctx context.Context, w *query.Writer, table string) error {
			s, err := c.open(ctx, found)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = source.Load(ctx, s, filter, w, table, func(rows int64) { c.progress(found.Dataset, found.Table, rows) })
			return err
		}}, whole, nil
	}
	db, _, err := c.Database(ctx, found.Dataset)
	if err != nil {
		return query.Input{}, nil, err
	}
	in := query.Input{Name: found.Table, Path: db.Path, Table: found.Table}
	if len(p.Conditions) == 0 {
		return in, whole, nil
	}
	columns, err := source.NewTable(c.config.Engine, db, found.Table, found.Columns).Describe(ctx)
	if err != nil {
		return query.Input{}, nil, err
	}
	return in, func(input string) (PartSelect, error) {
		stmt, err := source.Select(dialect.DuckDB, source.Selection{Table: []string{input}, Columns: columns, Filter: filter})
		return PartSelect{Table: p.Table, SQL: stmt.Text, Args: stmt.Texts()}, err
	}, nil
}
