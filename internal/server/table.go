package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"interlock/internal/audit"
	"interlock/internal/fault"
)

// A table collects routes in the mux and in the API description.
type table struct {
	mux       *http.ServeMux
	api       huma.API
	actions   *actions
	bodyBytes int64
	bodyTime  time.Duration
}

type output[T any] struct{ Body T }

// none is the input of routes that take nothing.
type none struct{}

// A request is what a handler needs of HTTP where typed input is not enough.
type request struct {
	w http.ResponseWriter
	r *http.Request
}

func get[I, O any](t *table, role Role, path, summary string, h func(context.Context, *I) (O, error)) {
	register(t, role, http.MethodGet, path, summary, h)
}

func post[I, O any](t *table, role Role, path, summary string, h func(context.Context, *I) (O, error)) {
	register(t, role, http.MethodPost, path, summary, h)
}

func patch[I, O any](t *table, role Role, path, summary string, h func(context.Context, *I) (O, error)) {
	register(t, role, http.MethodPatch, path, summary, h)
}

func put[I, O any](t *table, role Role, path, summary string, h func(context.Context, *I) (O, error)) {
	register(t, role, http.MethodPut, path, summary, h)
}

func remove[I, O any](t *table, role Role, path, summary string, h func(context.Context, *I) (O, error)) {
	register(t, role, http.MethodDelete, path, summary, h)
}

func register[I, O any](t *table, role Role, method, path, summary string, h func(context.Context, *I) (O, error)) {
	h = recorded(t, role, method, path, method != http.MethodGet, h)
	huma.Register(t.api, t.operation(method, path, summary), func(ctx context.Context, in *I) (*output[O], error) {
		body, err := h(ctx, in)
		if err != nil {
			return nil, asProblem(ctx, err)
		}
		return &output[O]{body}, nil
	})
}

// recorded lets those call a handler who have the role. What changes something or hands data
// out is recorded before it is done.
func recorded[I, O any](t *table, role Role, method, path string, record bool, h func(context.Context, *I) (O, error)) func(context.Context, *I) (O, error) {
	route := method + " " + path
	return func(ctx context.Context, in *I) (O, error) {
		var none O
		if err := requireRole(noteOf(ctx).user, role); err != nil {
			t.actions.refuse(ctx, "user "+noteOf(ctx).user.Name, audit.Entry{Action: route, Object: noteOf(ctx).path, Detail: "refused: " + string(fault.Forbidden)})
			return none, err
		}
		if !record {
			return h(ctx, in)
		}
		if err := t.actions.begin(ctx, route, in); err != nil {
			return none, err
		}
		out, err := h(ctx, in)
		if err != nil {
			t.actions.fail(ctx, route, in, err)
		}
		return out, err
	}
}

// stream registers a handler that follows a thread.
func stream[I any](t *table, role Role, method, path, summary string, h func(context.Context, *I) (func(request), error)) {
	raw(t, role, t.operation(method, path, summary), "text/event-stream", h)
}

// fileMedia is the type of routes that hand files out.
const fileMedia = "application/octet-stream"

// download registers a handler that sends a file.
func download[I any](t *table, role Role, method, path, summary string, h func(context.Context, *I) (func(request), error)) {
	raw(t, role, t.operation(method, path, summary), fileMedia, h)
}

// upload registers a handler that reads files from a form.
func upload[I any](t *table, role Role, path, summary string, h func(context.Context, *I) (func(request), error)) {
	raw(t, role, t.operation(http.MethodPost, path, summary), "application/json", h)
	// Only described: had huma known of it before, it would have read the form whole.
	t.api.OpenAPI().Paths[path].Post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
		Type:       huma.TypeObject,
		Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}},
	}}}}
}

// raw registers a handler that checks its input and then writes for itself.
func raw[I any](t *table, role Role, op huma.Operation, media string, h func(context.Context, *I) (func(request), error)) {
	op.Responses["200"] = &huma.Response{
		Description: "OK",
		Content:     map[string]*huma.MediaType{media: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
	h = recorded(t, role, op.Method, op.Path, op.Method != http.MethodGet || media == fileMedia, h)
	huma.Register(t.api, op, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		write, err := h(ctx, in)
		if err != nil {
			return nil, asProblem(ctx, err)
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			write(request{w, r})
		}}, nil
	})
}

// handle adds a handler that is no part of the API description.
func (t *table) handle(role Role, pattern string, h http.Handler) {
	t.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := requireRole(noteOf(r.Context()).user, role); err != nil {
			writeProblem(w, r, err)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (t *table) operation(method, path, summary string) huma.Operation {
	problem := t.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	return huma.Operation{
		OperationID: operationID(method, path), Method: method, Path: path, Summary: summary,
		MaxBodyBytes:    t.bodyBytes + 1, // huma refuses a body that reaches its limit
		BodyReadTimeout: t.bodyTime,
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem",
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: problem}},
		}},
	}
}

// operationID makes "get-runs-id-status" of GET /runs/{id}/status.
func operationID(method, path string) string {
	return strings.ToLower(method) + strings.NewReplacer("/", "-", "{", "", "}", "").Replace(path)
}

// asProblem notes the error for the log and gives huma the problem to write.
func asProblem(ctx context.Context, err error) error {
	noteOf(ctx).err = err
	return problemOf(ctx, err)
}

// schemaName names a type in the API description.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[chatShape]() {
		return "ChatResponse"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// describe serves the API description, made once from the routes.
func (t *table) describe(tokens bool) error {
	api := t.api.OpenAPI()
	for _, unused := range []string{"ErrorModel", "ErrorDetail"} { // huma's own, which problemFromHuma replaces
		delete(api.Components.Schemas.Map(), unused)
	}
	if tokens {
		api.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
		api.Security = []map[string][]string{{"token": {}}}
	}
	spec, err := json.MarshalIndent(api, "", "  ")
	if err != nil {
		return fmt.Errorf("describing the API: %w", err)
	}
	t.handle(Viewer, "GET /openapi.json", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(spec)
	}))
	return nil
}
