package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// anthropicModel speaks Anthropic's Messages API.
type anthropicModel struct {
	endpoint
	api      anthropic.Client
	thoughts thoughtCache

	mu     sync.Mutex
	quirks anthropicQuirks // learnt from refusals
}

// anthropicQuirks is what this model does not take.
type anthropicQuirks struct {
	noTemperature bool
	noSchema      bool  // output_config.format
	maxTokens     int64 // the most that it writes; 0 if no limit is known
	noBudget      bool  // thinking with budget_tokens
	noAdaptive    bool  // thinking without
	noEffort      bool  // output_config.effort
}

// replyTokens bounds a reply where the request does not; the API demands a bound.
const replyTokens = 16000

func newAnthropic(c Config) *anthropicModel {
	m := &anthropicModel{endpoint: newEndpoint(c, Anthropic, cmp.Or(c.Model, DefaultAnthropic), c.AnthropicBaseURL, "ANTHROPIC_API_KEY")}
	m.quirks.noTemperature = !tempered.MatchString(m.model)
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithAPIKey(c.AnthropicKey),
		option.WithHTTPClient(m.client),
		option.WithMaxRetries(0),
		option.WithMiddleware(rejectFailedResponse),
	}
	if c.AnthropicBaseURL != "" {
		opts = append(opts, option.WithBaseURL(c.AnthropicBaseURL))
	}
	m.api = anthropic.NewClient(opts...)
	return m
}

// tempered matches the models that take a temperature; those since Opus 4.7 refuse it.
var tempered = regexp.MustCompile(`claude-(3|haiku-4|sonnet-4|opus-4-[0156]|opus-4-20)`)

func (m *anthropicModel) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		want, err := newOutputSchema(req.Output)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		m.exchange(ctx, yield,
			func(ctx context.Context) (*http.Response, error) { return m.send(ctx, req, want) },
			func(body *idleTimeoutBody, emit emitter) (*Reply, error) {
				return m.parseResponse(req, body, emit, want)
			})
	}
}

// send posts the request; when the API refuses one of its parameters, it is
// left out from then on.
func (m *anthropicModel) send(ctx context.Context, req Request, want *outputSchema) (*http.Response, error) {
	remember := true
	for {
		m.mu.Lock()
		q := m.quirks
		m.mu.Unlock()
		params, recalled, err := m.params(req, want, q, remember)
		if err != nil {
			return nil, err
		}
		var res *http.Response
		err = m.api.Post(ctx, "v1/messages", params, &res, option.WithJSONSet("stream", true))
		if err == nil {
			return res, nil
		}
		t, refused := errors.AsType[*attemptError](err)
		if !refused || t.status != http.StatusBadRequest {
			return nil, err
		}
		if recalled && (strings.Contains(t.text, "thinking") || strings.Contains(t.text, "signature")) {
			remember = false
			continue
		}
		learnt, ok := q.learn(t.text, params)
		if !ok {
			return nil, err
		}
		m.mu.Lock()
		m.quirks = learnt
		m.mu.Unlock()
	}
}

var maximum = regexp.MustCompile(`max_tokens: \d+ > (\d+)`)

// learn reads a refusal and gives what to do differently; false if it teaches nothing.
func (q anthropicQuirks) learn(text string, sent anthropic.MessageNewParams) (anthropicQuirks, bool) {
	if n := maximum.FindStringSubmatch(text); n != nil {
		if limit, err := strconv.ParseInt(n[1], 10, 64); err == nil && limit > 0 && limit < sent.MaxTokens {
			q.maxTokens = limit
			return q, true
		}
	}
	switch {
	case strings.Contains(text, "effort") && sent.OutputConfig.Effort != "":
		q.noEffort = true
	case (strings.Contains(text, "thinking") || strings.Contains(text, "budget")) && sent.Thinking.OfEnabled != nil:
		q.noBudget = true
	case strings.Contains(text, "thinking") && sent.Thinking.OfAdaptive != nil:
		q.noAdaptive = true
	case strings.Contains(text, "temperature") && sent.Temperature.Valid():
		q.noTemperature = true
	case (strings.Contains(text, "output_") || strings.Contains(text, "schema")) && sent.OutputConfig.Format.Schema != nil:
		q.noSchema = true
	default:
		return q, false
	}
	return q, true
}

