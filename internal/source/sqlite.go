package source

import (
	"strings"
	"time"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// sqlite is SQLite's SQL. Values there have types of their own, so columns are
// brought to one, by functions that the workers add: micros and days read times, of
// which SQLite's own stop at the millisecond, and exact prints a value with all digits.
type sqlite struct{}

func (sqlite) selectExpr(c schema.Column) string { return dialect.SQLite.Quote(c.Name) }

func (sqlite) compareExpr(c schema.Column, _ schema.Op) string {
	name := dialect.SQLite.Quote(c.Name)
	switch c.Type.Kind {
	case schema.Bool:
		return "(" + name + " <> 0)"
	case schema.Float, schema.Decimal:
		return "CAST(" + name + " AS REAL)"
	case schema.Date:
		return "days(" + name + ")"
	case schema.Timestamp, schema.TimestampTZ:
		return "micros(" + name + ")"
	case schema.Text:
		text := strings.Contains(c.Native, "CHAR") || strings.Contains(c.Native, "TEXT") || strings.Contains(c.Native, "CLOB")
		if !text || c.Note != nil { // not all of its values are texts
			name = "exact(" + name + ")"
		}
		return name + " COLLATE BINARY"
	}
	return name
}

func (sqlite) bindParam(_ int, c schema.Column, op schema.Op, value any) (string, any) {
	switch {
	case c.Type.Kind == schema.Date:
		t, _ := time.Parse(dateText, value.(string))
		value = t.Unix() / 86400
	case c.Type.Kind == schema.Timestamp, c.Type.Kind == schema.TimestampTZ:
		t, _ := time.Parse(timestampText, value.(string))
		value = t.UnixMicro()
	case op == schema.Like:
		value = globPattern.Replace(value.(string))
	}
	return castParam(dialect.SQLite, "?", c.Type), value
}

// LIKE ignores case in SQLite, GLOB does not.
var globPattern = strings.NewReplacer("%", "*", "_", "?", "*", "[*]", "?", "[?]", "[", "[[]")

func (sqlite) likeExpr(left, param string) string { return left + " GLOB " + param }
