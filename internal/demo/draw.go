package demo

import (
	"hash/fnv"
	"math/rand/v2"
	"sort"
)

// A random is a seeded source of random numbers. Each table has its own,
// so that a change of one leaves the others as they are.
type random struct{ *rand.Rand }

func newRandom(seed uint64, topic string) random {
	h := fnv.New64a()
	h.Write([]byte(topic))
	return random{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// intBetween returns a number from lo to hi, both included.
func (d random) intBetween(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

// perMille is true in permille of a thousand cases.
func (d random) perMille(permille int) bool { return d.IntN(1000) < permille }

// amountBetween returns an amount between lo and hi whole units, with a usual number of cents.
func (d random) amountBetween(lo, hi int) money {
	return money(d.intBetween(lo, hi)*100 + pick(d, []int{0, 0, 50, 90, 95, 99, d.IntN(100)}))
}

func pick[T any](d random, of []T) T { return of[d.IntN(len(of))] }

// A weightedChoice picks things at random, each with its weight.
type weightedChoice[T any] struct {
	things []T
	upTo   []int // the sum of the weights up to and including each thing
}

func (w *weightedChoice[T]) add(weight int, thing T) {
	if n := len(w.upTo); n > 0 {
		weight += w.upTo[n-1]
	}
	w.things, w.upTo = append(w.things, thing), append(w.upTo, weight)
}

func (w *weightedChoice[T]) pick(d random) T {
	at := d.IntN(w.upTo[len(w.upTo)-1])
	return w.things[sort.SearchInts(w.upTo, at+1)]
}

// weightedNumbers returns a choice between the numbers 0, 1, 2 ... with these weights.
func weightedNumbers(weights ...int) *weightedChoice[int] {
	w := &weightedChoice[int]{}
	for i, weight := range weights {
		w.add(weight, i)
	}
	return w
}

// scaledRows returns a number of rows multiplied by the scale, at least 1.
func (o Options) scaledRows(rows int) int { return max(1, int(float64(rows)*o.Scale)) }
