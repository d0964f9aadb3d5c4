package retention

import (
	"context"
	"errors"
	"slices"
	"strings"

	"interlock/internal/artifact"
	"interlock/internal/fault"
)

// Apply carries a plan out. What was used since the plan was made stays.
func (k *Keeper) Apply(ctx context.Context, p *Plan) (Result, error) {
	ids := make([]string, len(p.Threads))
	for i, t := range p.Threads {
		ids[i] = t.ID
	}
	removal, err := k.cfg.Store.RemoveThreads(ctx, p.usage, ids)
	for _, id := range removal.Threads {
		k.cfg.Threads.ThreadRemoved(id)
	}
	done := Result{Threads: len(removal.Threads), Bytes: removal.Bytes}
	if err != nil {
		return done, err
	}
	if len(p.Artifacts) > 0 {
		err = k.removePlanned(ctx, p, &done)
	}
	freed, sweepErr := k.cfg.Artifacts.Sweep(ctx)
	done.Bytes += freed
	return done, errors.Join(err, sweepErr)
}

// removePlanned removes the artifacts of a plan that nobody needs by now, together those
// that the same threads name.
func (k *Keeper) removePlanned(ctx context.Context, p *Plan, done *Result) error {
	// Forks and kept runs since the plan add no event to the threads that it knows.
	if err := k.cfg.Store.UpdateUsage(ctx, p.usage); err != nil {
		return err
	}
	names := namingThreads(p.usage, nil)
	groups := map[string][]Artifact{} // by the threads that may use them, and the reason
	for _, a := range p.Artifacts {
		if a.Reason == WithThread && p.usage.Threads[a.Thread] != nil {
			continue // its thread stayed after all
		}
		if !slices.Equal(names[a.ID], a.named) || slices.ContainsFunc(a.named, func(id string) bool { return len(p.usage.Threads[id].Kept) > 0 }) {
			continue // somebody needs it now
		}
		key := strings.Join(append([]string{a.Reason}, p.users(a)...), " ")
		groups[key] = append(groups[key], a)
	}
	for _, group := range groups {
		err := k.removeGroup(ctx, p, group)
		if fault.Is(err, fault.ThreadBusy) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.ThreadNotFound) || fault.Is(err, fault.TooMany) {
			continue // it was used meanwhile, or the next time will do
		}
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		done.Artifacts += len(group)
	}
	return nil
}

// users are the threads that may use an artifact: those that name it, and the one that made
// it. A turn of that may have taken it up, as equal to what it made, and not have said so yet.
func (p *Plan) users(a Artifact) []string {
	if _, known := p.usage.Threads[a.Thread]; !known || slices.Contains(a.named, a.Thread) {
		return a.named
	}
	return append(slices.Clone(a.named), a.Thread)
}

// removeGroup removes artifacts that the same threads may use, while it owns these threads.
func (k *Keeper) removeGroup(ctx context.Context, p *Plan, group []Artifact) error {
	if group[0].Reason == WithThread {
		return k.removeOrphans(ctx, group)
	}
	var versions []artifact.Meta
	ids := make([]string, len(group))
	for i, a := range group {
		ids[i] = a.ID
		versions = append(versions, p.versions[a.ID]...)
	}
	seqs := map[string]int64{}
	for _, id := range p.users(group[0]) {
		seqs[id] = p.seqs[id]
	}
	return k.cfg.Threads.RemoveArtifacts(ctx, seqs, ids, func() error {
		for id := range seqs {
			p.seqs[id]++ // the event that was just stored; the thread may name artifacts of other groups
		}
		return k.cfg.Artifacts.Remove(ctx, versions, p.reasonText(group[0].Reason))
	})
}

// removeOrphans removes artifacts whose threads are gone, and all that is left of them.
func (k *Keeper) removeOrphans(ctx context.Context, group []Artifact) error {
	type maker struct{ owner, thread string }
	orphans := map[maker]map[string]bool{}
	for _, a := range group {
		m := maker{a.Owner, a.Thread}
		if orphans[m] == nil {
			orphans[m] = map[string]bool{}
		}
		orphans[m][a.ID] = true
	}
	for m, ids := range orphans {
		if err := k.cfg.Artifacts.RemoveThread(ctx, m.owner, m.thread, func(id string) bool { return !ids[id] }); err != nil {
			return err
		}
	}
	return nil
}
