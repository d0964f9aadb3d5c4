package engine

import (
	"container/list"

	"interlock/internal/event"
	"interlock/internal/machine"
)

// A foldCache keeps the folds of resting threads. It is bounded in bytes and evicts the
// least recently used.
type foldCache struct {
	limit, bytes int
	kept         map[string]*list.Element // of restingFold, by thread
	order        *list.List               // the last used in front
}

// A restingFold is one entry of the cache.
type restingFold struct {
	thread string
	fold   *fold
	view   *published // the same, for readers
	bytes  int
}

func newRestingFold(thread string, f *fold, m *machine.Machine) restingFold {
	f = f.withoutLargeValues()
	return restingFold{thread, f, f.freeze(m), f.memorySize()}
}

func newFoldCache(limit int) *foldCache {
	return &foldCache{limit: limit, kept: map[string]*list.Element{}, order: list.New()}
}

// take removes a fold from the cache and hands it to the caller, who may change it.
func (c *foldCache) take(thread string) *fold {
	e := c.kept[thread]
	if e == nil {
		return nil
	}
	r := c.order.Remove(e).(restingFold)
	delete(c.kept, thread)
	c.bytes -= r.bytes
	return r.fold
}

func (c *foldCache) remove(thread string) { c.take(thread) }

// peek returns the read-only view of a thread and leaves it in the cache; nil if it is
// not there.
func (c *foldCache) peek(thread string) *published {
	e := c.kept[thread]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(restingFold).view
}

// add puts a fold into the cache and evicts others until the limit holds.
func (c *foldCache) add(r restingFold) {
	c.remove(r.thread)
	if r.bytes > c.limit {
		return
	}
	c.kept[r.thread] = c.order.PushFront(r)
	for c.bytes += r.bytes; c.bytes > c.limit; {
		c.remove(c.order.Back().Value.(restingFold).thread)
	}
}

// The memory of a fold besides its values: structs, maps, decoded JSON. These are
// estimates on the safe side, not measurements.
const (
	foldBytes    = 8 << 10
	entryBytes   = 256
	decodedTimes = 8 // a decoded value takes so many times its text
)

// memorySize estimates the bytes that a fold takes in memory. A value that several parts
// share counts once.
func (f *fold) memorySize() int {
	n := foldBytes + entryBytes*(len(f.Known)+len(f.Artifacts)+len(f.Messages)+len(f.Facts))
	seen := map[*byte]bool{}
	value := func(v event.Value) {
		if len(v.JSON) > 0 && !seen[&v.JSON[0]] {
			seen[&v.JSON[0]] = true
			n += len(v.JSON)
		}
	}
	lines := func(ls []line) {
		for _, l := range ls {
			n += entryBytes + len(l.Text) + len(l.sentText)
			value(l.Result)
			for _, c := range l.Calls {
				value(c.Args)
			}
		}
	}
	for _, m := range f.Messages {
		n += len(m.Content)
	}
	for _, v := range f.Facts {
		value(v)
		n += decodedTimes * len(v.JSON)
	}
	for _, k := range f.Known {
		value(k.Result)
	}
	for _, h := range f.Results {
		n += entryBytes
		if h.Ran != nil {
			n += len(h.Ran.SQL) + entryBytes*len(h.Ran.Lineage)
		}
		value(h.Args)
		value(h.Result)
	}
	for _, given := range f.Given {
		n += len(given)
	}
	for _, p := range f.Past {
		lines(p.Lines)
	}
	if t := f.Turn; t != nil {
		lines(t.Lines)
		for _, s := range t.Reply.Shown {
			n += entryBytes
			value(s.Result)
		}
		if card := openCard(t.Phase); card != nil {
			value(card.Content)
		}
		if w, ok := afterReaction(t.Phase).(waiting); ok {
			if s, ok := w.In.(stepping); ok {
				value(s.Result)
			}
		}
		n += len(t.Reply.Text) + entryBytes*len(t.Reply.Artifacts)
		for _, m := range t.sentMessages {
			n += entryBytes + len(m.Text)
		}
	}
	return n
}
