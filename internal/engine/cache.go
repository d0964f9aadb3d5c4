package engine

import (
	"container/list"

	"interlock/internal/event"
	"interlock/internal/machine"
)

// foldCache keeps the folds of resting threads: those used last, up to so many bytes.
type foldCache struct {
	limit, bytes int
	kept         map[string]*list.Element // of restingFold, by thread
	order        *list.List               // the last used in front
}

type restingFold struct {
	thread string
	fold   *fold
	view   *published // the same, for readers
	bytes  int
}

func newRestingFold(thread string, f *fold, m *machine.Machine) restingFold {
	f = f.resting()
	return restingFold{thread, f, f.freeze(m), f.bytes()}
}

func newFoldCache(limit int) *foldCache {
	return &foldCache{limit: limit, kept: map[string]*list.Element{}, order: list.New()}
}

// take removes a fold from the cache: whoever takes it owns it.
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

func (c *foldCache) drop(thread string) { c.take(thread) }

// look gives readers a thread that stays in the cache; nil if it is not there.
func (c *foldCache) look(thread string) *published {
	e := c.kept[thread]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(restingFold).view
}

// keep puts a fold into the cache; the longest unused make room for it.
func (c *foldCache) keep(r restingFold) {
	c.drop(r.thread)
	if r.bytes > c.limit {
		return
	}
	c.kept[r.thread] = c.order.PushFront(r)
	for c.bytes += r.bytes; c.bytes > c.limit; {
		c.drop(c.order.Back().Value.(restingFold).thread)
	}
}

// What a fold costs beside its values: structs, maps, decoded JSON. Estimates on the
// safe side, not measurements.
const (
	foldBytes    = 8 << 10
	entryBytes   = 256
	decodedTimes = 8 // a decoded value takes so many times its text
)

// bytes estimates the memory of a fold. A value that several parts refer to counts once.
func (f *fold) bytes() int {
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
			n += entryBytes + len(l.Text) + len(l.told)
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
		if w, ok := settled(t.Phase).(waiting); ok {
			if s, ok := w.In.(stepping); ok {
				value(s.Result)
			}
		}
		n += len(t.Reply.Text) + entryBytes*len(t.Reply.Artifacts)
		for _, m := range t.told {
			n += entryBytes + len(m.Text)
		}
	}
	return n
}
