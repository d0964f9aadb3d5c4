package server

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"interlock/internal/audit"
	"interlock/internal/fault"
)

// Audit keeps who did what.
type Audit interface {
	RecordAction(ctx context.Context, e audit.Entry) error
	// LastActions gives the newest records before a number, the newest first; 0 is the end.
	LastActions(ctx context.Context, before int64, limit int) ([]audit.Record, error)
	// VerifyActions checks that nothing was changed, up to heads that were kept elsewhere.
	VerifyActions(ctx context.Context, kept ...audit.Head) (audit.Verification, error)
}

// storedTurns are the routes whose turns the store records itself, in the batch that begins
// them; so it does forks, names and removals of threads.
var storedTurns = []string{
	"POST /chat", "POST /chat/stream", "POST /api/chat", "POST /api/turns", "POST /runs", "POST /v1/chat/completions",
	"POST /api/threads/{id}/fork", "PATCH /api/threads/{id}", "DELETE /api/threads/{id}",
}

// An auditable request says what it is about, where its path does not.
type auditable interface{ auditObject() string }

func (s SourceSpec) auditObject() string { return s.Alias } // the address may hold a password
func (e Export) auditObject() string     { return e.Dataset + " as " + e.Format }
func (l LocalChoice) auditObject() string {
	return l.Model + " of " + l.URL
}

// actions records what users ask for; nil records nothing.
type actions struct {
	log Audit
	now func() time.Time

	mu      sync.Mutex
	refused map[string]*refusals // by who was refused
}

type refusals struct {
	told  time.Time
	since int // that were not told
}

const (
	// tellRefusals is how often the refusals of one caller are recorded: strangers must not
	// be able to fill the disk.
	tellRefusals = time.Minute
	maxRefused   = 1000
)

func newActions(log Audit) *actions {
	if log == nil {
		return nil
	}
	return &actions{log: log, now: time.Now, refused: map[string]*refusals{}}
}

// begin records what somebody asks for before it is done. What cannot be recorded is not done.
func (a *actions) begin(ctx context.Context, route string, in any) error {
	if a == nil || slices.Contains(storedTurns, route) {
		return nil
	}
	return a.log.RecordAction(ctx, entryOf(ctx, route, in))
}

// upload records the name of a file of a form.
func (a *actions) upload(ctx context.Context, file string) error {
	if a == nil {
		return nil
	}
	return a.log.RecordAction(ctx, audit.Entry{Action: "upload a file", Object: noteOf(ctx).path, Detail: file})
}

// fail records that what was begun was not done.
func (a *actions) fail(ctx context.Context, route string, in any, err error) {
	if a == nil || slices.Contains(storedTurns, route) {
		return
	}
	e := entryOf(ctx, route, in)
	e.Detail = "failed: " + string(problemOf(ctx, err).Code)
	_ = a.log.RecordAction(context.WithoutCancel(ctx), e) // the client is told of the failure itself
}

// refuse records that somebody may not do what they asked for, at most once a minute.
func (a *actions) refuse(ctx context.Context, who string, e audit.Entry) {
	if a == nil {
		return
	}
	a.mu.Lock()
	r := a.refused[who]
	if r == nil {
		if len(a.refused) >= maxRefused {
			clear(a.refused)
		}
		r = &refusals{}
		a.refused[who] = r
	}
	now := a.now()
	if now.Sub(r.told) < tellRefusals {
		r.since++
		a.mu.Unlock()
		return
	}
	if r.since > 0 {
		e.Detail += fmt.Sprintf("; %d more before", r.since)
	}
	r.told, r.since = now, 0
	a.mu.Unlock()
	_ = a.log.RecordAction(context.WithoutCancel(ctx), e)
}

func entryOf(ctx context.Context, route string, in any) audit.Entry {
	e := audit.Entry{Action: route, Object: noteOf(ctx).path}
	if v := reflect.ValueOf(in); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		if body := v.Elem().FieldByName("Body"); body.IsValid() {
			if about, ok := body.Interface().(auditable); ok && about.auditObject() != "" {
				e.Object += ": " + about.auditObject()
			}
		}
	}
	return e
}

// recordStranger records that somebody used a token that is none.
func (s *Server) recordStranger(r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		ip := remoteIP(r)
		s.actions.refuse(r.Context(), "address "+ip, audit.Entry{Action: "use a token", Object: ip, Detail: "refused: " + string(fault.Unauthorized)})
	}
}

type actionList struct {
	Entries []ActionLine `json:"entries" doc:"The newest first"`
}

// An ActionLine is an entry with its seal. huma reads an embedded struct only if it is exported.
type ActionLine struct {
	audit.Entry
	Hash string `json:"hash" doc:"Of this entry and the hash of the one before it"`
}

func (s *Server) auditEntries(ctx context.Context, in *struct {
	Before int64 `query:"before" minimum:"0" doc:"Only entries before this number"`
	Limit  int   `query:"limit" default:"50" doc:"Clamped to 1..200"`
},
) (actionList, error) {
	records, err := s.cfg.Audit.LastActions(ctx, in.Before, clamp(in.Limit))
	out := actionList{[]ActionLine{}}
	for _, r := range records {
		e, _ := r.Entry() // one that cannot be read shows as empty; the verification finds it
		e.Seq = r.Seq
		out.Entries = append(out.Entries, ActionLine{e, r.Hash})
	}
	return out, err
}

func (s *Server) verifyAudit(ctx context.Context, in *struct {
	Head string `query:"head" maxLength:"200" doc:"number:hash of an entry that was the last one, kept elsewhere"`
},
) (audit.Verification, error) {
	if in.Head == "" {
		return s.cfg.Audit.VerifyActions(ctx)
	}
	head, err := audit.ParseHead(in.Head)
	if err != nil {
		return audit.Verification{}, err
	}
	return s.cfg.Audit.VerifyActions(ctx, head)
}
