package query_test

import (
	"fmt"
	"strings"
	"testing"

	"interlock/internal/schema"
)

// oneFile is a truth about a single file of delimited text.
func oneFile(name, content, columns string, rows [][]string, lost int64, rules ...schema.Rule) truth {
	return truth{name: name, files: map[string][]byte{"a.csv": []byte(content)}, columns: columns, rows: rows, lost: lost, rules: rules}
}

// fileTruths are files with something odd about their lines.
func fileTruths() []truth {
	var quote, foreign strings.Builder
	var quoteRows, foreignRows [][]string
	quote.WriteString("id,name\n")
	for i := range 300 {
		if i == 3 {
			fmt.Fprintf(&quote, "%d,\"broken\n", i)
			continue
		}
		fmt.Fprintf(&quote, "%d,\"n%d\"\n", i, i)
		quoteRows = append(quoteRows, []string{fmt.Sprint(i), fmt.Sprintf("n%d", i)})
	}
	foreign.WriteString("id,name\n")
	for i := range 50_001 {
		name := "Zoë"
		if i == 40_000 {
			name = "Zo\xeb"
		}
		fmt.Fprintf(&foreign, "%d,%s\n", i, name)
		foreignRows = append(foreignRows, []string{fmt.Sprint(i), strings.ToValidUTF8(name, "\uFFFD")})
	}
	ab := "a BIGINT, b VARCHAR"
	return []truth{
		oneFile("one malformed quote in 300 lines", quote.String(), "id BIGINT, name VARCHAR", quoteRows, 1, schema.RuleRejected),
		oneFile("one foreign byte in 50,001 lines", foreign.String(), "id BIGINT, name VARCHAR", foreignRows, 0, schema.RuleEncoding),
		oneFile("text after a closing quote", "a,b\n1,\"x\" y\n2,z\n", ab, [][]string{{"2", "z"}}, 1, schema.RuleRejected),
		oneFile("a quote that is never closed, in the last line", "a,b\n1,x\n2,\"z\n", ab, [][]string{{"1", "x"}}, 1, schema.RuleRejected),
		oneFile("a line with too many cells", "a,b\n1,x\n2,y,z\n3,w\n", ab, [][]string{{"1", "x"}, {"3", "w"}}, 1, schema.RuleRejected),
		oneFile("empty cells at the ends of lines", "a,b\n1,x,\n2,y,\n", "a BIGINT, b VARCHAR, column2 VARCHAR", [][]string{{"1", "x", null}, {"2", "y", null}}, 0),
		oneFile("a line with too few cells", "a,b\n1\n2,y\n3,z\n", ab, [][]string{{"1", null}, {"2", "y"}, {"3", "z"}}, 0, schema.RuleShortRows),
		oneFile("one column with commas", "name\nSmith, John\nDoe, Jane\n", "name VARCHAR", [][]string{{"Smith, John"}, {"Doe, Jane"}}, 0),
		oneFile("one column with commas and no blanks", "name\nSmith,John\nDoe,Jane\n", "name VARCHAR", [][]string{{"Smith,John"}, {"Doe,Jane"}}, 0),
		oneFile("one column with a decimal comma", "x\n1,5\n2,25\n", "x DECIMAL(18,2)", [][]string{{"1.50"}, {"2.25"}}, 0, schema.RuleNumberFormat),
		oneFile("one column", "x\n1\n2\n", "x BIGINT", [][]string{{"1"}, {"2"}}, 0),
		oneFile("one column without a header", "1\n2\n", "column0 BIGINT", [][]string{{"1"}, {"2"}}, 0),
		oneFile("quotes without need", "a,b\n\"1\",\"x\"\n\"2\",\"y\"\n", ab, [][]string{{"1", "x"}, {"2", "y"}}, 0),
		oneFile("quotes inside of a cell", "a,b\n1,5\" pipe\n2,y\n", ab, [][]string{{"1", `5" pipe`}, {"2", "y"}}, 0),
		oneFile("quotes by a backslash", "a,b\n1,\"say \\\"hi\\\"\"\n2,y\n", ab, [][]string{{"1", `say "hi"`}, {"2", "y"}}, 0),
		oneFile("single quotes", "a,b\n1,'x,y'\n2,'z'\n", ab, [][]string{{"1", "x,y"}, {"2", "z"}}, 0),
		oneFile("lines in a cell", "a,b\n1,\"x\ny\"\n2,z\n", ab, [][]string{{"1", "x\ny"}, {"2", "z"}}, 0),
		oneFile("CR", "a,b\r1,x\r2,y\r", ab, [][]string{{"1", "x"}, {"2", "y"}}, 0),
		oneFile("CR LF and LF and CR", "a,b\r\n1,x\n2,y\r3,z\r\n", ab, [][]string{{"1", "x"}, {"2", "y"}, {"3", "z"}}, 0),
		oneFile("no end of the last line", "a,b\n1,x\n2,y", ab, [][]string{{"1", "x"}, {"2", "y"}}, 0),
		oneFile("empty lines", "a,b\n\n1,x\n\n2,y\n", ab, [][]string{{"1", "x"}, {"2", "y"}}, 0),
		oneFile("a byte order mark", "\uFEFFa,b\n1,x\n", ab, [][]string{{"1", "x"}}, 0),
		oneFile("a byte order mark and a malformed quote", "\uFEFFa,b\n1,x\n2,\"y\n3,z\n", ab, [][]string{{"1", "x"}, {"3", "z"}}, 1, schema.RuleRejected),
		oneFile("a header alone", "a,b\n", "a VARCHAR, b VARCHAR", nil, 0),
		oneFile("doubled names", "a,a,A\n1,2,3\n", "a BIGINT, a_1 BIGINT, A_2 BIGINT", [][]string{{"1", "2", "3"}}, 0),
		oneFile("a name that is missing", "a,\n1,x\n", "a BIGINT, column1 VARCHAR", [][]string{{"1", "x"}}, 0),
		oneFile("no header", "1,x\n2,y\n", "column0 BIGINT, column1 VARCHAR", [][]string{{"1", "x"}, {"2", "y"}}, 0),
		oneFile("a NUL in a text", "a,b\n1,x\x00y\n2,z\n", ab, [][]string{{"1", "x\x00y"}, {"2", "z"}}, 0),
		oneFile("windows-1252", "a,b\n1,Caf\xe9\n2,Zo\xeb\n", ab, [][]string{{"1", "Café"}, {"2", "Zoë"}}, 0, schema.RuleEncoding),
		oneFile("empty text and nothing", "a,b\n1,\"\"\n2,\n3,x\n", ab, [][]string{{"1", ""}, {"2", null}, {"3", "x"}}, 0),
		oneFile("spaces behind commas", "a, b\n1, x\n2, y\n", ab, [][]string{{"1", " x"}, {"2", " y"}}, 0),
		oneFile("a column that is empty throughout", "a,b\n1,\n2,\n", ab, [][]string{{"1", null}, {"2", null}}, 0),
		{
			name: "two files of one order", files: map[string][]byte{"a.csv": []byte("d,n\n01/02/2024,1\n"), "b.csv": []byte("d,n\n31/12/2024,2\n")},
			columns: "d DATE, n BIGINT", rows: [][]string{{"2024-02-01", "1"}, {"2024-12-31", "2"}}, rules: []schema.Rule{schema.RuleDateOrder},
		},
		{
			name: "two files of two orders", files: map[string][]byte{"a.csv": []byte("d,n\n31/12/2024,1\n30/11/2024,1\n"), "b.csv": []byte("d,n\n12/31/2024,2\n")},
			columns: "d VARCHAR, n BIGINT", rows: [][]string{{"31/12/2024", "1"}, {"30/11/2024", "1"}, {"12/31/2024", "2"}}, rules: []schema.Rule{schema.RuleDateOrder},
		},
		{
			name: "two files of two delimiters", files: map[string][]byte{"a.csv": []byte("a,b\n1,x\n"), "b.csv": []byte("a;b\n2;y\n")},
			columns: ab, rows: [][]string{{"1", "x"}, {"2", "y"}},
		},
	}
}

