package recon

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Batch says which rows of one side are booked together on the other: all rows of a
// period, of one value of a column, or both add up to one row. Card payments of a week
// that the bank pays out as one entry are a batch.
type Batch struct {
	ID       string   `json:"id"`
	Sentence string   `json:"sentence"`
	Many     string   `json:"many"`             // the side whose rows add up: left or right
	Column   string   `json:"column,omitempty"` // the rows of a batch have one value in this column
	Only     []string `json:"only,omitempty"`   // the values of the column that are booked together; absent: every value
	Period   Period   `json:"period,omitempty"` // and lie in the same period
	// Days is where the one row lies, counted from the first day of the period or, without
	// one, from the last day of the batch.
	Days *[2]int `json:"days,omitempty"`
	Fee  *Fee    `json:"fee,omitempty"` // that the one row is less than the sum
}

// A Period is a stretch of days whose rows are booked together.
type Period string

// The periods.
const (
	Day   Period = "day"
	Week  Period = "week" // from Monday on
	Month Period = "month"
)

// The sides of a reconciliation, as documents name them.
const (
	sideLeft  = "left"
	sideRight = "right"
)

// startSQL is the first day of the period of a day, both as numbers of days. No period
// makes one of all days.
func (p Period) startSQL(day string) string {
	switch p {
	case Day:
		return day
	case Week: // day 0 is a Thursday
		return fmt.Sprintf("(CAST(floor((%s + 3) / 7.0) AS BIGINT) * 7 - 3)", day)
	case Month:
		return fmt.Sprintf("date_diff('day', DATE '1970-01-01', CAST(date_trunc('month', DATE '1970-01-01' + CAST(%s AS INTEGER)) AS DATE))", day)
	}
	return "CAST(0 AS BIGINT)"
}

// anchorSQL is the day from which Days are counted, of rows that are grouped.
func (p Period) anchorSQL(day string) string {
	if p == "" {
		return fmt.Sprintf("max(%s)", day)
	}
	return fmt.Sprintf("min(%s)", p.startSQL(day))
}

// firstDate is the place of the first comparison of dates, or -1.
func firstDate(comparisons []Comparison) int {
	return slices.IndexFunc(comparisons, func(c Comparison) bool { return c.As == Date })
}

// dayColumn is the day of a ready row with that alias, or nothing where no dates are
// compared.
func dayColumn(alias string, comparisons []Comparison) string {
	if j := firstDate(comparisons); j >= 0 {
		return fmt.Sprintf("%s.d%d", alias, j)
	}
	return "CAST(NULL AS BIGINT)"
}

// sentence says a batch in plain words.
func (b Batch) sentence() string {
	one := map[string]string{sideLeft: "right", sideRight: "left"}[b.Many]
	rows := fmt.Sprintf("All rows of the %s side", b.Many)
	switch {
	case b.Column != "" && len(b.Only) > 0:
		rows += fmt.Sprintf(" whose %s is %s", b.Column, strings.Join(b.Only, " or "))
	case b.Column != "":
		rows += " with the same " + b.Column
	}
	if b.Period != "" {
		rows += fmt.Sprintf(" of one %s", b.Period)
	}
	if len(b.Only) > 1 {
		rows += ", each for itself,"
	}
	if b.Fee != nil {
		rows += fmt.Sprintf(", less %s,", b.Fee.inWords())
	}
	return fmt.Sprintf("%s add up to one row of the %s side.", rows, one)
}

// batchedBy says that rows of a side are booked together by a column.
func (r *Recipe) batchedBy(isRight bool, column string) bool {
	return r.Groups != nil && slices.ContainsFunc(r.Groups.Batches, func(b Batch) bool { return b.Column == column && (b.Many == sideRight) == isRight })
}

// batchCells lists the cells by which the rows of a side are booked together, each after
// a comma.
func (r *run) batchCells(isRight bool) (sql string) {
	side := r.left
	if isRight {
		side = r.right
	}
	for i, column := range side.columns {
		if r.recipe.batchedBy(isRight, column) {
			sql += fmt.Sprintf(", v%d", i)
		}
	}
	return sql
}

// rowsSQL selects the rows i of a FROM clause that batches are made of, with their amount a
// and day d: c is the cell that the rows of a batch share, and q the period. Rows of a batch
// that cancel each other are left out: they would go with any other row.
func (b Batch) rowsSQL(from, cell, amount, day, where string) string {
	if b.Period != "" {
		where += fmt.Sprintf(" AND %s IS NOT NULL", day)
	}
	rows := fmt.Sprintf("(SELECT m.*, %s AS c, %s AS q, %s AS amount, %s AS day FROM %s AS m WHERE %[3]s IS NOT NULL%[6]s)", cell, b.Period.startSQL(day), amount, day, from, where)
	return fmt.Sprintf("SELECT x.* FROM %[1]s AS x ANTI JOIN %[1]s AS y ON y.c = x.c AND y.q = x.q AND y.amount = -x.amount AND x.amount <> 0", rows)
}

// A batchStep is what of a batch must add up.
type batchStep struct {
	least   int // rows of the batch
	missing int // of these, rows that the sum does not have
}

// batchPass matches whole batches with the row that has their sum, before anything else
// can take a part of one. Then it looks for batches of which one row was not booked.
func (r *run) batchPass(ctx context.Context) error {
	return r.takeBatches(ctx, batchStep{2, 0}, batchStep{3, 1})
}

// lastBatchPass matches batches of a single row that is still open.
func (r *run) lastBatchPass(ctx context.Context) error { return r.takeBatches(ctx, batchStep{1, 0}) }

