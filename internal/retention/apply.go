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
	groups := map[string][]Artifact{} // by the threads that name them
	for _, a := range p.Artifacts {
		if a.Reason == WithThread && slices.Contains(ids, a.Thread) && !slices.Contains(removal.Threads, a.Thread) {
			continue // its thread stayed after all
		}
		key := strings.Join(a.named, " ")
		groups[key] = append(groups[key], a)
	}
	for _, group := range groups {
		err := k.removeArtifacts(ctx, p, group, group[0].named, &done)
		if fault.Is(err, fault.ThreadBusy) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.ThreadNotFound) {
			continue // it was used meanwhile
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
