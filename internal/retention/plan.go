package retention

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock/internal/artifact"
	"interlock/internal/store"
)

// young is the age below which nothing is removed for its size: somebody works with it.
const young = time.Hour

// Plan finds what the limits remove.
func (k *Keeper) Plan(ctx context.Context, l Limits) (*Plan, error) {
	// Artifacts first: a thread is stored before it makes one, so none seems to have no thread.
	metas, damaged, err := k.cfg.Artifacts.All(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := k.cfg.Store.Usage(ctx)
	if err != nil {
		return nil, err
	}
	p := &planner{
		Plan: &Plan{
			Threads: []Thread{}, Artifacts: []Artifact{}, Kept: []Kept{}, Damaged: damaged,
			limits: l, usage: usage, versions: map[string][]artifact.Meta{}, seqs: map[string]int64{},
		},
		now: k.cfg.Now(), gone: map[string]bool{}, forks: map[string][]string{}, users: map[string]int{},
	}
	for _, m := range metas {
		p.versions[m.ID] = append(p.versions[m.ID], m)
	}
	for id, t := range usage.Threads {
		p.seqs[id] = t.Seq
	}
	p.chooseThreads()
	p.chooseArtifacts()
	return p.Plan, nil
}

// A planner makes one plan.
type planner struct {
	*Plan
	now   time.Time
	gone  map[string]bool     // threads that are removed
	forks map[string][]string // by parent
	users map[string]int      // number of threads that need a blob
	total int64               // bytes of the threads that stay
}

// chooseThreads chooses threads by age, then the oldest until their size is within its limit.
func (p *planner) chooseThreads() {
	threads := slices.SortedFunc(maps.Values(p.usage.Threads), func(a, b *store.ThreadUsage) int {
		return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.ID, b.ID))
	})
	for _, t := range threads {
		if t.Parent != "" {
			p.forks[t.Parent] = append(p.forks[t.Parent], t.ID)
		}
		for hash := range t.Blobs {
			p.users[hash]++
		}
		p.total += t.Bytes
	}
	for hash := range p.users {
		p.total += p.usage.Blobs[hash]
	}
	why := map[string]string{}
	for again := true; again; { // a parent can go once its last fork does
		again = false
		for _, t := range threads {
			if p.gone[t.ID] {
				continue
			}
			reason := p.threadReason(t)
			if reason == "" {
				continue
			}
			if why[t.ID] = p.threadNeed(t); why[t.ID] != "" {
				continue
			}
			again = true
			p.removeThread(t, reason)
		}
	}
	for _, t := range threads {
		if !p.gone[t.ID] && why[t.ID] != "" && p.threadReason(t) != "" {
			p.Kept = append(p.Kept, Kept{t.ID, t.Title, t.Updated, p.threadBytes(t), why[t.ID]})
		}
	}
}

// threadReason says which limit a thread is beyond; "" for none.
func (p *planner) threadReason(t *store.ThreadUsage) string {
	switch age := p.now.Sub(t.Updated); {
	case p.limits.ThreadAge > 0 && age > p.limits.ThreadAge:
		return TooOld
	case p.limits.ThreadBytes > 0 && p.total > p.limits.ThreadBytes && age > young:
		return TooMuch
	}
	return ""
}

// threadNeed says why a thread must stay; "" if it need not.
func (p *planner) threadNeed(t *store.ThreadUsage) string {
	switch {
	case len(t.Kept) > 0:
		return "the run " + strings.Join(t.Kept, ", ") + " is kept"
	case t.Held || t.Status == store.Running:
		return "a turn runs in it"
	}
	for _, fork := range p.forks[t.ID] {
		if !p.gone[fork] {
			return "the fork " + fork + " needs it"
		}
	}
	return ""
}

// threadBytes is what only this thread takes.
func (p *planner) threadBytes(t *store.ThreadUsage) int64 {
	bytes := t.Bytes
	for hash := range t.Blobs {
		if p.users[hash] == 1 {
			bytes += p.usage.Blobs[hash]
		}
	}
	return bytes
}

