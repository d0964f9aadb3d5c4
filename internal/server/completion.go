package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/store"
)

// A completion shows a turn as OpenAI's chat completion, whole or in chunks. It is a
// projection of the same events as /chat/stream. The content comes when the turn rests: what
// a model says before may be withdrawn, and a chunk cannot be. Until then drafts and steps are
// sent as reasoning_content, which chat programs show apart.
type completion struct {
	s       *Server
	run     store.Run
	frames  *chatFrames
	after   int64 // the last event before the saying
	model   string
	skipped int  // earlier messages that are not part of the thread
	counted bool // the stream ends with the usage
	usage   event.Usage
}

func (s *Server) newCompletion(run store.Run, after int64, model string) *completion {
	return &completion{s: s, run: run, frames: s.newChatFrames(run, false), after: after, model: model}
}

// chatCompletion answers a list of messages.
func (s *Server) chatCompletion(ctx context.Context, in *struct{ Body CompletionRequest }) (func(request), error) {
	c, err := in.Body.conversation()
	if err != nil {
		return nil, err
	}
	said, err := s.converse(ctx, c)
	if err != nil {
		return nil, err
	}
	said.counted = in.Body.StreamOptions.Usage
	return func(q request) {
		q.w.Header().Set("X-Thread-Id", said.run.Thread)
		q.w.Header().Set("X-Run-Id", said.run.ID)
		if in.Body.Stream {
			s.streamEvents(q, said.run.Thread, stretch{after: said.run.First - 1}, said)
			return
		}
		whole, err := s.waitForCompletion(q.r.Context(), said)
		if err != nil {
			writeProblem(q.w, q.r, err)
			return
		}
		q.w.Header().Set("Content-Type", "application/json")
		q.w.Header().Set("Cache-Control", "no-store")
		_, _ = q.w.Write(encode(whole))
	}, nil
}

// waitForCompletion follows a turn to its rest.
func (s *Server) waitForCompletion(ctx context.Context, c *completion) (chatCompletion, error) {
	for {
		fresh := *c // a reader that fell behind begins again
		fresh.frames = s.newChatFrames(c.run, false)
		for ev, err := range s.cfg.Engine.Follow(ctx, c.run.Thread, c.run.First-1) {
			if errors.Is(err, engine.ErrTooSlow) {
				break
			}
			if err != nil {
				return chatCompletion{}, err
			}
			if _, rests, err := fresh.take(ev); err != nil || rests {
				return fresh.whole(), err
			}
		}
		if err := ctx.Err(); err != nil {
			return chatCompletion{}, err
		}
	}
}

// take adds an event. It gives what a person may see of the work, and says whether the run
// rests.
func (c *completion) take(ev event.Event) (thought string, rests bool, err error) {
	frames, rests, err := c.frames.add(ev)
	if err != nil || !ev.Transient() && ev.Seq <= c.after {
		return "", false, err
	}
	switch b := ev.Body.(type) {
	case event.ModelReplied:
		c.usage = c.usage.Add(b.Usage)
	case event.ModelFailed:
		c.usage = c.usage.Add(b.Usage)
	}
	for _, f := range frames {
		switch d := f.data.(type) {
		case tokenData:
			if d.Whole {
				thought += "\n"
			}
			thought += d.Text
			if d.Final {
				thought += "\n"
			}
		case callData:
			thought += "[" + d.Name + "]\n"
		}
	}
	return thought, rests, nil
}

// opening is sent at once, so that the client sees a stream. Chat programs do not come back.
func (c *completion) opening() ([]byte, bool) {
	empty := ""
	return []byte("data: " + string(encode(c.chunk(completionDelta{Role: "assistant", Content: &empty}, nil))) + "\n\n"), false
}

func (c *completion) project(_ context.Context, ev event.Event, send sendFunc) (more bool, err error) {
	thought, rests, err := c.take(ev)
	if err != nil {
		return false, err
	}
	if thought != "" && !send("", "", encode(c.chunk(completionDelta{Reasoning: thought}, nil))) {
		return false, nil
	}
	if !rests {
		return true, nil
	}
	text, finish := c.content(), c.finish()
	chunks := []chatCompletionChunk{c.chunk(completionDelta{Content: &text}, nil), c.chunk(completionDelta{}, &finish)}
	if c.counted {
		last := c.chunk(completionDelta{}, nil)
		last.Choices, last.Usage = []chunkChoice{}, c.count()
		chunks = append(chunks, last)
	}
	for _, chunk := range chunks {
		if !send("", "", encode(chunk)) {
			return false, nil
		}
	}
	send("", "", []byte("[DONE]"))
	return false, nil
}

func (*completion) failure(p *Problem) any { return p.openAI() }

// content is the answer, with what the client must know about the conversation.
func (c *completion) content() string {
	text := c.s.completionText(c.frames.reply)
	if c.skipped > 0 {
		text = strings.TrimSpace(fmt.Sprintf("_Not part of this thread and left out: %d of the earlier messages of this conversation._\n\n%s", c.skipped, text))
	}
	return text
}

// finish says why the answer ends.
func (c *completion) finish() string {
	if c.frames.reply.Outcome == string(event.Limited) {
		return "length"
	}
	return "stop"
}

func (c *completion) count() *completionUsage {
	return &completionUsage{c.usage.Input, c.usage.Output, c.usage.Input + c.usage.Output}
}

// A CompletionHead stands at the front of a completion and of each of its chunks. huma reads an
// embedded struct only if it is exported.
type CompletionHead struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"chat.completion,chat.completion.chunk"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

type (
	chatCompletion struct {
		CompletionHead
		Choices []completionChoice `json:"choices"`
		Usage   *completionUsage   `json:"usage"`
	}
	completionChoice struct {
		Index   int              `json:"index"`
		Message completionAnswer `json:"message"`
		Finish  string           `json:"finish_reason" enum:"stop,length" doc:"length: a limit of the turn was reached"`
	}
	completionAnswer struct {
		Role    string  `json:"role" enum:"assistant"`
		Content string  `json:"content" doc:"Markdown: the answer, its rows, or a question with numbered choices that the next message answers"`
		Refusal *string `json:"refusal" doc:"Always null: what a machine refuses, its content says"`
	}
	chatCompletionChunk struct {
		CompletionHead
		Choices []chunkChoice    `json:"choices"`
		Usage   *completionUsage `json:"usage,omitempty" doc:"In the last chunk, if stream_options asks for it"`
	}
	chunkChoice struct {
		Index  int             `json:"index"`
		Delta  completionDelta `json:"delta"`
		Finish *string         `json:"finish_reason"`
	}
	completionDelta struct {
		Role      string  `json:"role,omitempty"`
		Content   *string `json:"content,omitempty"`
		Reasoning string  `json:"reasoning_content,omitempty" doc:"Drafts and steps while the turn runs; no part of the answer"`
	}
	completionUsage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
)

func (c *completion) head(object string) CompletionHead {
	return CompletionHead{ID: fmt.Sprintf("chatcmpl-%s-%d", c.run.ID, c.after), Object: object, Created: c.run.Started.Unix(), Model: c.model}
}

func (c *completion) whole() chatCompletion {
	return chatCompletion{c.head("chat.completion"), []completionChoice{{0, completionAnswer{Role: "assistant", Content: c.content()}, c.finish()}}, c.count()}
}

func (c *completion) chunk(d completionDelta, finish *string) chatCompletionChunk {
	return chatCompletionChunk{c.head("chat.completion.chunk"), []chunkChoice{{0, d, finish}}, nil}
}
