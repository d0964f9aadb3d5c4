package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"interlock/internal/fault"
)

// Abilities is what was found out about a model of a compatible server.
type Abilities struct {
	Tools   bool `json:"tools" doc:"It calls tools by itself; else calls travel as text."`
	Schema  bool `json:"schema" doc:"Its server holds an answer to a JSON Schema (response_format); else the schema is put in words."`
	Context int  `json:"context,omitempty" doc:"Tokens that request and reply may have together; 0 if the server does not say."`
}

// probeTime bounds one question of the probe. The first one may have to load the model.
const probeTime = 2 * time.Minute

// probeTokens bounds an answer of the probe; a model that thinks first needs some.
const probeTokens = 2000

// ProbeAbilities finds out what a model can do, with two short requests and the lists of
// its server. It fails when the model does not answer at all.
func ProbeAbilities(ctx context.Context, c Config) (Abilities, error) {
	c.Provider, c.Abilities, c.Fallback, c.Retries = OpenAI, nil, nil, -1
	c.Timeout = cmp.Or(c.Timeout, probeTime)
	m, err := c.openOne()
	if err != nil {
		return Abilities{}, err
	}
	var a Abilities
	if a.Tools, err = probeTools(ctx, m); err != nil {
		return a, err
	}
	if a.Schema, err = probeSchema(ctx, m); err != nil {
		return a, err
	}
	a.Context = contextLength(ctx, c.OpenAIBaseURL, c.Model)
	return a, nil
}

// probeTools asks for a call of a tool that only a call can answer. A server that refuses
// the request because of the tools is asked once more without them.
func probeTools(ctx context.Context, m Model) (bool, error) {
	req := Request{
		System:    "You call tools. You answer nothing yourself.",
		Messages:  []Message{{Role: User, Text: "How many rows has the table orders? Call count_rows."}},
		Tools:     []Tool{{Name: "count_rows", Description: "Counts the rows of a table.", Schema: json.RawMessage(`{"type":"object","properties":{"table":{"type":"string"}},"required":["table"]}`)}},
		MaxTokens: probeTokens,
	}
	r, err := wholeReply(ctx, m, req)
	if err == nil {
		return len(r.Calls) > 0 && r.Calls[0].Name == "count_rows" && strings.Contains(r.Calls[0].Args, "orders"), nil
	}
	if !refused(err) {
		return false, err
	}
	_, err = wholeReply(ctx, m, Request{Messages: []Message{{Role: User, Text: "Say hello."}}, MaxTokens: probeTokens})
	return false, err
}

// probeSchema asks for something in words that the schema contradicts: only a server that
// holds the answer to the schema gives one of its values.
func probeSchema(ctx context.Context, m Model) (bool, error) {
	const schema = `{"type":"object","properties":{"colour":{"type":"string","enum":["teal","ochre"]}},"required":["colour"],"additionalProperties":false}`
	r, err := wholeReply(ctx, m, Request{
		Messages: []Message{{Role: User, Text: "Name a colour."}}, Output: json.RawMessage(schema), MaxTokens: probeTokens,
	})
	if err != nil {
		if t, ok := errors.AsType[*attemptError](err); ok && (t.code == fault.ModelBadOutput || t.status >= 400 && t.status < 500) {
			return false, nil
		}
		return false, err
	}
	if o, ok := m.(*openaiModel); ok && o.lacksSchema() {
		return false, nil // it was put in words
	}
	var got struct{ Colour string }
	return json.Unmarshal([]byte(r.Text), &got) == nil && (got.Colour == "teal" || got.Colour == "ochre"), nil
}

// refused reports whether a server answered that it does not take the request as it is.
func refused(err error) bool {
	t, ok := errors.AsType[*attemptError](err)
	if !ok {
		return false
	}
	return t.code == fault.ModelBadOutput || t.status == http.StatusBadRequest || t.status == http.StatusUnprocessableEntity || t.status == http.StatusNotImplemented ||
		t.status >= 500 && strings.Contains(t.text, "tool")
}

// wholeReply asks a model and waits for its whole reply.
func wholeReply(ctx context.Context, m Model, req Request) (*Reply, error) {
	var reply *Reply
	for d, err := range m.Reply(ctx, req) {
		if err != nil {
			return nil, err
		}
		if d.Reply != nil {
			reply = d.Reply
		}
	}
	return reply, nil
}

// contextLength asks a server how much its model reads, in the ways in which servers say
// it; 0 if it says nothing. What is loaded now counts more than what the model could read.
func contextLength(ctx context.Context, base, model string) int {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := localClient()
	defer client.CloseIdleConnections()
	root := strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/v1")
	of := func(list []listedModel) int {
		for _, m := range list {
			if m.ID == model {
				return m.context()
			}
		}
		return 0
	}
	if list, err := listModels(ctx, client, base); err == nil && of(list) > 0 {
		return of(list)
	}
	var ollama struct {
		Models []struct {
			Name    string `json:"name"`
			Context int    `json:"context_length"`
		} `json:"models"`
	}
	if getJSON(ctx, client, root+"/api/ps", nil, &ollama) == nil {
		for _, m := range ollama.Models {
			if (m.Name == model || m.Name == model+":latest") && m.Context > 0 {
				return m.Context
			}
		}
	}
	var studio struct {
		Data []listedModel `json:"data"`
	}
	if getJSON(ctx, client, root+"/api/v0/models", nil, &studio) == nil && of(studio.Data) > 0 {
		return of(studio.Data)
	}
	var llamacpp struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if getJSON(ctx, client, root+"/props", nil, &llamacpp) == nil {
		return llamacpp.Settings.Context
	}
	return 0
}
