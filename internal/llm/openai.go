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

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

// openaiModel speaks the chat completions of OpenAI and of every compatible server.
type openaiModel struct {
	endpoint
	chat       openai.ChatCompletionService
	compatible bool // not OpenAI itself

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
		compatible: c.OpenAIBaseURL != "",
	}
	m.quirks.noTemperature = reasoning.MatchString(m.model)
	m.quirks.noSchema = c.Abilities != nil && !c.Abilities.Schema
	m.quirks.effortNone = !m.compatible && quietTools.MatchString(m.model)
	m.chat = openai.NewChatCompletionService(
		option.WithEnvironmentProduction(),
		option.WithBaseURL(cmp.Or(c.OpenAIBaseURL, "https://api.openai.com/v1/")),
		option.WithAPIKey(c.OpenAIKey),
		option.WithHTTPClient(m.client),
		option.WithMaxRetries(0),
		option.WithMiddleware(rejectFailedResponse),
	)
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
			func(body *idleTimeoutBody, emit emitter) (*Reply, error) { return m.parseResponse(body, emit, want) })
	}
}

// send posts the request; when the server refuses one of its parameters, it is
// left out from then on.
func (m *openaiModel) send(ctx context.Context, req Request, want *outputSchema) (*http.Response, error) {
	for {
		m.mu.Lock()
		q := m.quirks
		m.mu.Unlock()
		var res *http.Response
		params, err := m.params(req, want, q)
		if err != nil {
			return nil, err
		}
		_, err = m.chat.New(ctx, params, option.WithResponseBodyInto(&res), option.WithJSONSet("stream", true))
		if err == nil {
			return res, nil
		}
		learnt, ok := q.learn(err, params)
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
func (q openaiQuirks) learn(err error, sent openai.ChatCompletionNewParams) (openaiQuirks, bool) {
	t, ok := errors.AsType[*attemptError](err)
	if !ok || t.status != http.StatusBadRequest && t.status != http.StatusUnprocessableEntity {
		return q, false
	}
	says := func(word string) bool { return strings.Contains(t.text, word) }
	switch {
	case says("reasoning_effort") && sent.ReasoningEffort != "" && sent.ReasoningEffort != shared.ReasoningEffortNone && len(sent.Tools) > 0 && !q.effortNone:
		q.effortNone = true
	case says("reasoning") && sent.ReasoningEffort != "":
		q.noEffort = true
	case says("reasoning_effort") && !q.noEffort && !q.effortNone && len(sent.Tools) > 0:
		q.effortNone = true
	case says("temperature") && sent.Temperature.Valid():
		q.noTemperature = true
	case says("stream_options") && !q.noUsage:
		q.noUsage = true
	case says("max_") && says("tokens") && !q.swapMax && (sent.MaxTokens.Valid() || sent.MaxCompletionTokens.Valid()):
		q.swapMax = true
	case (says("response_format") || says("schema")) && sent.ResponseFormat.OfJSONSchema != nil:
		q.noSchema = true
	default:
		return q, false
	}
	return q, true
}

// params builds the request.
func (m *openaiModel) params(req Request, want *outputSchema, q openaiQuirks) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{Model: m.model}
	system := req.System
	if want != nil {
		if q.noSchema {
			system = strings.TrimSpace(system + "\n\n" + want.prompt())
		} else {
			p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "answer", Schema: want.schema, Strict: openai.Bool(isEnforceable(want.schema, true)),
			}}
		}
	}
	if system != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(system))
	}
	msgs, _ := conversation(req.History, req.Messages)
	for _, msg := range msgs {
		p.Messages = append(p.Messages, openaiMessage(msg))
	}
	for _, t := range req.Tools {
		schema, err := toolSchema(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: schema,
		}))
	}
	if !q.noTemperature {
		p.Temperature = openai.Float(0)
	}
	if !q.noUsage {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	switch {
	case q.noEffort:
	case q.effortNone && len(p.Tools) > 0:
		p.ReasoningEffort = shared.ReasoningEffortNone
	default:
		p.ReasoningEffort = shared.ReasoningEffort(effortOf(req.Reasoning))
	}
	if n := int64(req.MaxTokens); n > 0 {
		// Compatible servers often know the older name only.
		if m.compatible != q.swapMax {
			p.MaxTokens = openai.Int(n)
		} else {
			p.MaxCompletionTokens = openai.Int(n)
		}
	}
	return p, nil
}

func openaiMessage(m Message) openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case ToolRole:
		return openai.ToolMessage(m.Text, m.CallID)
	case Assistant:
		a := openai.ChatCompletionAssistantMessageParam{}
		if m.Text != "" {
			a.Content.OfString = openai.String(m.Text)
		}
		for _, c := range m.Calls {
			a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID:       c.ID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Args},
				},
			})
		}
		return openai.ChatCompletionMessageParamUnion{OfAssistant: &a}
	default:
		return openai.UserMessage(m.Text)
	}
}
