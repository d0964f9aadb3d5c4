package query_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/query"
	"interlock/internal/racetest"
)

// Delimited text as people write it: what is a number or a date to them is one here,
// nothing is lost, and what was decided is said.
func TestBuildAsPeopleWrite(t *testing.T) {
	racetest.Skip(t, "judges a corpus")
	e := newEngine(t, query.Config{})
	for _, c := range []struct{ name, content, columns, rows, warnings string }{
		{"decimal comma", "name;amount\nA;1.234,56\nB;-0,50\nC;1.000.000,00\nD;\n", "name VARCHAR, amount DECIMAL(18,2)", `[["A",1234.56],["B",-0.50],["C",1000000.00],["D",null]]`, "The column amount was read as numbers: a decimal comma, points between thousands."},
		{"points between thousands alone", "x;y\n1.234.567;a\n2.345.678;b\n", "x BIGINT, y VARCHAR", `[[1234567,"a"],[2345678,"b"]]`, "The column x was read as numbers: points between thousands."},
		{"marks that the first number does not have", "a;b\n1,234;x\n(5);y\n$7;z\n", "a BIGINT, b VARCHAR", `[[1234,"x"],[-5,"y"],[7,"z"]]`, "The column a was read as numbers: commas between thousands, without a sign of money, brackets for minus."},
		{"money of two currencies", "a,b\n$5,x\n€6,y\n", "a VARCHAR, b VARCHAR", `[["$5","x"],["€6","y"]]`, ""},
		{
			"a second currency behind the sample", "a,b\n" + strings.Repeat("$5,x\n", 50_000) + "€6,y\n", "a VARCHAR, b VARCHAR", "",
			`The column a was kept as text, because 1 of 50001 values would change as BIGINT, such as "€6".`,
		},
		{"a currency behind the sample", "a,b\n" + strings.Repeat("5,x\n", 50_000) + "€6,y\n", "a BIGINT, b VARCHAR", "", "The column a was read as numbers: without a sign of money."},
		{
			"points between thousands beside a decimal comma", "x;y\n1.000;2,5\n2.500;3,25\n", "x BIGINT, y DECIMAL(18,2)", `[[1000,2.50],[2500,3.25]]`,
			"The column x was read as numbers: points between thousands. The column y was read as numbers: a decimal comma.",
		},
		{"points alone stay decimals", "x;y\n1.000;a\n2.500;b\n", "x DECIMAL(18,3), y VARCHAR", `[[1.000,"a"],[2.500,"b"]]`, ""},
		{"commas between thousands", "a,b\n\"1,000\",x\n\"2,500,000.5\",y\n", "a DECIMAL(18,1), b VARCHAR", `[[1000.0,"x"],[2500000.5,"y"]]`, "The column a was read as numbers: commas between thousands."},
		{"money", "a;b\n$1,000.50;x\n-$3.00;y\n", "a DECIMAL(18,2), b VARCHAR", `[[1000.50,"x"],[-3.00,"y"]]`, "The column a was read as numbers: commas between thousands, without a sign of money."},
		{"brackets for minus", "a,b\n(100),x\n-5,y\n7,z\n", "a BIGINT, b VARCHAR", `[[-100,"x"],[-5,"y"],[7,"z"]]`, "The column a was read as numbers: brackets for minus."},
		{
			"NA", "k,n,d,f\na,1,2024-01-02,1.5\nNA,NA,2024-02-03,-\nc,3,n/a,2\n", "k VARCHAR, n BIGINT, d DATE, f DECIMAL(18,1)", `[["a",1,"2024-01-02",1.5],["NA",null,"2024-02-03",null],["c",3,null,2.0]]`,
			"The column n was read as numbers: NA and the like as empty. The column d was read as dates: NA and the like as empty. The column f was read as numbers: NA and the like as empty.",
		},
		{"codes", "zip,ip,ver,tel\n01234,192.168.100.200,1.2.3,555-123\n00501,10.0.0.1,1.2.4,555-456\n", "zip VARCHAR, ip VARCHAR, ver VARCHAR, tel VARCHAR", `[["01234","192.168.100.200","1.2.3","555-123"],["00501","10.0.0.1","1.2.4","555-456"]]`, ""},
		{"NA among codes", "zip,n\n01234,1\nNA,2\n", "zip VARCHAR, n BIGINT", `[["01234",1],["NA",2]]`, ""},
		{"lines above the header", "Report of the month\n\na,b\n1,2\n3,4\n", "a BIGINT, b BIGINT", `[[1,2],[3,4]]`, "Lines above the header that were left out: 2."},
		{
			"lines above the header, filled up", "Sales report;;\nCreated: 2024-01-01;;\n\nregion;q;amount\nN;1;5,5\nS;2;6,25\n", "region VARCHAR, q BIGINT, amount DECIMAL(18,2)", `[["N",1,5.50],["S",2,6.25]]`,
			"Lines above the header that were left out: 3. The column amount was read as numbers: a decimal comma.",
		},
		{"a name that is missing", "a,b,\n1,x,foo\n2,y,bar\n", "a BIGINT, b VARCHAR, column2 VARCHAR", `[[1,"x","foo"],[2,"y","bar"]]`, ""},
		{"years as names", "item,2019,2020\nA,1,2\nB,4,5\n", "item VARCHAR, 2019 BIGINT, 2020 BIGINT", `[["A",1,2],["B",4,5]]`, ""},
		{"no names", "1,2,3\n4,5,6\n", "column0 BIGINT, column1 BIGINT, column2 BIGINT", `[[1,2,3],[4,5,6]]`, ""},
		{"rows that end early", "a,b,c\n1,2\n3,4\n5,6,7\n", "a BIGINT, b BIGINT, c BIGINT", `[[1,2,null],[3,4,null],[5,6,7]]`, "2 rows have fewer cells than there are columns, the first in line 2; what is missing is empty."},
		{"dates that can be read two ways", "d,n\n01/02/2024,1\n03/04/2024,2\n", "d DATE, n BIGINT", `[["2024-02-01",1],["2024-04-03",2]]`, "The dates of d can be read two ways; they were read with the day first."},
		{"years of two digits", "d,n\n31/12/68,1\n01/02/69,2\n", "d DATE, n BIGINT", `[["2068-12-31",1],["1969-02-01",2]]`, "The dates of d were read with the day first; years of two digits are those of 1969 to 2068."},
		{"years of two digits in any order", "d,n\n01/02/03,1\n04/05/06,2\n", "d VARCHAR, n BIGINT", `[["01/02/03",1],["04/05/06",2]]`, "The column d may hold dates with years of two digits, which can be read in several orders; it was kept as text."},
		{"dates that cannot", "d,n\n13/02/2024,1\n03/04/2024,2\n", "d DATE, n BIGINT", `[["2024-02-13",1],["2024-04-03",2]]`, "The dates of d were read with the day first."},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, rows := built(t, e, query.Import{Files: []string{put(t, "a.csv", []byte(c.content))}})
			var columns []string
			for _, col := range report.Columns {
				columns = append(columns, col.Name+" "+col.Type.String())
			}
			if c.rows == "" {
				rows = "" // too many to write down
			}
			if diff := cmp.Diff([]string{c.columns, c.rows, c.warnings}, []string{strings.Join(columns, ", "), rows, strings.Join(messages(report), " ")}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// messages are the decisions of an import as sentences.
func messages(r query.TableReport) []string {
	var out []string
	for _, n := range r.Notes {
		out = append(out, n.Message)
	}
	return out
}
