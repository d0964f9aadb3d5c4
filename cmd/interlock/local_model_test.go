package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"interlock/internal/llm/aimock"
)

// A localServer is a model server on this machine: the wire mock, and what it was asked.
type localServer struct {
	address string // its base URL
	port    string
	mu      sync.Mutex
	asked   []string
}

func (s *localServer) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.asked)))
}

func startLocalServer(t *testing.T, fixtures ...aimock.Fixture) *localServer {
	t.Helper()
	target, err := url.Parse(aimock.StartMarked(t, callFence, fixtures...))
	if err != nil {
		t.Fatal(err)
	}
	s := &localServer{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	u, err := url.Parse(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.address, s.port = "http://127.0.0.1:"+u.Port()+"/v1", u.Port()
	return s
}

// callFence finds what a model is told to begin a call with.
var callFence = regexp.MustCompile("```tool-([a-z0-9]{8})")

// smallModel is a model that cannot call tools and keeps to schemas.
var smallModel = []aimock.Fixture{
	{Model: "gemma:2b", User: "Call count_rows", Status: 400, Error: "gemma:2b does not support tools"},
	{Model: "gemma:2b", User: "Say hello", Text: "Hello."},
	{Model: "gemma:2b", User: "Name a colour", Text: `{"colour":"teal"}`},
	{Model: "gemma:2b", User: "[Result of execute_sql]", Text: "There are 5 orders."},
	{Model: "gemma:2b", User: "How many orders", System: "### execute_sql", Text: "```tool-" + aimock.Mark + "\n{\"name\": \"execute_sql\", \"arguments\": {\"dataset_id\": \"shop\", \"sql\": \"SELECT count(*) AS n FROM orders\", \"answer\": true}}\n```"},
}

// TestLocalModel finds a model server on this machine, uses it once somebody agreed, in a
// running server, and forgets it.
func TestLocalModel(t *testing.T) {
	t.Parallel()
	server := startLocalServer(t, smallModel...)
	w := newWorld(t)
	w.env = append(w.env, "INTERLOCK_MODEL_PORTS=1,"+server.port)
	p := w.serve()
	type view struct {
		Model   string `json:"model"`
		BuiltIn bool   `json:"built_in"`
		Found   []struct {
			URL    string   `json:"url"`
			Models []string `json:"models"`
		} `json:"found"`
		Agreed *struct {
			URL       string         `json:"url"`
			Model     string         `json:"model"`
			Abilities map[string]any `json:"abilities"`
		} `json:"agreed"`
	}
	const question = `{"message":"How many orders are there?","dataset_id":"shop"}`
	var v view
	p.call("GET", "/api/models", "", 200, &v)
	if !v.BuiltIn || v.Agreed != nil || len(v.Found) != 1 || v.Found[0].URL != server.address || !slices.Contains(v.Found[0].Models, "gemma:2b") {
		t.Fatalf("%+v", v)
	}
	var chat chatResponse
	p.call("POST", "/chat", question, 200, &chat)
	if got := server.paths(); !slices.Equal(got, []string{"GET /v1/models"}) {
		t.Fatalf("before anybody agreed the server was asked %q", got)
	}
	p.call("POST", "/api/models/local", `{"url":"http://127.0.0.1:1/v1","model":"gemma:2b"}`, 400, nil)
	p.call("POST", "/api/models/local", `{"url":"`+server.address+`","model":"gemma:7b"}`, 400, nil)
	p.call("POST", "/api/models/local", `{"url":"`+server.address+`","model":"gemma:2b"}`, 200, &v)
	if v.BuiltIn || v.Model != "local/gemma:2b" || v.Agreed == nil || v.Agreed.Abilities["tools"] != false || v.Agreed.Abilities["schema"] != true {
		t.Fatalf("%+v", v)
	}
	p.call("POST", "/chat", question, 200, &chat)
	if chat.Assistant != "There are 5 orders." || chat.Result.RowCount != 1 || chat.Result.Rows[0][0] != 5.0 {
		t.Errorf("%+v", chat)
	}
	if out, errs, code := w.run("replay", chat.Run); code != 0 || !strings.Contains(out, "the same byte for byte") {
		t.Errorf("replay gave %d: %s%s", code, out, errs)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("the server ended with %d:\n%s", code, p.log)
	}
	p = w.serve() // it was agreed once
	p.call("GET", "/api/models", "", 200, &v)
	if v.Model != "local/gemma:2b" || v.Agreed.Abilities["tools"] != false {
		t.Errorf("after a restart: %+v", v)
	}
	v = view{}
	p.call("DELETE", "/api/models/local", "", 200, &v)
	if !v.BuiltIn || v.Agreed != nil {
		t.Errorf("%+v", v)
	}
}

// TestLocalModelCommands does the same in a terminal.
func TestLocalModelCommands(t *testing.T) {
	t.Parallel()
	server := startLocalServer(t, smallModel...)
	w := newWorld(t)
	w.env = append(w.env, "INTERLOCK_MODEL_PORTS="+server.port)
	use := []string{"model", "use", server.address, "gemma:2b"}
	for _, step := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{"model", "list"}, 0, []string{"offline answers", "at " + server.address + ": ", "gemma:2b"}},
		{[]string{"doctor"}, 0, []string{"interlock model use " + server.address + " "}},
		{[]string{"model", "probe"}, 2, []string{"nobody agreed"}},
		{[]string{"chat", "--provider", "local", "hello"}, 2, []string{"nobody agreed", "interlock model list"}},
		{[]string{"model", "use", "http://192.0.2.1:11434/v1", "gemma:2b"}, 2, []string{"not on this machine", "--openai-url"}},
		{[]string{"model", "use", server.address, "gemma:20b"}, 2, []string{`no model "gemma:20b"`, "gemma:2b"}},
		{use, 0, []string{"calls tools in text only, keeps to schemas"}},
		{[]string{"model", "probe"}, 0, []string{"calls tools in text only"}},
		{[]string{"doctor"}, 0, []string{"local/gemma:2b at " + server.address}},
		{[]string{"chat", "--dataset", "shop", "How many orders are there?"}, 0, []string{"There are 5 orders."}},
		{[]string{"model", "forget"}, 0, []string{"offline answers"}},
		{[]string{"model", "list"}, 0, []string{"offline answers"}},
	} {
		out, errs, code := w.run(step.args...)
		for _, word := range step.words {
			if !strings.Contains(out+errs, word) {
				t.Errorf("%q does not say %q:\n%s%s", step.args, word, out, errs)
			}
		}
		if code != step.code {
			t.Errorf("%q gave %d, want %d:\n%s%s", step.args, code, step.code, out, errs)
		}
	}
}

