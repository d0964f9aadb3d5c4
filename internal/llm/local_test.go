package llm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/llm/aimock"
)

func portOf(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFindLocal looks among a server of models, a web page, a redirect and a closed port.
func TestFindLocal(t *testing.T) {
	models := aimock.Start(t, aimock.Fixture{Model: "llama3.2:3b", User: "hello", Text: "Hi."})
	var mu sync.Mutex
	var asked []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		mu.Unlock()
		fmt.Fprint(w, "<html>not a model</html>")
	}))
	defer other.Close()
	away := httptest.NewServer(http.RedirectHandler(models+"/v1/models", http.StatusFound))
	defer away.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	found := llm.FindLocal(t.Context(), []int{portOf(t, other.URL), portOf(t, away.URL), portOf(t, closed.URL), portOf(t, models)})
	if len(found) != 1 || found[0].URL != fmt.Sprintf("http://127.0.0.1:%d/v1", portOf(t, models)) || !slices.Contains(found[0].Models, "llama3.2:3b") {
		t.Fatalf("%+v", found)
	}
	if !slices.Equal(asked, []string{"GET /v1/models"}) {
		t.Errorf("a server that nobody chose was asked %q", asked)
	}
	if list, err := llm.ListLocal(t.Context(), found[0].URL); err != nil || !slices.Contains(list, "llama3.2:3b") {
		t.Error(list, err)
	}
}

func TestCheckLocalURL(t *testing.T) {
	for address, local := range map[string]bool{
		"http://127.0.0.1:11434/v1": true, "http://localhost:1234/v1": true, "http://[::1]:8080/v1": true, "http://127.9.9.9/v1": true,
		"": false, "http://192.168.0.4:11434/v1": false, "https://api.openai.com/v1": false, "http://localhost.example.org/v1": false,
		"file:///etc/passwd": false, "http://user:secret@127.0.0.1/v1": false, "http://0.0.0.0:8000/v1": false,
	} {
		if err := llm.CheckLocalURL(address); (err == nil) != local {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := llm.ParsePorts("11434, 99999"); !fault.Is(err, fault.BadSetting) {
		t.Error(err)
	}
}

// A localServer plays a server of models: what it lists, and how it answers requests with
// tools and with a schema.
func localServer(t *testing.T, tools, schema bool, lists map[string]string) *server {
	return serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			doc, ok := lists[r.URL.Path]
			if !ok {
				w.WriteHeader(http.StatusNotFound)
			}
			fmt.Fprint(w, doc)
			return
		}
		var body map[string]any
		if err := json.Unmarshal([]byte(r.Header.Get("X-Body")), &body); err != nil {
			t.Error(err)
		}
		say := func(delta string) { stream(w, `{"choices":[{"delta":`+delta+`,"finish_reason":"stop"}]}`, `[DONE]`) }
		switch {
		case body["tools"] != nil && tools:
			say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"count_rows","arguments":"{\"table\":\"orders\"}"}}]}`)
		case body["tools"] != nil:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools"}}`)
		case body["response_format"] != nil && schema:
			say(`{"content":"{\"colour\":\"teal\"}"}`)
		default:
			say(`{"content":"Blue."}`)
		}
	})
}

// TestProbeAbilities finds out what models of the four usual servers can do.
func TestProbeAbilities(t *testing.T) {
	for name, tt := range map[string]struct {
		tools, schema bool
		lists         map[string]string
		context       int
	}{
		"vLLM":            {true, true, map[string]string{"/v1/models": `{"data":[{"id":"other","max_model_len":1},{"id":"test-model","max_model_len":32768}]}`}, 32768},
		"llama.cpp":       {true, true, map[string]string{"/v1/models": `{"data":[{"id":"test-model","meta":{"n_ctx_train":131072}}]}`, "/props": `{"default_generation_settings":{"n_ctx":8192}}`}, 8192},
		"LM Studio":       {true, false, map[string]string{"/v1/models": `{"data":[{"id":"test-model"}]}`, "/api/v0/models": `{"data":[{"id":"test-model","max_context_length":65536,"loaded_context_length":4096}]}`}, 4096},
		"Ollama":          {false, true, map[string]string{"/v1/models": `{"data":[{"id":"test-model"}]}`, "/api/ps": `{"models":[{"name":"test-model:latest","context_length":4096}]}`}, 4096},
		"one that is mum": {false, false, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := localServer(t, tt.tools, tt.schema, tt.lists)
			got, err := llm.ProbeAbilities(t.Context(), s.config(t, llm.OpenAI))
			if want := (llm.Abilities{Tools: tt.tools, Schema: tt.schema, Context: tt.context}); err != nil || got != want {
				t.Errorf("%+v, want %+v; %v", got, want, err)
			}
		})
	}
	t.Run("not there", func(t *testing.T) {
		s := localServer(t, true, true, nil)
		c := s.config(t, llm.OpenAI)
		s.Close()
		_, err := llm.ProbeAbilities(t.Context(), c)
		wantCode(t, err, fault.ModelFailed)
	})
}

// TestOddLocalServers looks at servers that answer late, endlessly, with nothing or with far
// too much: none is waited for, and none is offered beside one that is in order.
func TestOddLocalServers(t *testing.T) {
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"model-%d"}`, i)
	}
	release := make(chan struct{})
	answers := map[string]http.HandlerFunc{
		"slow":    func(http.ResponseWriter, *http.Request) { <-release },
		"missing": http.NotFound,
		"empty":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"object":"list","data":[]}`) },
		"null":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":null}`) },
		"nameless": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"data":[{"id":""},{}]}`)
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, `{"data":[{"id":"x"},`); err != nil {
					return
				}
			}
		},
		"many": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"data":[`+strings.Join(many, ",")+`]}`)
		},
	}
	var ports []int
	var full int
	for name, answer := range answers {
		s := httptest.NewServer(answer)
		defer s.Close()
		ports = append(ports, portOf(t, s.URL))
		if name == "many" {
			full = portOf(t, s.URL)
		}
	}
	defer close(release) // before the servers close
	began := time.Now()
	found := llm.FindLocal(t.Context(), ports)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(found) != 1 || portOf(t, found[0].URL) != full || len(found[0].Models) != 200 {
		t.Fatalf("%d servers, %.300v", len(found), found)
	}
}

