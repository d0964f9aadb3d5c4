// Package llm speaks to models. One interface: messages and tools in, a stream
// of deltas out, the whole reply as the last of them. Providers are one file
// each; Open chooses by configuration.
package llm

import (
	"context"
	"encoding/json"
	"iter"

	"interlock/internal/event"
)

// A Model answers requests. It is safe for concurrent use.
type Model interface {
	// Name is how the model appears in logs and capsules, "provider/model".
	Name() string
	// Reply streams one answer. Text deltas come first; the last delta carries the
	// whole reply. An error ends the stream and is a *fault.Fault with one of the
	// model codes. Cancelling ctx, or leaving the loop, ends the request at the provider.
	Reply(ctx context.Context, req Request) iter.Seq2[Delta, error]
}

// A Request is all a model gets to see.
type Request struct {
	System   string
	History  []Message // earlier turns: the same for all calls of one turn, so that providers can cache it
	Messages []Message // this turn
	Tools    []Tool
	Output   json.RawMessage // JSON Schema that the text must follow; nil for free text
	// Reasoning is how much the model thinks before it answers; zero leaves it to the model.
	Reasoning event.Reasoning
	// MaxTokens bounds the reply; 0 is the provider's default.
	MaxTokens int
	// Tag tells scripted and recorded models which call this is; providers ignore it.
	Tag Tag
}

// Tag identifies a call within a log.
type Tag struct {
	Thread, Run, Call, State string
	Number                   int // of the model call in its run, from 1
}

// Role is who speaks.
type Role string

// The roles. Results of tools travel in messages of the role tool.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// A Message is one entry of the conversation.
type Message struct {
	Role  Role   `json:"role"`
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"` // of an assistant
	// Of a tool: the call it answers and whether it failed.
	CallID string `json:"call_id,omitempty"`
	Name   string `json:"name,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// A Call is a model's wish to run a tool. Args is what it sent: JSON text if it is
// JSON, else the raw text.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// A Tool is what a model is told of a tool.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// A Delta is a piece of a thought or of text, or the whole reply, which comes last.
type Delta struct {
	Thought string
	Text    string
	Reply   *Reply
}

// A Reply is what the model said.
type Reply struct {
	Model    string
	Thoughts string // what it thought before, as far as the provider shows it
	Text     string
	Calls    []Call // ids are unique within the reply and never empty
	Stop     string // end, calls, length, refusal, question
	Usage    event.Usage
}
