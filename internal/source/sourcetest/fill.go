package sourcetest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// SQL gives the statements that make the table data in a database; texts are
// written as literals with doubled quotes.
func SQL(dialect string) []string {
	types := map[string][]string{
		"postgres": {"bigint PRIMARY KEY", "text", "integer", "numeric(12,2)", "double precision", "boolean", "date", "timestamp", "timestamptz", "uuid"},
		"mysql":    {"bigint PRIMARY KEY", "varchar(10000)", "bigint", "decimal(12,2)", "double", "boolean", "date", "datetime(6)", "timestamp(6) NULL", "uuid"},
		"sqlite":   {"INTEGER PRIMARY KEY", "TEXT", "INTEGER", "DECIMAL(12,2)", "REAL", "BOOLEAN", "DATE", "DATETIME", "TIMESTAMP WITH TIME ZONE", "TEXT"},
	}[dialect]
	if dialect == "postgres" {
		types[2] = "bigint"
	}
	var columns []string
	for i, c := range Columns {
		columns = append(columns, quoteName(dialect, c.Name)+" "+types[i])
	}
	statements := []string{"CREATE TABLE data (" + strings.Join(columns, ", ") + ")"}
	for _, r := range Rows {
		var values []string
		for i, v := range r.Cells() {
			values = append(values, literal(dialect, Columns[i].Name, v))
		}
		statements = append(statements, "INSERT INTO data VALUES ("+strings.Join(values, ", ")+")")
	}
	return statements
}

func quoteName(dialect, name string) string {
	if dialect == "mysql" {
		return "`" + name + "`"
	}
	return `"` + name + `"`
}

func literal(dialect, column string, v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		if column == "seen" && dialect != "mysql" {
			x += "+00"
			if dialect == "sqlite" {
				x += ":00"
			}
		}
		if dialect == "mysql" {
			x = strings.ReplaceAll(x, `\`, `\\`)
		}
		return "'" + strings.ReplaceAll(x, "'", "''") + "'"
	}
	return fmt.Sprint(v)
}

// CSV gives the table as a file; NULL is nothing, empty text is a pair of quotes.
func CSV() []byte {
	var out strings.Builder
	for i, c := range Columns {
		out.WriteString([]string{"", ","}[min(i, 1)] + c.Name)
	}
	for _, r := range Rows {
		out.WriteByte('\n')
		for i, v := range r.Cells() {
			if i > 0 {
				out.WriteByte(',')
			}
			switch x := v.(type) {
			case nil:
			case string:
				if Columns[i].Name == "seen" {
					x += "+00"
				}
				if Columns[i].Name == "name" {
					x = `"` + strings.ReplaceAll(x, `"`, `""`) + `"`
				}
				out.WriteString(x)
			default:
				fmt.Fprint(&out, x)
			}
		}
	}
	return []byte(out.String() + "\n")
}

// Objects gives the table as a list of JSON objects, each a line.
func Objects() []string {
	var lines []string
	for _, r := range Rows {
		var fields []string
		for i, v := range r.Cells() {
			text := "null"
			switch x := v.(type) {
			case nil:
			case string:
				switch Columns[i].Name {
				case "price":
					text = x
				default:
					text = jsonText(x)
				}
			default:
				text = fmt.Sprint(x)
			}
			fields = append(fields, fmt.Sprintf("%q: %s", Columns[i].Name, text))
		}
		lines = append(lines, "{"+strings.Join(fields, ", ")+"}")
	}
	return lines
}

func jsonText(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(text)
}