// TestOddModelNames holds that names which no person could read or compare are not offered.
func TestOddModelNames(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":[{"id":"hf.co/Qwen/Qwen3-8B:Q4_K_M"},{"id":%q},{"id":"a\u202eb"},{"id":"a\u200bb"},{"id":"a\u001b[2Jb"},{"id":"a\nb"},{"id":"größe 7b"}]}`, strings.Repeat("n", 900_000))
	})
	got, err := llm.ListLocal(t.Context(), s.URL+"/v1")
	if want := []string{"hf.co/Qwen/Qwen3-8B:Q4_K_M", "größe 7b"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%.300q %v", got, err)
	}
}

// TestOlderResultsAreShortened holds that a turn which outgrows a small context loses the
// rows of its older results, in so many words, and neither the question nor the newest.
func TestOlderResultsAreShortened(t *testing.T) {
	t.Run("calls", func(t *testing.T) { checkShortened(t, true) })
	t.Run("calls in text", func(t *testing.T) { checkShortened(t, false) })
}

func checkShortened(t *testing.T, tools bool) {
	t.Helper()
	s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"choices":[{"delta":{"content":"Done."},"finish_reason":"stop"}]}`, `[DONE]`)
	})
	c := s.config(t, llm.OpenAI)
	c.Abilities = &llm.Abilities{Tools: tools, Schema: true, Context: 4096}
	req := ask("How many?")
	for i := range 6 {
		id := fmt.Sprintf("call-%d", i)
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: id, Name: "execute_sql", Args: `{}`}}},
			llm.Message{Role: llm.ToolRole, CallID: id, Name: "execute_sql", Text: fmt.Sprintf("result %d ", i) + strings.Repeat("x", 3000)})
	}
	whole := req.Messages[2].Text
	if _, _, err := hear(t.Context(), open(t, c), req); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s.bodies[0]["messages"])
	if err != nil {
		t.Fatal(err)
	}
	sent := string(raw)
	for i, want := range []int{200, 200, 200, 3000, 3000, 3000} {
		at := strings.Index(sent, fmt.Sprintf("result %d xxx", i))
		if at < 0 {
			t.Fatalf("result %d is gone", i)
		}
		rest := strings.TrimLeft(sent[at+len("result 0 "):], "x")
		if n := len(sent) - at - len(rest); n < want-20 || n > want+20 {
			t.Errorf("result %d was sent with %d bytes", i, n)
		}
	}
	if strings.Count(sent, "query again") != 3 || !strings.Contains(sent, "How many?") {
		t.Errorf("%.500s", sent)
	}
	if req.Messages[2].Text != whole {
		t.Error("the caller's messages were changed")
	}
}

// TestContextTooSmall holds that a request which does not fit is refused in clear words
// and never sent, and that a server's own refusal is understood.
func TestContextTooSmall(t *testing.T) {
	s := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`)
	})
	c := s.config(t, llm.OpenAI)
	c.Abilities = &llm.Abilities{Tools: true, Schema: true, Context: 4096}
	m := open(t, c)
	if got := llm.ContextTokens(m); got != 4096 {
		t.Errorf("context %d", got)
	}
	req := ask("x")
	req.System = strings.Repeat("- amount DOUBLE, 1 to 5: In euro.\n", 500)
	_, _, err := hear(t.Context(), m, req)
	wantCode(t, err, fault.ModelContext, "reads 4096 tokens", "of instructions and data", "longer context")
	if s.count() != 0 {
		t.Error("it was sent")
	}
	_, _, err = hear(t.Context(), m, ask("x"))
	wantCode(t, err, fault.ModelContext, "available context size", "longer context")
}

// TestLocalServerWantsAKey holds that the repair names the server: no key of the environment
// is sent to a model on this machine, so checking one would not help.
func TestLocalServerWantsAKey(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"no key"}}`)
	})
	m := open(t, llm.Config{Provider: llm.Local, Local: &llm.LocalModel{URL: s.URL + "/v1", Model: "m"}})
	_, _, err := hear(t.Context(), m, ask("x"))
	wantCode(t, err, fault.ModelFailed, "HTTP 401", "The server at "+s.URL+"/v1 wants a key", "--openai-url")
}

// TestSchemaOfLocalModels holds that a schema travels as response_format where the server
// takes one, and in words where it does not.
func TestSchemaOfLocalModels(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"choices":[{"delta":{"content":"{\"a\":1}"},"finish_reason":"stop"}]}`, `[DONE]`)
	})
	req := ask("x")
	req.Output = []byte(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`)
	for i, able := range []bool{true, false} {
		c := s.config(t, llm.OpenAI)
		c.Abilities = &llm.Abilities{Schema: able}
		if _, reply, err := hear(t.Context(), open(t, c), req); err != nil || reply.Text != `{"a":1}` {
			t.Fatal(reply, err)
		}
		raw, err := json.Marshal(s.sent(i + 1)["messages"])
		if err != nil {
			t.Fatal(err)
		}
		if inWords := strings.Contains(string(raw), "JSON Schema"); (s.sent(i + 1)["response_format"] != nil) != able || inWords == able {
			t.Errorf("schema %t: %s", able, raw)
		}
	}
}
