package llm

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// openaiModel speaks the chat completions of OpenAI and of every compatible server.
type openaiModel struct {
	endpoint
	key        string // "" for a server that wants none
	compatible bool   // not OpenAI itself

	mu     sync.Mutex
	quirks openaiQuirks // learnt from refusals
}

// openaiQuirks is what this model or server does not take.
type openaiQuirks struct {
	noTemperature bool
	noUsage       bool // stream_options
	noSchema      bool // response_format
	swapMax       bool // the other one of max_tokens and max_completion_tokens
	effortNone    bool // tools only with reasoning_effort "none"
	noEffort      bool
}

func newOpenAI(c Config) *openaiModel {
	m := &openaiModel{
		endpoint:   newEndpoint(c, OpenAI, cmp.Or(c.Model, DefaultOpenAI), c.OpenAIBaseURL, "OPENAI_API_KEY"),
		key:        c.OpenAIKey,
		compatible: c.OpenAIBaseURL != "",
	}
	m.quirks.noTemperature = reasoning.MatchString(m.model)
	m.quirks.noSchema = c.Abilities != nil && !c.Abilities.Schema
	m.quirks.effortNone = !m.compatible && quietTools.MatchString(m.model)
	return m
}

// lacksSchema reports whether the server has refused schemas.
func (m *openaiModel) lacksSchema() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.quirks.noSchema
}

// reasoning matches models that take no temperature; quietTools those that take
// tools here only when they do not reason.
var (
	reasoning  = regexp.MustCompile(`(^|/)(o\d|gpt-5(-|$)|gpt-5\.[5-9]|gpt-[6-9])`)
	quietTools = regexp.MustCompile(`^gpt-(5\.[6-9]|[6-9])`)
)

func (m *openaiModel) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		want, err := newOutputSchema(req.Output)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		m.exchange(ctx, yield,
			func(ctx context.Context) (*http.Response, error) { return m.send(ctx, req, want) },
			func(body *idleTimeoutBody, emit emitter) (*Reply, error) {
				return m.parseResponse(body, emit, want, len(req.Tools) > 0)
			})
	}
}

// send posts the request; when the server refuses one of its parameters, it is
// left out from then on.
func (m *openaiModel) send(ctx context.Context, req Request, want *outputSchema) (*http.Response, error) {
	for {
		m.mu.Lock()
		q := m.quirks
		m.mu.Unlock()
		sent, err := m.request(req, want, q)
		if err != nil {
			return nil, err
		}
		header := http.Header{}
		if m.key != "" {
			header.Set("Authorization", "Bearer "+m.key)
		}
		res, err := m.post(ctx, cmp.Or(m.base, "https://api.openai.com/v1"), "chat/completions", header, sent)
		if err == nil {
			return res, nil
		}
		learnt, ok := q.learn(err, sent)
		if !ok {
			return nil, err
		}
		m.mu.Lock()
		m.quirks = learnt
		m.mu.Unlock()
	}
}

// learn reads a refusal and gives what to do differently; false if it teaches
// nothing. What was not sent cannot have been refused, so no lesson comes twice.
func (q openaiQuirks) learn(err error, sent *openaiRequest) (openaiQuirks, bool) {
	t, ok := errors.AsType[*attemptError](err)
	if !ok || t.status != http.StatusBadRequest && t.status != http.StatusUnprocessableEntity {
		return q, false
	}
	says := func(word string) bool { return strings.Contains(t.text, word) }
	switch {
	case says("reasoning_effort") && sent.ReasoningEffort != "" && sent.ReasoningEffort != "none" && len(sent.Tools) > 0 && !q.effortNone:
		q.effortNone = true
	case says("reasoning") && sent.ReasoningEffort != "":
		q.noEffort = true
	case says("reasoning_effort") && !q.noEffort && !q.effortNone && len(sent.Tools) > 0:
		q.effortNone = true
	case says("temperature") && sent.Temperature != nil:
		q.noTemperature = true
	case says("stream_options") && !q.noUsage:
		q.noUsage = true
	case says("max_") && says("tokens") && !q.swapMax && (sent.MaxTokens > 0 || sent.MaxCompletionTokens > 0):
		q.swapMax = true
	case (says("response_format") || says("schema")) && sent.ResponseFormat != nil:
		q.noSchema = true
	default:
		return q, false
	}
	return q, true
}

// request builds the body.
func (m *openaiModel) request(req Request, want *outputSchema, q openaiQuirks) (*openaiRequest, error) {
	r := &openaiRequest{Model: m.model, Stream: true}
	system := req.System
	if want != nil {
		if q.noSchema {
			system = strings.TrimSpace(system + "\n\n" + want.prompt())
		} else {
			r.ResponseFormat = &openaiFormat{Type: "json_schema", JSONSchema: openaiJSONSchema{
				Name: "answer", Schema: want.text, Strict: isEnforceable(want.schema, true),
			}}
		}
	}
	if system != "" {
		r.Messages = append(r.Messages, openaiMessage{Role: "system", Content: &system})
	}
	msgs, _ := conversation(req.History, req.Messages)
	for _, msg := range msgs {
		r.Messages = append(r.Messages, newOpenAIMessage(msg))
	}
	for _, t := range req.Tools {
		schema, err := toolSchema(t)
		if err != nil {
			return nil, err
		}
		r.Tools = append(r.Tools, openaiTool{Type: "function", Function: openaiToolFunction{Name: t.Name, Description: t.Description, Parameters: schema}})
	}
	if !q.noTemperature {
		r.Temperature = new(float64)
	}
	if !q.noUsage {
		r.StreamOptions = &openaiStreamOptions{IncludeUsage: true}
	}
	switch {
	case q.noEffort:
	case q.effortNone && len(r.Tools) > 0:
		r.ReasoningEffort = "none"
	default:
		r.ReasoningEffort = effortOf(req.Reasoning)
	}
	// Compatible servers often know the older name only.
	if m.compatible != q.swapMax {
		r.MaxTokens = req.MaxTokens
	} else {
		r.MaxCompletionTokens = req.MaxTokens
	}
	return r, nil
}
