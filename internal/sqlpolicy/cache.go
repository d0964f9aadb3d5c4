package sqlpolicy

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// A key is a text in a scope: the version of the data, a hash of the tables with a
// seed that nobody outside knows, and the number of parameters.
type key struct {
	version string
	sql     string
	tables  uint64
	params  int
}

// A verdict is a decision or the error that took its place.
type verdict struct {
	decision Decision
	err      error
}

// A cache remembers the verdicts used last.
type cache struct {
	seed maphash.Seed // fixed at creation
	size int

	mu    sync.Mutex
	order *list.List // of *entry, the last used first
	byKey map[key]*list.Element
}

type entry struct {
	key     key
	verdict verdict
}

func newCache(size int) *cache {
	return &cache{seed: maphash.MakeSeed(), size: size, order: list.New(), byKey: make(map[key]*list.Element)}
}

func (c *cache) get(k key) (verdict, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return verdict{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).verdict, true
}

func (c *cache) store(k key, v verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		e.Value.(*entry).verdict = v
		c.order.MoveToFront(e)
		return
	}
	c.byKey[k] = c.order.PushFront(&entry{k, v})
	if c.order.Len() > c.size {
		last := c.order.Remove(c.order.Back()).(*entry)
		delete(c.byKey, last.key)
	}
}
