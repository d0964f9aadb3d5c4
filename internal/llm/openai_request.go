package llm

// openaiRequest is the body of a request for chat completions: what
// we use of it.
type openaiRequest struct {
	Model               string               `json:"model"`
	Messages            []openaiMessage      `json:"messages"`
	Tools               []openaiTool         `json:"tools,omitempty"`
	ResponseFormat      *openaiFormat        `json:"response_format,omitempty"`
	Temperature         *float64             `json:"temperature,omitempty"`
	ReasoningEffort     string               `json:"reasoning_effort,omitempty"`
	MaxTokens           int                  `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                  `json:"max_completion_tokens,omitempty"`
	Stream              bool                 `json:"stream"`
	StreamOptions       *openaiStreamOptions `json:"stream_options,omitempty"`
}

type openaiStreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// An openaiMessage is one of system, user, assistant or tool.
type openaiMessage struct {
	Role       string           `json:"role"`
	Content    *string          `json:"content,omitempty"` // nil where the assistant only calls tools
	ToolCalls  []openaiSentCall `json:"tool_calls,omitempty"`
	ToolCallID string           `json:"tool_call_id,omitempty"`
}

// An openaiSentCall is a call that the model made before.
type openaiSentCall struct {
	ID       string               `json:"id"`
	Type     string               `json:"type"`
	Function openaiCalledFunction `json:"function"`
}

type openaiCalledFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON as text
}

// An openaiTool is offered to the model.
type openaiTool struct {
	Type     string             `json:"type"`
	Function openaiToolFunction `json:"function"`
}

type openaiToolFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters"`
}

// An openaiFormat is the schema that an answer must follow.
type openaiFormat struct {
	Type       string           `json:"type"`
	JSONSchema openaiJSONSchema `json:"json_schema"`
}

type openaiJSONSchema struct {
	Name   string `json:"name"`
	Schema any    `json:"schema"`
	Strict bool   `json:"strict"`
}

// newOpenAIMessage writes a message of ours in OpenAI's form.
func newOpenAIMessage(m Message) openaiMessage {
	switch m.Role {
	case ToolRole:
		return openaiMessage{Role: "tool", Content: &m.Text, ToolCallID: m.CallID}
	case Assistant:
		a := openaiMessage{Role: "assistant"}
		if m.Text != "" {
			a.Content = &m.Text
		}
		for _, c := range m.Calls {
			a.ToolCalls = append(a.ToolCalls, openaiSentCall{ID: c.ID, Type: "function", Function: openaiCalledFunction{Name: c.Name, Arguments: c.Args}})
		}
		return a
	default:
		return openaiMessage{Role: "user", Content: &m.Text}
	}
}
