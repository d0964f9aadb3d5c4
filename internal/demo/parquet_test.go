package demo_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// readParquet returns the rows of a Parquet file whose columns are 64-bit numbers;
// decimals are divided by their scale.
func readParquet(tb testing.TB, raw []byte, names []string) [][]any {
	tb.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	if got := r.MetaData().Schema.NumColumns(); got != len(names) {
		tb.Fatalf("%d columns, want %d", got, len(names))
	}
	rows := make([][]any, r.NumRows())
	for i := range rows {
		rows[i] = make([]any, len(names))
	}
	for c, want := range names {
		described := r.MetaData().Schema.Column(c)
		if described.Name() != want {
			tb.Errorf("column %s, want %s", described.Name(), want)
		}
		column, err := r.RowGroup(0).Column(c)
		if err != nil {
			tb.Fatal(err)
		}
		values := make([]int64, len(rows))
		if n := readBatch(tb, column.(*file.Int64ColumnChunkReader), values); n != len(rows) {
			tb.Fatalf("column %s has %d values, want %d", want, n, len(rows))
		}
		_, isDecimal := described.LogicalType().(schema.DecimalLogicalType)
		for i, n := range values {
			rows[i][c] = n
			if isDecimal {
				rows[i][c] = float64(n) / 100
			}
		}
	}
	return rows
}

// readBatch fills values from all pages of a column and returns how many it read.
func readBatch(tb testing.TB, column *file.Int64ColumnChunkReader, values []int64) int {
	tb.Helper()
	read := 0
	for column.HasNext() && read < len(values) {
		_, n, err := column.ReadBatch(int64(len(values)-read), values[read:], nil, nil)
		if err != nil {
			tb.Fatal(err)
		}
		read += n
	}
	return read
}
