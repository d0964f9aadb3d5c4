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
	done := Result{Threads: len(removal.Threads), Bytes: removal.Bytes}
	if err != nil {
		return done, err
	}
	if len(p.Artifacts) == 0 {
		return done, nil
	}
	// Forks and kept runs since the plan add no event to the threads that it knows.
	usage, err := k.cfg.Store.Usage(ctx)
	if err != nil {
		return done, err
	}
	names := namingThreads(usage, nil)
	groups := map[string][]Artifact{} // by the threads that name them
	for _, a := range p.Artifacts {
		if a.Reason == WithThread && usage.Threads[a.Thread] != nil {
			continue // its thread stayed after all
		}
		if !slices.Equal(names[a.ID], a.named) || slices.ContainsFunc(a.named, func(id string) bool { return len(usage.Threads[id].Kept) > 0 }) {
			continue // somebody needs it now
		}
		key := strings.Join(a.named, " ")
		groups[key] = append(groups[key], a)
	}
	for _, group := range groups {
		err := k.removeArtifacts(ctx, p, group, group[0].named, &done)
		if fault.Is(err, fault.ThreadBusy) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.ThreadNotFound) || fault.Is(err, fault.TooMany) {
			continue // it was used meanwhile, or the next time will do
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// removeArtifacts records the removal of artifacts in one thread after the other, then
// removes their contents while it owns all of them.
func (k *Keeper) removeArtifacts(ctx context.Context, p *Plan, group []Artifact, named []string, done *Result) error {
	if len(named) > 0 {
		ids := make([]string, len(group))
		for i, a := range group {
			ids[i] = a.ID
		}
		return k.cfg.Threads.RemoveArtifacts(ctx, named[0], p.seqs[named[0]], ids, func() error {
			return k.removeArtifacts(ctx, p, group, named[1:], done)
		})
	}
	var versions []artifact.Meta
	for _, a := range group {
		versions = append(versions, p.versions[a.ID]...)
	}
	freed, err := k.cfg.Artifacts.Remove(ctx, versions)
	if err != nil {
		return errors.Join(err, ctx.Err())
	}
	done.Artifacts += len(group)
	done.Bytes += freed
	return nil
}
