package sandbox_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"interlock/internal/sandbox"
)

// openBench opens the best local executor for a benchmark.
func openBench(b *testing.B) sandbox.Executor {
	e, err := sandbox.Open(sandbox.Config{Dir: b.TempDir(), Timeout: time.Minute, MemoryMB: 2048})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	e.Warm()
	if s := e.Status(b.Context()); s.State != "ready" {
		b.Skipf("no Python here: %s", s.Why)
	}
	if _, err := e.Run(b.Context(), sandbox.Job{Code: "x = 1"}); err != nil { // the pool is filled from now on
		b.Fatal(err)
	}
	return e
}

const smallJob = "df = pd.DataFrame({'k': ['a', 'b', 'a'], 'v': [1, 2, 3]})\nprint(len(df))\nresult_df = df.groupby('k', as_index=False).v.sum()"

// BenchmarkWarmJob is a small job on a warm interpreter, to be held against
// BenchmarkColdImport of the same run.
func BenchmarkWarmJob(b *testing.B) {
	e := openBench(b)
	var total time.Duration
	for b.Loop() {
		b.StopTimer()
		waitUntil(b, func() bool { return sandbox.Warm(e) == 2 }) // as between two questions of a person
		b.StartTimer()
		o, err := e.Run(b.Context(), sandbox.Job{Code: smallJob})
		if err != nil {
			b.Fatal(err)
		}
		total += o.Elapsed
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/job")
}

// BenchmarkColdImport is what the same would cost without the pool and without any wall.
func BenchmarkColdImport(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/usr/bin/python3", "-c", "import pandas").Run(); err != nil {
			b.Skipf("no pandas here: %v", err)
		}
	}
}

// BenchmarkMillionRows writes a bundle of a million rows, and hands it in.
func BenchmarkMillionRows(b *testing.B) {
	path := filepath.Join(b.TempDir(), "t.bundle")
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			writeMillion(b, path)
		}
	})
	writeMillion(b, path)
	b.Run("hand in", func(b *testing.B) {
		e := openBench(b)
		for b.Loop() {
			b.StopTimer()
			waitUntil(b, func() bool { return sandbox.Warm(e) == 2 })
			b.StartTimer()
			o, err := e.Run(b.Context(), sandbox.Job{
				Code: "result_df = t.groupby('region', as_index=False).price.sum()", Tables: []sandbox.Table{{Name: "t", Bundle: path}},
			})
			if err != nil || o.RowCount != 8 {
				b.Fatalf("%d rows, %v", o.RowCount, err)
			}
		}
	})
}

// writeMillion makes ten columns: three of integers, three of floats, a timestamp, two of text and a boolean.
func writeMillion(b *testing.B, path string) {
	var fields []sandbox.Field
	for _, f := range []struct {
		name string
		kind sandbox.Kind
	}{
		{"id", sandbox.Int64},
		{"qty", sandbox.Int64},
		{"store", sandbox.Int64},
		{"price", sandbox.Float64},
		{"cost", sandbox.Float64},
		{"score", sandbox.Float64},
		{"ts", sandbox.Timestamp},
		{"region", sandbox.Text},
		{"sku", sandbox.Text},
		{"paid", sandbox.Bool},
	} {
		fields = append(fields, sandbox.Field{Name: f.name, Kind: f.kind})
	}
	w, err := sandbox.Create(path, fields)
	if err != nil {
		b.Fatal(err)
	}
	const chunk = 2048 // the engine's vector size
	ints, floats, flags := make([]int64, chunk), make([]float64, chunk), make([]bool, chunk)
	regions, skus := make([]string, chunk), make([]string, chunk)
	catalog := make([]string, 20_000)
	for i := range catalog {
		catalog[i] = fmt.Sprintf("SKU-%05d", i)
	}
	for at := 0; at < 1_000_000; at += chunk {
		n := min(chunk, 1_000_000-at)
		for i := range n {
			ints[i], floats[i], flags[i] = int64(at+i), float64(at+i)/7, i%2 == 0
			regions[i], skus[i] = [...]string{"N", "NE", "E", "SE", "S", "SW", "W", "NW"}[i%8], catalog[(at+i)%len(catalog)]
		}
		for c := range 3 {
			sandbox.Append(w, c, ints[:n], nil)
			sandbox.Append(w, 3+c, floats[:n], nil)
		}
		sandbox.Append(w, 6, ints[:n], nil)
		w.Strings(7, regions[:n], nil)
		w.Strings(8, skus[:n], nil)
		sandbox.Append(w, 9, flags[:n], nil)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
