package server

import (
	"context"
	"slices"
	"time"

	"interlock/internal/fault"
)

type health struct {
	Status string `json:"status"`
}

func (s *Server) healthz(context.Context, *none) (health, error) { return health{"ok"}, nil }

type readiness struct {
	Status string `json:"status" enum:"ok,degraded,failed"`
	Parts  []Part `json:"parts"`
}

// readyFor is how long a look at the parts is good for: looking costs something, and
// nobody is kept from asking.
const readyFor = time.Second

func (s *Server) readyz(ctx context.Context, _ *none) (readiness, error) {
	s.readyMu.Lock()
	if s.readyAt.IsZero() || time.Since(s.readyAt) > readyFor {
		s.ready, s.readyAt = s.checkParts(ctx), time.Now()
	}
	out := s.ready
	s.readyMu.Unlock()
	if out.Status == "failed" {
		p := problemOf(ctx, fault.New(fault.Unavailable, "a part that is needed does not work"))
		p.Details = out
		return out, p
	}
	return out, nil
}

// checkParts asks the parts how they are.
func (s *Server) checkParts(ctx context.Context) readiness {
	out := readiness{"ok", []Part{}}
	if s.cfg.Ready != nil {
		out.Parts = orEmpty(s.cfg.Ready(context.WithoutCancel(ctx)))
	}
	for _, worst := range []string{"failed", "degraded"} {
		if slices.ContainsFunc(out.Parts, func(p Part) bool { return p.Status == worst }) {
			out.Status = worst
			break
		}
	}
	return out
}

type whoami struct {
	User  string `json:"user"`
	Role  Role   `json:"role"`
	Token bool   `json:"token_required"`
}

func (s *Server) me(ctx context.Context, _ *none) (whoami, error) {
	u := noteOf(ctx).user
	return whoami{u.Name, u.Role, len(s.users.known) > 0}, nil
}

type codeList struct {
	Codes []codeRow `json:"codes"`
}

type codeRow struct {
	Code    fault.Code `json:"code"`
	Meaning string     `json:"meaning"`
	Status  int        `json:"status" doc:"HTTP"`
	Hint    string     `json:"hint,omitempty" doc:"Told to the model"`
	Advice  string     `json:"advice,omitempty" doc:"Told to the person"`
	Curable bool       `json:"curable"`
}

func (s *Server) codes(context.Context, *none) (codeList, error) {
	var out codeList
	for _, e := range fault.Table() {
		out.Codes = append(out.Codes, codeRow(e))
	}
	return out, nil
}
