package demo

import (
	"hash/fnv"
	"math/rand/v2"
	"sort"
)

// A draw is where everything that looks random comes from. Each table has its own,
// so that a change of one leaves the others as they are.
type draw struct{ *rand.Rand }

func newDraw(seed uint64, topic string) draw {
	h := fnv.New64a()
	h.Write([]byte(topic))
	return draw{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// between is a number from lo to hi, both included.
func (d draw) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

// chance is true in so many of a thousand cases.
func (d draw) chance(permille int) bool { return d.IntN(1000) < permille }

// cents is an amount from lo to hi, in whole units, with an everyday ending.
func (d draw) cents(lo, hi int) money {
	return money(d.between(lo, hi)*100 + pick(d, []int{0, 0, 50, 90, 95, 99, d.IntN(100)}))
}

func pick[T any](d draw, of []T) T { return of[d.IntN(len(of))] }

// A wheel is a choice between things of different weight.
type wheel[T any] struct {
	things []T
	upTo   []int // the sum of the weights up to and including each thing
}

func (w *wheel[T]) add(weight int, thing T) {
	if n := len(w.upTo); n > 0 {
		weight += w.upTo[n-1]
	}
	w.things, w.upTo = append(w.things, thing), append(w.upTo, weight)
}

func (w *wheel[T]) spin(d draw) T {
	at := d.IntN(w.upTo[len(w.upTo)-1])
	return w.things[sort.SearchInts(w.upTo, at+1)]
}

// odds makes a wheel of the numbers 0, 1, 2 ... with these weights.
func odds(weights ...int) *wheel[int] {
	w := &wheel[int]{}
	for i, weight := range weights {
		w.add(weight, i)
	}
	return w
}

// sized is a row count under the scale.
func (o Options) sized(rows int) int { return max(1, int(float64(rows)*o.Scale)) }
