// Command bench measures what a step of the engine costs beside the peers, and what
// the path of the data costs beside the bare drivers: in the same run on the same
// machine, because only the ratios mean something elsewhere. It writes nothing into
// the repository; what the peers need and large inputs are kept in the user's cache.
//
//	go run ./bench [-only pattern] [-csv-mb 1024] [-pages 300]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"time"

	"interlock/internal/document"
	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/source"
)

// A Case is one line of the table.
type Case struct {
	Name string
	Ours bool   // what has steps and no Base is compared with it
	Base string // the case that this one is compared with
	Run  func(ctx context.Context) (Result, error)
}

// A Result is what a case found. The peers print it as JSON.
type Result struct {
	Peer      string  `json:"peer"`
	Steps     int     `json:"steps"`
	USPerStep float64 `json:"us_per_step"`
	Bytes     int64   `json:"bytes,omitempty"` // that the run stored; 0 where nothing is

	Took time.Duration `json:"-"` // of the whole, where there are no steps
	Rows int64         `json:"-"` // that were read or written
}

// errMissing says that a peer cannot be had on this machine.
var errMissing = errors.New("not measured")

func main() {
	jail.Main()
	query.Main()
	source.Main()
	document.Main()
	only := flag.String("only", "", "run only cases whose name matches this regular expression")
	csvMB := flag.Int("csv-mb", 1024, "size of the large CSV file in MB")
	pages := flag.Int("pages", 300, "pages of each of the ten documents that are indexed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, *csvMB, *pages); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, csvMB, pages int) (err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	p, err := newPeers(ctx)
	if err != nil {
		return err
	}
	d, err := newData(p.cache, csvMB)
	if err != nil {
		return err
	}
	docs := newDocuments(d.dir, pages)
	defer func() { err = errors.Join(err, docs.close(), d.close()) }()
	var t table
	var failed []error
	for _, c := range slices.Concat(engineCases(), p.cases(), d.cases(), docs.cases()) {
		if !chosen.MatchString(c.Name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", c.Name)
		r, err := c.Run(ctx)
		t.add(c, r, err)
		if err != nil && !errors.Is(err, errMissing) {
			failed = append(failed, fmt.Errorf("%s: %w", c.Name, err))
		}
	}
	t.print(os.Stdout)
	return errors.Join(failed...)
}
