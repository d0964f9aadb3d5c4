package figure

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"interlock/internal/racetest"
)

// TestAddResult shows what is found in results of every form that tools give.
func TestAddResult(t *testing.T) {
	for _, c := range []struct{ name, args, result, want string }{
		{"columns and rows", `{}`, `{"columns":["region","n"],"rows":[["North",412],["South",388]],"row_count":2,"exec_time_ms":17}`, "c[region n]2/2"},
		{"columns with types", `{}`, `{"columns":[{"name":"n","type":"BIGINT"}],"rows":[[1],[2]]}`, "c[n]2/2"},
		{"rows as objects", `{}`, `{"columns":["n"],"rows":[{"n":1}]}`, "c[n]1/1"},
		{"rows that are cut", `{}`, `{"columns":["n"],"rows":[[1]],"limited":true}`, "c[n]1/2"},
		{"total of more rows", `{}`, `{"columns":["n"],"rows":[[1]],"total_rows":900}`, "c[n]1/900"},
		{"records", `{}`, `{"tables":[{"table_name":"orders","rows":412},{"table_name":"users"}]}`, "c.tables[table_name rows]2/2"},
		{"one record", `{}`, `{"outcome":{"matched":97,"open":3}}`, "c.outcome[matched open]1/1"},
		{"a text", `{}`, `{"stdout":"The mean of all of the orders is 12.5, and the median is about 11."}`, "c.stdout=The mean"},
		{"passages", `{}`, `{"passages":[{"text":"In the year 2023 the company had four hundred and 12 employees in all.","page":7}]}`, "c.passages[page]1/1 c.passages[0].text=In the y"},
		{"a short passage", `{}`, `{"chunks":[{"content":"Goods come back within 30 days.","place":"Returns 7"}]}`, "c.chunks[place]1/1 c.chunks[0].content=Goods co"},
		{"a statement", `{}`, `{"sql":"SELECT n FROM t LIMIT 4711"}`, "!SELECT n FROM t LIMIT 4711"},
		{"numbers", `{}`, `[1,2,3]`, "c[value]3/3"},
		{"a number", `{}`, `5`, "c[value]1/1"},
		{"what the caller said", `{"limit":50,"title":"About 4711 of them"}`, `{"limit":50,"title":"About 4711 of them","note":"4711 of"}`, ""},
		{"no JSON", `{}`, `{"a":`, ""},
		{"nothing", `{}`, `null`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e Evidence
			e.AddResult(Result{ID: "c", Args: json.RawMessage(c.args), Output: json.RawMessage(c.result)})
			if got := e.String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func (e Evidence) String() string {
	var parts []string
	for _, t := range e.Tables {
		parts = append(parts, fmt.Sprintf("%s%s%d/%d", t.ID, t.Columns, len(t.Rows), t.Total))
	}
	for _, d := range e.Documents {
		parts = append(parts, d.ID+"="+d.Text[:8])
	}
	for _, s := range e.Statements {
		parts = append(parts, "!"+s)
	}
	return strings.Join(parts, " ")
}

// TestSameRowsOnce shows that rows which a later step hands on do not count twice.
func TestSameRowsOnce(t *testing.T) {
	var e Evidence
	rows := `{"columns":["n"],"rows":[[1],[2]]}`
	e.AddResult(Result{ID: "a", Output: json.RawMessage(rows)})
	e.AddResult(Result{ID: "b", Output: json.RawMessage(`{"result":` + rows + `}`)})
	if len(e.Tables) != 1 {
		t.Errorf("%d tables", len(e.Tables))
	}
}

// TestBounds holds that a result of any size is looked at within bounds, that Cut says
// so, and that an answer full of figures is traced in bounded time.
func TestBounds(t *testing.T) {
	racetest.Skip(t, "computes on large results")
	var b, answer strings.Builder
	b.WriteString(`{"columns":["id","name","amount","price"],"rows":[`)
	for i := range 55_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `[%d,"customer %d",%d.5,%d]`, i, i%5000, i*37%100_000, i*7919%1_000_000)
	}
	b.WriteString(`]}`)
	var e Evidence
	e.AddResult(Result{ID: "c", Output: json.RawMessage(b.String())})
	if !e.Cut || len(e.Tables) != 1 || len(e.Tables[0].Rows) > maxIndexed/4 || len(e.Tables[0].Rows) < 1000 {
		t.Fatalf("cut %v, %d tables", e.Cut, len(e.Tables))
	}
	for i := range 60 {
		fmt.Fprintf(&answer, "Customer %d spent %d.25 in total, %d%% more than on average.\n", i, i*7919, i)
	}
	began := time.Now()
	all := traced(answer.String(), e)
	took := time.Since(began)
	t.Logf("%d figures in %d cells: %v", len(all), e.cells, took)
	if took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	deep := strings.Repeat("[", 100_000)
	var d Evidence
	d.AddResult(Result{ID: "c", Output: json.RawMessage(deep)})
	if !d.Cut {
		t.Error("a result of 100,000 levels was read whole")
	}
}

// TestRowsOfOddLength shows that rows with too few or too many cells do no harm.
func TestRowsOfOddLength(t *testing.T) {
	var e Evidence
	e.AddResult(Result{ID: "c", Output: json.RawMessage(`{"columns":["a","b"],"rows":[[1],[1,2,3],[],null,"x"]}`)})
	all := traced("There are 2 of them, 17 in total.", e)
	if len(all) != 2 || !reflect.DeepEqual(all, traced("There are 2 of them, 17 in total.", e)) {
		t.Errorf("%+v", all)
	}
}

// Long lists of numbers in a message, an answer or a document take bounded work: a turn
// must end, whatever a person or a model writes.
func TestLongLists(t *testing.T) {
	racetest.Skip(t, "computes on long lists")
	var list strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&list, "%d, ", 1000+i)
	}
	long := list.String()
	began := time.Now()
	var e Evidence
	e.Questions = []string{"My own list for later: " + long, long}
	e.AddResult(Result{ID: "c", Output: fmt.Appendf(nil, `{"text": %q}`, strings.ReplaceAll(long, ", ", ".\n"))})
	e.AddStatement("SELECT " + long)
	for _, part := range []string{",a(", "with a(", "select 1,", "((", "1111 ", "    1111-", "case when 1 then ", "'1111' ", "- - -1111", "(select ", "from a,", "/* ", "-- 1\n", "`1` ", "```\n1\n\n", "12. 1\n", "５"} {
		text := strings.Repeat(part, maxScanned/4/len(part))
		e.AddResult(Result{ID: "p", Args: fmt.Appendf(nil, `{"code": %q}`, text), Output: json.RawMessage(`{"stdout": "1111"}`), SQL: text})
		Trace(text, Evidence{})
	}
	Trace("There are 77 orders of 12 customers.", e)
	for _, answer := range []string{long, strings.Repeat("third-", 3_000), strings.Repeat("9", 20_000)} {
		Trace(answer, Evidence{})
	}
	if took := time.Since(began); took > time.Minute { // a second at rest; it was many minutes
		t.Errorf("the figures of long lists took %v", took)
	}
}

