// Command bench measures what one step costs: ours and that of the peers, in the
// same run on the same machine, because only the ratios mean something elsewhere.
// It writes nothing into the repository; what the peers need is installed into the
// user's cache.
//
//	go run ./bench [-only name]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// A Case is one line of the table.
type Case struct {
	Name string
	Ours bool // the others are compared with it
	Run  func(ctx context.Context) (Result, error)
}

// A Result is what a case found. The peers print it as JSON.
type Result struct {
	Peer      string  `json:"peer"`
	Steps     int     `json:"steps"`
	USPerStep float64 `json:"us_per_step"`
	Bytes     int64   `json:"bytes,omitempty"` // that the run stored; 0 where nothing is
}

// errMissing says that a peer cannot be had on this machine.
var errMissing = errors.New("not measured")

func main() {
	only := flag.String("only", "", "run only cases whose name contains this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string) error {
	all, err := cases()
	if err != nil {
		return err
	}
	var t table
	var failed []error
	for _, c := range all {
		if !strings.Contains(c.Name, only) {
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

// cases lists what is measured, in the order of the table.
func cases() ([]Case, error) {
	p, err := newPeers()
	if err != nil {
		return nil, err
	}
	return append(engineCases(), p.cases()...), nil
}
