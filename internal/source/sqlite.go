package source

import (
	"strings"
	"time"
)

// sqlite is SQLite's SQL. Values there have types of their own, so columns are
// brought to one; times go through micros and days, functions that the connector
// adds to its connections, because SQLite's own stop at the millisecond.
type sqlite struct{}

func (sqlite) quote(name string) string { return quoteWith(`"`, name) }

// read keeps the driver from guessing at values by the declared type: an expression has none.
func (s sqlite) read(c Column) string {
	if c.Type.Kind == Text {
		return "CAST(" + s.quote(c.Name) + " AS TEXT)"
	}
	return "+" + s.quote(c.Name)
}

func (s sqlite) left(c Column, _ Op) string {
	name := s.quote(c.Name)
	switch c.Type.Kind {
	case Bool:
		return "(" + name + " <> 0)"
	case Float, Decimal:
		return "CAST(" + name + " AS REAL)"
	case Date:
		return "days(" + name + ")"
	case Timestamp, TimestampTZ:
		return "micros(" + name + ")"
	case Text:
		if !strings.Contains(c.Native, "CHAR") && !strings.Contains(c.Native, "TEXT") && !strings.Contains(c.Native, "CLOB") {
			name = "CAST(" + name + " AS TEXT)"
		}
		return name + " COLLATE BINARY"
	}
	return name
}

func (sqlite) param(_ int, c Column, op Op, value any) (string, any) {
	switch c.Type.Kind {
	case Decimal:
		return "CAST(? AS REAL)", value
	case Date:
		t, _ := time.Parse(dateText, value.(string))
		return "?", t.Unix() / 86400
	case Timestamp, TimestampTZ:
		t, _ := time.Parse(timestampText, value.(string))
		return "?", t.UnixMicro()
	}
	if op == Like {
		return "?", globPattern.Replace(value.(string))
	}
	return "?", value
}

// LIKE ignores case in SQLite, GLOB does not.
var globPattern = strings.NewReplacer("%", "*", "_", "?", "*", "[*]", "?", "[?]", "[", "[[]")

func (sqlite) like(left, param string) string { return left + " GLOB " + param }
