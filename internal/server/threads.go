package server

import (
	"context"
	"errors"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/store"
)

// ownThread gives a thread of the calling user; those of others do not exist.
func (s *Server) ownThread(ctx context.Context, id string) (store.Thread, error) {
	t, err := s.cfg.Index.Thread(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && t.Owner != noteOf(ctx).user.Name {
		return store.Thread{}, fault.New(fault.ThreadNotFound, "there is no thread %q", truncate(id, 60))
	}
	noteThread(ctx, id, "")
	return t, err
}

type threadPath struct {
	ID string `path:"id" maxLength:"200"`
}

// A Listing narrows a list. huma reads an embedded struct only if it is exported.
type Listing struct {
	Limit   int    `query:"limit" default:"50" doc:"Clamped to 1..200"`
	Machine string `query:"machine"`
	Status  string `query:"status"`
	Text    string `query:"q" doc:"Part of the title or question"`
}

func (l Listing) query(ctx context.Context) store.Query {
	return store.Query{Owner: noteOf(ctx).user.Name, Machine: l.Machine, Status: l.Status, Text: l.Text, Limit: clamp(l.Limit)}
}

func clamp(limit int) int { return min(max(limit, 1), 200) }

type threadList struct {
	Threads []store.Thread `json:"threads"`
}

func (s *Server) threads(ctx context.Context, in *Listing) (threadList, error) {
	ts, err := s.cfg.Index.Threads(ctx, in.query(ctx))
	return threadList{orEmpty(ts)}, err
}

// A threadView is a thread as it stands.
type threadView struct {
	store.Thread
	Settings  map[string]any       `json:"settings"`
	Facts     map[string]any       `json:"facts"`
	Data      map[string]any       `json:"data" doc:"What the present state is about"`
	Card      *cardData            `json:"card"`
	Offered   []string             `json:"offered" doc:"Tools that the state offers now"`
	Denied    []event.Denial       `json:"denied" doc:"Tools it names but does not offer, and why"`
	Commands  []engine.CommandView `json:"commands"`
	Messages  []engine.Message     `json:"messages"`
	Artifacts []event.ArtifactMade `json:"artifacts"`
	Tainted   bool                 `json:"tainted" doc:"Text from data has been in a prompt"`
}

func (s *Server) thread(ctx context.Context, in *threadPath) (threadView, error) {
	if _, err := s.ownThread(ctx, in.ID); err != nil {
		return threadView{}, err
	}
	v, err := s.cfg.Engine.View(ctx, in.ID)
	if err != nil {
		return threadView{}, err
	}
	return threadView{
		Thread: v.Thread, Settings: orEmptyMap(v.Settings), Facts: orEmptyMap(v.Facts), Data: orEmptyMap(v.Data), Card: cardOf(v.Card), Offered: orEmpty(v.Offered),
		Denied: orEmpty(v.Denied), Commands: orEmpty(v.Commands), Messages: orEmpty(v.Messages), Artifacts: orEmpty(v.Artifacts), Tainted: v.Tainted,
	}, nil
}

// compareThreads compares two threads of the calling user, such as a fork and its parent.
func (s *Server) compareThreads(ctx context.Context, in *struct {
	ID    string `path:"id" maxLength:"200"`
	Other string `path:"other" maxLength:"200"`
},
) (any, error) {
	for _, id := range []string{in.ID, in.Other} {
		if _, err := s.ownThread(ctx, id); err != nil {
			return nil, err
		}
	}
	return s.cfg.CompareThreads(ctx, in.ID, in.Other)
}

type messageList struct {
	Thread   string           `json:"thread_id"`
	Messages []engine.Message `json:"messages"`
}

func (s *Server) messages(ctx context.Context, in *struct {
	ID    string `path:"id" maxLength:"200"`
	Limit int    `query:"limit" default:"50" doc:"Clamped to 1..200"`
},
) (messageList, error) {
	if _, err := s.ownThread(ctx, in.ID); err != nil {
		return messageList{}, err
	}
	ms, err := s.cfg.Engine.Messages(ctx, in.ID, clamp(in.Limit))
	return messageList{in.ID, orEmpty(ms)}, err
}

type threadStatus struct {
	Thread string `json:"thread_id"`
	Status string `json:"status"`
}

func (s *Server) stop(ctx context.Context, in *threadPath) (threadStatus, error) {
	if _, err := s.ownThread(ctx, in.ID); err != nil {
		return threadStatus{}, err
	}
	if err := s.cfg.Engine.Stop(ctx, in.ID); err != nil {
		return threadStatus{}, err
	}
	t, err := s.cfg.Index.Thread(ctx, in.ID)
	return threadStatus{in.ID, t.Status}, err
}

func (s *Server) renameThread(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	Body struct {
		Title string `json:"title" minLength:"1" maxLength:"200"`
	}
},
) (store.Thread, error) {
	if _, err := s.ownThread(ctx, in.ID); err != nil {
		return store.Thread{}, err
	}
	if err := s.cfg.Engine.Rename(ctx, in.ID, in.Body.Title, noteOf(ctx).user.Name); err != nil {
		return store.Thread{}, err
	}
	return s.cfg.Index.Thread(ctx, in.ID)
}

type deletedThread struct {
	Thread  string `json:"thread_id"`
	Deleted bool   `json:"deleted"`
}

func (s *Server) deleteThread(ctx context.Context, in *threadPath) (deletedThread, error) {
	if _, err := s.ownThread(ctx, in.ID); err != nil {
		return deletedThread{}, err
	}
	if err := s.cfg.DeleteThread(ctx, in.ID); err != nil {
		return deletedThread{}, err
	}
	return deletedThread{in.ID, true}, nil
}

type forkPoint struct {
	Seq int64 `json:"seq" minimum:"1" doc:"The last event that both threads share"`
}

type forked struct {
	Thread string `json:"thread_id"`
}

func (s *Server) fork(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	Body forkPoint
},
) (forked, error) {
	if _, err := s.ownThread(ctx, in.ID); err != nil {
		return forked{}, err
	}
	id, err := s.cfg.Engine.Fork(ctx, in.ID, in.Body.Seq, noteOf(ctx).user.Name)
	return forked{id}, err
}

// consideredList holds the moves out of a state, in the order in which they are tried.
type consideredList struct {
	Moves []machine.Considered `json:"moves"`
}

func (s *Server) consideredMoves(ctx context.Context, in *struct {
	ID  string `path:"id" maxLength:"200"`
	Seq int64  `path:"seq" minimum:"1" doc:"The event that entered the state"`
},
) (consideredList, error) {
	if _, err := s.ownThread(ctx, in.ID); err != nil {
		return consideredList{}, err
	}
	moves, err := s.cfg.Engine.Considered(ctx, in.ID, in.Seq)
	return consideredList{orEmpty(moves)}, err
}

// orEmpty makes a list that is written [] rather than null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// orEmptyMap makes an object that is written {} rather than null.
func orEmptyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
