package llm

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/anthropics/anthropic-sdk-go"
)

const (
	maxThoughts = 256     // replies that are remembered
	maxThought  = 1 << 20 // bytes of one
)

// thoughtCache remembers how replies that thought before they called tools came
// from Anthropic: signed thoughts must go back as they were with the results of
// the calls, or the model loses its thread. They are worth nothing to anybody
// else and nothing after the turn, so they stay out of the log; after a restart
// the conversation goes on without them.
type thoughtCache struct {
	mu     sync.Mutex
	byCall map[string]thought // by the id of the first call
	order  []string
}

type thought struct {
	text   string
	calls  []Call
	blocks []thinkingBlock
}

// thinking collects the blocks of one reply in the order in which they came.
type thinking struct {
	blocks []thinkingBlock
	size   int
}

type thinkingBlock struct {
	index           int
	kind            string
	text, signature *strings.Builder
	data, call      string
}

func (t *thinking) begin(index int, b *anthropicBlock) {
	block := thinkingBlock{index, b.Type, &strings.Builder{}, &strings.Builder{}, b.Data, b.ID}
	t.size += len(b.Data)
	t.blocks = append(t.blocks, block)
	t.add(index, b.Thinking+b.Text, b.Signature)
}

func (t *thinking) add(index int, text, signature string) {
	for _, b := range slices.Backward(t.blocks) {
		if b.index != index {
			continue
		}
		if t.size += len(text) + len(signature); t.size <= maxThought {
			b.text.WriteString(text)
			b.signature.WriteString(signature)
		}
		return
	}
}

// remember stores the blocks of a reply that thought and then called tools.
func (t *thoughtCache) remember(r *Reply, from *thinking) {
	deep := slices.ContainsFunc(from.blocks, func(b thinkingBlock) bool { return strings.HasSuffix(b.kind, "thinking") })
	if !deep || len(r.Calls) == 0 || from.size > maxThought {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byCall == nil {
		t.byCall = map[string]thought{}
	}
	key := r.Calls[0].ID
	if _, ok := t.byCall[key]; !ok {
		t.order = append(t.order, key)
	}
	t.byCall[key] = thought{r.Text, r.Calls, from.blocks}
	if len(t.order) > maxThoughts {
		delete(t.byCall, t.order[0])
		t.order = slices.Delete(t.order, 0, 1)
	}
}

// recall returns the content of a message as it came, or nil if it is not
// remembered or has been changed since.
func (t *thoughtCache) recall(m Message) []anthropic.ContentBlockParamUnion {
	t.mu.Lock()
	kept, ok := t.byCall[m.Calls[0].ID]
	t.mu.Unlock()
	if !ok || kept.text != m.Text || !slices.Equal(kept.calls, m.Calls) {
		return nil
	}
	var blocks []anthropic.ContentBlockParamUnion
	calls := m.Calls
	for _, b := range kept.blocks {
		switch b.kind {
		case "thinking":
			blocks = append(blocks, anthropic.NewThinkingBlock(b.signature.String(), b.text.String()))
		case "redacted_thinking":
			blocks = append(blocks, anthropic.NewRedactedThinkingBlock(b.data))
		case "text":
			if b.text.Len() > 0 {
				blocks = append(blocks, anthropic.NewTextBlock(b.text.String()))
			}
		case "tool_use":
			if len(calls) == 0 || calls[0].ID != b.call {
				return nil
			}
			blocks = append(blocks, anthropic.NewToolUseBlock(calls[0].ID, json.RawMessage(calls[0].Args), calls[0].Name))
			calls = calls[1:]
		}
	}
	if len(calls) > 0 {
		return nil
	}
	return blocks
}
