package data

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/meaning"
	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
	"interlock/internal/toolbox"
)

// Suggest drafts the semantic model of a dataset from its data and its dictionary, each line
// with its evidence. What the present model says plays no part.
func (m Meanings) Suggest(ctx context.Context, id string) ([]byte, error) {
	d, s, err := m.draft(ctx, id)
	if err != nil {
		return nil, err
	}
	return d.Write(s), nil
}

func (m Meanings) draft(ctx context.Context, id string) (meaning.Draft, schema.Dataset, error) {
	all := plainDatasets{datasets{Catalog: m.Catalog}}
	s, err := all.Schema(ctx, id)
	if err != nil {
		return meaning.Draft{}, s, err
	}
	x, err := toolbox.NewKnowledge(all).Index(ctx, id)
	if err != nil {
		return meaning.Draft{}, s, err
	}
	learned := x.Learned()
	d := meaning.Draft{Name: id, Head: draftHead(id, learned), Description: s.Description, Today: learned.Today, TodayBecause: "the day of the extract, as the dictionary says"}
	for _, t := range s.Tables {
		table := meaning.DraftTable{Name: t.Name}
		if len(t.Key) > 0 {
			table.Key, table.KeyBecause = t.Key, "key: no value is missing or comes twice"
			if t.Rows > 0 {
				table.KeyBecause = fmt.Sprintf("key: %d rows, each with another value", t.Rows)
			}
		}
		draftDates(&table, t, learned)
		draftFields(&table, learned)
		if err := all.addSentinels(ctx, &table, s, t); err != nil {
			return d, s, err
		}
		d.Tables = append(d.Tables, table)
	}
	relations := x.Schema().Relations
	for _, r := range relations {
		if r.Table == r.RefTable && slices.ContainsFunc(relations, func(o schema.Relation) bool {
			return o.Table == r.Table && o.Column == r.Column && o.RefTable != r.Table
		}) {
			continue // numbers of one table are often found among those of another
		}
		because := "by the names of the columns"
		if slices.Contains(s.Relations, r) {
			because = all.linkEvidence(ctx, s, r)
		}
		d.Relations = append(d.Relations, meaning.DraftRelation{Relation: r, Because: because})
	}
	for _, metric := range learned.Metrics {
		d.Metrics = append(d.Metrics, meaning.DraftMetric{Metric: metric.Metric, Because: metric.Because})
	}
	return d, s, nil
}

// ImportDBT drafts the semantic model of a dataset from a manifest of a dbt project.
func (m Meanings) ImportDBT(ctx context.Context, id, file string, raw []byte) ([]byte, error) {
	s, err := Datasets{Catalog: m.Catalog}.tables(ctx, id)
	if err != nil {
		return nil, err
	}
	return meaning.ImportDBT(filepath.Base(file), raw, s)
}

// plainDatasets are datasets without their meaning.
type plainDatasets struct{ datasets }

// datasets has a name that is none of its methods'.
type datasets = Datasets

func (d plainDatasets) Schema(ctx context.Context, id string) (schema.Dataset, error) {
	return d.tables(ctx, id)
}

func draftHead(id string, l nlq.Learned) []string {
	head := []string{
		"A draft of what " + id + " means, made by `interlock meaning suggest " + id + "` from its data and dictionary.",
		"Keep what is right, strike what is not, and add labels, synonyms and metrics; each line above",
		"a part says why it was drafted. `interlock meaning check " + id + "` finds what does not fit.",
	}
	if len(l.Sentences) > 0 {
		head = append(head, "Computed from their sentences in the glossary, and no metrics: "+strings.Join(l.Sentences, ", ")+".")
	}
	if len(l.Undefined) > 0 {
		head = append(head, "Not understood in the glossary; write them as metrics: "+strings.Join(l.Undefined, ", ")+".")
	}
	return head
}

func draftDates(table *meaning.DraftTable, t schema.Table, l nlq.Learned) {
	for _, d := range l.MainDates {
		if d.Table == t.Name {
			table.MainDate, table.MainDateBecause = d.Column, "main date: "+d.Because
			return
		}
	}
	var dates []string
	for _, c := range t.Columns {
		if queryplan.KindOf(c.Type) == queryplan.Date {
			dates = append(dates, c.Name)
		}
	}
	if len(dates) > 1 {
		table.Open = fmt.Sprintf("Several dates (%s): say which one rows count by, as custom_extensions of INTERLOCK {\"main_date\": …}.", strings.Join(dates, ", "))
	}
}

func draftFields(table *meaning.DraftTable, l nlq.Learned) {
	field := func(column, because string) *meaning.DraftField {
		i := slices.IndexFunc(table.Fields, func(f meaning.DraftField) bool { return f.Column == column })
		if i < 0 {
			i = len(table.Fields)
			table.Fields = append(table.Fields, meaning.DraftField{Column: column})
		}
		table.Fields[i].Because = append(table.Fields[i].Because, because)
		return &table.Fields[i]
	}
	for _, c := range l.Unknown {
		if c.Table == table.Name {
			field(c.Column, "unknown: "+c.Because).Unknown = []any{0}
		}
	}
	for _, c := range l.Spellings {
		if c.Table == table.Name {
			field(c.Column, "spellings: "+c.Because).IgnoreCase = true
		}
	}
	for _, c := range l.Same {
		if c.Table == table.Name {
			f := field(c.Column, fmt.Sprintf("one value: %q and %q", c.Same.Value, c.Same.Spellings))
			f.Same = append(f.Same, c.Same)
		}
	}
}

