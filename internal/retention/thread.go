package retention

import (
	"context"
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
		return fault.New(fault.Conflict, "the thread %s cannot be deleted: it runs, one of its runs is kept, or it has a fork", id).
			Suggest("Stop it, delete its forks, or release its runs with `interlock run keep RUN --release`.")
	}
	k.cfg.Threads.ThreadRemoved(id)
	names := namingThreads(usage, nil)
	if err := k.cfg.Artifacts.RemoveThread(ctx, removed.Owner, id, func(artifact string) bool { return len(names[artifact]) > 0 }); err != nil {
		return err
	}
	_, err = k.cfg.Artifacts.Sweep(ctx)
	return err
}
