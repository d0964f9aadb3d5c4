package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// postgresColumns reads the columns of a relation; a domain counts as its base.
func postgresColumns(ctx context.Context, pool *pgxpool.Pool, oid uint32) ([]schema.Column, error) {
	rows, err := pool.Query(ctx, `SELECT a.attname, t.typname, t.typtype::text, t.typcategory::text,
			CASE WHEN d.typtype = 'd' THEN d.typtypmod ELSE a.atttypmod END, coalesce(e.typname, ''), coalesce(l.collisdeterministic, true)
		FROM pg_attribute a JOIN pg_type d ON d.oid = a.atttypid
		JOIN pg_type t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END
		LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A' LEFT JOIN pg_collation l ON l.oid = a.attcollation
		WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, oid)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (schema.Column, error) {
		var (
			c                    schema.Column
			kind, category, elem string
			modifier             int32
			deterministic        bool
		)
		if err := row.Scan(&c.Name, &c.Native, &kind, &category, &modifier, &elem, &deterministic); err != nil {
			return c, err
		}
		switch {
		case category == "A":
			of := postgresKind(elem, -1)
			if of.Kind == schema.Decimal {
				of = schema.Type{Kind: schema.Float}
			}
			c.Type = schema.Type{Kind: schema.List, Elem: &of}
		case kind == "c":
			c.Type = schema.Type{Kind: schema.JSON}
		default:
			c.Type = postgresKind(c.Native, modifier)
		}
		if !deterministic {
			c.Native += ", nondeterministic"
		}
		return c, nil
	})
}

// postgresKind maps a type's name. What has no kind of its own travels as text. A
// numeric without precision has width 0 until fitDecimals has looked.
func postgresKind(name string, modifier int32) schema.Type {
	kind, ok := dialect.PostgreSQL.Kind(name)
	switch {
	case !ok:
		return schema.Type{Kind: schema.Text}
	case name == "money":
		return schema.Type{Kind: schema.Decimal, Width: 19, Scale: 2}
	case name == "numeric":
		width, scale := int(modifier-4)>>16&0xffff, int(modifier-4)&0x7ff
		if modifier >= 4 && width <= 38 && scale <= width {
			return schema.Type{Kind: schema.Decimal, Width: width, Scale: scale}
		}
	}
	return schema.Type{Kind: kind}
}

// fitDecimals finds the digits that columns of numeric without precision need. One
// that 38 digits cannot hold, or that holds NaN, travels as text: exact all the same.
func fitDecimals(ctx context.Context, pool *pgxpool.Pool, table []string, columns []schema.Column) error {
	var (
		asks   []string
		open   []int
		answer []any
	)
	for i, c := range columns {
		if c.Type.Kind == schema.Decimal && c.Type.Width == 0 {
			name := dialect.PostgreSQL.Quote(c.Name)
			asks = append(asks, fmt.Sprintf("max(scale(%s)), max(trunc(abs(%[1]s)))::text", name))
			open = append(open, i)
			answer = append(answer, new(*int32), new(*string))
		}
	}
	if len(open) == 0 {
		return nil
	}
	from := dialect.PostgreSQL.Quote(table[0]) + "." + dialect.PostgreSQL.Quote(table[1])
	if err := pool.QueryRow(ctx, "SELECT "+strings.Join(asks, ", ")+" FROM "+from).Scan(answer...); err != nil {
		return err
	}
	for k, i := range open {
		scale, whole := *answer[2*k].(**int32), *answer[2*k+1].(**string)
		if columns[i].Type = decimalFor(scale, whole); columns[i].Type.Kind == schema.Text {
			columns[i].KeepText(0, "", "NaN, infinity, or more than 38 digits")
		}
	}
	return nil
}

func decimalFor(scale *int32, whole *string) schema.Type {
	t := schema.Type{Kind: schema.Decimal, Width: 18, Scale: 2}
	if whole == nil { // no values
		return t
	}
	digits := len(*whole)
	if scale == nil || strings.ContainsAny(*whole, "NIa") || digits+int(*scale) > 38 {
		return schema.Type{Kind: schema.Text}
	}
	t.Scale = int(*scale)
	if digits+t.Scale > t.Width {
		t.Width = 38
	}
	return t
}
