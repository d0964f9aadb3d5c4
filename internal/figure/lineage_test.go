package figure

import (
	"cmp"
	"encoding/json"
	"testing"

	"interlock/internal/schema"
)

// feed is a lineage of one column in short.
func feed(column string, reads, constants, factors []string) schema.Lineage {
	return schema.Lineage{Column: column, Reads: reads, Constants: constants, Factors: factors}
}

func rows(columns, rows string) json.RawMessage {
	return json.RawMessage(`{"columns":` + columns + `,"rows":` + rows + `}`)
}

// TestLineageSupports says what a cell supports by what feeds it: data, data computed with
// a number of the statement, or nothing.
func TestLineageSupports(t *testing.T) {
	code := func(text string) json.RawMessage {
		raw, _ := json.Marshal(map[string]string{"code": text})
		return raw
	}
	data := []string{"orders.amount"}
	north := Result{
		ID: "call_0", SQL: "SELECT 48211.37 AS revenue, sum(amount) AS total, sum(amount) * 1.37 AS forecast FROM orders",
		Output:  json.RawMessage(`{"name":"north","columns":["revenue","total","forecast"],"rows":[[48211.37,731.5,1002.155]]}`),
		Lineage: []schema.Lineage{feed("revenue", nil, []string{"48211.37"}, nil), feed("total", data, nil, nil), feed("forecast", data, nil, []string{"1.37"})},
	}
	made := Result{ID: "call_0", Args: code("result_df = pd.DataFrame({'v': [48211.37]})"), Output: json.RawMessage(`{"name":"made","columns":["v"],"rows":[[48211.37]],"reads":[]}`)}
	for _, c := range []struct {
		name    string
		results []Result // newest first
		answer  string
		want    Support
	}{
		{"data", []Result{{SQL: "SELECT sum(amount) AS r FROM orders", Output: rows(`["r"]`, `[[48211.37]]`), Lineage: []schema.Lineage{feed("r", data, nil, nil)}}}, "Revenue was 48,211.37.", FromCell},
		{"constant of functions", []Result{{SQL: "SELECT replace('48,211.37', ',', '')::DOUBLE AS r FROM orders", Output: rows(`["r"]`, `[[48211.37]]`), Lineage: []schema.Lineage{feed("r", nil, nil, []string{"48211.37"})}}}, "Revenue was 48,211.37.", Stated},
		{"constant beside data", []Result{{SQL: "SELECT amount, v FROM orders, (SELECT 48211.37 AS v)", Output: rows(`["amount","v"]`, `[[12.5,48211.37]]`), Lineage: []schema.Lineage{feed("amount", data, nil, nil), feed("v", nil, []string{"48211.37"}, nil)}}}, "Revenue was 48,211.37.", Stated},
		{"union with a constant", []Result{{SQL: "SELECT n", Output: rows(`["n"]`, `[[12],[48211]]`), Lineage: []schema.Lineage{feed("n", data, []string{"48211"}, nil)}}}, "In all 48,211.", Stated},
		{"factor", []Result{{SQL: "SELECT sum(amount) * 1.37 AS f FROM orders", Output: rows(`["f"]`, `[[48211.37]]`), Lineage: []schema.Lineage{feed("f", data, nil, []string{"1.37"})}}}, "We expect 48,211.37.", Mixed},
		{"sum of computed cells", []Result{{SQL: "SELECT city, sum(amount) * 1.37 AS f FROM orders GROUP BY 1", Output: rows(`["city","f"]`, `[["Bonn",48211.37],["Ulm",1000.25]]`), Lineage: []schema.Lineage{feed("city", data, nil, nil), feed("f", data, nil, []string{"1.37"})}}}, "In total 49,211.62.", Mixed},
		{"all columns of constants", []Result{{SQL: "SELECT COLUMNS(*)", Output: rows(`["r"]`, `[[48211.37]]`), Lineage: []schema.Lineage{feed("*", nil, []string{"48211.37"}, nil)}}}, "Revenue was 48,211.37.", Stated},
		{"earlier constant", []Result{{ID: "call_1", SQL: "SELECT revenue + 0 AS r FROM north", Frames: []string{"north"}, Output: rows(`["r"]`, `[[48211.37]]`), Lineage: []schema.Lineage{feed("r", []string{"north.revenue"}, nil, nil)}}, north}, "Revenue was 48,211.37.", Stated},
		{"earlier constant, changed", []Result{{ID: "call_1", SQL: "SELECT revenue * 2 AS r FROM north", Frames: []string{"north"}, Output: rows(`["r"]`, `[[96422.74]]`), Lineage: []schema.Lineage{feed("r", []string{"north.revenue"}, nil, []string{"2"})}}, north}, "Revenue was 96,422.74.", Stated},
		{"earlier data", []Result{{ID: "call_1", SQL: "SELECT total * 1000 AS r FROM north", Frames: []string{"north"}, Output: rows(`["r"]`, `[[731500]]`), Lineage: []schema.Lineage{feed("r", []string{"north.total"}, nil, nil)}}, north}, "Revenue was 731,500.", FromCell},
		{"earlier factor", []Result{{ID: "call_1", SQL: "SELECT forecast * 1000 AS r FROM north", Frames: []string{"north"}, Output: rows(`["r"]`, `[[1002155]]`), Lineage: []schema.Lineage{feed("r", []string{"north.forecast"}, nil, nil)}}, north}, "Revenue was 1,002,155.", Mixed},
		{"code without data", []Result{{Args: code("print(48000 + 211.37)"), Output: json.RawMessage(`{"stdout":"48211.37\n","reads":[]}`)}}, "Revenue was 48,211.37.", Stated},
		{"code with data", []Result{{Args: code("print(orders.amount.sum())"), Output: json.RawMessage(`{"stdout":"48211.37\n","reads":["orders"]}`)}}, "Revenue was 48,211.37.", FromCell},
		{"code that multiplies", []Result{{Args: code("result_df = orders.amount.sum() * 1.37"), Output: json.RawMessage(`{"columns":["r"],"rows":[[48211.37]],"reads":["orders"]}`)}}, "Revenue was 48,211.37.", Mixed},
		{"code on a result of constants", []Result{{ID: "call_1", Args: code("result_df = made * 3"), Output: json.RawMessage(`{"columns":["v"],"rows":[[144634.11]],"reads":["made"]}`)}, made}, "Revenue was 144,634.11.", Stated},
		{"code of another tool", []Result{{Args: code("fetch()"), Output: json.RawMessage(`{"columns":["v"],"rows":[[48211.37]]}`)}}, "Revenue was 48,211.37.", FromCell},
		{"a schema that code returned", []Result{{Args: code("print('x')"), Output: json.RawMessage(`{"table_name":"orders","row_count":48211,"columns":[{"name":"id","type":"BIGINT"}],"reads":[]}`)}}, "There are 48,211 orders.", None},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e Evidence
			for _, r := range c.results {
				r.ID = cmp.Or(r.ID, "call_1")
				e.AddResult(r)
			}
			got := traced(c.answer, e)
			if len(got) != 1 || got[0].Support != c.want {
				t.Errorf("%s\ngot %+v, want %s", c.answer, got, c.want)
			}
		})
	}
}
