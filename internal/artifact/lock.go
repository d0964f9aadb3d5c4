package artifact

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"interlock/internal/fault"
)

const (
	lockEvery = 2 * time.Millisecond // between two attempts
	lockWait  = 30 * time.Second     // a lock is held for a few writes only

	removalLock = "removal"
)

// lock excludes all other goroutines and processes that ask for the same name. The lock
// ends with the returned function, or with the process.
func (s *Store) lock(ctx context.Context, name string) (unlock func(), err error) {
	deadline := time.Now().Add(lockWait)
	for {
		unlock, held, err := s.tryLock(name)
		if err != nil || !held {
			return unlock, err
		}
		if time.Now().After(deadline) {
			return nil, fault.New(fault.Conflict, "another process has held the lock %s of the artifacts in %s for %s", name, s.dir, lockWait).
				Suggest("If that process is suspended, resume or end it.")
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryLock is lock without waiting; held says that another one has the lock.
func (s *Store) tryLock(name string) (unlock func(), held bool, err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "locks", name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return func() { _ = f.Close() }, false, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, true, f.Close()
	default:
		return nil, false, errors.Join(err, f.Close())
	}
}

// lockThread excludes all others that store, reuse or remove versions of a thread. Threads
// share 256 locks, so that none has to be removed.
func (s *Store) lockThread(ctx context.Context, thread string) (unlock func(), err error) {
	return s.lock(ctx, thread[:2])
}
