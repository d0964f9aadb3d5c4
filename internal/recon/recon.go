// Package recon matches the rows of two tables that should agree: invoices and
// payments, a ledger and a bank statement, two lists of customers.
//
//	profile ─> column map ─> candidates ─> levels ─> training ─> recipe
//	                                                               │
//	                              matches, groups, reasons <── run ┘
//
// Learn turns confirmed and rejected pairs into a Recipe, a JSON document that a
// person can read and keep. Run executes a recipe without any model. Both work on
// rows by SELECT statements in a Workspace only; Go sees counts, samples and the
// small pools in which sums are searched. Nothing here knows a column by its name:
// values decide.
//
// The same input gives the same bytes: rows are numbered by their content, scores
// are integers, and a tie is reported as a conflict instead of being broken.
package recon

import (
	"cmp"
	"context"
	"errors"
)

// Config of a Reconciler. Zero fields are the defaults given.
type Config struct {
	Workspace Workspace      // required: holds both tables and everything that is made of them
	Progress  func(Progress) // called between steps, on the goroutine of the caller; default: nobody listens

	PairsPerRow int // candidates of a run, for each row of the larger side; 25
	KeyPairs    int // pairs of one value of a blocking key; values with more are skipped and reported; 40,000
	TrainRows   int // left rows that training looks at; 40,000
	GroupPool   int // rows among which the parts of a sum are searched; 22
	GroupSize   int // parts of one sum; 8
	MaxPools    int // rows whose parts are searched; 50,000
}

func (c Config) withDefaults() Config {
	c.PairsPerRow = cmp.Or(c.PairsPerRow, 25)
	c.KeyPairs = cmp.Or(c.KeyPairs, 40_000)
	c.TrainRows = cmp.Or(c.TrainRows, 40_000)
	c.GroupPool = cmp.Or(c.GroupPool, 22)
	c.GroupSize = cmp.Or(c.GroupSize, 8)
	c.MaxPools = cmp.Or(c.MaxPools, 50_000)
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return c
}

// Progress tells how far a call is.
type Progress struct {
	Step  string // what is being done, in plain words
	Done  int    // steps that are finished
	Total int    // steps of the call
}

// A Reconciler works in one Workspace, one call at a time.
type Reconciler struct {
	config Config
	space  Workspace

	lastLeft, lastRight table            // the sides of the last run
	staged              *stagedSides     // what the tables of staged rows hold
	keyCosts            map[string]int64 // pairs of blocking keys of the staged rows, by costName
	ready               []Comparison     // whose values the tables of ready rows and of words hold; nil after a run
}

// New makes a Reconciler.
func New(c Config) (*Reconciler, error) {
	if c.Workspace == nil {
		return nil, errors.New("recon: a Config needs a Workspace")
	}
	c = c.withDefaults()
	return &Reconciler{config: c, space: c.Workspace}, nil
}

// A Side is one of the two tables: a table of the workspace and the column that
// names its rows. Without a key rows are named by their position.
type Side struct {
	Table string
	Key   string
}

// Input is what is reconciled.
type Input struct {
	Left, Right Side
	// Labels are decisions of a person. Confirmed pairs are matched before any rule,
	// rejected pairs never.
	Labels Labels
}

// A Pair names two rows by their keys.
type Pair struct {
	Left  string `json:"left_key"`
	Right string `json:"right_key"`
}

// Labels are pairs that a person has decided about.
type Labels struct {
	Confirmed []Pair `json:"confirmed,omitempty"`
	Rejected  []Pair `json:"rejected,omitempty"`
}

// steps reports the progress of one call.
type steps struct {
	tell        func(Progress)
	done, total int
}

func (r *Reconciler) steps(total int) *steps { return &steps{tell: r.config.Progress, total: total} }

// next says what is done now, and that the step before it is finished.
func (s *steps) next(ctx context.Context, step string) error {
	s.tell(Progress{Step: step, Done: s.done, Total: max(s.total, s.done)})
	s.done++
	return ctx.Err()
}
