package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/server"
)

// shelf keeps what is uploaded, and one result.
type shelf struct {
	mu    sync.Mutex
	files map[string]string
}

func (s *shelf) Store(_ context.Context, f server.File, content io.Reader) (any, error) {
	text, err := io.ReadAll(content)
	if err != nil {
		return nil, fmt.Errorf("storing: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := f.Dataset + "/" + f.Name
	if _, there := s.files[key]; there && !f.Replace {
		return nil, fault.New(fault.Conflict, "there is a file %q", f.Name)
	}
	s.files[key] = string(text)
	return map[string]any{"file": f.Name, "bytes": len(text), "create": f.Create}, nil
}

func (s *shelf) Problems(_ context.Context, dataset string) ([]server.FileProblem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []server.FileProblem
	for key, text := range s.files {
		if name, ok := strings.CutPrefix(key, dataset+"/"); ok && text == "garbage" {
			out = append(out, server.FileProblem{File: name, Message: "It is no table."})
		}
	}
	return out, nil
}

func (s *shelf) Delete(_ context.Context, f server.File) error {
	dataset, name := f.Dataset, f.Name
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.files[dataset+"/"+name]; !there {
		return fault.New(fault.NotFound, "dataset %q has no file %q", dataset, name)
	}
	delete(s.files, dataset+"/"+name)
	return nil
}

func (*shelf) Export(_ context.Context, owner string, e server.Export) (string, error) {
	if strings.HasPrefix(e.SQL, "DROP") {
		return "", fault.New(fault.SQLPolicy, "only SELECT may run")
	}
	return map[string]string{localUser: "a_1", "ann": "a_ann"}[owner], nil
}

func (*shelf) Repeat(_ context.Context, owner string, x server.Repeat) (string, error) {
	if x.Call != "c_1" {
		return "", fault.New(fault.Conflict, "the data have changed").With(map[string]bool{"today": x.Today})
	}
	return map[string]string{localUser: "a_1", "ann": "a_ann"}[owner], nil
}

func (*shelf) Rows(_ context.Context, owner, id string, p server.Page) (any, error) {
	if owner != localUser {
		return nil, fault.New(fault.NotFound, "there is no artifact %q", id)
	}
	return map[string]any{"artifact_id": id, "offset": p.Offset, "limit": p.Limit, "sort": p.Sort, "down": p.Down, "find": p.Find}, nil
}

func startShelf(t *testing.T, change func(*server.Config)) (*rig, *shelf) {
	t.Helper()
	s := &shelf{files: map[string]string{}}
	return start(t, func(cfg *server.Config) {
		cfg.Files, cfg.Results = s, s
		cfg.Profile = func(_ context.Context, alias string) (any, error) {
			return map[string]any{"table": alias, "columns": []any{}}, nil
		}
		if change != nil {
			change(cfg)
		}
	}), s
}

// form makes the body of an upload and its content type.
func form(t *testing.T, files ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("note", "not a file"); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		part, err := w.CreateFormFile("file", files[i])
		if err == nil {
			_, err = io.WriteString(part, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

func TestResultsAndFiles(t *testing.T) {
	r, kept := startShelf(t, func(cfg *server.Config) { cfg.UploadBytes = 4 << 20 })
	two, of2 := form(t, "a.csv", "a\n1\n", "b.csv", "b\n2\n")
	again, ofAgain := form(t, "a.csv", "a\n9\n")
	none, ofNone := form(t)
	large, ofLarge := form(t, "large.csv", strings.Repeat("x", 3<<20)) // more than other bodies may have
	huge, ofHuge := form(t, "huge.csv", strings.Repeat("x", 5<<20))
	path, ofPath := form(t, "../../etc/cron.csv", "a\n1\n")
	const files = "/api/datasets/shop/files"
	for _, sc := range []scenario{
		{name: "two files", method: "POST", url: files, body: two, headers: []string{of2}, has: []string{`{"files":[{"bytes":4,"create":false,"file":"a.csv"},`, `"file":"b.csv"`}},
		{name: "a taken name", method: "POST", url: files, body: again, headers: []string{ofAgain}, status: 409, has: []string{`"code":"conflict"`}},
		{name: "replaced", method: "POST", url: files + "?replace=true&create=true", body: again, headers: []string{ofAgain}, has: []string{`"create":true`}},
		{name: "no file", method: "POST", url: files, body: none, headers: []string{ofNone}, status: 400, has: []string{"no file"}},
		{name: "no form", method: "POST", url: files, body: `{}`, status: 400, has: []string{"multipart/form-data"}},
		{name: "cut form", method: "POST", url: files, body: large[:1000], headers: []string{ofLarge}, status: 400, has: []string{"broke off"}},
		{name: "large", method: "POST", url: files, body: large, headers: []string{ofLarge}, has: []string{`"bytes":3145728`}},
		{name: "too large", method: "POST", url: files, body: huge, headers: []string{ofHuge}, status: 413, has: []string{`"code":"too_large"`}},
		{name: "a path", method: "POST", url: files, body: path, headers: []string{ofPath}, has: []string{`"file":"cron.csv"`}, hasNot: []string{".."}},
		{name: "from another site", method: "POST", url: files, body: two, headers: []string{of2, "Origin: https://evil.example"}, status: 403},
		{name: "delete", method: "DELETE", url: files + "/b.csv", has: []string{`{"dataset_id":"shop","file":"b.csv","deleted":true}`}},
		{name: "delete nothing", method: "DELETE", url: files + "/b.csv", status: 404},
		{name: "delete elsewhere", method: "DELETE", url: files + "/..%2Fa.csv", status: 404},

		{name: "export", method: "POST", url: "/api/export", body: `{"dataset_id":"shop","sql":"SELECT 1","format":"csv"}`, has: []string{
			"Content-Type: text/csv", `Content-Disposition: attachment; filename="revenue by region.csv"`, "X-Artifact-Id: a_1", "sandbox", "a,b\n1,2\n",
		}},
		{name: "export refused", method: "POST", url: "/api/export", body: `{"dataset_id":"shop","sql":"DROP TABLE x","format":"csv"}`, status: 403, has: []string{`"code":"SQL_POLICY_VIOLATION"`}},
		{name: "export as something", method: "POST", url: "/api/export", body: `{"dataset_id":"shop","sql":"SELECT 1","format":"exe"}`, status: 400},
		{name: "export of nothing", method: "POST", url: "/api/export", body: `{"dataset_id":"nope","sql":"SELECT 1","format":"csv"}`, status: 404},
		{name: "meta", url: "/api/artifacts/a_1/meta", has: []string{`"artifact_id":"a_1"`, `"sha256":"a_1"`}},
		{name: "meta of others", url: "/api/artifacts/a_alice/meta", status: 404},
		{name: "rows", url: "/api/artifacts/a_1/rows?offset=20&limit=9999", has: []string{`"limit":200`, `"offset":20`}},
		{name: "rows sorted", url: "/api/artifacts/a_1/rows?sort=day&down=true&find=a+b", has: []string{`"sort":"day"`, `"down":true`, `"find":"a b"`}},
		{name: "rows before the first", url: "/api/artifacts/a_1/rows?offset=-1", status: 400},
		{name: "profile", url: "/api/sources/orders/profile", has: []string{`"table":"orders"`}},
		{name: "datasets", url: "/api/datasets", has: []string{`{"datasets":[{"id":"shop"`, "Etag: \"", "Cache-Control: private, no-cache"}},
		{name: "no run", method: "POST", url: "/api/runs/r_nope/results/c_1", body: `{"format":"csv"}`, status: 404, has: []string{`"code":"run_not_found"`}},
		{name: "description", url: "/openapi.json", has: []string{`"/api/datasets/{id}/files"`, `"multipart/form-data"`, `"/api/export"`}},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.files["shop/a.csv"] != "a\n9\n" || kept.files["shop/huge.csv"] != "" {
		t.Errorf("kept %v", len(kept.files))
	}
}

func TestWhoMayUpload(t *testing.T) {
	r, _ := startShelf(t, func(cfg *server.Config) {
		cfg.Users = []server.User{{Name: "vic", Role: server.Viewer, Token: "viewer-token-0123"}, {Name: "ann", Token: "analyst-token-012"}}
	})
	body, of := form(t, "a.csv", "a\n1\n")
	for _, sc := range []scenario{
		{name: "nobody", method: "POST", url: "/api/datasets/shop/files", body: body, headers: []string{of}, status: 401},
		{name: "viewer", method: "POST", url: "/api/datasets/shop/files", body: body, headers: []string{of, "Authorization: Bearer viewer-token-0123"}, status: 403},
		{name: "viewer deletes", method: "DELETE", url: "/api/datasets/shop/files/a.csv", headers: []string{"Authorization: Bearer viewer-token-0123"}, status: 403},
		{name: "viewer exports", method: "POST", url: "/api/export", body: `{"dataset_id":"shop","sql":"SELECT 1","format":"csv"}`, headers: []string{"Authorization: Bearer viewer-token-0123"}, status: 403},
		{name: "analyst", method: "POST", url: "/api/datasets/shop/files", body: body, headers: []string{of, "Authorization: Bearer analyst-token-012"}},
		{name: "rows of others", url: "/api/artifacts/a_1/rows", headers: []string{"Authorization: Bearer analyst-token-012"}, status: 404},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}

// The whole of a result is for whoever owns the run; where the data are gone the
// details say what there is instead.
func TestRepeat(t *testing.T) {
	ann := "Authorization: Bearer analyst-token-012"
	r, _ := startShelf(t, func(cfg *server.Config) {
		cfg.Users = []server.User{{Name: "vic", Role: server.Viewer, Token: "viewer-token-0123"}, {Name: localUser, Token: "analyst-token-012"}, {Name: "bob", Token: "analyst-token-bob"}}
	})
	run := get[struct {
		Run string `json:"run_id"`
	}](t, r, "POST", "/chat", `{"message":"sql: select 1","dataset_id":"shop"}`, ann).Run
	url := "/api/runs/" + run + "/results/"
	for _, sc := range []scenario{
		{name: "kept", method: "POST", url: url + "c_1", body: `{"format":"csv"}`, headers: []string{ann}, has: []string{`"artifact_id":"a_1"`}},
		{name: "parquet unless said", method: "POST", url: url + "c_1", body: `{}`, headers: []string{ann}},
		{name: "gone", method: "POST", url: url + "c_2", body: `{"today":true}`, headers: []string{ann}, status: 409, has: []string{`"code":"conflict"`, `"details":{"today":true}`}},
		{name: "as something", method: "POST", url: url + "c_1", body: `{"format":"exe"}`, headers: []string{ann}, status: 400},
		{name: "of somebody else", method: "POST", url: url + "c_1", body: `{}`, headers: []string{"Authorization: Bearer analyst-token-bob"}, status: 404, has: []string{`"code":"run_not_found"`}},
		{name: "by a viewer", method: "POST", url: url + "c_1", body: `{}`, headers: []string{"Authorization: Bearer viewer-token-0123"}, status: 403},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}

// Who has seen the datasets hears in one line that they are the same.
func TestOverviewUnchanged(t *testing.T) {
	var name atomic.Value
	name.Store("Shop")
	r := start(t, func(cfg *server.Config) {
		cfg.Overview = func(context.Context, string) (any, error) { return []any{map[string]any{"name": name.Load()}}, nil }
	})
	first, body := r.do(t, "GET", "/api/datasets", "")
	tag := "If-None-Match: " + first.Header.Get("ETag")
	if again, rest := r.do(t, "GET", "/api/datasets", "", tag); again.StatusCode != http.StatusNotModified || rest != "" {
		t.Errorf("the same list: %s %s", again.Status, rest)
	}
	name.Store("Store")
	if changed, now := r.do(t, "GET", "/api/datasets", "", tag); changed.StatusCode != http.StatusOK || now == body {
		t.Errorf("another list: %s %s", changed.Status, now)
	}
}

// A client that stops sending in the middle of a file is let go, and nothing of its
// file is kept.
func TestUploadThatStalls(t *testing.T) {
	r, kept := startShelf(t, func(cfg *server.Config) { cfg.BodyTimeout = 200 * time.Millisecond })
	body, of := form(t, "a.csv", strings.Repeat("x", 10_000))
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "POST /api/datasets/shop/files HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Length: %d\r\n\r\n%s", r.addr, of, len(body), body[:5000])
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+fmt.Sprint(http.StatusBadRequest)) {
		t.Errorf("%v %.200s", err, answer)
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if len(kept.files) != 0 {
		t.Errorf("kept %v", kept.files)
	}
}

// The reply to an upload names the file that cannot be read.
func TestUploadNamesProblems(t *testing.T) {
	r, _ := startShelf(t, nil)
	for content, want := range map[string]string{"a\n1\n": `"problems":[]`, "garbage": `"problems":[{"file":"a.csv","message":"It is no table."}]`} {
		body, of := form(t, "a.csv", content)
		scenario{method: "POST", url: "/api/datasets/shop/files?replace=true", body: body, headers: []string{of}, has: []string{`"files":[`, want}}.run(t, r)
	}
}
