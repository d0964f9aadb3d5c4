package llm

import (
	"context"
	"iter"

	"interlock/internal/fault"
)

// bounded refuses what its model cannot read whole. Some servers cut such a request in
// silence, and the model then answers without having seen the question.
type bounded struct {
	model   Model
	context int // tokens of request and reply
}

func (b *bounded) Name() string       { return b.model.Name() }
func (b *bounded) ContextTokens() int { return b.context }

func (b *bounded) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	size := measureRequest(req)
	if size.total()+replyRoom(b.context) <= b.context {
		return b.model.Reply(ctx, req)
	}
	return func(yield func(Delta, error) bool) {
		yield(Delta{}, size.tooLong(b.Name(), b.context))
	}
}

// replyRoom is what a context keeps for the reply.
func replyRoom(context int) int { return min(1024, context/8) }

// ContextTokens returns how many tokens a model reads, its reply included; 0 if that is
// not known, which holds for all models of the large providers.
func ContextTokens(m Model) int {
	if b, ok := m.(interface{ ContextTokens() int }); ok {
		return b.ContextTokens()
	}
	return 0
}

// A requestSize is the estimated size of a request in tokens, by part.
type requestSize struct{ tools, system, history, turn int }

func (s requestSize) total() int { return s.tools + s.system + s.history + s.turn }

// measureRequest estimates the tokens of a request.
func measureRequest(req Request) requestSize {
	sum := func(list []Message) (n int) {
		for _, m := range list {
			n += 4 + estimateTokens(len(m.Text))
			for _, c := range m.Calls {
				n += 4 + estimateTokens(len(c.Name)+len(c.Args))
			}
		}
		return n
	}
	tools := len(req.Output)
	for _, t := range req.Tools {
		tools += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return requestSize{tools: estimateTokens(tools), system: estimateTokens(len(req.System)), history: sum(req.History), turn: sum(req.Messages)}
}

// estimateTokens estimates the tokens of a text of n bytes. Text of schemas and SQL has
// three to four bytes a token.
func estimateTokens(n int) int { return n * 2 / 7 }

// tooLong says what does not fit and what would help.
func (s requestSize) tooLong(name string, context int) *fault.Fault {
	f := fault.New(fault.ModelContext, "%s reads %d tokens, and this request has about %d: %d of instructions and data, %d of tools, %d of earlier turns, %d of this one",
		name, context, s.total(), s.system, s.tools, s.history, s.turn)
	if s.history > s.total()/2 {
		return f.Suggest("Ask in a new thread, or load the model with a longer context (Ollama: OLLAMA_CONTEXT_LENGTH; llama.cpp: -c; LM Studio and vLLM: in the settings of the model).")
	}
	return f.Suggest("Load the model with a longer context (Ollama: OLLAMA_CONTEXT_LENGTH; llama.cpp: -c; LM Studio and vLLM: in the settings of the model), then run `interlock model probe`; or use a model that reads more.")
}
