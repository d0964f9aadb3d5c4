// Command testreport reads the events of `go test -json` and prints what a person wants
// to know: a line a package, the output of tests that failed, the tests that took the
// longest, and every test that was skipped with its reason. With INTERLOCK_REQUIRE=all a skip is a failure, unless its
// reason is excused:
//
//   - "(package NAME)": the set-up could not install it here; the file given by -missing
//     lists such names;
//   - "(runs without -race)": another command of `make test` runs it;
//   - "(files outside)": it reads files beside the repository, on which no claim rests.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	missing := flag.String("missing", "", "file with the packages that cannot be installed here, one a line")
	flag.Parse()
	raw, err := os.ReadFile(*missing)
	if err != nil && *missing != "" && !os.IsNotExist(err) {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(2)
	}
	r := report{out: os.Stdout, strict: os.Getenv("INTERLOCK_REQUIRE") == "all", missing: strings.Fields(string(raw)), output: map[test][]string{}}
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(2)
	}
	if !r.finish() {
		os.Exit(1)
	}
}

// A change is one event of `go test -json`.
type change struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

type test struct{ pkg, name string }

// A skip is a test that did not run.
type skip struct {
	test
	reason  string
	excused bool
}

// A took is a test with the seconds that it took.
type took struct {
	test
	seconds float64
}

type report struct {
	out     io.Writer
	strict  bool
	missing []string

	output         map[test][]string // of tests and packages that are not over
	skips          []skip
	took           []took
	passed, failed int
	broken         bool // a package failed
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var c change
			if json.Unmarshal([]byte(line), &c) != nil || c.Action == "" {
				fmt.Fprint(r.out, line) // not an event: go itself has something to say
			} else {
				r.add(c)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) add(c change) {
	t := test{c.Package, c.Test}
	switch c.Action {
	case "output":
		r.output[t] = append(r.output[t], c.Output)
		return
	case "build-output":
		fmt.Fprint(r.out, c.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	output := r.output[t]
	delete(r.output, t)
	if c.Test != "" && !strings.Contains(c.Test, "/") {
		r.took = append(r.took, took{t, c.Elapsed})
	}
	switch {
	case c.Test == "":
		r.broken = r.broken || c.Action == "fail"
		r.printUnfinished(c.Package)
		r.printPackage(c.Action, output)
	case c.Action == "pass":
		r.passed++
	case c.Action == "fail":
		r.failed++
		fmt.Fprint(r.out, strings.Join(output, ""))
	default:
		why := reason(output)
		r.skips = append(r.skips, skip{t, why, r.excused(why)})
	}
}

// printPackage prints the line of a package, and all that it said if it failed.
func (r *report) printPackage(action string, output []string) {
	for _, line := range output {
		if action == "fail" || strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ") || strings.HasPrefix(line, "FAIL") {
			fmt.Fprint(r.out, line)
		}
	}
}

// The lines of an unfinished test that are printed: what stood before the panic, and the
// stacks of the first goroutines.
const linesBefore, linesAfter = 20, 300

// printUnfinished prints what the tests said that were running when their package ended:
// the panic of a test that hangs is theirs.
func (r *report) printUnfinished(pkg string) {
	var tests []test
	for t := range r.output {
		if t.pkg == pkg && t.name != "" {
			tests = append(tests, t)
		}
	}
	slices.SortFunc(tests, func(a, b test) int { return cmp.Compare(a.name, b.name) })
	for _, t := range tests {
		output := r.output[t]
		delete(r.output, t)
		at := max(0, slices.IndexFunc(output, func(line string) bool { return strings.HasPrefix(line, "panic: ") }))
		output = output[max(0, at-linesBefore):min(len(output), at+linesAfter)]
		fmt.Fprintf(r.out, "%s %s did not end:\n%s", t.pkg, t.name, strings.Join(output, ""))
	}
}

var place = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

// reason is what a test said when it was skipped: its last lines from a place on.
func reason(output []string) string {
	from := 0
	for i, line := range output {
		if place.MatchString(line) {
			from = i
		}
	}
	var words []string
	for i, line := range output[min(from, len(output)):] {
		if i == 0 {
			line = place.ReplaceAllString(line, "")
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "=== ") {
			words = append(words, line)
		}
	}
	return cmp.Or(strings.Join(words, " "), "no reason given")
}

var needs = regexp.MustCompile(`\(package ([a-z0-9.+-]+)\)`)

func (r *report) excused(why string) bool {
	if strings.Contains(why, "(runs without -race)") || strings.Contains(why, "(files outside)") {
		return true
	}
	m := needs.FindStringSubmatch(why)
	return m != nil && slices.Contains(r.missing, m[1])
}

const slowest = 15

// finish prints the slowest tests, what was skipped and the counts, and says whether all
// is well.
func (r *report) finish() bool {
	slices.SortStableFunc(r.took, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintln(r.out, "\nSlowest:")
	for _, s := range r.took[:min(slowest, len(r.took))] {
		fmt.Fprintf(r.out, "  %7.1f s  %s %s\n", s.seconds, s.pkg, s.name)
	}
	refused := 0
	if len(r.skips) > 0 {
		fmt.Fprintln(r.out, "\nSkipped:")
	}
	for _, s := range r.skips {
		mark := ""
		if r.strict && !s.excused {
			refused++
			mark = " [not excused: INTERLOCK_REQUIRE=all]"
		}
		fmt.Fprintf(r.out, "  %s %s: %s%s\n", s.pkg, s.name, s.reason, mark)
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed+refused, len(r.skips)-refused)
	return !r.broken && r.failed+refused == 0
}
