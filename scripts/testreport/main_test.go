package main

import (
	"strings"
	"testing"
)

const recorded = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: MariaDB is not installed (package mariadb-server)\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`

func TestReport(t *testing.T) {
	broken := `{"Action":"output","Package":"q","Test":"TestC","Output":"    c_test.go:1: wrong\n"}
{"Action":"fail","Package":"q","Test":"TestC"}
{"Action":"fail","Package":"q"}
`
	hangs := `{"Action":"output","Package":"q","Test":"TestD","Output":"=== RUN   TestD\n"}
{"Action":"output","Package":"q","Test":"TestD","Output":"panic: test timed out after 45m0s\n"}
{"Action":"output","Package":"q","Test":"TestD","Output":"goroutine 7 [running]:\n"}
{"Action":"fail","Package":"q"}
`
	for _, tt := range []struct {
		name, in string
		strict   bool
		missing  []string
		well     bool
		want     []string
	}{
		{"a skip is printed", recorded, false, nil, true, []string{"ok  \tp\t0.1s\n", "  p TestB: MariaDB is not installed (package mariadb-server)\n", "1 passed, 0 failed, 1 skipped\n"}},
		{"a skip is a failure", recorded, true, nil, false, []string{"TestB: MariaDB is not installed (package mariadb-server) [not excused", "1 passed, 1 failed, 0 skipped\n"}},
		{"what cannot be had is excused", recorded, true, []string{"mariadb-server"}, true, []string{"1 passed, 0 failed, 1 skipped\n"}},
		{"a test that fails", recorded + broken, false, nil, false, []string{"c_test.go:1: wrong\n", "1 passed, 1 failed, 1 skipped\n"}},
		{"a test that hangs", hangs, false, nil, false, []string{"q TestD did not end:\n", "panic: test timed out after 45m0s\n", "goroutine 7"}},
		{"a package that does not build", `{"Action":"build-output","Output":"q.go:1: no\n"}` + "\n" + `{"Action":"fail","Package":"q"}` + "\n", false, nil, false, []string{"q.go:1: no\n"}},
		{"go itself complains", "go: no such module\n" + recorded, false, nil, true, []string{"go: no such module\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			r := report{out: &out, strict: tt.strict, missing: tt.missing, output: map[test][]string{}}
			if err := r.read(strings.NewReader(tt.in)); err != nil {
				t.Fatal(err)
			}
			if well := r.finish(); well != tt.well {
				t.Errorf("well is %v, want %v", well, tt.well)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("lacks %q:\n%s", want, &out)
				}
			}
		})
	}
}
