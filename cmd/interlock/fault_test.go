package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// brief is the analyst with little patience: a turn may take two seconds.
var brief = map[string]string{
	"machines/brief/machine.yaml": `
name: brief
title: Two seconds and no more
start: answering
limits: {seconds: 2}
states:
  answering:
    kind: agent
    terminal: true
    prompt: answering.md
    tools: [execute_sql]
tools: {execute_sql: {in: {max_rows: 10}}}
`,
	"machines/brief/answering.md": "Answer.\n",
}

// TestModelFaults asks a model server that misbehaves in every way. Each turn ends with
// a code that says what happened, and the thread answers the next message.
func TestModelFaults(t *testing.T) {
	misbehave := map[string]func(http.ResponseWriter, *http.Request){
		"hangs":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"stalls": func(w http.ResponseWriter, r *http.Request) { partly(w); <-r.Context().Done() },
		"drops":  func(w http.ResponseWriter, _ *http.Request) { partly(w); panic(http.ErrAbortHandler) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>no model lives here</html>")
		},
		"noise": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":\n\ndata: \xff\xfe\x00\n\n")
		},
		"limits": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0.05")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"message":"slow down, please","type":"rate_limit_error"}}`)
		},
		"refuses": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"bad key sk-test-secret","type":"invalid_request_error"}}`)
		},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		said, _ := heard(raw)
		for name, f := range misbehave {
			if strings.Contains(said, "please "+name) {
				f(w, r)
				return
			}
		}
		speak(w, line{text: "All is well."})
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	w := newWorld(t, brief)
	w.flags = append(w.flags, "--openai-url", srv.URL+"/v1", "--model", "m")
	w.env = append(w.env, "OPENAI_API_KEY=sk-test-secret")
	p := w.serve()
	for _, tt := range []struct{ name, machine, status, code string }{
		{"hangs", "brief", "limited", "limit_seconds"},
		{"stalls", "brief", "limited", "limit_seconds"},
		{"drops", "analyst", "failed", "model_failed"},
		{"garbage", "analyst", "failed", "model_bad_output"},
		{"noise", "analyst", "failed", "model_bad_output"},
		{"limits", "analyst", "failed", "model_rate_limited"},
		{"refuses", "analyst", "failed", "model_failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := *p
			p.t = t
			all := p.say(fmt.Sprintf(`{"message":"please %s","machine":%q,"dataset_id":"shop"}`, tt.name, tt.machine))
			chat := the[chatResponse](t, all, "result")
			told := pick[struct{ Type, Message string }](t, all, "error")
			if chat.Status != tt.status || len(told) != 1 || told[0].Type != tt.code || told[0].Message == "" {
				t.Errorf("status %s, errors %+v", chat.Status, told)
			}
			if chat.Result.Error == nil || chat.Result.Error.Type != tt.code {
				t.Errorf("result %+v", chat.Result)
			}
			var next chatResponse
			p.call("POST", "/chat", fmt.Sprintf(`{"message":"hello","thread_id":%q}`, chat.Thread), http.StatusOK, &next)
			if want := map[string]string{"analyst": "succeeded", "brief": "answered"}[tt.machine]; next.Status != want || next.Assistant != "All is well." {
				t.Errorf("afterwards: %+v", next)
			}
			if out, errs, code := w.run("replay", chat.Run); code != 0 {
				t.Errorf("replay gave %d: %s%s", code, out, errs)
			}
		})
	}
	t.Cleanup(func() {
		if strings.Contains(p.log.String(), "sk-test-secret") {
			t.Error("the key is in the log")
		}
	})
}

// partly begins a reply.
func partly(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"I was about to say"}}]}`+"\n\n")
	w.(http.Flusher).Flush()
}

// disk mounts a small file system of its own; it needs the rights to.
func disk(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a disk of a test needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestReadOnlyState starts every kind of command on a state folder that cannot be
// written: each says so and what to do.
func TestReadOnlyState(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	disk(t, w.path("state"), "size=1m")
	if err := syscall.Mount("", w.path("state"), "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"}, {"chat", "SQL: SELECT 1"}, {"sources", "list"}, {"doctor"},
	} {
		out, errs, code := w.run(args...)
		said := out + errs
		if code != exitFailed || !strings.Contains(said, "state") || !strings.Contains(said, "cannot be written") && !strings.Contains(said, "read-only") {
			t.Errorf("%v ended with %d:\n%s%s", args, code, out, errs)
		}
	}
}

// TestFullDisk fills the disk under a running server. What cannot be stored is refused
// with a code, nothing half-written stays, and the thread goes on once there is room.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	disk(t, w.path("state"), "size=48m")
	p := w.serve()
	var first chatResponse
	p.call("POST", "/chat", `{"message":"SQL: SELECT count(*) AS n FROM orders","dataset_id":"shop"}`, http.StatusOK, &first)
	if first.Status != "succeeded" {
		t.Fatalf("%+v", first)
	}
	filler := filepath.Join(w.path("state"), "filler")
	fill(t, filler)
	var problem struct{ Code, Detail, Suggestion string }
	body := fmt.Sprintf(`{"message":"SQL: SELECT 1 AS n /* %s */ FROM orders","thread_id":%q}`, strings.Repeat("long ", 40_000), first.Thread)
	p.call("POST", "/chat", body, http.StatusServiceUnavailable, &problem)
	if problem.Code != "store_failed" || problem.Detail == "" {
		t.Errorf("%+v", problem)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	var next chatResponse
	p.call("POST", "/chat", fmt.Sprintf(`{"message":"SQL: SELECT count(*) AS n FROM orders","thread_id":%q}`, first.Thread), http.StatusOK, &next)
	if next.Status != "succeeded" || next.Result.RowCount != 1 {
		t.Errorf("%+v", next)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("the server ended with %d:\n%s", code, p.log)
	}
	for _, run := range []string{first.Run, next.Run} {
		if out, errs, code := w.run("replay", run); code != 0 {
			t.Errorf("replay gave %d: %s%s", code, out, errs)
		}
	}
}

// fill writes until nothing fits any more.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for size := len(block); size > 0; {
		if n, err := f.Write(block[:size]); err != nil && n == 0 {
			size /= 2
		}
	}
	if err := f.Close(); err != nil {
		t.Log(err)
	}
}
