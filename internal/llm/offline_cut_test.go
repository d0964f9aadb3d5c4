package llm

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
)

// Of a result whose rows the prompt holds only in part, the offline model says how many rows
// the result has, and not how many it saw.
func TestOfflineCutResult(t *testing.T) {
	for _, c := range []struct{ result, want string }{
		{`{"columns":["id"],"rows":[[1],[2]],"row_count":889,"limited":false,"cut":"rows: the first 2 of 889 are shown"}`, "There are 889 rows, which the table shows."},
		{`{"columns":["id"],"rows":[[1],[2]],"row_count":18000,"limited":true,"cut":"rows: the first 2 of 1,000 are shown"}`, "There are 18,000 rows; the table shows the first 1,000."},
		{`{"columns":["id"],"rows":[[1],[2]],"row_count":200,"total_rows":18000,"limited":true,"cut":"rows: the first 2 of 200 are shown"}`, "There are 18,000 rows; the table shows the first 200."},
	} {
		if got := wordResult("Show all orders", nlq.Answer{}, Message{Text: c.result}); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.result, got, c.want)
		}
	}
}
