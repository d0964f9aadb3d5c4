package llm

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
)

// Of a result whose rows the prompt holds only in part, the offline model says how many rows
// the result has, and neither how many it saw nor how many are shown.
func TestOfflineCutResult(t *testing.T) {
	for _, c := range []struct{ result, want string }{
		{`{"columns":["id"],"rows":[[1],[2]],"row_count":889,"limited":false,"cut":"rows: the first 2 of 889 are shown"}`, "There are 889 rows. They are too many"},
		{`{"columns":["id"],"rows":[[1],[2]],"row_count":18000,"limited":true,"cut":"rows: the first 2 of 1,000 are shown"}`, "There are 18,000 rows."},
		{`{"columns":["id"],"rows":[[1],[2]],"row_count":200,"total_rows":18000,"limited":true,"cut":"rows: the first 2 of 200 are shown"}`, "There are 18,000 rows."},
	} {
		if got := wordResult("Show all orders", nlq.Answer{}, Message{Text: c.result}); !strings.HasPrefix(got, c.want) || strings.Contains(got, "first") {
			t.Errorf("%s\ngot  %s\nwant %s", c.result, got, c.want)
		}
	}
}
