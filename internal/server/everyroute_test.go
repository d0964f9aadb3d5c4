package server_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"interlock/internal/server"
)

// A described route is a method and a path of the API description.
type describedRoute struct{ method, path string }

func describedRoutes(t *testing.T, r *rig, headers ...string) (out []describedRoute) {
	t.Helper()
	spec := get[struct {
		Paths map[string]map[string]json.RawMessage
	}](t, r, "GET", "/openapi.json", "", headers...)
	for path, methods := range spec.Paths {
		for method := range methods {
			out = append(out, describedRoute{strings.ToUpper(method), path})
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d routes are described", len(out))
	}
	return out
}

var pathParameter = regexp.MustCompile(`\{[a-z]+\}`)

// mustRefuse holds that a request is refused with a status below 500, its code and what to do.
func mustRefuse(t *testing.T, res *http.Response, text, what string) {
	t.Helper()
	if res.StatusCode < 400 || res.StatusCode >= 500 {
		t.Errorf("%s: %d %.200s", what, res.StatusCode, text)
		return
	}
	type told struct{ Code, Message, Detail, Suggestion string }
	var problem struct {
		told
		Error told
	}
	if err := json.Unmarshal([]byte(text), &problem); err != nil {
		t.Errorf("%s: %v in %.200s", what, err, text)
		return
	}
	whole := problem.Code != "" && problem.Detail != "" && problem.Suggestion != ""
	if strings.Contains(what, " /v1/") {
		whole = problem.Error.Code != "" && strings.HasSuffix(problem.Error.Message, ".")
	}
	if !whole || res.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s does not say what happened and what to do: %d %s", what, res.StatusCode, text)
	}
}

// Every route that is described, also one that is added later: strangers are refused, and so
// are ids and bodies that are none, with a code and a repair and never as a failure of the
// server's.
func TestEveryRoute(t *testing.T) {
	e := newDesk(t, 0)
	r := serve(t, e, func(cfg *server.Config) {
		withUsers(cfg)
		cfg.Audit = e.store
	})
	bob := "Authorization: Bearer " + bobToken
	ids := []string{"..", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "%00", "a%0d%0aX-Evil:%201", "%ff%fe", strings.Repeat("a", 3000), "t_none"}
	for _, route := range describedRoutes(t, r, bob) {
		what := route.method + " " + route.path
		if route.path != "/healthz" {
			for _, header := range []string{"X-None: 1", "Authorization: Bearer nope", "Authorization: Basic " + bobToken, "Authorization: " + bobToken, "Authorization: Bearer", "Cookie: token=" + bobToken} {
				res, text := r.do(t, route.method, pathParameter.ReplaceAllString(route.path, "x")+"?token="+bobToken, "{}", header)
				if res.StatusCode != http.StatusUnauthorized {
					t.Errorf("%s with %s: %d", what, header, res.StatusCode)
				}
				mustRefuse(t, res, text, what)
			}
		}
		if pathParameter.MatchString(route.path) && !slices.Contains(answersAnyID, what) {
			for _, id := range ids {
				path := pathParameter.ReplaceAllString(route.path, id)
				res, text := r.do(t, route.method, path, "{}", bob)
				if id == ".." && res.StatusCode == http.StatusMovedPermanently || res.StatusCode == http.StatusTemporaryRedirect {
					continue // to the path without it
				}
				mustRefuse(t, res, text, what+" of "+id[:min(len(id), 30)])
				if res.Header.Get("X-Evil") != "" || strings.Contains(text, "root:") {
					t.Errorf("%s of %s: %v %s", what, id, res.Header, text)
				}
			}
		}
		if route.method != "GET" && route.method != "DELETE" && !slices.Contains(needsNoBody, what) {
			for _, body := range []string{`{`, `[]`, `"x"`, `null`, strings.Repeat(`[`, 20_000), `{"message":{"a":` + strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000) + `}}`, "\x00\xff"} {
				res, text := r.do(t, route.method, pathParameter.ReplaceAllString(route.path, "x"), body, bob)
				mustRefuse(t, res, text, what+" with the body "+body[:min(len(body), 20)])
			}
		}
	}
}

var (
	// answersAnyID are routes for which an id that is unknown is no error.
	answersAnyID = []string{"GET /runs/{id}/status", "GET /api/sources/{alias}", "POST /api/sources/{alias}/load-scoped"}
	needsNoBody  = []string{"POST /api/threads/{id}/stop", "POST /api/runs/{id}/replay", "POST /api/sources/{alias}/refresh"}
)
