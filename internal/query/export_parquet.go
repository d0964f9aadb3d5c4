package query

import (
	"fmt"
	"regexp"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/schema"
)

// wideInteger finds 128-bit integers in the name of a type, which Parquet has as
// floats; unkept finds types of which Parquet keeps a part.
var (
	wideInteger = regexp.MustCompile(`\bU?HUGEINT\b`)
	unnamed     = regexp.MustCompile(`\b(ENUM|UNION|UNKNOWN)\b`) // types whose parts the name does not tell
	unkept      = regexp.MustCompile(`\b(BIGNUM|VARINT|BIT|INTERVAL|TIME WITH TIME ZONE|TIMETZ|TIME_NS)\b`)
)

// parquetType is the type in which Parquet keeps every value of a column: sums of
// integers as decimals, and as text what has no counterpart.
func parquetType(kind string, wideText bool) string {
	parts := strings.Split(kind, `"`)
	for i := 0; i < len(parts); i += 2 { // names of fields are quoted
		to := "DECIMAL(38,0)"
		if wideText {
			to = "VARCHAR"
		}
		parts[i] = unkept.ReplaceAllString(wideInteger.ReplaceAllString(parts[i], to), "VARCHAR")
	}
	if to := strings.Join(parts, `"`); to == kind || !unnamed.MatchString(to) {
		return to
	}
	return "VARCHAR"
}

// parquetSQL wraps a statement so that Parquet keeps its values, and its columns
// apart where two have one name.
func (r *reader) parquetSQL(o exportOrder, notes *exportNotes) (string, error) {
	stmt, err := r.session.prepare(o.SQL)
	if err != nil {
		return "", err
	}
	defer duck.DestroyPrepare(&stmt)
	columns := make([]schema.Column, duck.PreparedStatementColumnCount(stmt))
	for i := range columns {
		t := duck.PreparedStatementColumnLogicalType(stmt, duck.IdxT(i))
		columns[i] = schema.Column{Name: duck.PreparedStatementColumnName(stmt, duck.IdxT(i)), Type: schema.ParseType(typeName(t))}
		duck.DestroyLogicalType(&t)
	}
	names := uniqueNames(columns)
	list, aliases, changed := make([]string, len(columns)), make([]string, len(columns)), false
	for i, c := range columns {
		list[i], aliases[i] = fmt.Sprintf("c%d AS %s", i, quoteName(names[i])), fmt.Sprintf("c%d", i)
		kind := parquetType(c.Type.String(), o.wideText)
		if kind != c.Type.String() {
			notes.add(c.Name, fmt.Sprintf("Parquet has no %s; the values are %s", c.Type, kind), 0)
			list[i] = fmt.Sprintf("CAST(c%d AS %s) AS %s", i, kind, quoteName(names[i]))
		}
		changed = changed || kind != c.Type.String() || names[i] != c.Name
	}
	if !changed {
		return o.SQL, nil
	}
	return fmt.Sprintf("SELECT %s FROM (\n%s\n) AS q(%s)", strings.Join(list, ", "), o.SQL, strings.Join(aliases, ", ")), nil
}
