package source

import (
	"sync"
	"time"
)

// A Budget bounds the bytes that all tables of one file bring in together. Tables are
// bounded by the size of the file; views, which can be endless, have bytes and time of
// their own, and each view may use half of what is left. With a nil Budget each table has
// its own.
type Budget struct {
	mu     sync.Mutex
	tables int64
	views  int64
	time   time.Duration // of views
}

// A file may grow by so much on its way in, and a small one to so many bytes.
const (
	budgetFactor = 16
	budgetLeast  = 512 << 20
	budgetTime   = 2 * sqliteViewTime
)

// NewBudget makes the budget of a database that is a file; nil of one that is a server.
func NewBudget(c Config) *Budget {
	if c.File() == "" {
		return nil
	}
	state := stateOf(c.File())
	bytes := max(budgetLeast, budgetFactor*(state[0].Size+state[1].Size))
	return &Budget{tables: bytes, views: bytes, time: budgetTime}
}

func (b *Budget) orDefault(c Config) *Budget {
	if b == nil {
		return NewBudget(c)
	}
	return b
}

// bytesLeft is what one more table or view may bring in.
func (b *Budget) bytesLeft(view bool) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if view {
		return b.views / 2
	}
	return b.tables
}

func (b *Budget) spendBytes(view bool, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if view {
		b.views = max(0, b.views-n)
	} else {
		b.tables = max(0, b.tables-n)
	}
}

// viewTime is how long one more view may be read.
func (b *Budget) viewTime() time.Duration {
	if b == nil {
		return sqliteViewTime
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.time / 2
}

// spendTime subtracts the time that a view took.
func (b *Budget) spendTime(since time.Time) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.time = max(0, b.time-time.Since(since))
}
