package source

import (
	"database/sql/driver"
	"strings"
	"testing"

	clickhousedriver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"
)

// A server that takes parameters unescapes them: what it reads must be the value.
func TestClickHouseParameters(t *testing.T) {
	got := clickhouseParameters([]driver.NamedValue{{Value: `back\slash`}, {Value: "tab\tand\nlines\r"}, {Value: `\N`}, {Value: "O'Brien"}, {Value: "12.50"}})
	want := clickhousedriver.Parameters{"p1": `back\\slash`, "p2": `tab\tand\nlines\r`, "p3": `\\N`, "p4": "O'Brien", "p5": "12.50"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// For a server that takes none, every parameter becomes a look-up, and a name that
// looks like a parameter stays a name.
func TestClickHouseOutside(t *testing.T) {
	for _, c := range []struct {
		version, text, want string
		args                []any
		structure           string
	}{
		{"18.16.1", "`a` > {p1:Int64}", "`a` > (SELECT p1 FROM _given)", []any{"5"}, "p1 Int64"},
		{"18.16.1", "`{p1:Int64}` = {p1:String}", "`{p1:Int64}` = (SELECT p1 FROM _given)", []any{"x"}, "p1 String"},
		{"18.16.1", "`a\\`{p2:X}` = {p1:Bool}", "`a\\`{p2:X}` = (SELECT p1 FROM _given)", []any{"true"}, "p1 UInt8"},
		{"18.16.1", "`a` IN ({p1:String}, {p2:String})", "`a` IN ((SELECT p1 FROM _given), (SELECT p2 FROM _given), (SELECT p1 FROM _given))", []any{"x", "y"}, "p1 String, p2 String"},
		{"18.16.1", "`a` IN ({p1:UUID})", "`a` IN (SELECT arrayJoin([p1]) FROM _given)", []any{"6f9619ff-8b86-d011-b42d-00c04fc964ff"}, "p1 UUID"},
		{"18.16.1", "`a` < {p1:Decimal(9, 2)} AND `b` = {p2:Date32}", "`a` < CAST((SELECT p1 FROM _given) AS Decimal(9, 2)) AND `b` = (SELECT p2 FROM _given)", []any{"1.50", "2024-01-01"}, "p1 String, p2 Date"},
		{"18.16.1", "`a` = {p1:DateTime64(6, 'UTC')}", "`a` = (SELECT p1 FROM _given)", []any{"2024-01-01 10:00:00.000000"}, "p1 DateTime('UTC')"},
		{"21.8.3", "`a` = {p1:DateTime64(6, 'UTC')}", "`a` = (SELECT p1 FROM _given)", []any{"2024-01-01 10:00:00.000001"}, "p1 DateTime64(6, 'UTC')"},
		{"22.3.1", "`a` = {p1:Date32}", "`a` = (SELECT p1 FROM _given)", []any{"1930-01-01"}, "p1 Date32"},
	} {
		var args []driver.NamedValue
		for _, a := range c.args {
			args = append(args, driver.NamedValue{Value: a})
		}
		got, table, err := parseClickhouseVersion(c.version).sendAsTable(c.text, args)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var structure []string
		for _, col := range table.Block().Columns {
			structure = append(structure, col.Name()+" "+string(col.Type()))
		}
		if got != c.want || strings.Join(structure, ", ") != c.structure {
			t.Errorf("%s at %s:\ngot  %s with %s\nwant %s with %s", c.text, c.version, got, structure, c.want, c.structure)
		}
	}
}
