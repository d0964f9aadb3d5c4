package source

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"

	"interlock/internal/fault"
)

// clickhouseVersion is the year and month of a release.
type clickhouseVersion struct{ year, month int }

func parseClickhouseVersion(text string) (v clickhouseVersion) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) > 1 {
		v.year, _ = strconv.Atoi(parts[0])
		v.month, _ = strconv.Atoi(parts[1])
	}
	return v
}

func (v clickhouseVersion) before(year, month int) bool {
	return v.year < year || v.year == year && v.month < month
}

// sendAsTable binds the parameters of a statement for a server that takes none: they
// are sent along as a table of one row, from which the statement selects them. Values
// are never part of the text.
func (v clickhouseVersion) sendAsTable(text string, args []driver.NamedValue) (string, *ext.Table, error) {
	var (
		out     strings.Builder
		columns []func(*ext.Table) error
		values  []any
		known   = map[string]bool{}
		listed  []string // parameters of the list that is open
		inList  bool
	)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '`': // a name, in which anything may stand
			n, _ := quotedLength(text[i:], c, true)
			out.WriteString(text[i : i+n])
			i += n
		case c == '{':
			n := strings.IndexByte(text[i:], '}') + 1
			name, kind, _ := strings.Cut(text[i+1:i+n-1], ":")
			i += n
			if !known[name] {
				position, err := strconv.Atoi(name[1:])
				if err != nil || position > len(args) {
					return "", nil, fmt.Errorf("the statement has no value for %s", name)
				}
				value, native, err := v.tableValue(kind, fmt.Sprint(args[position-1].Value))
				if err != nil {
					return "", nil, err
				}
				if !inList && onlyAsText(kind) {
					native = "String"
				}
				known[name], values, columns = true, append(values, value), append(columns, ext.Column(name, column.Type(native)))
			}
			lookup := "(SELECT " + name + " FROM _given)"
			switch {
			case inList:
				listed = append(listed, name+":"+kind)
			case onlyAsText(kind):
				out.WriteString("CAST(" + lookup + " AS " + kind + ")")
			default:
				out.WriteString(lookup)
			}
		case strings.HasPrefix(text[i:], " IN ({"):
			inList = true
			i += len(" IN (")
		case inList && c == ')':
			out.WriteString(selectFromTable(listed))
			inList, listed = false, nil
			i++
		case inList: // between two parameters
			i++
		default:
			out.WriteByte(c)
			i++
		}
	}
	table, err := ext.NewTable("_given", columns...)
	if err == nil {
		err = table.Append(values...)
	}
	return out.String(), table, err
}

// onlyAsText says that old servers can write a value of this type only as text, even
// where they replace a subquery by its value.
func onlyAsText(kind string) bool { return kind == "UUID" || strings.HasPrefix(kind, "Decimal") }

// selectFromTable writes a list of parameters. A list of one subquery would be read as a set, which is
// the one way for types that cannot be written.
func selectFromTable(listed []string) string {
	var (
		names, lookups []string
		kind           string
	)
	for _, l := range listed {
		name, of, _ := strings.Cut(l, ":")
		names, lookups, kind = append(names, name), append(lookups, "(SELECT "+name+" FROM _given)"), of
	}
	if onlyAsText(kind) {
		return " IN (SELECT arrayJoin([" + strings.Join(names, ", ") + "]) FROM _given)"
	}
	return " IN (" + strings.Join(append(lookups, lookups[0]), ", ") + ")"
}

// tableValue is a parameter as a cell, with a type that the server has.
func (v clickhouseVersion) tableValue(kind, text string) (value any, native string, err error) {
	switch kind {
	case "Bool":
		return map[string]uint8{"true": 1}[text], "UInt8", nil
	case "Int64":
		value, err = strconv.ParseInt(text, 10, 64)
	case "UInt64":
		value, err = strconv.ParseUint(text, 10, 64)
	case "Float64":
		value, err = strconv.ParseFloat(text, 64)
	case "Date32":
		at, err := time.Parse(dateText, text)
		if v.before(21, 9) {
			kind = "Date"
			if err == nil && (at.Year() < 1970 || at.Year() > 2105) {
				err = v.refuse("dates from 1970 to 2105", text)
			}
		}
		return at, kind, err
	case "DateTime64(6, 'UTC')":
		at, err := time.Parse(timestampText, text)
		if v.before(20, 1) {
			kind = "DateTime('UTC')"
			if err == nil && (at.Nanosecond() != 0 || at.Year() < 1970 || at.Year() > 2105) {
				err = v.refuse("whole seconds from 1970 to 2105", text)
			}
		}
		return at, kind, err
	default:
		value = text
	}
	return value, kind, err
}

func (v clickhouseVersion) refuse(has, text string) error {
	return fault.New(fault.BadFilter, "this server is ClickHouse %d.%d, whose times are %s: it cannot compare with %s", v.year, v.month, has, text).
		Suggest("Filter by a value that it has, or import the table without this condition.")
}
