package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/tool"
)

// Sessions keep the two sides of a reconciliation open between the calls of a thread, so
// that a person who decides about pairs does not wait until the rows are read again. A
// session that nobody uses is closed after a while, or as soon as its place is needed.
// What it holds is made of the sources: whoever finds none opens it anew.
type Sessions struct {
	max  int // fixed at creation
	idle time.Duration

	mu      sync.Mutex
	kept    map[string]*session // by thread; none of them is in use
	opening int                 // calls that wait for a place
	closed  bool
}

// A SessionsConfig bounds Sessions. Zero fields are the defaults given.
type SessionsConfig struct {
	Max  int           // sessions that are kept; 1
	Idle time.Duration // after which one is closed; 5 min
}

// NewSessions makes Sessions. Close ends them.
func NewSessions(c SessionsConfig) *Sessions {
	s := &Sessions{max: max(1, c.Max), idle: c.Idle, kept: map[string]*session{}}
	if s.idle == 0 {
		s.idle = 5 * time.Minute
	}
	return s
}

// take gives a thread the session that it left, if it is about the same rows. The caller
// closes it or gives it back.
func (k *Sessions) take(ctx context.Context, thread, rows string) *session {
	k.mu.Lock()
	s := k.kept[thread]
	delete(k.kept, thread)
	k.mu.Unlock()
	if s == nil {
		return nil
	}
	s.expiry.Stop()
	if s.rows != rows || s.waitTraining(ctx) != nil {
		s.close()
		return nil
	}
	return s
}

// giveBack keeps a session for the next call of its thread, unless its place is needed.
func (k *Sessions) giveBack(s *session) {
	k.mu.Lock()
	if k.closed || k.opening > 0 || len(k.kept) >= k.max || k.kept[s.thread] != nil {
		k.mu.Unlock()
		s.close()
		return
	}
	k.kept[s.thread], s.usedAt = s, time.Now()
	s.expiry = time.AfterFunc(k.idle, func() { k.expire(s) })
	k.mu.Unlock()
}

// expire closes a session that nobody has used.
func (k *Sessions) expire(s *session) {
	k.mu.Lock()
	unused := k.kept[s.thread] == s
	if unused {
		delete(k.kept, s.thread)
	}
	k.mu.Unlock()
	if unused {
		s.close()
	}
}

// makeRoom closes sessions that hold a place which a call needs: all of its owner, and so
// many others that one place is free. Until done is called none is kept.
func (k *Sessions) makeRoom(owner string) (done func()) {
	k.mu.Lock()
	k.opening++
	var unneeded, others []*session
	for _, s := range k.kept {
		if s.owner == owner {
			unneeded = append(unneeded, s)
		} else {
			others = append(others, s)
		}
	}
	if n := len(others) - k.max + 1; n > 0 { // those that were used longest ago
		slices.SortFunc(others, func(a, b *session) int { return a.usedAt.Compare(b.usedAt) })
		unneeded = append(unneeded, others[:n]...)
	}
	for _, s := range unneeded {
		delete(k.kept, s.thread)
	}
	k.mu.Unlock()
	for _, s := range unneeded {
		s.expiry.Stop()
		s.close()
	}
	return func() {
		k.mu.Lock()
		k.opening--
		k.mu.Unlock()
	}
}

// Close closes all sessions. A call that still runs closes its own.
func (k *Sessions) Close() error {
	k.mu.Lock()
	kept := k.kept
	k.kept, k.closed = map[string]*session{}, true
	k.mu.Unlock()
	for _, s := range kept {
		s.expiry.Stop()
		s.close()
	}
	return nil
}

// A training of a kept session runs while the person looks at a card.
type training struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // once done is closed
}

// proposalsAtOnce is how many pairs are chosen by one training, and staleAfter from how
// many decisions on another one is worth its time.
const (
	proposalsAtOnce = 12
	staleAfter      = 2
)

// decided is how many pairs the person has decided about.
func (s *session) decided() int {
	return len(s.input.Labels.Confirmed) + len(s.input.Labels.Rejected)
}

// trainAhead chooses the next pairs in the background, if the decisions since the last
// training are worth it.
func (s *session) trainAhead() {
	if s.proposals != nil && s.decided()-s.trainedOn < staleAfter {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	t := &training{cancel: cancel, done: make(chan struct{})}
	s.ahead, s.tell = t, func(string) {}
	go func() {
		defer close(t.done)
		t.err = s.chooseProposals(ctx)
	}()
}

// waitTraining waits until the training in the background is done. A session whose
// training failed is of no use: what is wrong is told by the call that opens the next one.
func (s *session) waitTraining(ctx context.Context) error {
	if s.ahead == nil {
		return nil
	}
	select {
	case <-s.ahead.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := s.ahead.err
	s.ahead.cancel()
	s.ahead = nil
	return err
}

func (s *session) chooseProposals(ctx context.Context) error {
	list, err := s.Proposals(ctx, s.input, proposalsAtOnce+len(s.unsure))
	if err != nil {
		return err
	}
	s.proposals, s.trainedOn = list, s.decided()
	return nil
}

// nextProposal is the pair whose answer teaches most among those that are not decided.
func (s *session) nextProposal(ctx context.Context) (*recon.Proposal, error) {
	fresh := func(p recon.Proposal) bool { return !s.asked(p.Pair) }
	if !slices.ContainsFunc(s.proposals, fresh) {
		if err := s.chooseProposals(ctx); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(s.proposals, fresh)
	if i < 0 {
		return nil, fault.New(fault.CannotAnswer, "There is no further pair to ask about.")
	}
	return &s.proposals[i], nil
}

// close ends the session and what it does in the background.
func (s *session) close() {
	if s.ahead != nil {
		s.ahead.cancel()
		<-s.ahead.done
	}
	_ = s.space.Close()
}

// finish ends a call: the session is kept for the next one of the thread, or closed where
// the call failed.
func (b box) finish(s *session, err error) {
	if b.Sessions == nil || s.thread == "" || err != nil {
		s.close()
		return
	}
	b.Sessions.giveBack(s)
}

// rowsOf says which rows the sides are, and of which version where their source has one.
func (b box) rowsOf(ctx context.Context, sides []SideRows, keys [2]string) (string, error) {
	version, err := b.Workspaces.Version(ctx, sides)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal([]any{sides, keys, version})
	if err != nil {
		return "", fmt.Errorf("naming the rows of a session: %w", err)
	}
	return string(raw), nil
}

// keptSession is openSession with the session that the thread left, if there is one. The
// caller ends it with finish.
func (b box) keptSession(ctx context.Context, left, right ScopedSource, labels recon.Labels) (*session, error) {
	thread := tool.In(ctx).Thread
	if b.Sessions == nil || b.Workspaces == nil || thread == "" {
		return b.openSession(ctx, left, right, labels)
	}
	sides, keys, err := scopedSides(left, right)
	if err != nil {
		return nil, err
	}
	rows, err := b.rowsOf(ctx, sides, keys)
	if err != nil {
		return nil, err
	}
	if s := b.Sessions.take(ctx, thread, rows); s != nil {
		s.input.Labels, s.tell = labels, tool.In(ctx).Progress
		return s, nil
	}
	s, err := b.newSession(ctx, sides, keys, labels)
	if err != nil {
		return nil, err
	}
	s.thread, s.rows, s.owner = thread, rows, tool.In(ctx).Owner
	return s, nil
}
