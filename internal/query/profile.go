package query

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A Profile is what a table looks like at a glance.
type Profile struct {
	Table   string          `json:"table"`
	Rows    int64           `json:"rows"`
	Sampled bool            `json:"sampled,omitempty"` // examples and histograms are of a sample of the rows
	Columns []ColumnProfile `json:"columns"`
	Notes   []schema.Note   `json:"notes,omitempty"` // the decisions of the import
}

// A ColumnProfile is a column at a glance.
type ColumnProfile struct {
	schema.Column
	Nulls     int64    `json:"nulls"`
	Distinct  int64    `json:"distinct"` // approximate in a sampled table
	Min       string   `json:"min,omitempty"`
	Max       string   `json:"max,omitempty"`
	Examples  []string `json:"examples,omitempty"` // the most frequent first
	Histogram []Bin    `json:"histogram,omitempty"`
}

// A Bin counts the values from From up to To, or equal to From where To is empty.
type Bin struct {
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
	Count int64  `json:"count"`
}

const (
	profileExact   = 1_000_000 // rows up to which everything is counted
	profileSample  = 100_000
	profileBins    = 10
	profileColumns = 40 // in one statement
)

// Preview gives rows of a table as they are stored.
func (e *Engine) Preview(ctx context.Context, db Database, table string, offset, limit int) (*Result, error) {
	name, err := tableIn(db, table)
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, Request{
		Database: db, MaxRows: limit,
		SQL:  "SELECT * FROM " + quoteName(name) + " LIMIT CAST($1 AS BIGINT) OFFSET CAST($2 AS BIGINT)",
		Args: []string{strconv.Itoa(max(0, limit)), strconv.Itoa(max(0, offset))},
	})
}

// Count gives the number of rows of a statement, whatever the cap on results.
func (e *Engine) Count(ctx context.Context, r Request) (int64, error) {
	d, err := e.check(ctx, r)
	if err != nil {
		return 0, err
	}
	r.SQL = "SELECT count(*)::VARCHAR FROM (\n" + d.SQL + "\n) AS counted"
	rows, err := e.queryTexts(ctx, r)
	if err != nil {
		return 0, err
	}
	return number64(rows[0][0]), nil
}

func tableIn(db Database, table string) (string, error) {
	for _, t := range db.Tables {
		if strings.EqualFold(t.Name, table) {
			return t.Name, nil
		}
	}
	return "", fault.New(fault.SourceNotRegistered, "There is no table %s in this dataset.", table).Suggest("%s", sqlpolicy.TablesNear(db.Tables, table))
}

// queryTexts runs a generated statement whose columns are all text.
func (e *Engine) queryTexts(ctx context.Context, r Request) ([][]string, error) {
	res, err := e.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	var rows [][]*string
	if err := json.Unmarshal(res.Rows, &rows); err != nil {
		return nil, fmt.Errorf("reading a profile: %w", err)
	}
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = make([]string, len(row))
		for k, cell := range row {
			if cell != nil {
				out[i][k] = *cell
			}
		}
	}
	return out, nil
}

func number64(s string) (n int64) {
	_, _ = fmt.Sscan(s, &n) // an empty text is no count
	return n
}

