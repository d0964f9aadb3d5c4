package llm

import (
	"cmp"
	"encoding/json"
)

// anthropicRequest is the body of a request for Anthropic's messages: what we use of it.
type anthropicRequest struct {
	Model        string                 `json:"model"`
	MaxTokens    int                    `json:"max_tokens"`
	Messages     []anthropicSentMessage `json:"messages"`
	System       []anthropicSentBlock   `json:"system,omitempty"`
	Tools        []anthropicTool        `json:"tools,omitempty"`
	Temperature  *float64               `json:"temperature,omitempty"`
	Thinking     *anthropicThinking     `json:"thinking,omitempty"`
	OutputConfig *anthropicOutput       `json:"output_config,omitempty"`
	Stream       bool                   `json:"stream"`
}

type anthropicSentMessage struct {
	Role    string               `json:"role"`
	Content []anthropicSentBlock `json:"content"`
}

// An anthropicSentBlock is a piece of a message; its type says which fields it has.
type anthropicSentBlock struct {
	Type         string               `json:"type"`
	Text         string               `json:"text,omitempty"`
	ID           string               `json:"id,omitempty"`    // tool_use
	Name         string               `json:"name,omitempty"`  // tool_use
	Input        json.RawMessage      `json:"input,omitempty"` // tool_use
	ToolUseID    string               `json:"tool_use_id,omitempty"`
	Content      []anthropicSentBlock `json:"content,omitempty"`  // tool_result
	IsError      *bool                `json:"is_error,omitempty"` // tool_result
	Thinking     *string              `json:"thinking,omitempty"`
	Signature    string               `json:"signature,omitempty"` // thinking
	Data         string               `json:"data,omitempty"`      // redacted_thinking
	CacheControl *anthropicCache      `json:"cache_control,omitempty"`
}

// An anthropicCache marks the end of a stretch that the provider keeps for the next call.
type anthropicCache struct {
	Type string `json:"type"`
}

var ephemeral = &anthropicCache{Type: "ephemeral"}

type anthropicTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  map[string]any  `json:"input_schema"`
	CacheControl *anthropicCache `json:"cache_control,omitempty"`
}

// anthropicThinking is "enabled" with a budget, or "adaptive" without.
type anthropicThinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
}

const (
	thinkingEnabled  = "enabled"
	thinkingAdaptive = "adaptive"
)

// anthropicOutput is how much the model thinks and the schema that its answer must follow.
type anthropicOutput struct {
	Effort string           `json:"effort,omitempty"`
	Format *anthropicFormat `json:"format,omitempty"`
}

type anthropicFormat struct {
	Type   string `json:"type"`
	Schema any    `json:"schema"`
}

func textBlock(text string) anthropicSentBlock { return anthropicSentBlock{Type: "text", Text: text} }

func toolUseBlock(c Call) anthropicSentBlock {
	return anthropicSentBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Args)}
}

func toolResultBlock(m Message) anthropicSentBlock {
	text := cmp.Or(m.Text, "(no output)") // an empty block is refused
	return anthropicSentBlock{Type: "tool_result", ToolUseID: m.CallID, Content: []anthropicSentBlock{textBlock(text)}, IsError: &m.Failed}
}

// thinks reports whether the request asks for thoughts of this kind.
func (r *anthropicRequest) thinks(kind string) bool {
	return r.Thinking != nil && r.Thinking.Type == kind
}

// output returns the part on the answer's form, made when it is first needed.
func (r *anthropicRequest) output() *anthropicOutput {
	if r.OutputConfig == nil {
		r.OutputConfig = &anthropicOutput{}
	}
	return r.OutputConfig
}