// addSentinels looks for numbers that stand where nobody knows one: a single negative number
// among others that are none, and nines far above all else.
func (d plainDatasets) addSentinels(ctx context.Context, table *meaning.DraftTable, s schema.Dataset, t schema.Table) error {
	linked := func(column string) bool {
		return slices.Contains(t.Key, column) || slices.ContainsFunc(s.Relations, func(r schema.Relation) bool {
			return r.Table == t.Name && r.Column == column
		})
	}
	for _, c := range t.Columns {
		if queryplan.KindOf(c.Type) != queryplan.Number || linked(c.Name) || t.Rows > maxSuggested || t.Rows < 0 {
			continue
		}
		col := queryplan.Col(c.Name)
		with := func(f queryplan.Function, alias string, where ...queryplan.Filter) queryplan.Expr {
			return queryplan.Expr{Column: c.Name, Function: f, Where: where, Alias: alias}
		}
		below := queryplan.Filter{Expr: col, Operator: queryplan.Lt, Value: queryplan.Literal(0)}
		row, err := d.numbers(ctx, s, t.Name, with(queryplan.Min, "lowest"), with(queryplan.Max, "highest"), with(queryplan.CountDistinct, "kinds", below), with(queryplan.Count, "negative", below))
		if err != nil || row == nil {
			return err
		}
		if low, high := row[0], row[1]; row[2] == 1 && (low == -1 || isNines(-low)) && high > 0 && row[3] > 1 {
			table.Fields = append(table.Fields, meaning.DraftField{Column: c.Name, Unknown: []any{low}, Because: []string{fmt.Sprintf("unknown: %v is the only negative number, in %v rows", low, row[3])}})
		} else if isNines(high) {
			rest := queryplan.Filter{Expr: col, Operator: queryplan.Lt, Value: queryplan.Literal(high)}
			same := queryplan.Filter{Expr: col, Operator: queryplan.Eq, Value: queryplan.Literal(high)}
			more, err := d.numbers(ctx, s, t.Name, with(queryplan.Max, "next", rest), with(queryplan.Count, "times", same))
			if err != nil || more == nil {
				return err
			}
			if more[0]*5 < high && more[1] > 1 {
				table.Fields = append(table.Fields, meaning.DraftField{Column: c.Name, Unknown: []any{high}, Because: []string{fmt.Sprintf("unknown: %v stands in %v rows, and the next number below is %v", high, more[1], more[0])}})
			}
		}
	}
	return nil
}

// linkEvidence counts how many values of a column are found in the one that it refers to.
func (d plainDatasets) linkEvidence(ctx context.Context, s schema.Dataset, r schema.Relation) string {
	from, to := r.Table+"."+r.Column, r.RefTable+"."+r.RefColumn
	if s.Dialect != "" { // nobody looks at all rows of a database that stays where it is
		return fmt.Sprintf("the database declares that %s refers to %s", from, to)
	}
	quote := dialect.DuckDB.Quote
	counts, err := d.row(ctx, s.ID, fmt.Sprintf("SELECT count(%[1]s), count(%[1]s) FILTER (WHERE %[1]s IN (SELECT %[2]s FROM %[3]s)) FROM %[4]s",
		quote(r.Column), quote(r.RefColumn), quote(r.RefTable), quote(r.Table)))
	switch {
	case err != nil || counts == nil:
		return fmt.Sprintf("most values of %s are found in %s; how many was not counted", from, to)
	case counts[0] == counts[1]:
		return fmt.Sprintf("all %.0f values of %s are found in %s", counts[0], from, to)
	}
	return fmt.Sprintf("%.0f of %.0f values of %s are found in %s, %.0f are not", counts[1], counts[0], from, to, counts[0]-counts[1])
}

// maxSuggested is how many rows a table may have whose numbers are looked through.
const maxSuggested = 20_000_000

func isNines(n float64) bool {
	return n == 999 || n == 9999 || n == 99999 || n == 999999 || n == 99999999
}

// numbers asks for aggregates of a table; nil where one of them is NULL.
func (d plainDatasets) numbers(ctx context.Context, s schema.Dataset, table string, list ...queryplan.Expr) ([]float64, error) {
	plan := queryplan.Plan{Table: table, Select: list}
	sql, err := plan.SQL(s)
	if err != nil {
		return nil, err
	}
	return d.row(ctx, s.ID, sql)
}

// row runs a statement that gives one row of numbers; nil where one of them is NULL.
func (d plainDatasets) row(ctx context.Context, id, sql string) ([]float64, error) {
	r, err := d.Query(ctx, toolbox.Query{Dataset: id, SQL: sql, MaxRows: 1, User: "planner"})
	if err != nil {
		return nil, err
	}
	var rows [][]any
	if err := json.Unmarshal(r.Rows, &rows); err != nil || len(rows) != 1 {
		return nil, err
	}
	out := make([]float64, len(rows[0]))
	for i, v := range rows[0] {
		switch v := v.(type) {
		case float64:
			out[i] = v
		case string: // exact numbers come as texts
			if _, err := fmt.Sscan(v, &out[i]); err != nil {
				return nil, nil
			}
		default:
			return nil, nil
		}
	}
	return out, nil
}
