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
		return store.Run{}, fault.New(fault.RunNotFound, "there is no run %q", clip(id, 60))
	}
	about(ctx, r.Thread, id)
	return r, err
}

// A directRun asks for one query without a model.
type directRun struct {
	Dataset string          `json:"dataset_id" minLength:"1" maxLength:"200"`
	Type    string          `json:"query_type" enum:"sql,plan,python"`
	SQL     string          `json:"sql,omitempty"`
	Plan    json.RawMessage `json:"plan,omitempty" doc:"A query plan"`
	Python  string          `json:"python_code,omitempty"`
}

// call gives the tool that runs this type of query, and its arguments.
func (d directRun) call() (tool string, args map[string]any, err error) {
	var name string
	var value any
	var given bool
	switch d.Type {
	case "sql":
		tool, name, value, given = "execute_sql", "sql", d.SQL, d.SQL != ""
	case "plan":
		tool, name, value, given = "execute_query_plan", "plan", d.Plan, !isNull(d.Plan)
	case "python":
		tool, name, value, given = "execute_python", "python_code", d.Python, d.Python != ""
	}
	if !given {
		return "", nil, badRequest("query_type %s needs %s", d.Type, name)
	}
	return tool, map[string]any{"dataset_id": d.Dataset, name: value}, nil
}

func (s *Server) directRun(ctx context.Context, in *struct{ Body directRun }) (ChatResponse, error) {
	tool, args, err := in.Body.call()
	if err != nil {
		return ChatResponse{}, err
	}
	if err := s.knowsDataset(ctx, in.Body.Dataset); err != nil {
		return ChatResponse{}, err
	}
	user := noteOf(ctx).user.Name
	thread, run, err := s.cfg.Engine.Direct(ctx, engine.Opening{
		Machine: s.cfg.Machine, Owner: user, Dataset: in.Body.Dataset, Title: "Direct run: " + in.Body.Type,
	}, user, tool, encode(args))
	if err != nil {
		return ChatResponse{}, err
	}
	about(ctx, thread, run)
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
