package retention

import (
	"context"

	"interlock/internal/fault"
	"interlock/internal/store"
)

// RemoveThread removes one thread for good, at the wish of a person. It is refused while a
// turn of it runs, a run of it is kept, or a fork needs it.
func RemoveThread(ctx context.Context, st store.Retention, id string) error {
	usage, err := st.Usage(ctx)
	if err != nil {
		return err
	}
	removal, err := st.RemoveThreads(ctx, usage, []string{id})
	if err != nil || len(removal.Threads) == 1 {
		return err
	}
	return fault.New(fault.Conflict, "the thread %s cannot be deleted: it runs, one of its runs is kept, or it has a fork", id).
		Suggest("Stop it, delete its forks, or release its runs with `interlock run keep RUN --release`.")
}
