package server

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"interlock/internal/fault"
)

// A Problem is an error as RFC 9457 tells it, with the stable code of the fault table.
type Problem struct {
	Type       string     `json:"type" doc:"Always about:blank; the code says more"`
	Title      string     `json:"title" doc:"What the code means"`
	Status     int        `json:"status"`
	Detail     string     `json:"detail" doc:"What happened here"`
	Code       fault.Code `json:"code" doc:"A code of /api/codes"`
	Suggestion string     `json:"suggestion,omitempty" doc:"What to do about it"`
	RequestID  string     `json:"request_id,omitempty" doc:"Under which the server's log tells more"`
	Errors     []Trouble  `json:"errors,omitempty" doc:"Each wrong part of a request"`
	Details    any        `json:"details,omitempty" doc:"Data of this code"`

	wait     time.Duration // before another attempt, where the status speaks of one
	asOpenAI bool          // it is written as OpenAI's API writes errors
}

// A Trouble is one wrong part of a request.
type Trouble struct {
	Location string `json:"location,omitempty"`
	Message  string `json:"message"`
}

func (p *Problem) Error() string  { return string(p.Code) + ": " + p.Detail }
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of RFC 9457, or of OpenAI's errors.
func (p *Problem) ContentType(string) string {
	if p.asOpenAI {
		return "application/json"
	}
	return "application/problem+json"
}

// GetHeaders adds what a status demands.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	switch p.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(max(p.wait.Seconds(), 1)))))
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="interlock"`)
	}
	return h
}

// problemOf is the one map from errors to HTTP. A 5xx shows nothing of its cause:
// the log has it, under the request id.
func problemOf(ctx context.Context, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	f := faultOf(ctx, err)
	entry := f.Code.Entry()
	p := &Problem{
		Type: "about:blank", Title: entry.Meaning, Status: entry.Status, Detail: f.Message,
		Code: f.Code, Suggestion: f.Suggestion, RequestID: noteOf(ctx).id, Details: f.Details,
		asOpenAI: noteOf(ctx).openAI,
	}
	switch {
	case p.Status < 400: // a reason, not an error; as an error it means "not now"
		p.Status = http.StatusConflict
	case p.Status >= 500:
		p.Detail, p.Suggestion, p.Details = entry.Meaning, entry.Advice, nil
	}
	return p
}

func faultOf(ctx context.Context, err error) *fault.Fault {
	f, ok := errors.AsType[*fault.Fault](err)
	switch {
	case ok:
		return f
	case errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errShuttingDown):
		return fault.Wrap(err, fault.ShuttingDown, "the server is shutting down")
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return fault.Wrap(err, fault.Unavailable, "the request ended before its answer")
	}
	return fault.From(err)
}

// badRequest is the commonest problem.
func badRequest(format string, args ...any) *fault.Fault {
	return fault.New(fault.BadRequest, format, args...)
}

// writeProblem answers a request outside huma.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	noteOf(r.Context()).err = err
	p := problemOf(r.Context(), err)
	for k, v := range p.GetHeaders() {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// plainContext lets problemFromHuma change the status that huma chose.
type plainContext struct {
	inner
	status int
}

type inner = huma.Context // a field named Context would hide the method

func (c *plainContext) Unwrap() huma.Context { return c.inner }

func (c *plainContext) SetStatus(code int) {
	if c.status != 0 {
		code = c.status
	}
	c.inner.SetStatus(code)
}

func withPlainContext(ctx huma.Context, next func(huma.Context)) {
	next(&plainContext{inner: ctx})
}

// problemFromHuma turns huma's own errors, which are all about the request, into problems.
// What the client sent is not echoed.
func problemFromHuma(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	var f *fault.Fault
	status := http.StatusBadRequest
	switch m.Status {
	case http.StatusRequestEntityTooLarge:
		f, status = fault.New(fault.TooLarge, "the request's body is too large"), m.Status
	case http.StatusRequestTimeout:
		f, status = badRequest("the request's body did not arrive in time"), m.Status
	case http.StatusUnsupportedMediaType:
		f, status = badRequest("the body must be application/json"), m.Status
	case http.StatusInternalServerError:
		f = badRequest("the request's body could not be read")
	default:
		f = badRequest("the request does not fit its schema")
	}
	p := problemOf(ctx.Context(), f)
	p.Status = status
	for _, e := range m.Errors {
		if e != nil && m.Status != http.StatusInternalServerError {
			p.Errors = append(p.Errors, Trouble{e.Location, plainTrouble(e.Message)})
		}
	}
	if len(p.Errors) > 0 {
		p.Detail += ": " + strings.TrimPrefix(p.Errors[0].Location+": "+p.Errors[0].Message, ": ")
	}
	noteOf(ctx.Context()).err = f
	ctx.SetHeader("Content-Type", p.ContentType(""))
	if c, ok := ctx.(*plainContext); ok {
		c.status = status
	}
	return p, nil
}

// plainTrouble tells what a decoder says of a text that is no JSON in words of ours.
func plainTrouble(text string) string {
	for _, word := range []string{"invalid character", "unexpected end of JSON", "unexpected EOF"} {
		if strings.HasPrefix(text, word) {
			return "it is no JSON, or not all of it came"
		}
	}
	return text
}

// unrouted tells the mux's own refusals (no such path, wrong method) as problems.
func unrouted(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		said := &statusOnly{header: http.Header{}}
		h.ServeHTTP(said, r)
		if said.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", said.header.Get("Allow"))
			p := problemOf(r.Context(), badRequest("%s takes %s, not %s", r.URL.Path, said.header.Get("Allow"), r.Method))
			p.Status = said.status
			writeProblem(w, r, p)
			return
		}
		writeProblem(w, r, fault.New(fault.NotFound, "there is no route %s", strconv.Quote(r.URL.Path)).
			Suggest("See /openapi.json for the routes."))
	})
}

// statusOnly keeps what a handler would have said about itself.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header { return s.header }
func (s *statusOnly) WriteHeader(c int)   { s.status = c }
func (s *statusOnly) Write(b []byte) (int, error) {
	return len(b), nil
}
