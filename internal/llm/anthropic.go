package llm

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// anthropicModel speaks Anthropic's Messages API.
type anthropicModel struct {
	endpoint
	key      string
	thoughts thoughtCache

	mu     sync.Mutex
	quirks anthropicQuirks // learnt from refusals
}

// anthropicQuirks is what this model does not take.
type anthropicQuirks struct {
	noTemperature bool
	noSchema      bool // output_config.format
	maxTokens     int  // the most that it writes; 0 if no limit is known
	noBudget      bool // thinking with budget_tokens
	noAdaptive    bool // thinking without
	noEffort      bool // output_config.effort
}

// replyTokens bounds a reply where the request does not; the API demands a bound.
const replyTokens = 16000

func newAnthropic(c Config) *anthropicModel {
	m := &anthropicModel{
		endpoint: newEndpoint(c, Anthropic, cmp.Or(c.Model, DefaultAnthropic), c.AnthropicBaseURL, "ANTHROPIC_API_KEY"),
		key:      c.AnthropicKey,
	}
	m.quirks.noTemperature = !tempered.MatchString(m.model)
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
		sent, recalled, err := m.request(req, want, q, remember)
		if err != nil {
			return nil, err
		}
		header := http.Header{"X-Api-Key": {m.key}, "Anthropic-Version": {"2023-06-01"}}
		res, err := m.post(ctx, cmp.Or(m.base, "https://api.anthropic.com"), "v1/messages", header, sent)
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
		learnt, ok := q.learn(t.text, sent)
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
func (q anthropicQuirks) learn(text string, sent *anthropicRequest) (anthropicQuirks, bool) {
	if n := maximum.FindStringSubmatch(text); n != nil {
		if limit, err := strconv.Atoi(n[1]); err == nil && limit > 0 && limit < sent.MaxTokens {
			q.maxTokens = limit
			return q, true
		}
	}
	switch {
	case strings.Contains(text, "effort") && sent.OutputConfig != nil && sent.OutputConfig.Effort != "":
		q.noEffort = true
	case (strings.Contains(text, "thinking") || strings.Contains(text, "budget")) && sent.thinks(thinkingEnabled):
		q.noBudget = true
	case strings.Contains(text, "thinking") && sent.thinks(thinkingAdaptive):
		q.noAdaptive = true
	case strings.Contains(text, "temperature") && sent.Temperature != nil:
		q.noTemperature = true
	case (strings.Contains(text, "output_") || strings.Contains(text, "schema")) && sent.OutputConfig != nil && sent.OutputConfig.Format != nil:
		q.noSchema = true
	default:
		return q, false
	}
	return q, true
}

// request builds the body. What stays the same from call to call is marked for
// the provider's cache: the tools, the system text, the history, and, because a
// call with tools is seldom the last of its turn, the turn so far.
func (m *anthropicModel) request(req Request, want *outputSchema, q anthropicQuirks, remember bool) (r *anthropicRequest, recalled bool, err error) {
	r = &anthropicRequest{Model: m.model, MaxTokens: cmp.Or(req.MaxTokens, replyTokens), Stream: true}
	if q.maxTokens > 0 {
		r.MaxTokens = min(r.MaxTokens, q.maxTokens)
	}
	if !q.noTemperature {
		r.Temperature = new(float64)
	}
	addThinking(r, req.Reasoning, q)
	system := req.System
	if want != nil {
		// Forced tools, the older way, are refused by current models.
		if q.noSchema || !isEnforceable(want.schema, false) {
			system = strings.TrimSpace(system + "\n\n" + want.prompt())
		} else {
			r.output().Format = &anthropicFormat{Type: "json_schema", Schema: want.text}
		}
	}
	if system != "" {
		r.System = []anthropicSentBlock{{Type: "text", Text: system, CacheControl: ephemeral}}
	}
	for i, t := range req.Tools {
		schema, err := toolSchema(t)
		if err != nil {
			return nil, false, err
		}
		tool := anthropicTool{Name: t.Name, Description: t.Description, InputSchema: schema}
		if i == len(req.Tools)-1 {
			tool.CacheControl = ephemeral
		}
		r.Tools = append(r.Tools, tool)
	}
	msgs, past := conversation(req.History, req.Messages)
	keys := newThoughtKeys(req.Tag)
	for i, msg := range msgs {
		blocks, ok := m.blocks(msg, keys, remember)
		recalled = recalled || ok
		if !ok && i >= past && len(msg.Calls) > 0 && r.thinks(thinkingEnabled) {
			r.Thinking = nil // a turn that lost its thoughts goes on without
		}
		if i == past-1 || i == len(msgs)-1 && len(req.Tools) > 0 {
			markCached(blocks)
		}
		role := "user"
		if msg.Role == Assistant {
			role = "assistant"
		}
		// Results and what the person says after them are one message here.
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
			r.Messages[n-1].Content = append(r.Messages[n-1].Content, blocks...)
			continue
		}
		r.Messages = append(r.Messages, anthropicSentMessage{Role: role, Content: blocks})
	}
	return r, recalled, nil
}

// blocks returns the content of a message; for an assistant's message with calls
// whose thoughts are remembered, all as it came.
func (m *anthropicModel) blocks(msg Message, keys *thoughtKeys, remember bool) (blocks []anthropicSentBlock, recalled bool) {
	if msg.Role == ToolRole {
		return []anthropicSentBlock{toolResultBlock(msg)}, false
	}
	if len(msg.Calls) > 0 && remember {
		if blocks := m.thoughts.recall(keys.next(msg.Text, msg.Calls), msg.Calls); blocks != nil {
			return blocks, true
		}
	}
	if msg.Text != "" {
		blocks = append(blocks, textBlock(msg.Text))
	}
	for _, c := range msg.Calls {
		blocks = append(blocks, toolUseBlock(c))
	}
	return blocks, false
}

// markCached ends a cached stretch at the last block; thoughts cannot be one's end.
func markCached(blocks []anthropicSentBlock) {
	if len(blocks) == 0 {
		return
	}
	if last := &blocks[len(blocks)-1]; !strings.HasSuffix(last.Type, "thinking") {
		last.CacheControl = ephemeral
	}
}
