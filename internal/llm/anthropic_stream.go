package llm

import (
	"encoding/json"
	"io"
)

// The parts of an event that matter. Without a stream the whole message comes at once.
type anthropicEvent struct {
	Type         string           `json:"type"`
	Index        *int             `json:"index"`
	Message      anthropicMessage `json:"message"`
	ContentBlock anthropicBlock   `json:"content_block"`
	Delta        anthropicDelta   `json:"delta"`
	Usage        *anthropicUsage  `json:"usage"`
	anthropicMessage
}

type anthropicMessage struct {
	ID         string           `json:"id"`
	Model      string           `json:"model"`
	Content    []anthropicBlock `json:"content"`
	StopReason string           `json:"stop_reason"`
	Usage      *anthropicUsage  `json:"usage"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
}

type anthropicDelta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	PartialJSON string `json:"partial_json"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	StopReason  string `json:"stop_reason"`
}

type anthropicUsage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// parseResponse turns a response into a reply, and emits its text on the way.
func (m *anthropicModel) parseResponse(req Request, body *idleTimeoutBody, emit emitter, want *outputSchema) (*Reply, error) {
	if want != nil {
		emit = onlyThoughts(emit)
	}
	p := &parse{emit: emit}
	var t thinking
	err := p.readAnthropicStream(body, &t)
	if p.isFatal(err) {
		return nil, WithUsage(err, p.pricedUsage(&m.endpoint))
	}
	r, err := p.buildReply(&m.endpoint, body.kind, err)
	if err == nil && want != nil && len(r.Calls) == 0 {
		r.Text, err = want.extractJSON(r)
	}
	if err != nil {
		return nil, WithUsage(err, p.pricedUsage(&m.endpoint))
	}
	m.thoughts.remember(req, r, &t)
	return r, nil
}

// readAnthropicStream reads the stream to its end.
func (p *parse) readAnthropicStream(r io.Reader, t *thinking) error {
	for data, err := range events(r) {
		if err != nil {
			return err
		}
		var e anthropicEvent
		if decode(data, &e) != nil {
			p.unreadable++
			continue
		}
		if err := p.applyAnthropicEvent(&e, data, t); err != nil || p.done {
			return err
		}
	}
	return nil
}

// applyAnthropicEvent adds one event of the stream to the reply.
func (p *parse) applyAnthropicEvent(e *anthropicEvent, raw []byte, t *thinking) error {
	switch e.Type {
	case "message_start":
		return p.applyAnthropicMessage(&e.Message, t)
	case "message": // not streamed
		whole := e.anthropicMessage
		whole.Usage = e.Usage
		p.done = true
		return p.applyAnthropicMessage(&whole, t)
	case "content_block_start":
		return p.applyAnthropicBlock(indexOrNone(e.Index), &e.ContentBlock, t)
	case "content_block_delta":
		i, d := indexOrNone(e.Index), &e.Delta
		t.add(i, d.Thinking+d.Text, d.Signature)
		if err := p.addThought(d.Thinking); err != nil {
			return err
		}
		if d.Type == "input_json_delta" || d.PartialJSON != "" {
			p.addPiece(piece{index: i, args: d.PartialJSON})
			return p.err
		}
		return p.addText(d.Text)
	case "message_delta":
		p.setAnthropicUsage(e.Usage)
		p.setAnthropicStop(e.Delta.StopReason)
	case "message_stop":
		p.done = true
	case "error":
		return parseStreamError(raw)
	}
	return nil
}

// applyAnthropicMessage adds a message: the head of a stream, or the whole reply.
func (p *parse) applyAnthropicMessage(m *anthropicMessage, t *thinking) error {
	p.id, p.model = m.ID, m.Model
	p.setAnthropicUsage(m.Usage)
	for i := range m.Content {
		if err := p.applyAnthropicBlock(i, &m.Content[i], t); err != nil {
			return err
		}
	}
	p.setAnthropicStop(m.StopReason)
	return nil
}

// applyAnthropicBlock adds a whole content block: text, a call or a thought.
func (p *parse) applyAnthropicBlock(index int, b *anthropicBlock, t *thinking) error {
	t.begin(index, b)
	switch b.Type {
	case "tool_use":
		p.addPiece(piece{index: index, id: b.ID, name: b.Name})
		if input := string(b.Input); input != "" && input != "{}" && input != "null" {
			p.addPiece(piece{index: index, id: b.ID, name: b.Name, args: input, final: true})
		}
		return p.err
	case "text":
		return p.addText(b.Text)
	case "thinking":
		return p.addThought(b.Thinking)
	}
	return nil
}

// setAnthropicStop maps Anthropic's stop reason to ours.
func (p *parse) setAnthropicStop(reason string) {
	switch reason {
	case "":
	case "tool_use":
		p.stop = stopCalls
	case "max_tokens", "model_context_window_exceeded":
		p.stop = stopLength
	case "refusal":
		p.stop = StopRefusal
	default:
		p.stop = stopEnd
	}
}

// setAnthropicUsage takes token counts. They are running totals, so the latest ones
// hold.
func (p *parse) setAnthropicUsage(u *anthropicUsage) {
	if u == nil {
		return
	}
	for _, c := range []struct {
		from *int
		to   *int
	}{
		{u.Input, &p.usage.Input},
		{u.Output, &p.usage.Output},
		{u.CacheRead, &p.usage.CacheRead},
		{u.CacheWrite, &p.usage.CacheWrite},
		{u.Details.Thinking, &p.usage.Reasoning},
	} {
		if c.from != nil {
			*c.to = clamp(*c.from)
		}
	}
}
