// Package aimock starts a server that speaks the real streams of OpenAI and
// Anthropic, for tests: npm's @copilotkit/aimock, in the version that
// internal/llm/wiretest pins. It is installed on first use into the user's cache
// folder. Where Node or the package cannot be had, the test is skipped and says so.
//
// A fixture says what the model answers to what:
//
//	url := aimock.Start(t,
//		aimock.Fixture{User: "how many", Calls: []aimock.Call{{ID: "c1", Name: "run_sql", Args: `{"sql":"SELECT 1"}`}}},
//		aimock.Fixture{User: "how many", AfterTool: true, Text: "There is one."},
//	)
//	m, err := llm.Open(llm.Config{Provider: "openai", Model: "gpt-4.1", OpenAIBaseURL: url + "/v1"})
//	m, err = llm.Open(llm.Config{Provider: "anthropic", AnthropicKey: "test", AnthropicBaseURL: url})
//
// The first fixture that matches answers; a request that none matches gets an error.
package aimock

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A Fixture is a condition and an answer.
type Fixture struct {
	// The condition: all that is set must hold.
	User      string // part of what the person said last
	System    string // part of the system text
	Model     string // the whole name of the model
	AfterTool bool   // results of tools have come since; otherwise none must have
	Result    string // part of the latest result; implies AfterTool
	Nth       int    // of the requests that match the rest, from 1; 0 for all of them

	// The answer: text, calls, or both; or an error.
	Thoughts string // what the model thinks before it
	Text     string
	Calls    []Call
	Status   int           // of an HTTP error, for example 429 or 503
	Error    string        // its message
	Cut      int           // breaks the stream off after so many events; 0 for never
	Pause    time.Duration // between two events
}

// A Call is a tool call of an answer. Args is JSON text.
type Call struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Args string `json:"arguments"`
}

// MarshalJSON writes the fixture as the server reads it.
func (f Fixture) MarshalJSON() ([]byte, error) {
	match := map[string]any{"hasToolResult": f.AfterTool || f.Result != ""}
	for key, v := range map[string]string{"userMessage": f.User, "systemMessage": f.System, "model": f.Model, "toolResultContains": f.Result} {
		if v != "" {
			match[key] = v
		}
	}
	if f.Nth > 0 {
		match["sequenceIndex"] = f.Nth - 1
	}
	response := map[string]any{}
	if f.Status != 0 {
		response["status"] = f.Status
		response["error"] = map[string]any{"message": f.Error, "type": "test_error"}
	}
	if f.Text != "" {
		response["content"] = f.Text
	}
	if f.Thoughts != "" {
		response["reasoning"] = f.Thoughts
	}
	if len(f.Calls) > 0 {
		response["toolCalls"] = f.Calls
	}
	out := map[string]any{"match": match, "response": response}
	if f.Cut > 0 {
		out["truncateAfterChunks"] = f.Cut
	}
	if f.Pause > 0 {
		out["latency"] = f.Pause.Milliseconds()
	}
	return json.Marshal(out)
}

// Start runs the server until the test ends and gives its address. OpenAI's base
// URL is this with /v1 behind it, Anthropic's is this itself.
func Start(tb testing.TB, fixtures ...Fixture) (url string) {
	tb.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		tb.Skip("Node is not installed: the wire tests of models need it")
	}
	dir := install(tb)
	raw, err := json.Marshal(map[string]any{"fixtures": fixtures})
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "fixtures.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join(dir, "node_modules", "@copilotkit", "aimock", "dist", "cli.js"),
		"--port", "0", "--fixtures", file, "--strict", "--chunk-size", "8")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // nothing else of the environment, least of all keys
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		tb.Fatalf("starting aimock: %v", err)
	}
	done := make(chan struct{})
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done // the output has ended, so Wait may be called
		_ = cmd.Wait()
	})
	found, failed := make(chan string, 1), make(chan string, 1)
	go func() {
		defer close(done)
		watch(out, found, failed)
	}()
	select {
	case url := <-found:
		return url
	case output := <-failed:
		tb.Fatalf("aimock ended before it listened:\n%s", output)
	case <-time.After(30 * time.Second):
		tb.Fatal("aimock did not listen within 30 s")
	}
	return ""
}

// watch finds the address in the output, and reads on so that the server is not
// held up. Output that ends without an address is a failure.
func watch(out io.Reader, found, failed chan<- string) {
	lines := bufio.NewScanner(out)
	var said strings.Builder
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			found <- strings.TrimSpace(url)
			_, _ = io.Copy(io.Discard, out)
			return
		}
		said.WriteString(lines.Text() + "\n")
	}
	failed <- said.String()
}

// Program returns the path of a program among the packages of internal/llm/wiretest.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	return filepath.Join(install(tb), "node_modules", ".bin", name)
}

// install gives the folder with the packages, which is named by its lock file and
// put in place whole, so that tests may run side by side.
func install(tb testing.TB) string {
	tb.Helper()
	from := filepath.Join(moduleRoot(tb), "internal", "llm", "wiretest")
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		tb.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "interlock-tests", "aimock-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return dir
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		tb.Skip("the wire tests of models need npm once (package npm)")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		tb.Fatal(err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.CopyFS(work, os.DirFS(from)); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Skipf("aimock cannot be installed here (package npm): npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(work, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			tb.Fatal(errors.Join(err, there))
		}
	}
	return dir
}

func moduleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal(errors.New("no go.mod above the test"))
		}
		dir = up
	}
}