func (p *planner) removeThread(t *store.ThreadUsage, reason string) {
	bytes := p.threadBytes(t)
	for hash := range t.Blobs {
		p.users[hash]--
	}
	p.total -= bytes
	p.gone[t.ID] = true
	p.Threads = append(p.Threads, Thread{t.ID, t.Owner, t.Title, t.Updated, bytes, reason})
}

// An output is an artifact with what is known of its use.
type output struct {
	Artifact
	ofThread bool             // it was made in a thread, not exported at the wish of a person
	hashes   map[string]int64 // bytes of its contents
	need     string           // why it must stay
}

// chooseArtifacts chooses the artifacts that no thread needs any more, then by age, then the
// oldest until their size is within its limit.
func (p *planner) chooseArtifacts() {
	names := namingThreads(p.usage, p.gone)
	var all []*output
	users := map[string]int{} // number of artifacts that have a content
	var total int64
	for id, versions := range p.versions {
		o := p.newOutput(id, versions, names[id])
		all = append(all, o)
		for hash, size := range o.hashes {
			if users[hash]++; users[hash] == 1 {
				total += size
			}
		}
	}
	slices.SortFunc(all, func(a, b *output) int { return cmp.Or(a.Used.Compare(b.Used), cmp.Compare(a.ID, b.ID)) })
	ownBytes := func(o *output) (bytes int64) {
		for hash, size := range o.hashes {
			if users[hash] == 1 {
				bytes += size
			}
		}
		return bytes
	}
	remove := func(o *output, reason string) {
		o.Reason, o.Bytes = reason, ownBytes(o)
		for hash := range o.hashes {
			users[hash]--
		}
		total -= o.Bytes
		p.Artifacts = append(p.Artifacts, o.Artifact)
	}
	for _, o := range all {
		_, known := p.usage.Threads[o.Thread] // not if it was deleted, or if a removal was cut off
		if (p.gone[o.Thread] || o.ofThread && !known) && len(o.named) == 0 {
			remove(o, WithThread)
		}
	}
	for _, o := range all {
		if o.Reason != "" {
			continue
		}
		reason := ""
		switch age := p.now.Sub(o.Used); {
		case p.limits.ArtifactAge > 0 && age > p.limits.ArtifactAge:
			reason = TooOld
		case p.limits.ArtifactBytes > 0 && total > p.limits.ArtifactBytes && age > young:
			reason = TooMuch
		default:
			continue
		}
		if o.need != "" {
			p.Kept = append(p.Kept, Kept{o.ID, o.Name, o.Used, ownBytes(o), o.need})
			continue
		}
		remove(o, reason)
	}
}

// namingThreads returns the threads that name each artifact, in order, without those that
// are gone.
func namingThreads(usage *store.Usage, gone map[string]bool) map[string][]string {
	names := map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(usage.Threads)) {
		if gone[id] {
			continue
		}
		for a := range usage.Threads[id].Artifacts {
			names[a] = append(names[a], id)
		}
	}
	return names
}

func (p *planner) newOutput(id string, versions []artifact.Meta, named []string) *output {
	newest := versions[0]
	o := &output{
		Artifact: Artifact{ID: id, Name: newest.Name, Owner: newest.Owner, Thread: newest.Thread, Used: newest.CreatedAt, named: named},
		ofThread: newest.OfThread(), hashes: map[string]int64{},
	}
	for _, m := range versions {
		o.hashes[m.Hash] = m.Bytes
		if m.Lineage != nil && m.Lineage.Run != "" {
			for _, t := range p.usage.Threads {
				if slices.Contains(t.Kept, m.Lineage.Run) {
					o.need = "the run " + m.Lineage.Run + " is kept"
				}
			}
		}
	}
	for _, name := range named {
		t := p.usage.Threads[name]
		if t.Updated.After(o.Used) {
			o.Used = t.Updated
		}
		switch {
		case len(t.Kept) > 0:
			o.need = fmt.Sprintf("the run %s of the thread %s is kept", strings.Join(t.Kept, ", "), name)
		case t.Held || t.Status == store.Running || t.Status == store.Waiting:
			o.need = fmt.Sprintf("a turn of the thread %s runs or waits", name)
		}
	}
	return o
}