// params builds the request. What stays the same from call to call is marked for
// the provider's cache: the tools, the system text, the history, and, because a
// call with tools is seldom the last of its turn, the turn so far.
func (m *anthropicModel) params(req Request, want *outputSchema, q anthropicQuirks, remember bool) (p anthropic.MessageNewParams, recalled bool, err error) {
	p = anthropic.MessageNewParams{Model: m.model, MaxTokens: int64(cmp.Or(req.MaxTokens, replyTokens))}
	if q.maxTokens > 0 {
		p.MaxTokens = min(p.MaxTokens, q.maxTokens)
	}
	if !q.noTemperature {
		p.Temperature = anthropic.Float(0)
	}
	addThinking(&p, req.Reasoning, q)
	system := req.System
	if want != nil {
		// Forced tools, the older way, are refused by current models.
		if q.noSchema || !isEnforceable(want.schema, false) {
			system = strings.TrimSpace(system + "\n\n" + want.prompt())
		} else {
			p.OutputConfig.Format.Schema = want.schema
		}
	}
	if system != "" {
		p.System = []anthropic.TextBlockParam{{Text: system, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for i, t := range req.Tools {
		schema, err := toolSchema(t)
		if err != nil {
			return p, false, err
		}
		tool := &anthropic.ToolParam{Name: t.Name, InputSchema: param.Override[anthropic.ToolInputSchemaParam](schema)}
		if t.Description != "" {
			tool.Description = anthropic.String(t.Description)
		}
		if i == len(req.Tools)-1 {
			tool.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	msgs, past := conversation(req.History, req.Messages)
	keys := newThoughtKeys(req.Tag)
	for i, msg := range msgs {
		blocks, ok := m.blocks(msg, keys, remember)
		recalled = recalled || ok
		if !ok && i >= past && len(msg.Calls) > 0 && p.Thinking.OfEnabled != nil {
			p.Thinking = anthropic.ThinkingConfigParamUnion{} // a turn that lost its thoughts goes on without
		}
		if i == past-1 || i == len(msgs)-1 && len(req.Tools) > 0 {
			markCached(blocks)
		}
		role := anthropic.MessageParamRoleUser
		if msg.Role == Assistant {
			role = anthropic.MessageParamRoleAssistant
		}
		// Results and what the person says after them are one message here.
		if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == role {
			p.Messages[n-1].Content = append(p.Messages[n-1].Content, blocks...)
			continue
		}
		p.Messages = append(p.Messages, anthropic.MessageParam{Role: role, Content: blocks})
	}
	return p, recalled, nil
}

// blocks returns the content of a message; for an assistant's message with calls
// whose thoughts are remembered, all as it came.
func (m *anthropicModel) blocks(msg Message, keys *thoughtKeys, remember bool) (blocks []anthropic.ContentBlockParamUnion, recalled bool) {
	if msg.Role == ToolRole {
		text := msg.Text
		if text == "" {
			text = "(no output)"
		}
		return []anthropic.ContentBlockParamUnion{anthropic.NewToolResultBlock(msg.CallID, text, msg.Failed)}, false
	}
	if len(msg.Calls) > 0 && remember {
		if blocks := m.thoughts.recall(keys.next(msg.Text, msg.Calls), msg.Calls); blocks != nil {
			return blocks, true
		}
	}
	if msg.Text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(msg.Text))
	}
	for _, c := range msg.Calls {
		blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, json.RawMessage(c.Args), c.Name))
	}
	return blocks, false
}

// markCached ends a cached stretch at the last block.
func markCached(blocks []anthropic.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	if c := blocks[len(blocks)-1].GetCacheControl(); c != nil {
		*c = anthropic.NewCacheControlEphemeralParam()
	}
}