// TestHostileNames holds that a model whose name could drive a terminal is not offered, and that
// any other name is one word of the command that is.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"a\u001b[2J\nok  all is well","object":"model"},{"id":"a; touch x","object":"model"}]}`))
	}))
	t.Cleanup(front.Close)
	u, err := url.Parse(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.env = append(w.env, "INTERLOCK_MODEL_PORTS="+u.Port())
	for _, args := range [][]string{{"model", "list"}, {"model", "use", "http://127.0.0.1:" + u.Port() + "/v1", "b"}, {"doctor"}} {
		out, errs, _ := w.run(args...)
		all := out + errs
		if !strings.Contains(all, "a; touch x") || strings.Contains(all, "\x1b") || strings.Contains(all, "all is well") {
			t.Errorf("%v: %q", args, all)
		}
		if args[0] == "doctor" && !strings.Contains(all, "'a; touch x'") {
			t.Errorf("the name is no single word: %q", all)
		}
	}
}

// TestForgetStopsARunningServer holds that what is forgotten in a terminal gets no further
// question from a server that runs.
func TestForgetStopsARunningServer(t *testing.T) {
	t.Parallel()
	server := startLocalServer(t, smallModel...)
	w := newWorld(t)
	w.env = append(w.env, "INTERLOCK_MODEL_PORTS="+server.port)
	if out, errs, code := w.run("model", "use", server.address, "gemma:2b"); code != 0 {
		t.Fatal(out, errs)
	}
	p := w.serve()
	const question = `{"message":"How many orders are there?","dataset_id":"shop"}`
	posts := func() (n int) {
		server.mu.Lock()
		defer server.mu.Unlock()
		for _, a := range server.asked {
			if strings.HasPrefix(a, "POST") {
				n++
			}
		}
		return n
	}
	var chat chatResponse
	before := posts()
	p.call("POST", "/chat", question, 200, &chat)
	if posts() == before {
		t.Fatal("the model was not asked")
	}
	if out, errs, code := w.run("model", "forget"); code != 0 {
		t.Fatal(out, errs)
	}
	before = posts()
	p.call("POST", "/chat", question, 200, &chat)
	if n := posts() - before; n != 0 {
		t.Errorf("the forgotten server was asked %d times", n)
	}
}