// TestHostileAnswers holds that no answer of 50,000 characters beside 10,000 cells, or beside
// thousands of passages, takes long: a text without sentences, or with the same number
// everywhere, must not make every figure be looked up anew.
func TestHostileAnswers(t *testing.T) {
	racetest.Skip(t, "computes on long texts")
	var rows [][]any
	for i := range 2500 {
		rows = append(rows, []any{fmt.Sprintf("name %d", i), float64(i)*3.7 + 1000, "2024-01-02", i})
	}
	data, passages := Evidence{Questions: []string{"how many?"}}, Evidence{}
	data.AddTable(Table{ID: "a", Columns: []string{"name", "amount", "day", "id"}, Rows: rows})
	for i := range 2000 {
		passages.AddDocument(Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("the price is 1234 at %d", i)})
	}
	for _, part := range []string{
		"1/2/", "name 5 had 1234, ", "name 5 had 1234. ", "rose from 1003.7 to 1007.4 ", "a.csv 5 ", "\"5", "](5", "twenty one hundred ", "12% ", "1,", "| name 7 | 1025.9 |\n",
		"price is 1234 ", "5\u200b", "june 2024 may ", "&#52;", "half of ", "1.2.3.4.",
	} {
		answer := strings.Repeat(part, 50_000/len(part))
		for _, e := range []Evidence{data, passages} {
			began := time.Now()
			Trace(answer, e)
			if took := time.Since(began); took > 8*time.Second { // half a second at rest; some took half a minute
				t.Errorf("an answer of %q took %v", part, took)
			}
		}
	}
}
