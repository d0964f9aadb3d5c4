package llm

import (
	"context"
	"iter"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// bounded shortens older results of a turn that its model cannot read whole, and refuses what
// is too long even so. Some servers cut such a request in silence, and the model then answers
// without having seen the question.
type bounded struct {
	model   Model
	context int  // tokens of request and reply
	inText  bool // the model is told its tools in words
}

func (b *bounded) Name() string       { return b.model.Name() }
func (b *bounded) ContextTokens() int { return b.context }

func (b *bounded) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	words := 0
	if b.inText {
		words = max(0, measureRequest(withToolsInText(req, newFence())).total()-measureRequest(req).total())
	}
	req, size := fitRequest(req, b.context-replyRoom(b.context)-words)
	size.tools += words
	if size.total()+replyRoom(b.context) <= b.context {
		return b.model.Reply(ctx, req)
	}
	return func(yield func(Delta, error) bool) {
		yield(Delta{}, size.tooLong(b.Name(), b.context))
	}
}

// shortResult is how many bytes are left of an older result that was shortened.
const shortResult = 200

// shortened tells a model that an older result is not whole.
const shortened = "… [the rest of this earlier result was left out, because this model's context is small: query again for what you still need]"

// fitRequest shortens results of the turn until the request has at most so many tokens, the
// oldest first. Those of the newest calls stay whole: the model has not read them yet.
func fitRequest(req Request, tokens int) (Request, requestSize) {
	size := measureRequest(req)
	newest := len(req.Messages)
	for newest > 0 && req.Messages[newest-1].Role != Assistant {
		newest--
	}
	copied := false
	for i := 0; i < newest && size.total() > tokens; i++ {
		m := req.Messages[i]
		if m.Role != ToolRole || len(m.Text) <= shortResult+len(shortened) {
			continue
		}
		if !copied {
			req.Messages, copied = slices.Clone(req.Messages), true
		}
		req.Messages[i].Text = strings.ToValidUTF8(m.Text[:shortResult], "") + shortened
		size = measureRequest(req)
	}
	return req, size
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
