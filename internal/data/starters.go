package data

import (
	"context"
	"slices"
	"sync"
	"time"

	"interlock/internal/schema"
	"interlock/internal/toolbox"
)

// Bounds of trying questions.
const (
	waitForStarters = 2 * time.Second // of a client that lists datasets once
	tryStarters     = time.Minute     // of one dataset
	keepStarters    = 256             // versions of datasets
)

// StartersConfig is what Starters need.
type StartersConfig struct {
	Knowledge *toolbox.Knowledge
	// KeepDeclared keeps the questions that a dataset declares even if the built-in planner
	// cannot answer them: another model is in use, and trying them with it would cost money.
	KeepDeclared bool
}

// Starters knows the questions to begin with of each dataset. It tries them before it shows
// them, one dataset at a time and once a version of its data, in goroutines that end with the context of NewStarters.
// It is safe for concurrent use.
type Starters struct {
	config StartersConfig
	life   context.Context // trying goes on after the request that began it
	turn   chan struct{}   // one dataset at a time

	mu        sync.Mutex
	byVersion map[string]*triedStarters
	order     []string
}

// triedStarters are the questions of one version of a dataset; they may be read once done is closed.
type triedStarters struct {
	done      chan struct{}
	questions []string
}

// NewStarters makes one that has tried nothing yet.
func NewStarters(life context.Context, c StartersConfig) *Starters {
	return &Starters{config: c, life: life, turn: make(chan struct{}, 1), byVersion: map[string]*triedStarters{}}
}

// fill puts the questions that were tried in place of those declared. It waits for them that
// long; a dataset that takes longer has none until the next time. Rows that stay in their database
// are not queried for it.
func (s *Starters) fill(ctx context.Context, list []schema.Dataset, wait time.Duration) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tried := make([]*triedStarters, len(list))
	for i, d := range list {
		if d.Dialect == "" {
			tried[i] = s.begin(d)
		}
	}
	for i, t := range tried {
		if t == nil || s.config.KeepDeclared && len(list[i].Prompts) > 0 {
			continue
		}
		list[i].Prompts = t.await(ctx)
	}
}

// await gives the questions, or none if they are not known when the context ends.
func (t *triedStarters) await(ctx context.Context) []string {
	select {
	case <-t.done:
		return slices.Clone(t.questions)
	default:
	}
	select {
	case <-t.done:
		return slices.Clone(t.questions)
	case <-ctx.Done():
		return nil
	}
}

// begin tries the questions of a dataset, unless that has begun already.
func (s *Starters) begin(d schema.Dataset) *triedStarters {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := d.ID + "\x00" + d.Version
	if t := s.byVersion[key]; t != nil {
		return t
	}
	t := &triedStarters{done: make(chan struct{})}
	s.byVersion[key] = t
	s.order = append(s.order, key)
	if len(s.order) > keepStarters {
		delete(s.byVersion, s.order[0])
		s.order = slices.Clone(s.order[1:])
	}
	go func() {
		defer close(t.done)
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
		case <-s.life.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.life, tryStarters)
		defer cancel()
		t.questions, _ = s.config.Knowledge.Starters(ctx, d.ID) // what cannot be read is a problem of the dataset
	}()
	return t
}
