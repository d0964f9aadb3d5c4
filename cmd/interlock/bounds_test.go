package main

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// text sends a request and gives its status and answer.
func (p *process) text(who, method, path, body string) (int, string) {
	p.t.Helper()
	var header []string
	if who != "" {
		header = []string{"Authorization", who}
	}
	res, err := p.request(method, path, body, header...)
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", method, path, err, p.log)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// upload sends one file and gives the status and answer.
func (p *process) uploadAs(who, path, name, content string) (int, string) {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+path, &body)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", who)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(raw)
}

// A disk that fills up in the middle of a turn is told to whoever waits and to
// whoever watches; with space again the turn goes on by itself.
func TestFullDiskOverHTTP(t *testing.T) {
	w := newWorld(t)
	state := w.path("state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", state, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("needs a small file system of its own: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(state, syscall.MNT_DETACH) })
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	t.Cleanup(p.kill)
	if status, text := p.text("", "POST", "/chat", `{"message":"SQL: SELECT 1","dataset_id":"shop"}`); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	ballast := filepath.Join(state, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 1<<12))
	}
	f.Close()
	status := 200
	for i := 0; status == 200 && i < 50; i++ { // the log has some room in its own file
		var text string
		status, text = p.text("", "POST", "/chat", fmt.Sprintf(`{"message":"SQL: SELECT range(%d) FROM range(3)","dataset_id":"shop"}`, 20000+i))
		if strings.Contains(text, `"status":"running"`) {
			t.Fatalf("a turn that cannot be stored runs: %.300s", text)
		}
		if status != 200 && (status != 503 || !strings.Contains(text, "disk space")) {
			t.Fatalf("%d %s", status, text)
		}
	}
	if status == 200 {
		t.Fatal("the disk never filled up")
	}
	if status, text := p.text("", "GET", "/readyz", ""); status != 503 || !strings.Contains(text, "store") || strings.Contains(text, w.dir) {
		t.Errorf("/readyz: %d %s", status, text)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is ready again", func() bool {
		status, _ := p.text("", "GET", "/readyz", "")
		return status == 200
	})
	eventually(t, "nothing runs", func() bool {
		_, text := p.text("", "GET", "/api/threads", "")
		return !strings.Contains(text, `"status":"running"`)
	})
	if status, text := p.text("", "POST", "/chat", `{"message":"SQL: SELECT 42","dataset_id":"shop"}`); status != 200 || !strings.Contains(text, "42") {
		t.Errorf("with space again: %d %s", status, text)
	}
}

// The state is neither a dataset nor a source over HTTP, and files have owners.
func TestWhoMay(t *testing.T) {
	w := newWorld(t)
	w.write("people", people+"root admin root-token-0123456789\n")
	if err := os.Chmod(w.path("people"), 0o600); err != nil {
		t.Fatal(err)
	}
	const root = "Bearer root-token-0123456789"
	w.write("outside/a.csv", "a\n1\n")
	w.env = append(w.env, "INTERLOCK_DATA="+w.dir) // the state lies in the data folder
	w.flags = append(w.flags, "--provider", "offline", "--tokens", w.path("people"))
	p := w.serve()
	_, text := p.text(root, "GET", "/api/datasets", "")
	if strings.Contains(text, `"id":"state"`) || !strings.Contains(text, `"id":"data"`) {
		t.Errorf("datasets: %s", text)
	}
	for _, url := range []string{w.path("state/secrets.json"), w.path("state"), "sqlite:" + w.path("state/interlock.db"), w.path("data/../state"), "/etc/passwd", "file:///etc/passwd"} {
		if status, text := p.text(root, "POST", "/api/sources", toJSON(map[string]string{"url": url, "alias": "stolen"})); status != 403 {
			t.Errorf("%s: %d %s", url, status, text)
		}
	}
	for _, c := range []struct {
		who, path, name string
		want            int
	}{
		{mallory, "/api/datasets/outside/files?replace=true", "a.csv", 403},
		{mallory, "/api/datasets/outside/files", "b.csv", 403},
		{mallory, "/api/datasets/state/files?create=true", "b.csv", 404},
		{alice, "/api/datasets/hers/files?create=true", "x.csv", 200},
		{mallory, "/api/datasets/hers/files?replace=true", "x.csv", 403},
		{alice, "/api/datasets/hers/files?replace=true", "x.csv", 200},
		{root, "/api/datasets/outside/files?replace=true", "a.csv", 200},
	} {
		if status, text := p.uploadAs(c.who, c.path, c.name, "a\n2\n"); status != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.who, c.path, status, text, c.want)
		}
	}
	for who, want := range map[string]int{mallory: 403} {
		if status, text := p.text(who, "DELETE", "/api/datasets/hers/files/x.csv", ""); status != want {
			t.Errorf("%s: %d %s", who, status, text)
		}
	}
	if status, text := p.text(alice, "DELETE", "/api/datasets/hers/files/x.csv", ""); status != 200 {
		t.Errorf("%d %s", status, text)
	}
}
