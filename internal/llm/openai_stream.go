package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"regexp"
	"strings"
)

// The parts of a chunk that matter, and where odd servers put them. A field of
// the wrong type reads as missing.
type openaiChunk struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Choices []openaiChoice  `json:"choices"`
	Usage   *openaiUsage    `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type openaiChoice struct {
	Index        int         `json:"index"`
	Delta        *openaiPart `json:"delta"`
	Message      *openaiPart `json:"message"` // of a server that does not stream, or repeats the whole at the end
	FinishReason string      `json:"finish_reason"`
}

type openaiPart struct {
	Content      json.RawMessage `json:"content"`           // a string, or parts with text
	Reasoning    json.RawMessage `json:"reasoning"`         // thoughts: OpenRouter, vLLM, Ollama
	Thoughts     json.RawMessage `json:"reasoning_content"` // the same: DeepSeek, llama.cpp, LM Studio
	Refusal      string          `json:"refusal"`
	ToolCalls    []openaiCall    `json:"tool_calls"`
	FunctionCall *openaiFunction `json:"function_call"`
}

type openaiCall struct {
	Index    *int           `json:"index"`
	ID       string         `json:"id"`
	Function openaiFunction `json:"function"`
	openaiFunction
}

type openaiFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string of JSON, or the object itself
}

type openaiUsage struct {
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	Cost       float64 `json:"cost"` // in dollars; OpenRouter
	Details    struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// parseResponse turns a response into a reply, and emits its text on the way. offered says
// that the model may call tools.
func (m *openaiModel) parseResponse(body *idleTimeoutBody, emit emitter, want *outputSchema, offered bool) (*Reply, error) {
	if want != nil {
		emit = onlyThoughts(emit)
	}
	p := &parse{emit: emit, offered: offered}
	err := p.readOpenAIStream(body, body.shortenWait)
	if p.isFatal(err) {
		return nil, WithUsage(err, p.pricedUsage(&m.endpoint))
	}
	r, err := p.buildReply(&m.endpoint, body.kind, err)
	if err == nil && want != nil && len(r.Calls) == 0 {
		r.Text, err = want.extractJSON(r)
	}
	return r, WithUsage(err, p.pricedUsage(&m.endpoint))
}

// readOpenAIStream reads the stream to its end. It calls finished when only the
// token counts are missing.
func (p *parse) readOpenAIStream(r io.Reader, finished func()) error {
	for data, err := range events(r) {
		if err != nil {
			return err
		}
		if bytes.Equal(bytes.TrimSpace(data), []byte("[DONE]")) {
			p.done = true
			return nil
		}
		var c openaiChunk
		if decode(data, &c) != nil {
			p.unreadable++
			continue
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return parseStreamError(data)
		}
		if err := p.applyOpenAIChunk(&c); err != nil {
			return err
		}
		if p.stop != "" {
			finished()
		}
	}
	return nil
}

// applyOpenAIChunk adds one chunk of the stream to the reply.
func (p *parse) applyOpenAIChunk(c *openaiChunk) error {
	if p.id == "" {
		p.id = c.ID
	}
	if p.model == "" {
		p.model = c.Model
	}
	if u := c.Usage; u != nil {
		p.usage.CacheRead = clamp(u.Details.Cached)
		p.usage.CacheWrite = clamp(u.Details.Written)
		p.usage.Input = max(clamp(u.Prompt)-p.usage.CacheRead-p.usage.CacheWrite, 0)
		p.usage.Output = clamp(u.Completion)
		p.usage.Reasoning = clamp(u.Out.Reasoning)
		if u.Cost > 0 && u.Cost < 1e6 {
			p.paid = int64(math.Round(u.Cost * 1e6))
		}
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue // one answer is asked for
		}
		if err := p.applyOpenAIPart(ch.Delta, false); err != nil {
			return err
		}
		if err := p.applyOpenAIPart(ch.Message, true); err != nil {
			return err
		}
		switch ch.FinishReason {
		case "":
		case "tool_calls", "function_call":
			p.stop = stopCalls
		case "length":
			p.stop = stopLength
		case "content_filter":
			p.stop = StopRefusal
		default:
			if p.stop == "" {
				p.stop = stopEnd
			}
		}
	}
	return p.err
}

// applyOpenAIPart adds the message or delta of a choice: text and calls.
func (p *parse) applyOpenAIPart(part *openaiPart, final bool) error {
	if part == nil {
		return nil
	}
	if part.Refusal != "" {
		p.stop = StopRefusal
	}
	if thought := cmp.Or(argsText(part.Thoughts), argsText(part.Reasoning)); thought != "null" && (!final || p.thoughts.Len() == 0) {
		if err := p.addThought(thought); err != nil {
			return err
		}
	}
	for i, text := range []string{contentText(part.Content), part.Refusal} {
		if i == 0 {
			var thought string
			if thought, text = p.tags.split(text); thought != "" {
				if err := p.addThought(thought); err != nil {
					return err
				}
			}
		}
		var err error
		if final && text != "" {
			err = p.emitText(p.appendWholeText(text))
		} else {
			err = p.addText(text)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range part.ToolCalls {
		f := c.Function
		if f.Name == "" && len(f.Arguments) == 0 {
			f = c.openaiFunction
		}
		p.addPiece(piece{index: indexOrNone(c.Index), id: c.ID, name: f.Name, args: argsText(keepHalves(f.Arguments)), final: final})
	}
	if f := part.FunctionCall; f != nil {
		p.addPiece(piece{index: noIndex, name: f.Name, args: argsText(keepHalves(f.Arguments)), final: final})
	}
	return p.err
}

// contentText reads content that is a string or a list of parts.
func contentText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if decode(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// argsText reads arguments that are a string, or JSON that should have been one.
func argsText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// escapes are the escapes of a JSON text; pairs of surrogates are one.
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)

// keepHalves keeps half a character, where a server has cut between two surrogates, as the
// escape that it is in the JSON of the arguments: the other half follows in the next fragment.
func keepHalves(raw json.RawMessage) json.RawMessage {
	return escapes.ReplaceAllFunc(raw, func(e []byte) []byte {
		if len(e) == len(`\ud800`) {
			return append([]byte(`\`), e...)
		}
		return e
	})
}

func indexOrNone(index *int) int {
	if index == nil || *index < 0 {
		return noIndex
	}
	return *index
}

// clamp keeps a token count within reason, whatever a server says.
func clamp(n int) int { return min(max(n, 0), 1<<30) }
