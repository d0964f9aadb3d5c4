package artifact_test

import (
	"fmt"
	"strings"
	"testing"

	"interlock/internal/artifact"
)

// BenchmarkPutThread stores 1,000 contents in one thread: what one costs must not grow with
// those before it.
func BenchmarkPutThread(b *testing.B) {
	for b.Loop() {
		s, err := artifact.New(artifact.Config{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 1000 {
			p := artifact.Put{Name: fmt.Sprint("result ", i), Type: "csv", Producer: "sql", LogicalKey: fmt.Sprint("key ", i), Thread: "t_1", Owner: "ann"}
			if _, err := s.Put(b.Context(), p, strings.NewReader(fmt.Sprint("n\n", i, "\n"))); err != nil {
				b.Fatal(err)
			}
		}
	}
}