func (r *run) takeBatches(ctx context.Context, steps ...batchStep) error {
	g := r.recipe.Groups
	if g == nil {
		return nil
	}
	for _, b := range g.Batches {
		if b.Many == sideLeft && r.recipe.Cardinality != ManyToOne && r.recipe.Cardinality != ManyToMany || b.Many == sideRight && r.recipe.Cardinality != OneToMany && r.recipe.Cardinality != ManyToMany {
			continue
		}
		for _, step := range steps {
			if err := r.takeBatch(ctx, b, step); err != nil {
				return fmt.Errorf("batches %s: %w", b.ID, err)
			}
		}
	}
	return nil
}

// Tables of the pass of batches.
const (
	batchRows  = "recon_batchrows"  // i, c, q, a, day: the open rows of the batches
	batchHits  = "recon_batchhits"  // one, c, q, without: a row, its batch, and the row of the batch that is missing
	batchPairs = "recon_batchpairs" // li, ri, grp, one
)

// takeBatch matches the batches whose sum is the amount of exactly one open row, and no
// other batch's. With one row missing, the batch adds up without exactly one of its rows.
func (r *run) takeBatch(ctx context.Context, b Batch, step batchStep) error {
	many, one, side, cell := r.openLeft(), r.openRight(), r.left, "''"
	if b.Many == sideRight {
		many, one, side = one, many, r.right
	}
	only := ""
	if b.Column != "" {
		cell = fmt.Sprintf("v%d", side.column(b.Column))
		only = fmt.Sprintf(" AND %s IS NOT NULL", cell)
	}
	if len(b.Only) > 0 {
		only = fmt.Sprintf(" AND %s IN (%s)", cell, each(b.Only, ", ", func(i int, _ string) string { return fmt.Sprintf("$%d", i+1) }))
	}
	rows := b.rowsSQL(many, cell, fmt.Sprintf("a%d", r.amount()), dayColumn("m", r.recipe.Comparisons), only)
	if err := r.space.Create(ctx, batchRows, fmt.Sprintf("SELECT i, c, q, amount AS a, day FROM (%s)", rows), b.Only...); err != nil {
		return err
	}
	sums := fmt.Sprintf("SELECT c, q, %s AS anchor, CAST(sum(a) AS BIGINT) AS total, count(*) AS n FROM %s GROUP BY c, q HAVING count(*) >= %d", b.Period.anchorSQL("day"), batchRows, step.least)
	near := "true"
	if b.Days != nil {
		near = fmt.Sprintf("%s - g.anchor BETWEEN %d AND %d", dayColumn("o", r.recipe.Comparisons), b.Days[0], b.Days[1])
	}
	hits := fmt.Sprintf("SELECT o.i AS one, g.c, g.q, CAST(0 AS BIGINT) AS without FROM (%s) AS g JOIN %s AS o ON o.a%d = g.total WHERE %s", sums, one, r.amount(), near)
	if b.Fee != nil {
		if step.missing > 0 {
			return nil // a sum that may miss a row and a fee is anything
		}
		hits = fmt.Sprintf("SELECT o.i AS one, g.c, g.q, CAST(0 AS BIGINT) AS without FROM (%s) AS g JOIN %s AS o ON %s WHERE %s", sums, one, b.Fee.paysSQL("g.total", "g.n", fmt.Sprintf("o.a%d", r.amount())), near)
	} else if step.missing == 1 {
		hits = fmt.Sprintf("SELECT o.i AS one, g.c, g.q, m.i AS without FROM (%s) AS g JOIN %s AS m ON m.c = g.c AND m.q = g.q JOIN %s AS o ON o.a%d = g.total - m.a WHERE m.a <> 0 AND %s", sums, batchRows, one, r.amount(), near)
	}
	if err := r.space.Create(ctx, batchHits, hits); err != nil {
		return err
	}
	li, ri := "m.i", "h.one"
	if b.Many == sideRight {
		li, ri = ri, li
	}
	pairs := fmt.Sprintf(`SELECT %[1]s AS li, %[2]s AS ri, CASE WHEN count(*) OVER (PARTITION BY h.one) > 1 THEN %[3]d + dense_rank() OVER (ORDER BY h.one) END AS grp, h.one
		FROM %[4]s AS h JOIN %[5]s AS m ON m.c = h.c AND m.q = h.q AND m.i <> h.without
		WHERE h.one NOT IN (SELECT one FROM %[4]s GROUP BY one HAVING count(*) > 1) AND (h.c, h.q) NOT IN (SELECT (c, q) FROM %[4]s GROUP BY c, q HAVING count(*) > 1)`, li, ri, r.groups, batchHits, batchRows)
	if err := r.space.Create(ctx, batchPairs, pairs); err != nil {
		return err
	}
	// A person may have decided otherwise about a pair of the batch.
	against := fmt.Sprintf(`SELECT p.one FROM %[1]s AS p JOIN %[2]s AS k ON k.li = p.li AND k.ri = p.ri WHERE k.w = 0
		UNION SELECT p.one FROM %[1]s AS p JOIN %[2]s AS k ON (k.li = p.li) <> (k.ri = p.ri) WHERE k.w = 1 AND NOT (k.li, k.ri) IN (SELECT (li, ri) FROM %[1]s)`, batchPairs, labelled)
	n, err := r.take(ctx, b.ID, fmt.Sprintf("SELECT li, ri, NULL AS s, NULL AS margin, grp FROM %s WHERE one NOT IN (%s)", batchPairs, against), "grp")
	if err != nil {
		return err
	}
	r.groups += n // at least as many as there are groups
	return nil
}
