package retention

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/fault"
	"interlock/internal/store"
)

// rememberUsage is how long the usage of the store is remembered after a thread was
// removed: people who delete one thread often delete some more.
const rememberUsage = 10 * time.Minute

// A knownUsage is the usage of the store as the last removal of a thread knew it. Taking it
// anew reads every event of the store, updating it only the new ones.
type knownUsage struct {
	mu     sync.Mutex
	usage  *store.Usage // nil if it is not known
	forget *time.Timer
}

// update returns the usage as it is now. The caller holds mu.
func (u *knownUsage) update(ctx context.Context, st store.Retention) (*store.Usage, error) {
	if u.usage != nil {
		if err := st.UpdateUsage(ctx, u.usage); err != nil {
			u.usage = nil // it may be half updated
			return nil, err
		}
	} else {
		usage, err := st.Usage(ctx)
		if err != nil {
			return nil, err
		}
		u.usage = usage
	}
	if u.forget != nil {
		u.forget.Stop()
	}
	u.forget = time.AfterFunc(rememberUsage, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.usage = nil
	})
	return u.usage, nil
}

// RemoveThread removes one thread for good, at the wish of a person, with the artifacts
// that no other thread names, and ends its followers. It is refused while a turn of it runs,
// a run of it is kept, or a fork needs it.
func (k *Keeper) RemoveThread(ctx context.Context, id string) error {
	k.known.mu.Lock()
	defer k.known.mu.Unlock()
	usage, err := k.known.update(ctx, k.cfg.Store)
	if err != nil {
		return err
	}
	removed := usage.Threads[id]
	if removed == nil {
		return fault.New(fault.ThreadNotFound, "there is no thread %q", id)
	}
	removal, err := k.cfg.Store.RemoveThreads(ctx, usage, []string{id})
	if err != nil {
		k.known.usage = nil
		return err
	}
	if len(removal.Threads) == 0 {
		if removed = usage.Threads[id]; removed == nil { // by somebody else
			return fault.New(fault.ThreadNotFound, "there is no thread %q", id)
		}
		return newNeeded(usage, removed)
	}
	k.cfg.Threads.ThreadRemoved(id)
	names := namingThreads(usage, nil)
	if err := k.cfg.Artifacts.RemoveThread(ctx, removed.Owner, id, func(artifact string) bool { return len(names[artifact]) > 0 }); err != nil {
		return err
	}
	_, err = k.cfg.Artifacts.Sweep(ctx)
	return err
}

// newNeeded says why a thread cannot be removed.
func newNeeded(usage *store.Usage, t *store.ThreadUsage) *fault.Fault {
	refused := func(why string) *fault.Fault {
		return fault.New(fault.Conflict, "the thread %s cannot be deleted: %s", t.ID, why)
	}
	switch {
	case len(t.Kept) > 0:
		return refused("its run "+strings.Join(t.Kept, ", ")+" is kept").Suggest("Release it first: `interlock run keep %s --release`.", t.Kept[0])
	case t.Held || t.Status == store.Running:
		return refused("a turn runs in it").Suggest("Wait for its end, or stop it: `interlock thread stop %s`.", t.ID)
	}
	var forks []string
	for id, other := range usage.Threads {
		if other.Parent == t.ID {
			forks = append(forks, id)
		}
	}
	if len(forks) > 0 {
		slices.Sort(forks)
		return refused("it has the fork " + strings.Join(forks, ", ")).Suggest("Delete its forks first.")
	}
	return refused("it was used just now").Suggest("Try again.")
}