// Profile looks at every column of a table, by statements that go the same way as
// any other.
func (e *Engine) Profile(ctx context.Context, db Database, table string) (*Profile, error) {
	name, err := tableIn(db, table)
	if err != nil {
		return nil, err
	}
	head, err := e.Preview(ctx, db, name, 0, 1)
	if err != nil {
		return nil, err
	}
	rows, err := e.queryTexts(ctx, Request{Database: db, SQL: "SELECT count(*)::VARCHAR FROM " + quoteName(name)})
	if err != nil {
		return nil, err
	}
	p := &Profile{Table: name, Rows: number64(rows[0][0])}
	p.Sampled = p.Rows > profileExact
	for _, c := range head.Columns {
		p.Columns = append(p.Columns, ColumnProfile{Column: c})
	}
	for part := range slices.Chunk(p.Columns, profileColumns) {
		if err := e.summarise(ctx, db, p, part); err != nil {
			return nil, err
		}
	}
	for i := range p.Columns {
		if err := e.addDistribution(ctx, db, p, &p.Columns[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// summarise counts NULLs and distinct values and finds the ends of some columns.
func (e *Engine) summarise(ctx context.Context, db Database, p *Profile, columns []ColumnProfile) error {
	var parts []string
	for _, c := range columns {
		n := quoteName(c.Name)
		distinct := "count(DISTINCT " + n + ")"
		if p.Sampled {
			distinct = "approx_count_distinct(" + n + ")"
		}
		parts = append(parts, fmt.Sprintf("(count(*) - count(%[1]s))::VARCHAR, %[2]s::VARCHAR, left(min(%[1]s)::VARCHAR, 200), left(max(%[1]s)::VARCHAR, 200)", n, distinct))
	}
	rows, err := e.queryTexts(ctx, Request{Database: db, SQL: "SELECT " + strings.Join(parts, ", ") + " FROM " + quoteName(p.Table)})
	if err != nil {
		return err
	}
	for i := range columns {
		cell := rows[0][4*i:]
		columns[i].Nulls, columns[i].Distinct, columns[i].Min, columns[i].Max = number64(cell[0]), number64(cell[1]), cell[2], cell[3]
	}
	return nil
}

// addDistribution finds the examples and the histogram of a column: bins of equal width for
// numbers and times, the most frequent values for the rest.
func (e *Engine) addDistribution(ctx context.Context, db Database, p *Profile, c *ColumnProfile) error {
	from := quoteName(p.Table)
	if p.Sampled {
		from = fmt.Sprintf("(SELECT %s FROM %s USING SAMPLE %d ROWS)", quoteName(c.Name), from, profileSample)
	}
	rows, err := e.queryTexts(ctx, Request{Database: db, SQL: fmt.Sprintf(
		"SELECT left(v::VARCHAR, 200), n::VARCHAR FROM (SELECT %[1]s AS v, count(*) AS n FROM %[2]s AS t WHERE %[1]s IS NOT NULL GROUP BY 1 ORDER BY n DESC, v LIMIT %[3]d) AS q",
		quoteName(c.Name), from, profileBins)})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if len(c.Examples) < 5 {
			c.Examples = append(c.Examples, r[0])
		}
		c.Histogram = append(c.Histogram, Bin{From: r[0], Count: number64(r[1])})
	}
	scale, back := axis(c.Type.String())
	if scale == "" || c.Distinct <= profileBins {
		return nil
	}
	value := fmt.Sprintf(scale, quoteName(c.Name))
	rows, err = e.queryTexts(ctx, Request{Database: db, SQL: fmt.Sprintf(`WITH v AS (SELECT %[1]s AS x FROM %[2]s AS t WHERE isfinite(%[1]s)),
e AS (SELECT min(x) AS lo, (max(x) - min(x)) / %[3]d AS w FROM v),
b AS (SELECT least(%[3]d - 1, floor((x - lo) / w))::INTEGER AS i, count(*) AS n FROM v, e WHERE w > 0 GROUP BY 1)
SELECT %[4]s, %[5]s, coalesce(n, 0)::VARCHAR FROM e, range(%[3]d) AS r(k) LEFT JOIN b ON b.i = k WHERE w > 0 ORDER BY k`,
		value, from, profileBins, fmt.Sprintf(back, "lo + k * w"), fmt.Sprintf(back, "lo + (k + 1) * w"))})
	if err != nil {
		return err
	}
	c.Histogram = nil
	for _, r := range rows {
		c.Histogram = append(c.Histogram, Bin{From: r[0], To: r[1], Count: number64(r[2])})
	}
	return nil
}

// axis says how values of a type become numbers and how numbers are shown again.
func axis(kind string) (scale, back string) {
	switch {
	case strings.HasPrefix(kind, "DECIMAL"), strings.HasSuffix(kind, "INT"), kind == "INTEGER", kind == "DOUBLE", kind == "FLOAT":
		return "%s::DOUBLE", "round(%s, 6)::VARCHAR"
	case kind == "DATE":
		return "epoch(%s)", "to_timestamp(%s)::DATE::VARCHAR"
	case strings.HasPrefix(kind, "TIMESTAMP"):
		return "epoch(%s)", "make_timestamp((1000000 * (%s))::BIGINT)::VARCHAR"
	}
	return "", ""
}