// Files with something odd about their lines lose the odd lines and nothing else.
func TestFidelityOfFiles(t *testing.T) { checkTruths(t, fileTruths()) }

// jsonTruths are objects whose numbers and times a quick reader changes.
func jsonTruths() []truth {
	lines := func(name, content, columns string, rows [][]string, rules ...schema.Rule) truth {
		return truth{name: name, files: map[string][]byte{"a.ndjson": []byte(content)}, columns: columns, rows: rows, rules: rules}
	}
	return []truth{
		lines("numbers beyond 64 bits", "{\"n\": 18446744073709551616123}\n{\"n\": -1}\n", "n HUGEINT", [][]string{{"18446744073709551616123"}, {"-1"}}),
		lines("numbers beyond 128 bits", "{\"n\": 123456789012345678901234567890123456789012345}\n{\"n\": 1}\n", "n VARCHAR", [][]string{{"123456789012345678901234567890123456789012345"}, {"1"}}),
		lines("long whole numbers beside decimals", "{\"n\": 18446744073709551616123}\n{\"n\": 1.5}\n", "n VARCHAR", [][]string{{"18446744073709551616123"}, {"1.5"}}),
		lines("doubles", "{\"n\": 0.1}\n{\"n\": 2}\n{\"n\": 1e300}\n", "n DOUBLE", [][]string{{"0.1"}, {"2.0"}, {"1e+300"}}),
		lines("times at two offsets", "{\"t\": \"2024-01-01T10:00:00+02:00\"}\n{\"t\": \"2024-07-01T10:00:00+01:00\"}\n", "t VARCHAR", [][]string{{"2024-01-01T10:00:00+02:00"}, {"2024-07-01T10:00:00+01:00"}}),
		lines("times at one offset", "{\"t\": \"2024-01-01T10:00:00+02:00\"}\n", "t TIMESTAMP WITH TIME ZONE", [][]string{{"2024-01-01 08:00:00+00"}}, schema.RuleOffset),
		lines("times without an offset", "{\"t\": \"2024-01-01T10:00:00\"}\n", "t TIMESTAMP", [][]string{{"2024-01-01 10:00:00"}}),
		lines("dates", "{\"t\": \"2024-01-01\"}\n", "t DATE", [][]string{{"2024-01-01"}}),
		lines("texts like numbers", "{\"t\": \"007\"}\n{\"t\": \"8\"}\n", "t VARCHAR", [][]string{{"007"}, {"8"}}),
		lines("long numbers inside", "{\"s\": {\"n\": 18446744073709551616123}}\n", "s JSON", [][]string{{`{"n":18446744073709551616123}`}}),
		lines("times inside", "{\"s\": {\"t\": \"2024-01-01T10:00:00+02:00\"}}\n", `s STRUCT("t" VARCHAR)`, [][]string{{`{'t': '2024-01-01T10:00:00+02:00'}`}}),
		lines("keys that differ in case", `{"a":1,"A":2.5,"b":"2024-01-31T10:00:00Z","B":"007"}`+"\n"+`{"a":3,"A":null,"b":"2024-02-01T10:00:00Z","B":null}`+"\n",
			"a BIGINT, A_1 DOUBLE, b TIMESTAMP WITH TIME ZONE, B_1 VARCHAR", [][]string{{"1", "2.5", "2024-01-31 10:00:00+00", "007"}, {"3", null, "2024-02-01 10:00:00+00", null}}, schema.RuleOffset),
		lines("an empty key", `{"":1,"b":{"x":1}}`+"\n"+`{"":2,"b":null}`+"\n", `C0 BIGINT, b STRUCT("x" BIGINT)`, [][]string{{"1", "{'x': 1}"}, {"2", null}}),
		lines("a key that ends like a number", `{"a":1,"a_1":2}`+"\n"+`{"a":3,"a_1":4}`+"\n", "a BIGINT, a_1 BIGINT", [][]string{{"1", "2"}, {"3", "4"}}),
		lines("UUIDs", `{"u":"123e4567-e89b-12d3-a456-426614174000"}`+"\n", "u UUID", [][]string{{"123e4567-e89b-12d3-a456-426614174000"}}),
		lines("UUIDs with capital letters", `{"u":"123E4567-E89B-12D3-A456-426614174000"}`+"\n"+`{"u":"123e4567-e89b-12d3-a456-426614174000"}`+"\n",
			"u VARCHAR", [][]string{{"123E4567-E89B-12D3-A456-426614174000"}, {"123e4567-e89b-12d3-a456-426614174000"}}),
		lines("a number beyond doubles", `{"v":1E400}`+"\n"+`{"v":1.5}`+"\n", "v VARCHAR", [][]string{{"1E400"}, {"1.5"}}, schema.RuleKeptText),
	}
}

// Objects keep the digits of their numbers and the offsets of their times.
func TestFidelityOfJSON(t *testing.T) { checkTruths(t, jsonTruths()) }
