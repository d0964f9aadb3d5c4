package server

import (
	"context"
	"encoding/json"
	"errors"

	"interlock/internal/engine"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// ownRun gives a run of the calling user; those of others do not exist.
func (s *Server) ownRun(ctx context.Context, id string) (store.Run, error) {
	r, err := s.cfg.Index.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && r.Owner != noteOf(ctx).user.Name {
		return store.Run{}, fault.New(fault.RunNotFound, "there is no run %q", truncate(id, 60))
	}
	noteThread(ctx, r.Thread, id)
	return r, err
}

// A DirectType is a kind of query that runs without a model.
type DirectType string

// The types of direct runs, as POST /runs names them.
const (
	DirectSQL    DirectType = "sql"
	DirectPlan   DirectType = "plan"
	DirectPython DirectType = "python"
)

// A DirectTool is the tool of a direct run: Query and Dataset name the arguments that
// take the query and the dataset.
type DirectTool struct{ Tool, Query, Dataset string }

// A directRun asks for one query without a model.
type directRun struct {
	Dataset string          `json:"dataset_id" minLength:"1" maxLength:"200"`
	Type    DirectType      `json:"query_type" enum:"sql,plan,python"`
	SQL     string          `json:"sql,omitempty"`
	Plan    json.RawMessage `json:"plan,omitempty" doc:"A query plan"`
	Python  string          `json:"python_code,omitempty"`
}

// query gives what is to run, as JSON, from the key of the body that has it.
func (d directRun) query() (json.RawMessage, error) {
	key, query := "", json.RawMessage(nil)
	text := func(name, text string) {
		if key = name; text != "" {
			query = encode(text)
		}
	}
	switch d.Type {
	case DirectSQL:
		text("sql", d.SQL)
	case DirectPlan:
		key, query = "plan", d.Plan
	case DirectPython:
		text("python_code", d.Python)
	}
	if isNull(query) {
		return nil, badRequest("query_type %s needs %s", d.Type, key)
	}
	return query, nil
}

func (s *Server) directRun(ctx context.Context, in *struct{ Body directRun }) (ChatResponse, error) {
	query, err := in.Body.query()
	if err != nil {
		return ChatResponse{}, err
	}
	tool, ok := s.cfg.Direct[in.Body.Type]
	if !ok {
		return ChatResponse{}, fault.New(fault.FeatureDisabled, "this server runs no query of the type %s without a model", in.Body.Type)
	}
	if err := s.knowsDataset(ctx, in.Body.Dataset); err != nil {
		return ChatResponse{}, err
	}
	user := noteOf(ctx).user.Name
	thread, run, err := s.cfg.Engine.Direct(ctx, engine.Opening{
		Machine: s.cfg.Machine, Owner: user, Dataset: in.Body.Dataset, Title: "Direct run: " + string(in.Body.Type),
	}, user, tool.Tool, encode(map[string]any{tool.Dataset: in.Body.Dataset, tool.Query: query}))
	if err != nil {
		return ChatResponse{}, err
	}
	noteThread(ctx, thread, run)
	return s.answer(ctx, thread, run)
}

type runList struct {
	Runs []store.Run `json:"runs"`
}

func (s *Server) runs(ctx context.Context, in *struct {
	Listing
	Thread string `query:"thread_id"`
},
) (runList, error) {
	q := in.query(ctx)
	q.Thread = in.Thread
	rs, err := s.cfg.Index.Runs(ctx, q)
	return runList{orEmpty(rs)}, err
}

type runPath struct {
	ID string `path:"id" maxLength:"200"`
}

func (s *Server) capsule(ctx context.Context, in *runPath) (any, error) {
	run, err := s.ownRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if s.cfg.Capsule == nil {
		return run, nil
	}
	return s.cfg.Capsule(ctx, in.ID)
}

func (s *Server) prompt(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	Call string `path:"call" maxLength:"200"`
},
) (any, error) {
	if _, err := s.ownRun(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.cfg.Prompt(ctx, in.ID, in.Call)
}

func (s *Server) replay(ctx context.Context, in *runPath) (any, error) {
	if _, err := s.ownRun(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.cfg.Replay(ctx, in.ID)
}

type runState struct {
	Run    string `json:"run_id"`
	Status string `json:"status" doc:"As in the chat response; not_found for an unknown run"`
	// Outcome is absent for an unknown run.
	Outcome string `json:"outcome,omitempty" doc:"answered, asked, declined, refused, failed, stopped, limited, waiting or running"`
}

func (s *Server) runStatus(ctx context.Context, in *runPath) (runState, error) {
	if _, err := s.ownRun(ctx, in.ID); fault.Is(err, fault.RunNotFound) {
		return runState{Run: in.ID, Status: "not_found"}, nil
	} else if err != nil {
		return runState{}, err
	}
	r, err := s.cfg.Engine.Reply(ctx, in.ID)
	return runState{in.ID, r.Status(), r.Outcome}, err
}
