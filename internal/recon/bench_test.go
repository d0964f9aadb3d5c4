package recon

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// BenchmarkRun executes a recipe on RECON_ROWS invoices and payments (100,000 unless
// set; 1,000,000 and 10,000,000 are for a machine of one's own).
func BenchmarkRun(b *testing.B) {
	rows, _ := strconv.Atoi(cmp.Or(os.Getenv("RECON_ROWS"), "100000"))
	s := newSpace(b)
	recipe := &Recipe{
		Version: RecipeVersion, Cardinality: OneToOne,
		Comparisons: []Comparison{
			{ID: "doc", Left: []string{"doc"}, Right: []string{"memo"}, As: Reference},
			{ID: "amount", Left: []string{"net"}, Right: []string{"value"}, As: Number, LeftFormat: decimalPoint, RightFormat: decimalPoint},
			{ID: "day", Left: []string{"booked"}, Right: []string{"day"}, As: Date, LeftFormat: isoDate, RightFormat: isoDate},
		},
		Rules: []Rule{
			{ID: "doc_and_amount", When: []Condition{{Compare: "doc", AtLeast: "equal"}, {Compare: "amount", AtLeast: "1%"}}},
			{ID: "amount_and_day", When: []Condition{{Compare: "amount", AtLeast: "equal"}, {Compare: "day", Days: &[2]int{0, 10}}}},
		},
	}
	s.must(b, fmt.Sprintf(`CREATE TABLE l AS SELECT 'a' || i AS k, printf('INV-2024-%%08d', i) AS doc, (100 + hash(i * 13) %% 2000000) / 100.0 AS net, DATE '2024-01-01' + CAST(hash(i * 17) %% 365 AS INTEGER) AS booked FROM range(%d) AS t(i)`, rows))
	s.must(b, `CREATE TABLE r AS SELECT 'b' || k AS k, CASE WHEN hash(k) % 100 < 80 THEN lower(doc) ELSE 'transfer' END AS memo, net AS value, booked + CAST(hash(k) % 8 AS INTEGER) AS day FROM l WHERE hash(k) % 100 < 95`)
	r, err := New(Config{Workspace: s})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		o, err := r.Run(b.Context(), Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}}, recipe)
		if err != nil {
			b.Fatal(err)
		}
		if o.Matched < int64(rows)*9/10 {
			b.Fatalf("%+v", o)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
