package figure

import (
	"encoding/json"
	"slices"
	"testing"

	"interlock/internal/schema"
)

// What a model was told, and the ends of a period that it asked for, are no reason to send an
// answer back; numbers from nowhere and constants of its own are.
func TestUnexplained(t *testing.T) {
	e := Evidence{Tables: []Table{{ID: "a", Columns: []string{"level", "score"}, Rows: [][]any{{"basic", 68.45}, {"advanced", 63.55}}}}}
	e.AddDescription(Document{ID: "school", Text: "## exams (1,204 rows)\n- score: DOUBLE. Points out of 100.\n- taken_on: DATE, 2023-06-27 to 2025-07-31\nTerms:\n- extract: the data were extracted on 2025-11-14"})
	e.AddStatement("SELECT level, avg(score) FROM exams WHERE taken_on >= '2024-01-01' AND taken_on < '2024-07-01' GROUP BY level")
	for answer, want := range map[string][]string{
		"Basic courses average 68.45 of 100 points.":                                       nil,
		"The basic level has 68.45 points, since June 2023.":                               nil,
		"As of 14 November 2025 the basic level has 68.45 points.":                         nil,
		"From 1 January to 30 June 2024 the basic level has 68.45 points.":                 nil,
		"Two limits: the basic level has 68.45 points, and no more is known.":              nil,
		"The basic level has 68.45 points, 12 more than in the year before.":               {"12"},
		"The basic level has 68.45 points, from 17 January to 30 June 2024.":               {"17 January"},
		"The basic level has 71.20 points.":                                                {"71.20"},
		"As of 15 November 2025 the basic level has 68.45 points.":                         {"15 November 2025"},
		"The basic level has 68.45 points, the 4,711 students who left it being left out.": {"4,711"},
	} {
		figures, _ := Trace(answer, e)
		var got []string
		for _, f := range Unexplained(figures, e) {
			got = append(got, f.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q: %s", got, want, answer)
		}
	}
}

// A day beside its month comes from the dates of the question or of the statement.
func TestMonthDays(t *testing.T) {
	for _, c := range []struct{ question, sql, answer, want string }{
		{"", "SELECT sum(x) AS x FROM t WHERE d >= '2024-01-01' AND d < '2024-07-01'", "Between 1 January and 30 June 2024.", "1 January statement, 30 June 2024 statement"},
		{"", "SELECT sum(x) AS x FROM t WHERE d < '2025-01-01'", "Up to 31 December 2024, not 30 December 2024.", "31 December 2024 statement, 30 December 2024 none"},
		{"", "SELECT sum(x) AS x FROM t WHERE d BETWEEN '2024-02-01' AND '2024-02-29'", "Vom 1. Februar bis 29. Februar war nichts.", "1. Februar statement, 29. Februar statement"},
		{"From 3 March to 5 May 2025?", "", "From 3 March to 5 May 2025 there was nothing.", "3 March question, 5 May 2025 question"},
		{"", "SELECT sum(x) AS x FROM t WHERE d >= '2024-01-01'", "Between 7 January and now.", "7 January none"},
	} {
		if got := supports(c.question, c.sql, c.answer); got != c.want {
			t.Errorf("%s, want %s: %s", got, c.want, c.answer)
		}
	}
}

func supports(question, sql, answer string) string {
	e := Evidence{Questions: []string{question}}
	e.AddStatement(sql)
	text := ""
	figures, _ := Trace(answer, e)
	for i, f := range figures {
		if i > 0 {
			text += ", "
		}
		text += f.Text + " " + string(f.Support)
	}
	return text
}

// A series that a statement made up does not take the data away from an equal number of a
// later statement whose columns the engine traced.
func TestStatedSeriesBesideData(t *testing.T) {
	var e Evidence
	e.AddResult(Result{
		ID: "real", SQL: "SELECT country, count(*) AS n FROM customers GROUP BY 1", Output: json.RawMessage(`{"columns":["country","n"],"rows":[["Germany",116],["France",80]]}`),
		Lineage: []schema.Lineage{{Column: "country", Reads: []string{"customers.country"}}, {Column: "n", Reads: []string{"customers"}}},
	})
	e.AddResult(Result{ID: "series", SQL: "SELECT n FROM range(114, 118) AS r(n)", Output: json.RawMessage(`{"columns":["n"],"rows":[[114],[115],[116],[117]]}`), Lineage: []schema.Lineage{{Column: "n"}}})
	for text, want := range map[string]Support{"Germany has 116 customers.": FromCell, "There were 117 visits.": Stated} {
		if figures, _ := Trace(text, e); len(figures) != 1 || figures[0].Support != want {
			t.Errorf("%+v, want %s: %s", figures, want, text)
		}
	}
}
